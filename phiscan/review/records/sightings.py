"""Sightings: the files that a scan saw, and the current result of each; unchanged files by few statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from phiscan.errors import StoreError
from phiscan.store.sql_batches import Run, chunks, run_batches, within
from phiscan.store.tables import file, root, scan, sighting


def see_examined(connection: sa.Connection, scan_id: int, examined: Mapping[int, int]) -> None:
    """Record the files that a scan examined itself, by number, each with its examination."""
    for batch in chunks(examined):
        here = (sighting.c.scan_id == scan_id) & sighting.c.file_id.in_(batch)
        seen = {
            row.file_id: row.examination_id for row in connection.execute(sa.select(sighting).where(here))
        }
        # A file that this scan has recorded already keeps its row, so that a resumed scan has the same rows.
        new = [
            {"scan_id": scan_id, "file_id": file_id, "examination_id": examined[file_id]}
            for file_id in batch
            if file_id not in seen
        ]
        if new:
            connection.execute(sighting.insert(), new)
        for file_id, examination_id in seen.items():
            if examined[file_id] != examination_id:
                row = (sighting.c.scan_id == scan_id) & (sighting.c.file_id == file_id)
                connection.execute(sighting.update().where(row).values(examination_id=examined[file_id]))
        connection.execute(file.update().where(file.c.id.in_(batch)).values(seen_scan_id=scan_id))


def see_unchanged(connection: sa.Connection, scan_id: int, runs: Sequence[Run]) -> list[int]:
    """Record files that were seen again unchanged: their last result remains current.

    ``runs`` are sorted and disjoint. The files of a share are numbered in crawl order, so that unchanged
    files form few runs. Returns the files that were missing at the last complete scan.

    All written rows refer to rows that were read before, so that foreign keys need not be checked again.

    Raises:
        StoreError: a file was never examined, or there is no such scan.
    """
    back: list[int] = []
    if runs and connection.execute(sa.select(scan.c.id).where(scan.c.id == scan_id)).first() is None:
        message = f"scan {scan_id}: there is no such scan"
        raise StoreError(message)
    for batch in run_batches(runs):
        among = within(file.c.id, batch)
        before = connection.execute(_seen_before(among)).one()
        if before.complete is not None and before.first is not None and before.first < before.complete:
            back += connection.execute(_missing(among)).scalars()
        alike = before.first == before.last != scan_id  # nearly always: all were last seen by the same scan
        standing = _of_scan(before.last, batch) if alike else _of_several(scan_id, among)
        columns = ["scan_id", "file_id", "examination_id"]
        rows = standing.with_only_columns(sa.literal(scan_id), sighting.c.file_id, sighting.c.examination_id)
        # Without the option, the driver of a server does not return the row count of an INSERT.
        note = sighting.insert().from_select(columns, rows).execution_options(preserve_rowcount=True)
        n_noted = connection.execute(note).rowcount
        n_present = connection.execute(file.update().where(among).values(seen_scan_id=scan_id)).rowcount
        n_expected = sum(last - first + 1 for first, last in batch)
        if n_noted != n_expected:  # some were recorded before this scan was resumed
            here = within(sighting.c.file_id, batch)
            noted = sa.select(sa.func.count()).where(sighting.c.scan_id == scan_id, here)
            n_noted = connection.execute(noted).scalar_one()
        if n_noted != n_expected or n_present != n_expected:
            message = f"files {batch[0][0]} to {batch[-1][1]}: one was seen again, but it was never examined"
            raise StoreError(message)
    return back


def _seen_before(among: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Select the scans that last saw some files, and the last complete scan of their roots."""
    seen = file.c.seen_scan_id
    complete = sa.func.max(root.c.complete_scan_id).label("complete")
    return (
        sa.select(sa.func.min(seen).label("first"), sa.func.max(seen).label("last"), complete)
        .join(root, root.c.id == file.c.root_id)
        .where(among)
    )


def _missing(among: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return (
        sa.select(file.c.id)
        .join(root, root.c.id == file.c.root_id)
        .where(among, file.c.seen_scan_id < root.c.complete_scan_id)
    )


def _of_scan(before: int, runs: Sequence[Run]) -> sa.Select[Any]:
    """Select the sightings of files that were all last seen by one scan, without reading the files."""
    return sa.select(sighting).where(sighting.c.scan_id == before, within(sighting.c.file_id, runs))


def _of_several(scan_id: int, among: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Select the last sightings of the files that this scan has not recorded yet."""
    last = (sighting.c.scan_id == file.c.seen_scan_id) & (sighting.c.file_id == file.c.id)
    return (
        sa.select(sighting)
        .select_from(file)
        .join(sighting, last)
        .where(among, file.c.seen_scan_id != scan_id)
    )
