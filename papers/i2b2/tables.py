"""The tables of the challenge as JSON and as Markdown, replicated and published values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from papers.i2b2 import published
from papers.i2b2.corpus import TYPES, Corpus
from papers.i2b2.ranking import (
    Comparison,
    SystemScore,
    agreement,
    compare_systems,
    family_order,
    ties,
)
from papers.i2b2.statistics import CorpusStatistics, corpus_statistics
from phiscan.metrics.deidentification.span_tokens import Subset
from phiscan.metrics.deidentification.spans import InstanceCounts
from phiscan.metrics.rates import Rates

Shape = dict[str, Any]
AGES = (
    'The paper calls an age "above 90" PHI and HIPAA (45 CFR 164.514) "over 89": an age of 90 is PHI under'
    " HIPAA, and is marked here."
)


def payload(corpus: Corpus, scores: Sequence[SystemScore], *, shuffles: int, seed: int) -> Shape:
    """Return the JSON object of ``phiscan benchmark i2b2``."""
    comparisons = compare_systems(scores, shuffles=shuffles, seed=seed)
    by_instance = sorted(scores, key=lambda score: -score.instance_f1)
    return {
        "records": {"train": len(corpus.train), "test": len(corpus.test)},
        "statistics": {
            "complete": _statistics(corpus_statistics((*corpus.train, *corpus.test))),
            "train": _statistics(corpus_statistics(corpus.train)),
            "test": _statistics(corpus_statistics(corpus.test)),
            "paper": {
                "table_1": published.TABLE_1,
                "non_phi_tokens": published.NON_PHI_TOKENS,
                "table_2": published.TABLE_2,
                "table_3": published.TABLE_3,
                "table_4": published.TABLE_4,
            },
        },
        "systems": [_system(score) for score in scores],
        "instance_ranking": [score.name for score in by_instance],
        "comparisons": [
            {
                "first": item.first,
                "second": item.second,
                "instance": {name: asdict(found) for name, found in item.instance.items()},
                "token": {name: asdict(found) for name, found in item.token.items()},
            }
            for item in comparisons
        ],
        "families": [{"family": family, "mean_token_f1": value} for family, value in family_order(scores)],
        "agreement": {by: asdict(agreement(scores, by=by)) for by in ("token", "instance")},
        "table_8": _matrix(scores, comparisons, "token"),
        "table_16": _matrix(by_instance, comparisons, "instance"),
        "notes": [AGES],
    }


def _statistics(found: CorpusStatistics) -> Shape:
    return {
        "non_phi_tokens": found.non_phi_tokens,
        "by_type": {kind: asdict(item) for kind, item in found.by_type.items()},
        "between": found.between,
    }


def _rates(found: Rates) -> Shape:
    shape: Shape = {"precision": found.precision, "recall": found.recall, "f1": found.f1}
    return shape | ({"reason": found.reason} if found.reason else {})


def _subset(found: Subset) -> Shape:
    return asdict(found) | _rates(found.rates)


def _system(score: SystemScore) -> Shape:
    total = sum(score.instances, InstanceCounts())
    return {
        "system": score.name,
        "family": score.family,
        "seconds": score.seconds,
        "token": asdict(score.tokens.overall) | _rates(score.tokens.overall.rates),
        "instance": asdict(total) | _rates(total.rates),
        "token_by_type": {kind: _rates(counts.rates) for kind, counts in score.tokens.by_type.items()},
        "out_of_vocabulary": _subset(score.unknown),
        "ambiguous": _subset(score.tokens.ambiguous),
        "ambiguous_any": _subset(score.tokens.ambiguous_any),
    }


def _matrix(
    scores: Sequence[SystemScore], comparisons: Sequence[Comparison], level: str
) -> list[dict[str, str]]:
    """Return, for every two systems, the measures in which they do not differ significantly."""
    found: Mapping[frozenset[str], Comparison] = {frozenset((c.first, c.second)): c for c in comparisons}
    rows = []
    for number, one in enumerate(scores):
        for two in scores[number + 1 :]:
            comparison = found[frozenset((one.name, two.name))]
            rows.append(
                {"first": one.name, "second": two.name, "not_significant": ties(getattr(comparison, level))}
            )
    return rows


def markdown(shape: Shape) -> list[str]:
    """Return every table as Markdown lines."""
    statistics = shape["statistics"]
    return [
        *_table_1(statistics),
        *_table_2_3(statistics),
        *_table_4(statistics),
        *_scores(shape),
        *_square("Table 8: measures that do not differ (alpha 0.1), tokens", shape["table_8"]),
        *_square("Table 16: the same, instances", shape["table_16"]),
        *_orders(shape),
    ]


def page_lines(shape: Shape) -> list[str]:
    """Return the figures of the page: corpus and paper's corpus, F1 of every system, rank correlation."""
    complete, paper = shape["statistics"]["complete"], shape["statistics"]["paper"]
    kinds = complete["by_type"].items()
    n_instances = sum(item["instances"] for _, item in kinds)
    n_paper = sum(instances for instances, _ in paper["table_1"].values())
    gaps = {
        "Table 2 by instances": [
            abs(item["unknown"][0] - paper["table_2"][kind][0]) for kind, item in kinds if item["unknown"]
        ],
        "by tokens": [
            abs(item["unknown"][1] - paper["table_2"][kind][1]) for kind, item in kinds if item["unknown"]
        ],
        "Table 3": [
            abs(mine - theirs)
            for kind, item in kinds
            for mine, theirs in zip(
                (*item["in_record"], *item["in_corpus"]), paper["table_3"][kind], strict=True
            )
        ],
    }
    largest = ", ".join(f"{name} {max(values):.1f}" for name, values in gaps.items())
    tau = {by: shape["agreement"][by]["kendall_tau"] for by in ("token", "instance")}
    corpus = (
        f"Table 1: {complete['non_phi_tokens']:,} tokens outside PHI (paper {paper['non_phi_tokens']:,}),"
        f" {n_instances:,} instances ({n_paper:,}). Largest difference from the paper's percentages, in"
        f" points: {largest}."
    )
    ranks = (
        f"F1 on {shape['records']['test']} test records. Kendall's tau with Table 8 is {tau['token']:.2f},"
        f" with Table 16 {tau['instance']:.2f}."
    )
    lines = [
        "| system | family | tokens | instances | out of vocabulary | ambiguous |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for system in shape["systems"]:
        parts = ("token", "instance", "out_of_vocabulary", "ambiguous")
        cells = " | ".join(_number(system[part]["f1"]) for part in parts)
        lines.append(f"| {system['system']} | {system['family']} | {cells} |")
    return [corpus, "", *lines, "", ranks]


def _table_1(statistics: Shape) -> list[str]:
    complete, train, test = (statistics[part] for part in ("complete", "train", "test"))
    lines = [
        "### Table 1: instances and tokens (paper's complete corpus in brackets)",
        "",
        "| category | complete | training | test |",
        "| --- | --- | --- | --- |",
    ]
    plain = [f"{part['non_phi_tokens']:,}" for part in (complete, train, test)]
    lines.append(f"| non-PHI tokens | {plain[0]} ({published.NON_PHI_TOKENS:,}) | {plain[1]} | {plain[2]} |")
    for kind in TYPES:
        mine = [part["by_type"][kind] for part in (complete, train, test)]
        cells = [f"{item['instances']:,} / {item['tokens']:,}" for item in mine]
        paper = "{:,} / {:,}".format(*published.TABLE_1[kind])
        lines.append(f"| {kind} | {cells[0]} ({paper}) | {cells[1]} | {cells[2]} |")
    return [*lines, ""]


def _table_2_3(statistics: Shape) -> list[str]:
    lines = [
        "### Tables 2 and 3: % of instances / tokens (paper)",
        "",
        "| category | out of vocabulary | ambiguous in record | ambiguous in corpus |",
        "| --- | --- | --- | --- |",
    ]
    for kind in TYPES:
        item, paper = statistics["complete"]["by_type"][kind], published.TABLE_3[kind]
        unknown = "does not apply"
        if item["unknown"] is not None:
            unknown = "{:.0f} / {:.0f}".format(*item["unknown"]) + " ({} / {})".format(
                *published.TABLE_2[kind]
            )
        lines.append(
            f"| {kind} | {unknown} | {item['in_record'][0]:.1f} / {item['in_record'][1]:.1f}"
            f" ({paper[0]} / {paper[1]}) | {item['in_corpus'][0]:.1f} / {item['in_corpus'][1]:.1f}"
            f" ({paper[2]} / {paper[3]}) |"
        )
    return [*lines, ""]


def _table_4(statistics: Shape) -> list[str]:
    lines = []
    for part, number in (("complete", 4), ("train", 5), ("test", 5)):
        between = statistics[part]["between"]
        names = list(between)
        title = f"### Table {number}, {part}: % of the tokens of a row that also occur as the column"
        lines += [title + (" (paper)" if part == "complete" else ""), ""]
        lines += ["| | " + " | ".join(names) + " |", "| --- |" + " --- |" * len(names)]
        for row in names:
            cells = []
            for column in names:
                value = between[row].get(column)
                paper = published.TABLE_4[row].get(column) if part == "complete" else None
                cell = "" if value is None else f"{value:.2f}"
                cells.append(cell if paper is None else f"{cell} ({paper})")
            lines.append(f"| {row} | " + " | ".join(cells) + " |")
        lines.append("")
    return lines


def _scores(shape: Shape) -> list[str]:
    lines = [
        "### Figures 2, 7 and 8 as numbers: F1 (precision, recall)",
        "",
        "| system | family | tokens | instances | out of vocabulary | ambiguous | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for system in shape["systems"]:
        cells = [_figure(system[part]) for part in ("token", "instance", "out_of_vocabulary", "ambiguous")]
        lines.append(
            f"| {system['system']} | {system['family']} | "
            + " | ".join(cells)
            + f" | {system['seconds']:.0f} |"
        )
    lines += ["", "### Figure 6 as numbers: F1 by category, tokens", ""]
    lines += ["| system | " + " | ".join(TYPES) + " |", "| --- |" + " --- |" * len(TYPES)]
    for system in shape["systems"]:
        cells = [_number(system["token_by_type"].get(kind, {}).get("f1")) for kind in TYPES]
        lines.append(f"| {system['system']} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _figure(rates: Shape) -> str:
    return f"{_number(rates['f1'])} ({_number(rates['precision'])}, {_number(rates['recall'])})"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _square(title: str, rows: Sequence[Mapping[str, str]]) -> list[str]:
    names = list(dict.fromkeys(name for row in rows for name in (row["first"], row["second"])))
    cells = {(row["first"], row["second"]): row["not_significant"] for row in rows}
    lines = [
        f"### {title}",
        "",
        "| | " + " | ".join(names[1:]) + " |",
        "| --- |" + " --- |" * (len(names) - 1),
    ]
    lines += [
        f"| {one} | " + " | ".join(cells.get((one, two), "") for two in names[1:]) + " |"
        for one in names[:-1]
    ]
    return [*lines, ""]


def _orders(shape: Shape) -> list[str]:
    lines = ["### The ranking and the paper's", ""]
    for by, table in (("token", "Table 8"), ("instance", "Table 16")):
        found = shape["agreement"][by]
        lines += [
            f"* {by}: {', '.join(found['ours'])}",
            f"* {table}: {', '.join(found['paper'])} (Kendall's tau {found['kendall_tau']:.2f})",
        ]
    lines += ["", "| family | mean token F1 |", "| --- | --- |"]
    lines += [f"| {item['family']} | {item['mean_token_f1']:.3f} |" for item in shape["families"]]
    return [*lines, "", *shape["notes"], ""]
