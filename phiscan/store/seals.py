"""Seals of rows: an HMAC over all columns under the signing key, which the database does not hold.

A table whose rows the program believes later, or changes too often for an entry of the audit log, has a
column ``seal``. A row that was written without the key has no right seal: it is not believed, and ``audit
verify`` names it. The number of a table's rows and the sum of their seals are a sealed row themselves, so
that a row that was removed or doubled is noticed. Without a key (``signed_head.key_of``) every seal is empty.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from phiscan.store import append_only, signed_head
from phiscan.store.column_types import stored_columns
from phiscan.store.portable_rows import to_line
from phiscan.store.tables.integrity import examination_digest, seal_total
from phiscan.store.tables.schema import APPEND_ONLY, metadata
from phiscan.store.tables.users import api_token, user_account, web_session

Row = Mapping[str, Any] | sa.RowMapping
COLUMN = "seal"
TABLES = tuple(table for table in metadata.sorted_tables if COLUMN in table.columns)
# The results of a scan are counted by its digest.
COUNTED = tuple(table for table in TABLES if table not in {examination_digest, seal_total})
# Other rows name a row of these by its number, which is sealed with it.
_NUMBERED = frozenset({user_account, api_token, web_session})
_MODULUS = 1 << 256


def seal_of(connection: sa.Connection, table: sa.Table, row: Row) -> str:
    """Return the seal of a row given as stored; its seal, and of most tables its number, do not count."""
    key = signed_head.key_of(connection)
    if key is None:
        return ""
    left_out = {COLUMN} if table in _NUMBERED else {COLUMN, "id"}
    names = [column.name for column in table.columns if column.name not in left_out]
    line = to_line(table.name, [row[name] for name in names])
    return hmac.new(key, table.name.encode() + b"\0" + line, sha256).hexdigest()


def sealed(connection: sa.Connection, table: sa.Table, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row to be inserted, complete but for its number, with its seal."""
    stored = dict(row)
    for name, value in row.items():
        kind: sa.types.TypeEngine[Any] = table.columns[name].type
        if isinstance(kind, sa.types.TypeDecorator):
            stored[name] = kind.process_bind_param(value, connection.dialect)
    return {**row, COLUMN: seal_of(connection, table, stored)}


def insert(connection: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows with their seals."""
    if rows:
        made = [sealed(connection, table, row) for row in rows]
        connection.execute(table.insert(), made)
        _count(connection, table, added=[row[COLUMN] for row in made])


def insert_one(connection: sa.Connection, table: sa.Table, row: Mapping[str, Any]) -> int:
    """Insert a row of a table whose numbers are sealed, and return its number."""
    key = connection.execute(table.insert(), {**row, COLUMN: ""}).inserted_primary_key
    number = int(key[0]) if key else 0
    _seal_anew(connection, table, number, removed=[])
    return number


def remove(connection: sa.Connection, table: sa.Table, *where: sa.ColumnElement[bool]) -> None:
    """Delete rows; one without a right seal was never counted."""
    found = _right_seals(connection, table, *where) if table in COUNTED else []
    connection.execute(table.delete().where(*where))
    _count(connection, table, removed=found)


def is_right(connection: sa.Connection, table: sa.Table, row: Row) -> bool:
    """Return whether a row, with its columns as stored, was written by this program with its key."""
    return hmac.compare_digest(str(row[COLUMN]), seal_of(connection, table, row))


def rows(connection: sa.Connection, table: sa.Table, *where: sa.ColumnElement[bool]) -> sa.MappingResult:
    """Select rows as stored, in the order of the primary key."""
    query = sa.select(*stored_columns(table)).where(*where).order_by(*table.primary_key.columns)
    return connection.execute(query.execution_options(yield_per=1000)).mappings()


def count_all(connection: sa.Connection, tables: Sequence[sa.Table] = COUNTED) -> None:
    """Store number and sum of the rows of tables as they are."""
    for table in tables:
        connection.execute(seal_total.delete().where(seal_total.c.name == table.name))
        connection.execute(seal_total.insert(), _total(connection, table, *total_of(connection, table)))


def total_of(connection: sa.Connection, table: sa.Table) -> tuple[int, int]:
    """Return the number of rows with a right seal, and the sum of their seals."""
    found = _right_seals(connection, table)
    return len(found), _sum(found)


def _right_seals(connection: sa.Connection, table: sa.Table, *where: sa.ColumnElement[bool]) -> list[str]:
    return [row[COLUMN] for row in rows(connection, table, *where) if is_right(connection, table, row)]


def stored_totals(connection: sa.Connection) -> dict[str, tuple[int, int]]:
    """Return number and sum of the rows by the name of the table, of what has a right seal."""
    return {
        row["name"]: (row["n_rows"], int(row["total"], 16))
        for row in rows(connection, seal_total)
        if is_right(connection, seal_total, row)
    }


def _count(
    connection: sa.Connection, table: sa.Table, *, added: Sequence[str] = (), removed: Sequence[str] = ()
) -> None:
    """Change the stored total of a table, if it is right: what SQL changed is not covered up."""
    if table not in COUNTED or signed_head.key_of(connection) is None or not (added or removed):
        return
    query = sa.select(*stored_columns(seal_total)).where(seal_total.c.name == table.name)
    before = connection.execute(query.with_for_update()).mappings().first()
    if before is None or not is_right(connection, seal_total, before):
        return
    n_rows = before["n_rows"] + len(added) - len(removed)
    total = (int(before["total"], 16) + _sum(added) - _sum(removed)) % _MODULUS
    # Changed in place: another transaction that waits for this row would not find a new one.
    connection.execute(
        seal_total.update().where(seal_total.c.name == table.name), _total(connection, table, n_rows, total)
    )


def _sum(seals: Sequence[str]) -> int:
    return sum(int(one or "0", 16) for one in seals) % _MODULUS


def _total(connection: sa.Connection, table: sa.Table, n_rows: int, total: int) -> dict[str, Any]:
    row = {"name": table.name, "n_rows": n_rows, "total": f"{total:064x}"}
    return sealed(connection, seal_total, row)


def sign_all(connection: sa.Connection) -> None:
    """Sign the end of the log and seal every row as they are, with the present key.

    On a server this takes the owner of the tables: rows of append-only ones are written again.
    """
    signed_head.sign_last(connection, now=datetime.now(UTC))
    for table in TABLES:
        is_guarded = table.name in APPEND_ONLY
        for row in rows(connection, table).all():
            here = [column == row[column.name] for column in table.primary_key.columns]
            fresh = {COLUMN: seal_of(connection, table, row)}
            if fresh[COLUMN] == row[COLUMN]:
                continue
            if is_guarded:
                with append_only.lifted(connection, [table.name]):
                    connection.execute(table.delete().where(*here))
                columns = (sa.column(one.name, one.type) for one in stored_columns(table))
                connection.execute(sa.table(table.name, *columns).insert(), {**row, **fresh})
            else:
                connection.execute(table.update().where(*here).values(fresh))
    count_all(connection)


def update(connection: sa.Connection, table: sa.Table, number: int, values: Mapping[str, Any]) -> None:
    """Change columns of the row with this number; a seal that was not right before stays so."""
    here = table.c.id == number
    before = rows(connection, table, here).first()
    if before is None:
        return
    connection.execute(table.update().where(here).values(values))
    if is_right(connection, table, before):
        _seal_anew(connection, table, number, removed=[before[COLUMN]])


def _seal_anew(connection: sa.Connection, table: sa.Table, number: int, *, removed: Sequence[str]) -> None:
    here = table.c.id == number
    fresh = seal_of(connection, table, rows(connection, table, here).one())
    connection.execute(table.update().where(here).values({COLUMN: fresh}))
    _count(connection, table, added=[fresh], removed=removed)
