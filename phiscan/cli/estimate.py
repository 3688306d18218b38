"""``phiscan estimate``: accuracy of the screen, and missed PHI, from counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from functools import wraps
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from phiscan.cli.output import Answer, answers_alone, config_of, lines_of, print_message
from phiscan.cli.tables import Table, read_table
from phiscan.errors import InputError
from phiscan.metrics import agreement as agreements
from phiscan.metrics import elusion as elusions
from phiscan.metrics import screening as screens
from phiscan.metrics import verification
from phiscan.metrics.capture_recapture import loglinear, strata, two_list
from phiscan.metrics.capture_recapture.captures import MAX_LISTS, CaptureTable, capture_table
from phiscan.metrics.capture_recapture.missed import MissedFiles, estimate_missed
from phiscan.metrics.capture_recapture.model_names import parse_model
from phiscan.metrics.detector_accuracy import detector_accuracy
from phiscan.metrics.elusion import Stratum
from phiscan.metrics.intervals import Figure, check_share
from phiscan.report.sections.screened import NOT_KNOWN, SecondList, made_of, second_list

# Far above any share's number of files, and low enough for fast exact arithmetic.
LARGEST = 10**12
COUNT = click.IntRange(0, LARGEST)
TWO_LIST_NOTE = (
    "for two detectors [1,2] is Lincoln-Petersen, n1 n2 / m; [12] would leave nothing to tell it by"
)
Shape = dict[str, Any]


class _NamedCount(click.ParamType[tuple[str, int]]):
    """DETECTOR=COUNT."""

    name = "detector=count"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        """Split the name from the count, or fail with the expected format."""
        if isinstance(value, tuple):
            return value
        name, _, count = str(value).rpartition("=")
        if not name or not count.isascii() or not count.isdecimal() or int(count) > LARGEST:
            self.fail(f"expected DETECTOR=COUNT, got '{value}'", param, ctx)
        return name, int(count)


class Counts(click.ParamType[tuple[int, ...]]):
    """Whole numbers of 0 or more, separated by commas."""

    def __init__(self, *names: str) -> None:
        self.name = ",".join(names)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Parse the numbers, or fail with the expected format."""
        parts = [part.strip() for part in str(value).split(",")]
        numbers = tuple(int(part) for part in parts if part.isascii() and part.isdigit())
        wanted = self.name.count(",") + 1
        if len(parts) != wanted or len(numbers) != wanted or max(numbers) > LARGEST:
            self.fail(f"expected {wanted} whole numbers {self.name}, got '{value}'", param, ctx)
        return numbers


@click.group()
def estimate() -> None:
    """Estimate the accuracy of the screen and the PHI that it missed.

    Example: phiscan estimate screening --phi 71 --not-phi 4 --not-screened 48 --json
    """


def _answering(
    assumption: str = "", source: str = ""
) -> Callable[[Callable[..., Shape | Answer]], Callable[..., None]]:
    """Make a command of a function that returns an object, to which assumption and source are added.

    The ValueError of a pure function becomes a one-line error for the user.
    """

    def decorate(command: Callable[..., Shape | Answer]) -> Callable[..., None]:
        @wraps(command)
        def run(*args: Any, **given: Any) -> Answer:
            try:
                shape = command(*args, **given)
            except ValueError as error:
                raise InputError(str(error)) from None
            if isinstance(shape, tuple):
                return shape
            whole = shape | {"assumption": assumption, "source": source} if assumption else shape
            return whole, lines_of(whole)

        return answers_alone(run)

    return decorate


@estimate.command()
@click.option("--phi", type=COUNT, required=True, help="Screened positive files verified as PHI.")
@click.option("--not-phi", type=COUNT, required=True, help="Screened positive files verified as not PHI.")
@click.option("--not-screened", type=COUNT, required=True, help="Files that the screen did not mark.")
@click.option("--versus", type=Counts("PHI", "NOT_PHI"), help="Another characteristic on the same files.")
@click.option(
    "--both", type=Counts("PHI", "NOT_PHI"), help="Files that both characteristics marked: gives intervals."
)
@_answering(screens.ASSUMPTION, screens.SOURCE)
def screening(
    phi: int, not_phi: int, not_screened: int, versus: tuple[int, int] | None, both: tuple[int, int] | None
) -> Shape:
    """Estimate detection and false referral from screened positives only.

    Example: phiscan estimate screening --phi 71 --not-phi 4 --not-screened 48 --versus 75,3 --json
    """
    if both and not versus:
        message = "--both needs --versus"
        raise click.UsageError(message)
    found = screens.tdp_frp(phi, not_phi, not_screened)
    shape = {"n": found.n} | {name: shape_of(getattr(found, name)) for name in ("tdp", "frp", "ppv")}
    if versus:
        compared = screens.relative((phi, not_phi), versus, both=both, n_files=found.n)
        ratios = {"rtdp": compared.rtdp, "rfrp": compared.rfrp}
        relative: Shape = {name: ratio.value for name, ratio in ratios.items()}
        if both is not None:
            relative |= {f"{name}_ci95": _listed(ratio.ci95) for name, ratio in ratios.items()}
        shape["relative"] = _with_reason(relative, *_reasons(ratios, always=both is not None))
    return shape


@estimate.command()
@click.argument("counts", type=click.Path(), required=False)
@click.option("--model", "model_text", help="Fit this model alone, for example '[12,3]'.")
@click.option("--by", metavar="COLUMN", help="Estimate within the strata named in this column, and add up.")
@click.option("--scan", "scan_id", type=click.IntRange(1, 2**63 - 1), help="Without COUNTS: this scan.")
@click.option(
    "--second-list",
    "listed",
    type=Counts("REVIEWED", "FILES"),
    help="With COUNTS: how many files of the second list were reviewed, and how many it has.",
)
@click.option(
    "--files", "n_files", type=COUNT, help="All files that the detectors read: gives TN and accuracy."
)
@click.option(
    "--false-positives",
    type=_NamedCount(),
    multiple=True,
    help="Files that a detector marked and review refuted: DETECTOR=COUNT, repeatable.",
)
@_answering()
@click.pass_obj
def missed(obj: str | None, /, **given: Any) -> Shape:
    """Estimate how many PHI files no detector found, from capture histories.

    COUNTS is a CSV file: one column per detector (0 or 1), then count; one row per capture history. Without
    COUNTS the confirmed PHI files of the database are counted (--scan: those of one scan). Reports whether
    the second list (queue list --second-look) was reviewed: if it was not, the estimate is too low.

    Example: phiscan estimate missed counts.csv --json
    """
    model_text, by, listed = given["model_text"], given["by"], given["listed"]
    captures: CaptureTable | None = None
    second: SecondList | None = None
    if given["counts"] is None:
        if by is not None or listed is not None:
            message = "--by and --second-list: expected with COUNTS"
            raise click.UsageError(message)
        captures, second = _of_scan(obj, given["scan_id"])
    else:
        if given["scan_id"] is not None:
            message = "--scan: expected without COUNTS"
            raise click.UsageError(message)
        if listed is not None:
            second = _stated(*listed)
        table = read_table(given["counts"], ("count",))
        if by is None:
            captures = read_captures(table, [name for name in table.header if name != "count"])
    found: ModuleType = loglinear
    if captures is None:
        shape, found = _by_stratum(table, by), strata
    elif captures.n_lists == 2:  # noqa: PLR2004 (the contract's own form for two lists)
        if model_text is not None:
            parse_model(model_text, captures.n_lists)  # only [1,2], which is Lincoln-Petersen
        cells = (captures.counts[3], captures.counts[1], captures.counts[2])
        pair = {name: shape_of(getattr(two_list, name)(*cells)) for name in ("lincoln_petersen", "chapman")}
        shape, found = {"n_observed": captures.n_found, "two_list": pair}, two_list
    elif model_text is None:
        shape = _missed_shape(estimate_missed(captures))
    else:
        fits = loglinear.fit_models(captures, [parse_model(model_text, captures.n_lists)])
        shape = {"n_observed": captures.n_found, "models": [shape_of(fit) for fit in fits]}
    shape = with_detectors(shape | {"second_list": second_list_shape(second)}, given)
    return shape | {"assumption": found.ASSUMPTION, "source": found.SOURCE}


@estimate.command()
@click.option("--population", type=COUNT, help="All files that were not referred, the sample among them.")
@click.option("--sample", type=COUNT, help="Files drawn at random from them and reviewed.")
@click.option("--found", type=COUNT, help="PHI files in the sample.")
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, help="Of every one-sided bound, in (0, 1)."
)
@click.option("--true-positives", type=COUNT, help="PHI files found so far: gives the recall bound.")
@click.option("--strata", type=click.Path(), help="CSV file with name,population,sample,found.")
@click.option("--plan", is_flag=True, help="Only print how many files to review.")
@click.option("--target", type=float, help="With --plan: the rate to show when nothing is found.")
@click.option("--sequential", is_flag=True, help="Add the bound that holds after every reviewed file.")
@click.option("--target-recall", type=float, help="With --sequential: print whether review may stop.")
@click.option(
    "--review", is_flag=True, help="Of the database instead of given counts: as `phiscan queue left`."
)
@_answering(elusions.ASSUMPTION, elusions.SOURCE)
@click.pass_obj
def elusion(obj: str | None, /, review: bool, plan: bool, **given: Any) -> Shape | Answer:
    """Bound the PHI left among the files that were not referred, from a random sample.

    Example: phiscan estimate elusion --population 10000 --sample 300 --found 0 --json
    """
    if review:
        from phiscan.cli.queue.command import safe_to_stop  # noqa: PLC0415 (opens a database)

        return safe_to_stop(obj)
    if not plan:
        return _elusion(given)
    target, how = given["target"], {name: given[name] for name in ("confidence", "population")}
    if target is None:
        message = "--plan needs --target"
        raise click.UsageError(message)
    size = elusions.sample_size(target, **how)
    return {"sample_size": size, "target": target, "confidence": given["confidence"], "found": 0}


@estimate.command()
@click.argument("ratings", type=click.Path())
@_answering(agreements.ASSUMPTION, agreements.SOURCE)
def agreement(ratings: str) -> Shape:
    """Measure the agreement of reviewers.

    RATINGS is a CSV file: item, then one column per reviewer; an empty field is a file not judged.

    Example: phiscan estimate agreement ratings.csv --json
    """
    names, columns = read_ratings(ratings)
    alpha = {"krippendorff_alpha": agreements.krippendorff_alpha(list(zip(*columns, strict=True)))}
    if len(names) == 2:  # noqa: PLR2004 (kappa is about two)
        return _pair_shape(agreements.agreement(*columns), alpha)
    several = Figure(None, None, "defined for two reviewers; see pairs")
    shape = _pair_shape(agreements.Agreement(0, several, several, several), alpha)
    del shape["n_both"]
    shape["pairs"] = [
        {"reviewers": [names[first], names[second]]}
        | _pair_shape(agreements.agreement(columns[first], columns[second]), {})
        for first, second in combinations(range(len(names)), 2)
    ]
    return shape


@estimate.command()
@click.option(
    "--positive",
    type=Counts("D", "H", "U"),
    required=True,
    help="Screened positive: PHI, not PHI, unverified.",
)
@click.option(
    "--negative",
    type=Counts("D", "H", "U"),
    required=True,
    help="Screened negative: PHI, not PHI, unverified.",
)
@_answering(verification.VERIFIED_ASSUMPTION, verification.VERIFIED_SOURCE)
def verified(positive: tuple[int, int, int], negative: tuple[int, int, int]) -> Shape:
    """Correct sensitivity and specificity for files that nobody verified.

    Example: phiscan estimate verified --positive 231,32,166 --negative 27,54,140 --json
    """
    found = verification.begg_greenes(verification.Verified(*positive), verification.Verified(*negative))
    shape: Shape = {}
    for name, part in (("naive", found.naive), ("corrected", found.corrected)):
        shape[name] = _figures({"sensitivity": part.sensitivity, "specificity": part.specificity})
    return _with_reason(shape | {"prevalence": found.prevalence, "missed": found.missed}, found.reason)


@estimate.command()
@click.option("--found", type=COUNT, required=True, help="Files in the sample that the reviewers called PHI.")
@click.option("--sample", type=COUNT, required=True, help="Files in the sample.")
@click.option(
    "--sensitivity", type=float, required=True, help="Share of PHI files that a reviewer calls PHI."
)
@click.option(
    "--specificity", type=float, required=True, help="Share of other files that a reviewer calls not PHI."
)
@_answering(verification.PREVALENCE_ASSUMPTION, verification.PREVALENCE_SOURCE)
def prevalence(found: int, sample: int, sensitivity: float, specificity: float) -> Shape:
    """Estimate the share of PHI files when reviewers err.

    Example: phiscan estimate prevalence --found 23 --sample 150 --sensitivity 0.96 --specificity 0.89 --json
    """
    result = verification.rogan_gladen(found, sample, sensitivity, specificity)
    if result.warning:
        print_message(f"phiscan: warning: {result.warning}")
    return shape_of(result)


def read_captures(table: Table, detectors: Sequence[str], rows: Sequence[int] | None = None) -> CaptureTable:
    """Read the capture histories in the given rows (all of them when None).

    Raises:
        InputError: names the file, the line and the field.
    """
    if not 2 <= len(detectors) <= MAX_LISTS:  # noqa: PLR2004 (one detector has no overlap)
        raise InputError(
            table.path, f"line 1: expected from 2 to {MAX_LISTS} detectors, found {len(detectors)}"
        )
    numbers = table.integers("count", high=LARGEST)
    columns = [table.integers(name, high=1) for name in detectors]
    counts: dict[int, int] = {}
    for row in range(len(numbers)) if rows is None else rows:
        history = sum(column[row] << position for position, column in enumerate(columns))
        where = table.where(row, detectors[0])
        if history == 0:
            raise InputError(
                where, "expected a history with a 1 in it: files that nobody found are what is estimated"
            )
        if history in counts:
            raise InputError(where, "expected every capture history once, this one is a duplicate")
        counts[history] = numbers[row]
    return CaptureTable(len(detectors), tuple(counts.get(index, 0) for index in range(1 << len(detectors))))


def read_strata(path: str | Path) -> list[Stratum]:
    """Read the strata of an elusion sample.

    Raises:
        InputError: names the file, the line and the field.
    """
    table = read_table(path, ("name", "population", "sample", "found"))
    numbers = [table.integers(name, high=LARGEST) for name in ("population", "sample", "found")]
    for row, (population, sample, found) in enumerate(zip(*numbers, strict=True)):
        for name, value, whole, most in (
            ("sample", sample, "population", population),
            ("found", found, "sample", sample),
        ):
            if value > most:
                raise InputError(table.where(row, name), f"expected at most the {whole} {most}, got {value}")
    names = table.distinct("name", "stratum")
    if not names:
        raise InputError(path, "line 2: expected at least one stratum")
    return [Stratum(*values) for values in zip(names, *numbers, strict=True)]


def read_ratings(path: str | Path) -> tuple[list[str], list[list[str | None]]]:
    """Read the reviewers' names and, per reviewer, one label per item (None: not judged).

    Raises:
        InputError: names the file, the line and the field.
    """
    table = read_table(path, ("item",))
    table.distinct("item", "item")
    reviewers = [name for name in table.header if name != "item"]
    if len(reviewers) < 2:  # noqa: PLR2004 (agreement needs two)
        raise InputError(path, f"line 1: expected two reviewers or more after item, found {len(reviewers)}")
    return reviewers, [[label or None for label in table.column(name)] for name in reviewers]


def _of_scan(config_path: str | None, scan_id: int | None) -> tuple[CaptureTable, SecondList]:
    """Count the confirmed PHI files of a scan (None: all files present now) by capture history.

    Raises:
        InputError: fewer than two detectors ran.
    """
    # sqlalchemy takes a second to load: not for an estimate from counts.
    from phiscan.report.sections.missed import MIN_DETECTORS, histories  # noqa: PLC0415
    from phiscan.review.store import Store  # noqa: PLC0415

    with Store.open(config_of(config_path).database_url) as store:
        rows = store.present_rows(conceal=True) if scan_id is None else store.rows(scan_id, conceal=True)
        read = [row for row in rows if row.referral is not None]
        name = store.database.name
    found = histories(read)
    if not found or len(found[0].detectors) < MIN_DETECTORS:
        raise InputError(name, "expected a scan in which two detectors or more gave verdicts")
    counts = {
        tuple(map(int, one.detectors.values())): one.phi for one in found if any(one.detectors.values())
    }
    return capture_table(list(counts), list(counts.values())), second_list(read)


def _stated(reviewed: int, files: int) -> SecondList:
    if reviewed > files:
        message = f"--second-list: expected at most {files} reviewed, got {reviewed}"
        raise InputError(message)
    return made_of(files, reviewed, None)


def second_list_shape(found: SecondList | None) -> Shape:
    """Return the known numbers of the second list; None: none are known."""
    if found is None:
        unknown: Shape = dict.fromkeys(("files", "reviewed", "phi", "phi_share", "too_low"))
        return unknown | {"reason": NOT_KNOWN}
    shape = shape_of(found) | {"phi_share": found.phi_share and shape_of(found.phi_share)}
    del shape["not_phi"]
    unknown_phi = "phi, phi_share: --second-list has no number of PHI files"
    return _with_reason(shape, unknown_phi if found.phi is None else None)


def with_detectors(shape: Shape, given: Mapping[str, Any]) -> Shape:
    """Add ``actual_positives`` and ``detectors`` to the object of ``estimate missed`` from a table of counts.

    The confusion matrix of each detector is that under the estimated number of actual positives. Two lists:
    Lincoln-Petersen, as in the source. More: the model-averaged total, or that of the one model.

    Raises:
        InputError: counts that contradict each other or name no detector.

    Source: Mane et al. (2004), section 2, last step.
    """
    n_files, wrong = given["n_files"], dict(given["false_positives"])
    if given["counts"] is None or given["by"]:
        if n_files is not None or wrong:
            message = "--files and --false-positives: expected with COUNTS, without --by"
            raise InputError(message)
        return shape
    table = read_table(given["counts"], ("count",))
    names = [name for name in table.header if name != "count"]
    for name in wrong:
        if name not in names:
            message = f"--false-positives: expected one of {', '.join(names)}, got '{name}'"
            raise InputError(message)
    if "two_list" in shape:
        total, by = shape["two_list"]["lincoln_petersen"]["total"], "lincoln_petersen"
        shape |= {"note": TWO_LIST_NOTE} if given["model_text"] else {}
    elif "averaged" in shape:
        total, by = shape["averaged"], "averaged"
    else:
        total, by = shape["models"][0]["total"], str(shape["models"][0]["model"])
    captures = read_captures(table, names)
    rows = []
    for index, name in enumerate(names):
        try:
            found = detector_accuracy(captures.margin(1 << index), total, fp=wrong.get(name), files=n_files)
        except ValueError as error:
            message = f"--files, --false-positives: detector '{name}': {error}"
            raise InputError(message) from None
        rows.append({"detector": name, **shape_of(found)})
    positives = _with_reason({"value": total, "by": by}, f"{by} gives no total" if total is None else None)
    return shape | {"actual_positives": positives, "detectors": rows}


def _by_stratum(table: Table, by: str) -> Shape:
    groups: dict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(table.column(by)):
        groups[name].append(row)
    detectors = [name for name in table.header if name not in {"count", by}]
    tables = {name: read_captures(table, detectors, rows) for name, rows in groups.items()}
    found = strata.stratified_total(tables)
    return {
        "n_observed": sum(part.n_found for part in tables.values()),
        "strata": [{"name": name} | shape_of(part) for name, part in found.strata.items()],
        "combined": shape_of(found.combined),
    }


def _missed_shape(found: MissedFiles) -> Shape:
    """Return all models of three lists or more, and what follows from them."""
    averaged, bound = found.averaged, found.lower_bound
    shape: Shape = {
        "n_observed": found.n_observed,
        "models": [shape_of(fit) for fit in found.models],
        "selected": _with_reason({"aic": found.selected_aic, "bic": found.selected_bic}, found.reason),
        "averaged": averaged.total if averaged else None,
        "range": _listed(found.model_range),
        "chao_lower_bound": bound.total,
        "sample_coverage": shape_of(found.coverage),
    }
    if averaged:
        shape["averaged_by_aic"] = shape_of(averaged)
        del shape["averaged_by_aic"]["total"]
    return _with_reason(
        shape,
        found.reason and f"averaged, range: {found.reason}",
        bound.reason and f"chao_lower_bound: {bound.reason}",
    )


def _elusion(given: Mapping[str, Any]) -> Shape:
    """Bound what is left among the unreferred files, in one population or in strata."""
    how = {"confidence": given["confidence"], "sequential": given["sequential"]}
    counts = [given[name] for name in ("population", "sample", "found")]
    parts: list[Stratum] = []
    if given["strata"] is not None:
        if any(value is not None for value in counts):
            message = "--strata replaces --population, --sample and --found"
            raise click.UsageError(message)
        parts = read_strata(given["strata"])
        found = elusions.stratified_elusion(parts, **how)
    elif None in counts:
        message = "needs --population, --sample and --found, or --strata, or --plan"
        raise click.UsageError(message)
    else:
        found = elusions.elusion(*counts, **how)
    positives = given["true_positives"]
    recall = None if positives is None else elusions.recall_lower(positives, found.upper_hypergeometric)
    missing = (
        "--true-positives was not given" if positives is None else "there is no PHI file, found or possible"
    )
    bounds = {"value": found.missed} | {
        name: getattr(found, name) for name in ("upper_hypergeometric", "upper_binomial")
    }
    if found.upper_sequential is not None:
        bounds["upper_sequential"] = found.upper_sequential
    shape = _with_reason(
        {
            "rate": _with_reason({"value": found.rate, "upper": found.rate_upper}, found.reason),
            "missed": _with_reason(bounds, found.reason),
            "recall_lower": recall,
        },
        f"recall_lower: {missing}" if recall is None else None,
    )
    if parts:  # each at its share of the error
        tail = elusions.tail_of(given["confidence"]) / len(parts)
        shape["strata"] = [
            asdict(one)
            | {
                "upper_hypergeometric": elusions.hypergeometric_upper(
                    one.population, one.sample, one.found, tail
                )
            }
            for one in parts
        ]
    if given["target_recall"] is not None:
        if positives is None or found.upper_sequential is None:
            message = "--target-recall needs --sequential and --true-positives"
            raise click.UsageError(message)
        check_share("target_recall", given["target_recall"])
        lower = elusions.recall_lower(positives, found.upper_sequential)
        shape["stop"] = lower is None or lower >= given["target_recall"]
        if lower is not None:
            shape["recall_lower_sequential"] = lower
    return shape


def shape_of(found: Any) -> Shape:
    """Return the fields of a result, pairs as lists; reason and warning only if there is one.

    >>> shape_of(Figure(0.5, (0.25, 0.75)))
    {'value': 0.5, 'ci95': [0.25, 0.75]}
    """
    values = {item.name: _listed(getattr(found, item.name)) for item in fields(found)}
    return {name: value for name, value in values.items() if value or name not in {"reason", "warning"}}


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _pair_shape(found: agreements.Agreement, more: Mapping[str, Figure]) -> Shape:
    figures = {name: getattr(found, name) for name in ("kappa", "positive_agreement", "pabak")}
    return _figures({**figures, **more}, always=True) | {"n_both": found.n_both}


def _figures(figures: Mapping[str, Figure], *, always: bool = False) -> Shape:
    """Return figures by name: values, intervals and reasons; reasons of known values only if ``always``."""
    shape: Shape = {name: found.value for name, found in figures.items()}
    shape["ci95"] = {name: _listed(found.ci95) for name, found in figures.items() if found.ci95}
    return _with_reason(shape, *_reasons(figures, always=always))


def _reasons(figures: Mapping[str, Figure], *, always: bool) -> Iterable[str]:
    return (
        f"{name}: {found.reason}"
        for name, found in figures.items()
        if found.reason and (always or found.value is None)
    )


def _with_reason(shape: Shape, *reasons: str | None) -> Shape:
    """Add the reasons if there are any, each once."""
    distinct = "; ".join(dict.fromkeys(reason for reason in reasons if reason))
    return shape | {"reason": distinct} if distinct else shape
