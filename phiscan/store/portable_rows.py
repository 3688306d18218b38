"""Rows of every table to lines of text and back, equal for every kind of database.

A line is a JSON list, one value per column in the order of the table: numbers, texts, null, true and false
as themselves, bytes as a list of one base64 text. A table is its lines in the order of its primary key; its
digest is sha256 over them. Equal digests mean equal rows, so that a copy can be verified without the
original.

The tables are those in the database, not those of this program, so that a copy of an older schema can be
restored and then migrated.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import IO, Any

import sqlalchemy as sa

from phiscan.errors import StoreError

N_ROWS_AT_ONCE = 2000
VERSION_TABLE = "alembic_version"


@dataclass(frozen=True, slots=True)
class TableSum:
    """Number of rows, digest and highest row number of a table."""

    n_rows: int
    digest: str  # sha256 over the lines, hex
    last_id: int  # highest number ever given to a row; 0 = the table has no row numbers


def tables_of(connection: sa.Connection) -> list[sa.Table]:
    """Return the tables of the database, in the order of their references."""
    metadata = sa.MetaData()
    metadata.reflect(connection)
    return [table for table in metadata.sorted_tables if table.name != VERSION_TABLE]


def lines_of(connection: sa.Connection, table: sa.Table) -> Iterator[bytes]:
    """Yield the rows of a table, each a line without its end, in the order of the primary key.

    Raises:
        StoreError: a value that other databases reject, such as an infinite number.
    """
    order = list(table.primary_key.columns) or list(table.columns)
    query = sa.select(table).order_by(*order).execution_options(yield_per=N_ROWS_AT_ONCE)
    for row in connection.execute(query):
        yield to_line(table.name, row)


def to_line(table: str, row: Iterable[Any]) -> bytes:
    """Return a row as a line."""
    values = [[base64.b64encode(value).decode()] if isinstance(value, bytes) else value for value in row]
    try:
        return json.dumps(values, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        message = f"table {table}: a row cannot be written out ({type(error).__name__})"
        raise StoreError(message) from None


def insert_lines(connection: sa.Connection, table: sa.Table, lines: Iterable[bytes]) -> None:
    """Insert the rows of lines in bulk.

    Raises:
        ValueError: a line is not a row of this table.
    """
    waiting = iter(lines)
    while some := list(islice(waiting, N_ROWS_AT_ONCE)):
        rows = [
            {
                column.name: base64.b64decode(value[0], validate=True) if isinstance(value, list) else value
                for column, value in zip(table.columns, json.loads(line), strict=True)
            }
            for line in some
        ]
        connection.execute(table.insert(), rows)


def sum_of(lines: Iterable[bytes], to: IO[bytes] | None = None) -> tuple[int, str]:
    """Return number and digest of lines, which are also written to a stream."""
    digest, n_rows = sha256(), 0
    for line in lines:
        digest.update(line + b"\n")
        n_rows += 1
        if to is not None:
            to.write(line + b"\n")
    return n_rows, digest.hexdigest()


def sums_of(connection: sa.Connection) -> dict[str, TableSum]:
    """Return the number of rows and the digest of every table."""
    tables = tables_of(connection)
    last = last_ids(connection, tables)
    sums = {}
    for table in tables:
        n_rows, digest = sum_of(lines_of(connection, table))
        sums[table.name] = TableSum(n_rows, digest, last.get(table.name, 0))
    return sums


def table_with_rows(connection: sa.Connection) -> str:
    """Return the name of a table with rows, or ""."""
    for table in tables_of(connection):
        if connection.execute(sa.select(sa.literal(1)).select_from(table).limit(1)).first() is not None:
            return table.name
    return ""


def last_ids(connection: sa.Connection, tables: Iterable[sa.Table]) -> dict[str, int]:
    """Return the highest number ever given to a row, for each of the tables that has row numbers.

    Numbers are never reused, even if the newest rows were purged; so a copy must include this.
    """
    numbered = [table for table in tables if table.primary_key.columns.keys() == ["id"]]
    highest = {table.name: sa.select(sa.func.max(table.c.id)) for table in numbered}
    last = {name: int(connection.execute(query).scalar() or 0) for name, query in highest.items()}
    if connection.dialect.name == "sqlite":
        given = {
            str(name): int(number)
            for name, number in connection.exec_driver_sql("SELECT name, seq FROM sqlite_sequence")
        }
    else:
        given = {table.name: _given(connection, table.name) for table in numbered}
    return {name: max(number, given.get(name, 0)) for name, number in last.items()}


def set_last_ids(connection: sa.Connection, last: Mapping[str, int]) -> None:
    """Set the last number of each table, so that the next row is numbered above it."""
    for name, number in last.items():
        if not number:
            continue
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
            connection.exec_driver_sql(
                "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, number)
            )
        else:
            sequence = sa.func.pg_get_serial_sequence(f'"{name}"', "id")
            connection.execute(sa.select(sa.func.setval(sa.cast(sequence, sa.Text), number)))


def _given(connection: sa.Connection, name: str) -> int:
    sequence = connection.execute(sa.select(sa.func.pg_get_serial_sequence(f'"{name}"', "id"))).scalar()
    if sequence is None:
        return 0
    row = connection.exec_driver_sql(f"SELECT last_value, is_called FROM {sequence}").one()  # noqa: S608 (the server's own quoting)
    return int(row.last_value) if row.is_called else 0
