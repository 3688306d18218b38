"""``phiscan estimate``: accuracy of the screen, and missed PHI, from counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from phiscan.cli.estimate import json_shapes as shapes
from phiscan.cli.estimate import scan as scans
from phiscan.cli.estimate.detectors import with_detector_options, with_detectors
from phiscan.cli.estimate.tables import LARGEST, read_captures, read_ratings, read_strata
from phiscan.cli.output import print_json, print_message
from phiscan.cli.tables import Table, read_table
from phiscan.errors import InputError
from phiscan.metrics import agreement as agreements
from phiscan.metrics import elusion as elusions
from phiscan.metrics import screening as screens
from phiscan.metrics import verification
from phiscan.metrics.capture_recapture import loglinear, strata, two_list
from phiscan.metrics.capture_recapture import missed as missed_files
from phiscan.metrics.capture_recapture.captures import CaptureTable
from phiscan.metrics.capture_recapture.model_names import parse_model

COUNT = click.IntRange(0, LARGEST)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


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
@JSON
def screening(
    phi: int,
    not_phi: int,
    not_screened: int,
    versus: tuple[int, int] | None,
    both: tuple[int, int] | None,
    as_json: bool,
) -> None:
    """Estimate detection and false referral from screened positives only.

    Example: phiscan estimate screening --phi 71 --not-phi 4 --not-screened 48 --versus 75,3 --json
    """
    if both and not versus:
        message = "--both needs --versus"
        raise click.UsageError(message)
    with _refusing():
        found = screens.tdp_frp(phi, not_phi, not_screened)
        if versus and sum(versus) > found.n:
            message = f"--versus: expected at most {found.n} files, got {sum(versus)}"
            raise InputError(message)
        shape = {"n": found.n} | {name: shapes.figure(getattr(found, name)) for name in ("tdp", "frp", "ppv")}
        if versus:
            shape["relative"] = shapes.relative(
                screens.relative((phi, not_phi), versus, both=both), paired=both is not None
            )
    _show(shape, screens.ASSUMPTION, screens.SOURCE, as_json=as_json)


@with_detector_options
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
@JSON
@click.pass_obj
def missed(
    obj: str | None,
    counts: str | None,
    model_text: str | None,
    by: str | None,
    scan_id: int | None,
    listed: tuple[int, int] | None,
    as_json: bool,
) -> None:
    """Estimate how many PHI files no detector found, from capture histories.

    COUNTS is a CSV file: one column per detector (0 or 1), then count; one row per capture history. Without
    COUNTS the confirmed PHI files of the database are counted (--scan: those of one scan). Reports whether
    the second list (queue list --second-look) was reviewed: if it was not, the estimate is too low.

    Example: phiscan estimate missed counts.csv --json
    """
    second, captures = _counted(obj, counts, by, scan_id, listed)
    if captures is None:
        _show_strata(read_table(str(counts), ("count",)), str(by), second, as_json=as_json)
        return
    if captures.n_lists == 2:  # noqa: PLR2004 (the contract's own form for two lists)
        if model_text is not None:
            with _refusing():
                parse_model(model_text, captures.n_lists)  # only [1,2], which is Lincoln-Petersen
        cells = (captures.counts[3], captures.counts[1], captures.counts[2])
        pair = {
            "lincoln_petersen": shapes.total(two_list.lincoln_petersen(*cells)),
            "chapman": shapes.total(two_list.chapman(*cells)),
        }
        shape = {"n_observed": captures.n_found, "two_list": pair, "second_list": second}
        _show(shape, two_list.ASSUMPTION, two_list.SOURCE, as_json=as_json)
        return
    if model_text is None:
        shape = shapes.missed(missed_files.estimate_missed(captures))
    else:
        with _refusing():
            fits = loglinear.fit_models(captures, [parse_model(model_text, captures.n_lists)])
        shape = {"n_observed": captures.n_found, "models": [shapes.model(fit) for fit in fits]}
    _show(shape | {"second_list": second}, loglinear.ASSUMPTION, loglinear.SOURCE, as_json=as_json)


def _counted(
    config_path: str | None,
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
        found = scans.captures_of_scan(config_path, scan_id)
        return scans.second_list_shape(found.second_list), found.captures
    if scan_id is not None:
        message = "--scan: expected without COUNTS"
        raise click.UsageError(message)
    second = scans.second_list_shape(None if listed is None else scans.stated_second_list(*listed))
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
@JSON
def elusion(as_json: bool, **given: Any) -> None:
    """Bound the PHI left among the files that were not referred, from a random sample.

    Example: phiscan estimate elusion --population 10000 --sample 300 --found 0 --json
    """
    with _refusing():
        shape = _plan(given) if given["plan"] else _elusion(given)
    _show(shape, elusions.ASSUMPTION, elusions.SOURCE, as_json=as_json)


@estimate.command()
@click.argument("ratings", type=click.Path())
@JSON
def agreement(ratings: str, as_json: bool) -> None:
    """Measure the agreement of reviewers.

    RATINGS is a CSV file: item, then one column per reviewer; an empty field is a file not judged.

    Example: phiscan estimate agreement ratings.csv --json
    """
    reviewers, columns = read_ratings(ratings)
    _show(shapes.reviewers(reviewers, columns), agreements.ASSUMPTION, agreements.SOURCE, as_json=as_json)


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
@JSON
def verified(positive: tuple[int, int, int], negative: tuple[int, int, int], as_json: bool) -> None:
    """Correct sensitivity and specificity for files that nobody verified.

    Example: phiscan estimate verified --positive 231,32,166 --negative 27,54,140 --json
    """
    with _refusing():
        found = verification.begg_greenes(verification.Verified(*positive), verification.Verified(*negative))
    _show(
        shapes.verified(found),
        verification.VERIFIED_ASSUMPTION,
        verification.VERIFIED_SOURCE,
        as_json=as_json,
    )


@estimate.command()
@click.option("--found", type=COUNT, required=True, help="Files in the sample that the reviewers called PHI.")
@click.option("--sample", type=COUNT, required=True, help="Files in the sample.")
@click.option(
    "--sensitivity", type=float, required=True, help="Share of PHI files that a reviewer calls PHI."
)
@click.option(
    "--specificity", type=float, required=True, help="Share of other files that a reviewer calls not PHI."
)
@JSON
def prevalence(found: int, sample: int, sensitivity: float, specificity: float, as_json: bool) -> None:
    """Estimate the share of PHI files when reviewers err.

    Example: phiscan estimate prevalence --found 23 --sample 150 --sensitivity 0.96 --specificity 0.89 --json
    """
    with _refusing():
        result = verification.rogan_gladen(found, sample, sensitivity, specificity)
    if result.warning:
        print_message(f"phiscan: warning: {result.warning}")
    _show(
        shapes.prevalence(result),
        verification.PREVALENCE_ASSUMPTION,
        verification.PREVALENCE_SOURCE,
        as_json=as_json,
    )


@contextmanager
def _refusing() -> Iterator[None]:
    """Convert the ValueError of a pure function to a one-line error for the user."""
    try:
        yield
    except ValueError as error:
        raise InputError(str(error)) from None


def _show(shape: shapes.Shape, assumption: str, source: str, *, as_json: bool) -> None:
    whole = with_detectors(shape) | {"assumption": assumption, "source": source}
    if as_json:
        print_json(whole)
    else:
        click.echo("\n".join(shapes.lines(whole)))


def _show_strata(table: Table, by: str, second: shapes.Shape, *, as_json: bool) -> None:
    groups: dict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(table.column(by)):
        groups[name].append(row)
    detectors = [name for name in table.header if name not in {"count", by}]
    with _refusing():
        tables = {name: read_captures(table, detectors, rows) for name, rows in groups.items()}
        found = strata.stratified_total(tables)
    shape = {
        "n_observed": sum(part.n_found for part in tables.values()),
        "strata": [{"name": name} | shapes.total(part) for name, part in found.strata.items()],
        "combined": shapes.total(found.combined),
        "second_list": second,
    }
    _show(shape, strata.ASSUMPTION, strata.SOURCE, as_json=as_json)


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
        decision = elusions.stopping(positives, found.upper_sequential, target_recall=given["target_recall"])
        shape["stop"] = decision.stop
        if decision.recall_lower is not None:
            shape["recall_lower_sequential"] = decision.recall_lower
    return shape
