"""Which files a scan saw, and which result stands for each; what did not change costs a few statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from phiscan.errors import StoreError
from phiscan.store.sql_batches import Run, chunks, run_batches, within
from phiscan.store.tables import file, root, scan, sighting


def see_examined(connection: sa.Connection, scan_id: int, examined: Mapping[int, int]) -> None:
    """Note the files that a scan examined itself, by number, each with its examination."""
    for some in chunks(examined):
        here = (sighting.c.scan_id == scan_id) & sighting.c.file_id.in_(some)
        seen = {
            row.file_id: row.examination_id for row in connection.execute(sa.select(sighting).where(here))
        }
        # What this scan has already seen keeps its row, so that a resumed scan has the same rows.
        new = [
            {"scan_id": scan_id, "file_id": file_id, "examination_id": examined[file_id]}
            for file_id in some
            if file_id not in seen
        ]
        if new:
            connection.execute(sighting.insert(), new)
        for file_id, examination_id in seen.items():
            if examined[file_id] != examination_id:
                row = (sighting.c.scan_id == scan_id) & (sighting.c.file_id == file_id)
                connection.execute(sighting.update().where(row).values(examination_id=examined[file_id]))
        connection.execute(file.update().where(file.c.id.in_(some)).values(seen_scan_id=scan_id))


def see_unchanged(connection: sa.Connection, scan_id: int, runs: Sequence[Run]) -> list[int]:
    """Note files that were seen again and are as they were: their last result stands.

    ``runs`` are in order and apart. The files of a share are numbered in the order of the crawl, so that
    what did not change is few runs. Returns which of them were gone after the last complete scan.

    All rows that it writes refer to rows that it has read, so that the keys need not be checked again.

    Raises:
        StoreError: a file was never examined, or there is no such scan.
    """
    back: list[int] = []
    if runs and connection.execute(sa.select(scan.c.id).where(scan.c.id == scan_id)).first() is None:
        message = f"scan {scan_id}: there is no such scan"
        raise StoreError(message)
    for some in run_batches(runs):
        among = within(file.c.id, some)
        before = connection.execute(_seen_before(among)).one()
        if before.complete is not None and before.first is not None and before.first < before.complete:
            back += connection.execute(_gone(among)).scalars()
        alike = before.first == before.last != scan_id  # nearly always: all were seen by one scan before
        standing = _of_scan(before.last, some) if alike else _of_several(scan_id, among)
        columns = ["scan_id", "file_id", "examination_id"]
        rows = standing.with_only_columns(sa.literal(scan_id), sighting.c.file_id, sighting.c.examination_id)
        # Without the option, a server's driver forgets how many rows an INSERT made.
        note = sighting.insert().from_select(columns, rows).execution_options(preserve_rowcount=True)
        n_noted = connection.execute(note).rowcount
        n_there = connection.execute(file.update().where(among).values(seen_scan_id=scan_id)).rowcount
        n_wanted = sum(last - first + 1 for first, last in some)
        if n_noted != n_wanted:  # some were noted when this scan was here before
            here = within(sighting.c.file_id, some)
            noted = sa.select(sa.func.count()).where(sighting.c.scan_id == scan_id, here)
            n_noted = connection.execute(noted).scalar_one()
        if n_noted != n_wanted or n_there != n_wanted:
            message = f"files {some[0][0]} to {some[-1][1]}: one was seen again, but it was never examined"
            raise StoreError(message)
    return back


def _seen_before(among: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Select by which scans some files were seen last, and the last complete one of their roots."""
    seen = file.c.seen_scan_id
    complete = sa.func.max(root.c.complete_scan_id).label("complete")
    return (
        sa.select(sa.func.min(seen).label("first"), sa.func.max(seen).label("last"), complete)
        .join(root, root.c.id == file.c.root_id)
        .where(among)
    )


def _gone(among: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return (
        sa.select(file.c.id)
        .join(root, root.c.id == file.c.root_id)
        .where(among, file.c.seen_scan_id < root.c.complete_scan_id)
    )


def _of_scan(before: int, runs: Sequence[Run]) -> sa.Select[Any]:
    """Select the sightings of files that were all seen last by one scan: without looking at the files."""
    return sa.select(sighting).where(sighting.c.scan_id == before, within(sighting.c.file_id, runs))


def _of_several(scan_id: int, among: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Select the last sightings of those files that this scan has not noted yet."""
    last = (sighting.c.scan_id == file.c.seen_scan_id) & (sighting.c.file_id == file.c.id)
    return (
        sa.select(sighting)
        .select_from(file)
        .join(sighting, last)
        .where(among, file.c.seen_scan_id != scan_id)
    )
