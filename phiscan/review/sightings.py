"""Which files a scan saw, and which result stands for each; what did not change costs a few statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import sqlalchemy as sa

from phiscan.errors import StoreError
from phiscan.review.statements import chunks, some_runs
from phiscan.review.tables import file, sighting


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


def see_unchanged(connection: sa.Connection, scan_id: int, file_ids: Iterable[int]) -> None:
    """Note files that were seen again and are as they were: their last result stands.

    The files of a share are numbered in the order of the crawl, so that what did not change is few runs
    of numbers.

    Raises:
        StoreError: a file was never examined.
    """
    wanted = sorted(set(file_ids))
    for runs in some_runs(wanted):
        among = sa.or_(*(file.c.id.between(first, last) for first, last in runs))
        unseen = among & (file.c.seen_scan_id != scan_id)
        standing = (
            sa.select(sa.literal(scan_id), file.c.id, sighting.c.examination_id)
            .join(sighting, (sighting.c.scan_id == file.c.seen_scan_id) & (sighting.c.file_id == file.c.id))
            .where(unseen)
        )
        columns = ["scan_id", "file_id", "examination_id"]
        # Without the option, a server's driver forgets how many rows an INSERT made.
        note = sighting.insert().from_select(columns, standing).execution_options(preserve_rowcount=True)
        n_noted = connection.execute(note).rowcount
        n_there = connection.execute(file.update().where(among).values(seen_scan_id=scan_id)).rowcount
        n_wanted = sum(last - first + 1 for first, last in runs)
        if n_noted != n_wanted:  # some were noted when this scan was here before
            here = sa.or_(*(sighting.c.file_id.between(first, last) for first, last in runs))
            noted = sa.select(sa.func.count()).where(sighting.c.scan_id == scan_id, here)
            n_noted = connection.execute(noted).scalar_one()
        if n_noted != n_wanted or n_there != n_wanted:
            message = f"files {runs[0][0]} to {runs[-1][1]}: one was seen again, but it was never examined"
            raise StoreError(message)
