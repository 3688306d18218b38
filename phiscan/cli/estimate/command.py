"""``phiscan estimate``: accuracy of the screen, and missed PHI, from counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from phiscan.cli.estimate import json_shapes as shapes
from phiscan.cli.estimate.json_shapes import Shape, figure
from phiscan.cli.output import Answer, answers, config_of, print_message
from phiscan.cli.tables import Table, read_table
from phiscan.errors import InputError
from phiscan.metrics import agreement as agreements
from phiscan.metrics import elusion as elusions
from phiscan.metrics import screening as screens
from phiscan.metrics import verification
from phiscan.metrics.capture_recapture import loglinear, strata, two_list
from phiscan.metrics.capture_recapture import missed as missed_files
from phiscan.metrics.capture_recapture.captures import MAX_LISTS, CaptureTable, capture_table
from phiscan.metrics.capture_recapture.model_names import parse_model
from phiscan.metrics.detector_accuracy import detector_accuracy
from phiscan.metrics.elusion import Stratum
from phiscan.metrics.intervals import check_share
from phiscan.report.data.estimates import SecondList
from phiscan.report.sections.screened import NOT_KNOWN, made_of, second_list

# Far above any share's number of files, and low enough for fast exact arithmetic.
LARGEST = 10**12


def read_captures(table: Table, detectors: Sequence[str], rows: Sequence[int] | None = None) -> CaptureTable:
    """Read the capture histories in the given rows (all of them when None).

    Raises:
        InputError: names the file, the line and the field.
    """
    if not 2 <= len(detectors) <= MAX_LISTS:  # noqa: PLR2004 (one detector has no overlap)
        message = f"{table.path}: line 1: expected from 2 to {MAX_LISTS} detectors, found {len(detectors)}"
        raise InputError(message)
    numbers = table.integers("count", high=LARGEST)
    columns = [table.integers(name, high=1) for name in detectors]
    counts: dict[int, int] = {}
    for row in range(len(numbers)) if rows is None else rows:
        history = sum(column[row] << position for position, column in enumerate(columns))
        where = table.where(row, detectors[0])
        if history == 0:
            message = (
                f"{where}: expected a history with a 1 in it: files that nobody found are what is estimated"
            )
            raise InputError(message)
        if history in counts:
            message = f"{where}: expected every capture history once, this one is a duplicate"
            raise InputError(message)
        counts[history] = numbers[row]
    return CaptureTable(len(detectors), tuple(counts.get(index, 0) for index in range(1 << len(detectors))))


def read_strata(path: str | Path) -> list[Stratum]:
    """Read the strata of an elusion sample.

    Raises:
        InputError: names the file, the line and the field.
    """
    table = read_table(path, ("name", "population", "sample", "found"))
    numbers = [table.integers(name, high=LARGEST) for name in ("population", "sample", "found")]
    strata = []
    seen: set[str] = set()
    for row, (name, population, sample, found) in enumerate(zip(table.column("name"), *numbers, strict=True)):
        if sample > population:
            message = (
                f"{table.where(row, 'sample')}: expected at most the population {population}, got {sample}"
            )
            raise InputError(message)
        if found > sample:
            message = f"{table.where(row, 'found')}: expected at most the sample {sample}, got {found}"
            raise InputError(message)
        if name in seen:
            message = f"{table.where(row, 'name')}: expected every stratum once, this one is a duplicate"
            raise InputError(message)
        seen.add(name)
        strata.append(Stratum(name, population, sample, found))
    if not strata:
        message = f"{path}: line 2: expected at least one stratum"
        raise InputError(message)
    return strata


def read_ratings(path: str | Path) -> tuple[list[str], list[list[str | None]]]:
    """Read the reviewers' names and, per reviewer, one label per item (None: not judged).

    Raises:
        InputError: names the file, the line and the field.
    """
    table = read_table(path, ("item",))
    seen: set[str] = set()
    for row, item in enumerate(table.column("item")):
        if item in seen:
            message = f"{table.where(row, 'item')}: expected every item once, this one is a duplicate"
            raise InputError(message)
        seen.add(item)
    reviewers = [name for name in table.header if name != "item"]
    if len(reviewers) < 2:  # noqa: PLR2004 (agreement needs two)
        message = f"{path}: line 1: expected two reviewers or more after item, found {len(reviewers)}"
        raise InputError(message)
    return reviewers, [[label or None for label in table.column(name)] for name in reviewers]


@dataclass(frozen=True, slots=True)
class ScanCaptures:
    """The counts of a scan: capture histories of the detectors, and the second list."""

    captures: CaptureTable
    second_list: SecondList


def captures_of_scan(config_path: str | None, scan_id: int | None) -> ScanCaptures:
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
        name = store.name
    found = histories(read)
    if not found or len(found[0].detectors) < MIN_DETECTORS:
        message = f"{name}: expected a scan in which two detectors or more gave verdicts"
        raise InputError(message)
    counts = {
        tuple(map(int, one.detectors.values())): one.phi for one in found if any(one.detectors.values())
    }
    captures = capture_table(list(counts), list(counts.values()))
    return ScanCaptures(captures, second_list(read))


def second_list_shape(found: SecondList | None) -> Shape:
    """Return the known numbers of the second list; None: none are known."""
    if found is None:
        unknown: Shape = dict.fromkeys(("files", "reviewed", "phi", "phi_share", "too_low"))
        return unknown | {"reason": NOT_KNOWN}
    shape: Shape = {
        "files": found.files,
        "reviewed": found.reviewed,
        "phi": found.phi,
        "phi_share": found.phi_share and figure(found.phi_share),
        "too_low": found.too_low,
        "sentence": found.sentence,
    }
    if found.phi is None:
        shape["reason"] = "phi, phi_share: --second-list has no number of PHI files"
    return shape


def stated_second_list(reviewed: int, files: int) -> SecondList:
    """Return the second list from these two numbers.

    Raises:
        InputError: more were reviewed than it contains.
    """
    if reviewed > files:
        message = f"--second-list: expected at most {files} reviewed, got {reviewed}"
        raise InputError(message)
    return made_of(files, reviewed, None)


TWO_LIST_NOTE = (
    "for two detectors [1,2] is Lincoln-Petersen, n1 n2 / m; [12] would leave nothing to tell it by"
)


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


def with_detectors(shape: Shape, given: Mapping[str, Any]) -> Shape:
    """Add ``actual_positives`` and ``detectors`` to the object of ``estimate missed`` from a table of counts.

    Raises:
        InputError: counts that contradict each other or name no detector.
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
    found = detectors_shape(read_captures(table, names), names, shape, n_files=n_files, wrong=wrong)
    more = {"note": TWO_LIST_NOTE} if given["model_text"] and "two_list" in shape else {}
    return shape | more | found


def detectors_shape(
    captures: CaptureTable,
    names: Sequence[str],
    shape: dict[str, Any],
    *,
    n_files: int | None,
    wrong: dict[str, int],
) -> dict[str, Any]:
    """Return the confusion matrix of each detector under the estimated number of actual positives.

    Two lists: Lincoln-Petersen, as in the source. More: the model-averaged total, or that of the one model.

    Source: Mane et al. (2004), section 2, last step.
    """
    total, by = _total(shape)
    rows = []
    for index, name in enumerate(names):
        try:
            found = detector_accuracy(captures.margin(1 << index), total, fp=wrong.get(name), files=n_files)
        except ValueError as error:
            message = f"--files, --false-positives: detector '{name}': {error}"
            raise InputError(message) from None
        row = {"detector": name, **asdict(found)}
        if row["reason"] is None:
            del row["reason"]
        rows.append(row)
    positives: dict[str, Any] = {"value": total, "by": by}
    if total is None:
        positives["reason"] = f"{by} gives no total"
    return {"actual_positives": positives, "detectors": rows}


def _total(shape: dict[str, Any]) -> tuple[float | None, str]:
    if "two_list" in shape:
        return shape["two_list"]["lincoln_petersen"]["total"], "lincoln_petersen"
    if "averaged" in shape:
        return shape["averaged"], "averaged"
    return shape["models"][0]["total"], str(shape["models"][0]["model"])


COUNT = click.IntRange(0, LARGEST)


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


@estimate.command()
@click.option("--phi", type=COUNT, required=True, help="Screened positive files verified as PHI.")
@click.option("--not-phi", type=COUNT, required=True, help="Screened positive files verified as not PHI.")
@click.option("--not-screened", type=COUNT, required=True, help="Files that the screen did not mark.")
@click.option("--versus", type=Counts("PHI", "NOT_PHI"), help="Another characteristic on the same files.")
@click.option(
    "--both", type=Counts("PHI", "NOT_PHI"), help="Files that both characteristics marked: gives intervals."
)
@answers
def screening(
    phi: int,
    not_phi: int,
    not_screened: int,
    versus: tuple[int, int] | None,
    both: tuple[int, int] | None,
) -> Answer:
    """Estimate detection and false referral from screened positives only.

    Example: phiscan estimate screening --phi 71 --not-phi 4 --not-screened 48 --versus 75,3 --json
    """
    if both and not versus:
        message = "--both needs --versus"
        raise click.UsageError(message)
    with _refusing():
        found = screens.tdp_frp(phi, not_phi, not_screened)
        shape = {"n": found.n} | {name: shapes.figure(getattr(found, name)) for name in ("tdp", "frp", "ppv")}
        if versus:
            shape["relative"] = shapes.relative(
                screens.relative((phi, not_phi), versus, both=both, n_files=found.n),
                paired=both is not None,
            )
    return _answer(shape, screens.ASSUMPTION, screens.SOURCE)


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
@answers
@click.pass_obj
def missed(obj: str | None, /, **given: Any) -> Answer:
    """Estimate how many PHI files no detector found, from capture histories.

    COUNTS is a CSV file: one column per detector (0 or 1), then count; one row per capture history. Without
    COUNTS the confirmed PHI files of the database are counted (--scan: those of one scan). Reports whether
    the second list (queue list --second-look) was reviewed: if it was not, the estimate is too low.

    Example: phiscan estimate missed counts.csv --json
    """
    model_text = given["model_text"]
    second, captures = _counted(obj, **{name: given[name] for name in ("counts", "by", "scan_id", "listed")})
    found: Any = loglinear
    if captures is None:
        shape, found = _by_stratum(read_table(given["counts"], ("count",)), given["by"]), strata
    elif captures.n_lists == 2:  # noqa: PLR2004 (the contract's own form for two lists)
        if model_text is not None:
            with _refusing():
                parse_model(model_text, captures.n_lists)  # only [1,2], which is Lincoln-Petersen
        cells = (captures.counts[3], captures.counts[1], captures.counts[2])
        pair = {
            "lincoln_petersen": shapes.total(two_list.lincoln_petersen(*cells)),
            "chapman": shapes.total(two_list.chapman(*cells)),
        }
        shape, found = {"n_observed": captures.n_found, "two_list": pair}, two_list
    elif model_text is None:
        shape = shapes.missed(missed_files.estimate_missed(captures))
    else:
        with _refusing():
            fits = loglinear.fit_models(captures, [parse_model(model_text, captures.n_lists)])
        shape = {"n_observed": captures.n_found, "models": [shapes.model(fit) for fit in fits]}
    return _answer(with_detectors(shape | {"second_list": second}, given), found.ASSUMPTION, found.SOURCE)


def _counted(
    config_path: str | None,
    *,
    counts: str | None,
    by: str | None,
    scan_id: int | None,
    listed: tuple[int, int] | None,
) -> tuple[shapes.Shape, CaptureTable | None]:
    """Return the known numbers of the second list, and the capture histories; None: they are stratified."""
    if counts is None:
        if by is not None or listed is not None:
            message = "--by and --second-list: expected with COUNTS"
            raise click.UsageError(message)
        found = captures_of_scan(config_path, scan_id)
        return second_list_shape(found.second_list), found.captures
    if scan_id is not None:
        message = "--scan: expected without COUNTS"
        raise click.UsageError(message)
    second = second_list_shape(None if listed is None else stated_second_list(*listed))
    if by is not None:
        return second, None
    table = read_table(counts, ("count",))
    return second, read_captures(table, [name for name in table.header if name != "count"])


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
@answers
@click.pass_obj
def elusion(obj: str | None, /, review: bool, **given: Any) -> Answer:
    """Bound the PHI left among the files that were not referred, from a random sample.

    Example: phiscan estimate elusion --population 10000 --sample 300 --found 0 --json
    """
    if review:
        from phiscan.cli.queue.command import safe_to_stop  # noqa: PLC0415 (opens a database)

        return safe_to_stop(obj)
    with _refusing():
        shape = _plan(given) if given["plan"] else _elusion(given)
    return _answer(shape, elusions.ASSUMPTION, elusions.SOURCE)


@estimate.command()
@click.argument("ratings", type=click.Path())
@answers
def agreement(ratings: str) -> Answer:
    """Measure the agreement of reviewers.

    RATINGS is a CSV file: item, then one column per reviewer; an empty field is a file not judged.

    Example: phiscan estimate agreement ratings.csv --json
    """
    reviewers, columns = read_ratings(ratings)
    return _answer(shapes.reviewers(reviewers, columns), agreements.ASSUMPTION, agreements.SOURCE)


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
@answers
def verified(positive: tuple[int, int, int], negative: tuple[int, int, int]) -> Answer:
    """Correct sensitivity and specificity for files that nobody verified.

    Example: phiscan estimate verified --positive 231,32,166 --negative 27,54,140 --json
    """
    with _refusing():
        found = verification.begg_greenes(verification.Verified(*positive), verification.Verified(*negative))
    return _answer(shapes.verified(found), verification.VERIFIED_ASSUMPTION, verification.VERIFIED_SOURCE)


@estimate.command()
@click.option("--found", type=COUNT, required=True, help="Files in the sample that the reviewers called PHI.")
@click.option("--sample", type=COUNT, required=True, help="Files in the sample.")
@click.option(
    "--sensitivity", type=float, required=True, help="Share of PHI files that a reviewer calls PHI."
)
@click.option(
    "--specificity", type=float, required=True, help="Share of other files that a reviewer calls not PHI."
)
@answers
def prevalence(found: int, sample: int, sensitivity: float, specificity: float) -> Answer:
    """Estimate the share of PHI files when reviewers err.

    Example: phiscan estimate prevalence --found 23 --sample 150 --sensitivity 0.96 --specificity 0.89 --json
    """
    with _refusing():
        result = verification.rogan_gladen(found, sample, sensitivity, specificity)
    if result.warning:
        print_message(f"phiscan: warning: {result.warning}")
    return _answer(
        shapes.prevalence(result), verification.PREVALENCE_ASSUMPTION, verification.PREVALENCE_SOURCE
    )


@contextmanager
def _refusing() -> Iterator[None]:
    """Convert the ValueError of a pure function to a one-line error for the user."""
    try:
        yield
    except ValueError as error:
        raise InputError(str(error)) from None


def _answer(shape: shapes.Shape, assumption: str, source: str) -> Answer:
    whole = shape | {"assumption": assumption, "source": source}
    return whole, shapes.lines(whole)


def _by_stratum(table: Table, by: str) -> shapes.Shape:
    groups: dict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(table.column(by)):
        groups[name].append(row)
    detectors = [name for name in table.header if name not in {"count", by}]
    with _refusing():
        tables = {name: read_captures(table, detectors, rows) for name, rows in groups.items()}
        found = strata.stratified_total(tables)
    return {
        "n_observed": sum(part.n_found for part in tables.values()),
        "strata": [{"name": name} | shapes.total(part) for name, part in found.strata.items()],
        "combined": shapes.total(found.combined),
    }


def _plan(given: dict[str, Any]) -> shapes.Shape:
    if given["target"] is None:
        message = "--plan needs --target"
        raise click.UsageError(message)
    size = elusions.sample_size(
        given["target"], confidence=given["confidence"], population=given["population"]
    )
    return {"sample_size": size, "target": given["target"], "confidence": given["confidence"], "found": 0}


def _elusion(given: dict[str, Any]) -> shapes.Shape:
    how = {"confidence": given["confidence"], "sequential": given["sequential"]}
    counts = [given[name] for name in ("population", "sample", "found")]
    parts: list[elusions.Stratum] = []
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
    shape = shapes.elusion(found, recall, f"recall_lower: {missing}" if recall is None else None)
    if parts:
        shape["strata"] = shapes.strata(parts, tail=elusions.tail_of(given["confidence"]) / len(parts))
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
