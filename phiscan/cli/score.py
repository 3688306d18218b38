"""``phiscan score``: spans of annotated documents against a gold standard.

The commands for rankings and hierarchies belong to the papers' experiments: ``papers/``, outside the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import click

from phiscan.cli.lazy_group import LazyGroup
from phiscan.cli.output import Answer, answers_alone, lines_of, print_message
from phiscan.errors import InputError
from phiscan.metrics.deidentification.randomization import Difference, randomization_test
from phiscan.metrics.deidentification.span_tokens import Subset, token_counts, token_scores
from phiscan.metrics.deidentification.spans import (
    AnnotatedText,
    InstanceCounts,
    SchemeCounts,
    instance_counts,
    instance_counts_by_type,
    scheme_counts,
)
from phiscan.metrics.rates import OverlapCounts, Rates
from phiscan.report.spans.files import (
    READ_FORMATS,
    TYPE_SETS,
    Pairing,
    map_types,
    pair_documents,
    read_documents,
    read_type_map,
    read_vocabulary,
)

# Commands of the checkout, not of the installed program: module and one-line description.
_PAPERS = {
    "ranking": (
        "papers.commands.ranking:ranking",
        "Score a ranking: AUCROC, estimates of the area under the PR curve, the unachievable region.",
    ),
    "private": (
        "papers.commands.private:private",
        "Release accuracy, a rate, AUCROC or average precision with noise; the true figure is never printed.",
    ),
    "hierarchy": (
        "papers.commands.hierarchy:hierarchy",
        "Score the labels of documents at every level of a hierarchy (CoPHE).",
    ),
    "simulate": (
        "papers.commands.ranking:simulate",
        "Measure bias of the area estimators and coverage of their intervals where the truth is known.",
    ),
}
_PATH = click.Path(path_type=Path)
_FORMAT_HELP = "i2b2 (2006 inline or 2014 stand-off XML), brat or jsonl."
NO_TEXT = "a gold document has no text, so its tokens are not known"


@click.group(
    cls=LazyGroup,
    lazy=_PAPERS,
    epilog="Example: phiscan score spans --gold gold.jsonl --system ours.jsonl --format jsonl --json",
)
def score() -> None:
    """Score spans, rankings and hierarchies against a gold standard."""


@score.command(
    epilog="Example: phiscan score spans --gold gold/ --system ours/ --versus theirs/ --format i2b2 --json"
)
@click.option("--gold", "gold_path", type=_PATH, required=True, help="Gold standard: a file or a folder.")
@click.option("--system", "system_path", type=_PATH, required=True, help="What the system marked.")
@click.option(
    "--versus", "versus_paths", type=_PATH, multiple=True, help="Another system, to test it; repeatable."
)
@click.option("--vocabulary", "vocabulary_path", type=_PATH, help="Known words, one per line.")
@click.option("--format", "kind", type=click.Choice(READ_FORMATS), required=True, help=_FORMAT_HELP)
@click.option(
    "--types", "type_set", type=click.Choice(TYPE_SETS), help="Map all types first; else as written."
)
@click.option("--ignore-case", is_flag=True, help="Compare tokens without case (vocabulary, ambiguity).")
@click.option("--shuffles", type=click.IntRange(min=1), default=9_999, show_default=True, help="Of --versus.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of --versus.")
@answers_alone
def spans(
    gold_path: Path,
    system_path: Path,
    versus_paths: tuple[Path, ...],
    vocabulary_path: Path | None,
    kind: str,
    type_set: str | None,
    ignore_case: bool,
    shuffles: int,
    seed: int,
) -> Answer:
    """Score spans by instance and by token, as in the i2b2 de-identification challenges."""
    mapping = read_type_map(type_set) if type_set else None
    gold = _read(gold_path, kind, mapping)
    pairing = pair_documents(gold, _read(system_path, kind, mapping), gold_path, system_path)
    pairs = pairing.pairs
    vocabulary = read_vocabulary(vocabulary_path) if vocabulary_path else None
    try:
        per_record = instance_counts(pairs)
        by_type = instance_counts_by_type(pairs)
        schemes = scheme_counts(pairs)
    except ValueError as error:
        raise InputError(system_path, f"{error}") from None
    # Corrections of reviewers are stored without text: instances can be scored, tokens cannot.
    has_text = all(document.text is not None for document in gold.values())
    token_pairs = pairs if has_text else ()
    tokens = token_scores(token_pairs, vocabulary, normalise=str.casefold if ignore_case else str)
    payload: dict[str, Any] = {
        "documents": len(pairs),
        "instance": _rated(sum(per_record, InstanceCounts())),
        "token": _tokens(tokens.overall, has_text=has_text),
        "instance_by_type": {name: _rated(counts) for name, counts in by_type.items()},
        "token_by_type": {name: _rated(counts) for name, counts in tokens.by_type.items()},
        "out_of_vocabulary": _subset(tokens.out_of_vocabulary, "out-of-vocabulary"),
        "ambiguous": _subset(tokens.ambiguous, "ambiguous"),
        "ambiguous_any": _subset(tokens.ambiguous_any, "ambiguous"),
        "schemes": {name: _scheme(counts) for name, counts in schemes.items()},
        "missing_documents": list(pairing.missing),
    }
    _warn_missing(pairing, system_path)
    if versus_paths:
        scored = [_Scored(str(system_path), per_record, token_counts(token_pairs))]
        others = [pair_documents(gold, _read(path, kind, mapping), gold_path, path) for path in versus_paths]
        for path, other in zip(versus_paths, others, strict=True):
            _warn_missing(other, path)
            scored.append(_score(other.pairs, path, has_text=has_text))
        first = randomization_test(per_record, scored[1].instances, shuffles=shuffles, seed=seed)
        payload["versus"] = {name: _difference(item) for name, item in first.items()}
        payload["versus_missing_documents"] = list(others[0].missing)
        payload["systems"] = [_totals(one, has_text=has_text) for one in scored]
        payload["comparisons"] = [
            _comparison(one, two, shuffles=shuffles, seed=seed) for one, two in combinations(scored, 2)
        ]
    return payload, lines_of(payload)


@dataclass(frozen=True, slots=True)
class _Scored:
    """Counts of one system, one per document; no token counts if the gold documents have no text."""

    name: str
    instances: tuple[InstanceCounts, ...]
    tokens: tuple[OverlapCounts, ...]


def _score(pairs: Sequence[tuple[AnnotatedText, AnnotatedText]], path: Path, *, has_text: bool) -> _Scored:
    try:
        return _Scored(str(path), instance_counts(pairs), token_counts(pairs if has_text else ()))
    except ValueError as error:
        raise InputError(path, f"{error}") from None


def _totals(one: _Scored, *, has_text: bool) -> dict[str, Any]:
    instances, tokens = sum(one.instances, InstanceCounts()), sum(one.tokens, OverlapCounts())
    return {"system": one.name, "instance": _rated(instances), "token": _tokens(tokens, has_text=has_text)}


def _comparison(one: _Scored, two: _Scored, *, shuffles: int, seed: int) -> dict[str, Any]:
    """Test two systems by instance and by token, each by approximate randomization over documents."""
    instance = randomization_test(one.instances, two.instances, shuffles=shuffles, seed=seed)
    token = randomization_test(one.tokens, two.tokens, shuffles=shuffles, seed=seed)
    shape: dict[str, Any] = {"first": one.name, "second": two.name}
    for level, found in (("instance", instance), ("token", token)):
        shape[level] = {name: _difference(item) for name, item in found.items()}
    return shape


def _read(path: Path, kind: str, mapping: Mapping[str, str] | None) -> dict[str, AnnotatedText]:
    documents = read_documents(path, kind)
    return documents if mapping is None else map_types(documents, mapping, path)


def _warn_missing(pairing: Pairing, path: Path) -> None:
    for name in pairing.missing:
        print_message(f"{path}: the document '{name}' is missing; all its spans count as missed")


def _rated(counts: InstanceCounts | OverlapCounts) -> dict[str, Any]:
    return with_rates(asdict(counts), counts.rates)


def _tokens(counts: OverlapCounts, *, has_text: bool) -> dict[str, Any]:
    return _rated(counts) | ({} if has_text else {"reason": NO_TEXT})


def _scheme(counts: SchemeCounts) -> dict[str, Any]:
    shape = {**asdict(counts), "possible": counts.possible, "actual": counts.actual}
    return with_rates(shape, counts.rates)


def _subset(found: Subset | None, kind: str) -> dict[str, Any]:
    if found is None:
        return {"recall": None, "reason": "no vocabulary was given"}
    shape: dict[str, Any] = {name: getattr(found, name) for name in ("recall", "found", "total", "spurious")}
    shape |= {"precision": found.rates.precision, "f1": found.rates.f1}
    if found.recall is None:
        shape["reason"] = f"no {kind} PHI token in the gold standard"
    elif found.rates.reason:
        shape["reason"] = found.rates.reason
    return shape


def _difference(item: Difference) -> dict[str, Any]:
    shape: dict[str, Any] = asdict(item)
    if item.difference is None:
        shape["reason"] = "it does not exist for one of the systems"
    return shape


def with_rates(counts: Mapping[str, Any], rates: Rates) -> dict[str, Any]:
    """Combine counts with their precision, recall and F1, and the reasons of missing values."""
    shape = {**counts, "precision": rates.precision, "recall": rates.recall, "f1": rates.f1}
    if rates.reason:
        shape["reason"] = rates.reason
    return shape
