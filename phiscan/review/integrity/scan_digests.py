"""Writing of the digests of a complete scan, and their renewal after a purge has removed rows of it."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from phiscan.review.audit import log as audit
from phiscan.review.integrity import digests
from phiscan.store.database import inserted_id
from phiscan.store.tables import examination, examination_digest, scan, scan_digest


def make(connection: sa.Connection, scan_id: int, *, whole: bool, actor: str, now: datetime) -> None:
    """Write the digests of every examination of a complete scan, and of the scan, into table and log."""
    made, n_rows = sha256(), 0
    for parts in digests.of_scan(connection, scan_id):
        rows = [{"examination_id": number, "parts": one} for number, one in parts.items()]
        numbers = [row["examination_id"] for row in rows]
        connection.execute(
            examination_digest.delete().where(examination_digest.c.examination_id.in_(numbers))
        )
        connection.execute(examination_digest.insert(), rows)
        for number, one in parts.items():
            made.update(digests.line_of(number, one))
        n_rows += len(rows)
    _append(connection, scan_id, (n_rows, made.hexdigest()), cause="scan", whole=whole, actor=actor, now=now)


def newest(connection: sa.Connection) -> dict[int, sa.Row[Any]]:
    """Return the valid digest by scan."""
    query = sa.select(scan_digest).order_by(scan_digest.c.id)
    return {row.scan_id: row for row in connection.execute(query)}


def renew(connection: sa.Connection, *, actor: str, now: datetime) -> None:
    """Write the digests of scans again that lost rows by a purge.

    They are computed from the remaining digests of the examinations only, not from the results, so that a
    change of the results is still found afterwards.
    """
    existing = set(connection.execute(sa.select(scan.c.id)).scalars())
    for scan_id, row in newest(connection).items():
        if scan_id not in existing:
            continue
        of_examinations = stored_digests(connection, scan_id)
        n_sightings, _ = seen = digests.sightings_of(connection, scan_id)
        if (of_examinations[0], n_sightings) == (row.n_examinations, row.n_sightings):
            continue
        _append(
            connection,
            scan_id,
            of_examinations,
            seen=seen,
            cause="purge",
            whole=row.whole,
            actor=actor,
            now=now,
        )


def stored_digests(connection: sa.Connection, scan_id: int) -> tuple[int, str]:
    """Return number and sha256 of the stored digests of a scan's examinations."""
    query = (
        sa.select(examination_digest)
        .join(examination, examination.c.id == examination_digest.c.examination_id)
        .where(examination.c.scan_id == scan_id)
        .order_by(examination_digest.c.examination_id)
        .execution_options(yield_per=2000)
    )
    made, n_rows = sha256(), 0
    for row in connection.execute(query):
        made.update(digests.line_of(row.examination_id, row.parts))
        n_rows += 1
    return n_rows, made.hexdigest()


def _append(
    connection: sa.Connection,
    scan_id: int,
    of_examinations: tuple[int, str],
    *,
    cause: str,
    whole: bool,
    actor: str,
    now: datetime,
    seen: tuple[int, str] | None = None,
) -> None:
    seen = digests.sightings_of(connection, scan_id) if seen is None else seen
    values = {
        "scan_id": scan_id,
        "cause": cause,
        "n_examinations": of_examinations[0],
        "examinations": of_examinations[1],
        "n_sightings": seen[0],
        "sightings": seen[1],
        "scan_row": digests.scan_row_of(connection, scan_id),
        "whole": whole,
        "made": now,
    }
    number = inserted_id(connection, scan_digest, values)
    details = {"scan": scan_id, "cause": cause, "examinations": of_examinations[0]}
    audit.append(connection, [audit.Entry("digest_scan", number, details)], actor=actor, at=now)
