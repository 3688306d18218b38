"""Digests of results: examinations with all that belongs to them, and scans over their examinations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from phiscan.store import portable_rows as portable
from phiscan.store.column_types import canonical_json
from phiscan.store.tables import (
    access,
    examination,
    file,
    finding,
    health_term,
    health_window,
    reuse,
    root,
    scan,
    scan_root,
    sighting,
    unread_part,
)

N_AT_ONCE = 2000  # examinations whose digests are in memory together
N_HEX = 24
CHILDREN = (finding, health_term, unread_part, access, health_window, reuse)
_STABLE = ("id", "scan_key", "started", "versions", "options")  # columns of a scan that never change

Parts = dict[str, str]
"""Digest by table of one examination."""


def plain_columns(table: sa.Table) -> list[sa.ColumnElement[Any]]:
    """Return the columns of a table as the database holds them, before any type reads them."""
    return [sa.type_coerce(column, _plain(column.type)).label(column.name) for column in table.columns]


def _plain(kind: sa.types.TypeEngine[Any]) -> sa.types.TypeEngine[Any]:
    return kind.impl_instance if isinstance(kind, sa.types.TypeDecorator) else kind


def parts_of(connection: sa.Connection, ids: Sequence[int]) -> dict[int, Parts]:
    """Return the parts of some examinations, by number; one that is not there is left out."""
    hashes: dict[int, dict[str, Any]] = {}
    own = (
        sa.select(examination.c.id, *plain_columns(examination), file.c.root_id, file.c.path, file.c.display)
        .join(file, file.c.id == examination.c.file_id)
        .where(examination.c.id.in_(ids))
    )
    for row in connection.execute(own):
        hashes[row[0]] = {"examination": sha256(portable.to_line("examination", row[1:]))}
    for table in CHILDREN:
        query = (
            sa.select(table.c.examination_id, *plain_columns(table))
            .where(table.c.examination_id.in_(ids))
            .order_by(*table.primary_key.columns)
        )
        for row in connection.execute(query):
            of_one = hashes.get(row[0])
            if of_one is not None:
                line = portable.to_line(table.name, row[1:]) + b"\n"
                of_one.setdefault(table.name, sha256()).update(line)
    return {
        number: {name: made.hexdigest()[:N_HEX] for name, made in of_one.items()}
        for number, of_one in hashes.items()
    }


def of_scan(connection: sa.Connection, scan_id: int) -> Iterator[dict[int, Parts]]:
    """Yield the parts of the examinations that a scan made, some at a time, in rising order."""
    last = 0
    while True:
        query = (
            sa.select(examination.c.id)
            .where(examination.c.scan_id == scan_id, examination.c.id > last)
            .order_by(examination.c.id)
            .limit(N_AT_ONCE)
        )
        ids = list(connection.execute(query).scalars())
        if not ids:
            return
        found = parts_of(connection, ids)
        yield {number: found.get(number, {}) for number in ids}
        last = ids[-1]


def line_of(number: int, parts: Parts) -> bytes:
    """Return what the digest of a scan takes of one examination."""
    return f"{number}:{canonical_json(parts)}\n".encode()


def sightings_of(connection: sa.Connection, scan_id: int) -> tuple[int, str]:
    """Return the number of files that a scan saw, and sha256 over them and their results."""
    query = (
        sa.select(sighting.c.file_id, sighting.c.examination_id)
        .where(sighting.c.scan_id == scan_id)
        .order_by(sighting.c.file_id)
        .execution_options(yield_per=10_000)
    )
    made, n_rows = sha256(), 0
    for some in connection.execute(query).partitions():
        made.update("".join(f"{row[0]}:{row[1]}\n" for row in some).encode())
        n_rows += len(some)
    return n_rows, made.hexdigest()


def scan_row_of(connection: sa.Connection, scan_id: int) -> str:
    """Return sha256 over a scan itself and its roots; "" when there is no such scan."""
    columns = [one for one in plain_columns(scan) if one.name in _STABLE]
    row = connection.execute(sa.select(*columns).where(scan.c.id == scan_id)).first()
    if row is None:
        return ""
    roots = (
        sa.select(scan_root.c.position, root.c.id, root.c.path, root.c.display)
        .join(root, root.c.id == scan_root.c.root_id)
        .where(scan_root.c.scan_id == scan_id)
        .order_by(scan_root.c.position)
    )
    lines = [
        portable.to_line("scan", row),
        *(portable.to_line("root", one) for one in connection.execute(roots)),
    ]
    return sha256(b"\n".join(lines)).hexdigest()


def combined(parts: Parts) -> str:
    """Return one digest of an examination, as a decision's entry in the log keeps it."""
    return sha256(canonical_json(parts).encode()).hexdigest()[:N_HEX]
