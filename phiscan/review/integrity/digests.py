"""Digests of results: of examinations with their child rows, and of scans over their examinations."""

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

N_AT_ONCE = 2000  # examinations per batch in memory
N_HEX = 24
CHILDREN = (finding, health_term, unread_part, access, health_window, reuse)
_STABLE = ("id", "scan_key", "started", "versions", "options")  # columns of a scan that never change

Parts = dict[str, str]
"""Digest of one examination by table."""


def plain_columns(table: sa.Table) -> list[sa.ColumnElement[Any]]:
    """Return the columns of a table as stored, without type conversion."""
    return [sa.type_coerce(column, _plain(column.type)).label(column.name) for column in table.columns]


def _plain(kind: sa.types.TypeEngine[Any]) -> sa.types.TypeEngine[Any]:
    return kind.impl_instance if isinstance(kind, sa.types.TypeDecorator) else kind


def parts_of(connection: sa.Connection, ids: Sequence[int]) -> dict[int, Parts]:
    """Return the parts of examinations by number; missing examinations are omitted."""
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
            of_examination = hashes.get(row[0])
            if of_examination is not None:
                line = portable.to_line(table.name, row[1:]) + b"\n"
                of_examination.setdefault(table.name, sha256()).update(line)
    return {
        number: {name: made.hexdigest()[:N_HEX] for name, made in of_examination.items()}
        for number, of_examination in hashes.items()
    }


def of_scan(connection: sa.Connection, scan_id: int) -> Iterator[dict[int, Parts]]:
    """Yield the parts of a scan's examinations, in batches, in ascending order."""
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
    """Return the part of an examination that is included in the digest of its scan."""
    return f"{number}:{canonical_json(parts)}\n".encode()


def sightings_of(connection: sa.Connection, scan_id: int) -> tuple[int, str]:
    """Return the number of files of a scan, and sha256 over them and their results."""
    query = (
        sa.select(sighting.c.file_id, sighting.c.examination_id)
        .where(sighting.c.scan_id == scan_id)
        .order_by(sighting.c.file_id)
        .execution_options(yield_per=10_000)
    )
    made, n_rows = sha256(), 0
    for batch in connection.execute(query).partitions():
        made.update("".join(f"{row[0]}:{row[1]}\n" for row in batch).encode())
        n_rows += len(batch)
    return n_rows, made.hexdigest()


def scan_row_of(connection: sa.Connection, scan_id: int) -> str:
    """Return sha256 over a scan and its roots; "" if there is no such scan."""
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
    """Return one digest of an examination, as stored in the log entry of a decision."""
    return sha256(canonical_json(parts).encode()).hexdigest()[:N_HEX]
