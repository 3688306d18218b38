"""Digests of results (examinations with child rows, scans) and of the states of accounts in the log."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from phiscan.review.audit import log as audit
from phiscan.store import portable_rows as portable
from phiscan.store import seals
from phiscan.store.column_types import canonical_json, row_digest, stored_columns
from phiscan.store.sql_batches import chunks
from phiscan.store.tables import (
    examination,
    examination_digest,
    file,
    metadata,
    root,
    scan,
    scan_digest,
    scan_root,
    sighting,
)
from phiscan.store.tables.users import api_token, user_account, web_session

N_AT_ONCE = 2000  # examinations per batch in memory
N_HEX = 24
CHILDREN = tuple(
    table
    for table in metadata.sorted_tables
    if "examination_id" in table.primary_key.columns and table is not examination_digest
)
"""The tables with rows of an examination."""

Parts = dict[str, str]
"""Digest of one examination by table."""


def parts_of(connection: sa.Connection, ids: Sequence[int]) -> dict[int, Parts]:
    """Return the parts of examinations by number; missing examinations are omitted."""
    hashes: dict[int, dict[str, Any]] = {}
    own = (
        sa.select(examination.c.id, *stored_columns(examination), file.c.root_id, file.c.path, file.c.display)
        .join(file, file.c.id == examination.c.file_id)
        .where(examination.c.id.in_(ids))
    )
    for row in connection.execute(own):
        hashes[row[0]] = {"examination": sha256(portable.to_line("examination", row[1:]))}
    for table in CHILDREN:
        query = (
            sa.select(table.c.examination_id, *stored_columns(table))
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


def write(connection: sa.Connection, ids: Sequence[int]) -> None:
    """Write the digests of examinations that were just recorded."""
    for batch in chunks(ids):
        found = parts_of(connection, batch)
        rows = [{"examination_id": number, "parts": parts} for number, parts in found.items()]
        seals.insert(connection, examination_digest, rows)


def stored_digests(connection: sa.Connection, ids: Sequence[int]) -> dict[int, tuple[str, bool]]:
    """Return the stored parts of examinations as JSON, and whether their seal is right."""
    query = seals.rows(connection, examination_digest, examination_digest.c.examination_id.in_(ids))
    return {
        row["examination_id"]: (row["parts"], seals.is_right(connection, examination_digest, row))
        for row in query
    }


def refuse_forged(connection: sa.Connection, scan_id: int) -> int:
    """Invalidate the results of an unfinished scan that it did not record so; return their number.

    Their files are read again, as after a change of the versions.
    """
    n_refused = 0
    for found in of_scan(connection, scan_id):
        stored = stored_digests(connection, list(found))
        forged = [
            number for number, parts in found.items() if stored.get(number) != (canonical_json(parts), True)
        ]
        if forged:
            changed = examination.update().where(examination.c.id.in_(forged))
            connection.execute(changed.values(versions_key=""))
        n_refused += len(forged)
    return n_refused


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


def line_of(number: int, parts: str) -> bytes:
    """Return the part of an examination that is included in the digest of its scan."""
    return f"{number}:{parts}\n".encode("utf-8", "surrogatepass")


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
    row = connection.execute(sa.select(*stored_columns(scan)).where(scan.c.id == scan_id)).first()
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


def make(
    connection: sa.Connection, scan_id: int, *, whole: bool, refused: int = 0, actor: str, now: datetime
) -> None:
    """Write the digest of a complete scan over those of its results into table and log.

    Only digests with a right seal count: a result that this program did not record is found later.
    ``refused``: stored results that were not believed when the scan was resumed.
    """
    of_results = combined(connection, scan_id, sealed=True)
    details = {"refused": refused} if refused else {}
    _append(connection, scan_id, of_results, cause="scan", whole=whole, actor=actor, now=now, also=details)


def newest(connection: sa.Connection) -> dict[int, sa.Row[Any]]:
    """Return the valid digest by scan, as stored."""
    query = sa.select(*stored_columns(scan_digest)).order_by(scan_digest.c.id)
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
        of_examinations = combined(connection, scan_id)
        n_sightings, _ = seen = sightings_of(connection, scan_id)
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


def combined(connection: sa.Connection, scan_id: int, *, sealed: bool = False) -> tuple[int, str]:
    """Return number and sha256 of the stored digests of a scan's examinations; or only of sealed ones."""
    of_scan = sa.select(examination.c.id).where(examination.c.scan_id == scan_id)
    made, n_rows = sha256(), 0
    for row in seals.rows(connection, examination_digest, examination_digest.c.examination_id.in_(of_scan)):
        if not sealed or seals.is_right(connection, examination_digest, row):
            made.update(line_of(row["examination_id"], row["parts"]))
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
    also: Mapping[str, Any] | None = None,
) -> None:
    seen = sightings_of(connection, scan_id) if seen is None else seen
    values = {
        "scan_id": scan_id,
        "cause": cause,
        "n_examinations": of_examinations[0],
        "examinations": of_examinations[1],
        "n_sightings": seen[0],
        "sightings": seen[1],
        "scan_row": scan_row_of(connection, scan_id),
        "whole": whole,
        "made": now,
    }
    details = {"scan": scan_id, "cause": cause, "examinations": of_examinations[0], **(also or {})}
    audit.record(connection, "digest_scan", values, details, by=actor, now=now)


N_STATE_HEX = 16
_CHANGING = {
    user_account: {"second_factor_step"},
    api_token: {"used"},
    web_session: {"seen", "purpose", "seal"},
}
STATE_COLUMNS: Mapping[sa.Table, tuple[str, ...]] = {
    table: tuple(column.name for column in table.columns if column.name not in {"id", *changing})
    for table, changing in _CHANGING.items()
}
"""All columns but those that change at each use."""
STATE_TABLES = {table.name: table for table in STATE_COLUMNS}

States = dict[str, dict[int, dict[str, str]]]
"""Per table and row, the digest of each column."""


def state_of(table: sa.Table, row: Mapping[str, Any]) -> dict[str, str]:
    """Return the digest of each column of a row as stored."""
    return {name: row_digest(table, [name, row[name]])[:N_STATE_HEX] for name in STATE_COLUMNS[table]}


def states(
    connection: sa.Connection, table: sa.Table, where: sa.ColumnElement[bool] | None = None
) -> dict[int, dict[str, str]]:
    """Return the current states of rows."""
    query = sa.select(*stored_columns(table)).order_by(table.c.id)
    if where is not None:
        query = query.where(where)
    return {row["id"]: state_of(table, dict(row)) for row in connection.execute(query).mappings()}


def state_details(
    connection: sa.Connection, changes: Mapping[sa.Table, tuple[Iterable[int], Collection[str] | None]]
) -> dict[str, Any]:
    """Return the part of a log entry about changed rows; only the columns that the change concerns.

    ``changes``: by table, the rows and their columns (None = all, of a new row). Columns outside of the
    change keep their previous digest, so that a manipulation of them is found later.
    """
    found: dict[str, Any] = {}
    for table, (numbers, columns) in changes.items():
        ids = list(numbers)
        rows = states(connection, table, table.c.id.in_(ids)) if ids else {}
        kept = {
            str(number): {name: state[name] for name in state if columns is None or name in columns}
            for number, state in rows.items()
        }
        if any(kept.values()):
            found[table.name] = kept
    return {"states": found} if found else {}


def add_states(known: States, details: Mapping[str, Any]) -> None:
    """Merge the states of one entry into the known ones; the later entry applies."""
    for name, rows in details.get("states", {}).items():
        of_table = known.setdefault(name, {})
        for number, state in rows.items():
            of_table.setdefault(int(number), {}).update(state)


def carried_states(connection: sa.Connection, known: States) -> dict[str, dict[str, str]]:
    """Return the states of existing rows for the certificate of a purge."""
    kept: dict[str, dict[str, str]] = {}
    for name, rows in known.items():
        existing = set(connection.execute(sa.select(STATE_TABLES[name].c.id)).scalars())
        of_table = {
            str(number): canonical_json(state) for number, state in rows.items() if number in existing
        }
        if of_table:
            kept[name] = of_table
    return kept


def states_from_carried(kept: Mapping[str, Mapping[int, str]]) -> States:
    """Return the states stored in the certificate of a purge."""
    return {
        name: {int(number): json.loads(text) for number, text in rows.items()}
        for name, rows in kept.items()
        if name in STATE_TABLES
    }
