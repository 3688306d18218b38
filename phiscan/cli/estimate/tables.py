"""The CSV tables of ``phiscan estimate``, checked field by field."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from phiscan.cli.tables import Table, read_table
from phiscan.errors import InputError
from phiscan.metrics.capture_recapture.captures import MAX_LISTS, CaptureTable
from phiscan.metrics.elusion import Stratum

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
