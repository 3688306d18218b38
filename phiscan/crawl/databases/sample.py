"""A random sample of the rows of a table, as a SQLite database in memory.

The number of rows that are kept depends on how long they are, so that a sample has a bounded size; a table
with fewer rows is taken whole. The same seed draws the same rows of the same data. They are stored in a
random order, so that every part of the sample is a sample as well.
"""

from __future__ import annotations

import math
import random
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from phiscan.crawl.databases.dialect import Column, Dialect, Table, quoted

MOST_BYTES = 64 * 1024**2  # of the rows that are wanted, by their average length
_BUFFER_BYTES = 4 * 1024**2  # of rows fetched at a time
_LARGEST_INTEGER = 2**63
_ROW_NUMBERS = ("rowid", "_rowid_", "oid")  # SQLite's own names of a row's number


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample of the rows of a table."""

    data: bytes = field(repr=False)
    n_rows: int
    n_all: int  # of the table


def take_sample(
    connection: sa.Connection, dialect: Dialect, table: Table, most_rows: int, seed: int
) -> Sample:
    """Return at most so many rows of a table, drawn at random, as a SQLite database of one table.

    All statements see the same state of the table: the connection's transaction is a snapshot.
    """
    columns = dialect.columns(connection, table)
    source, share = dialect.drawn(table, most_rows, seed)
    n_found = _run(connection, f"SELECT count(*) FROM {source}").scalar_one()  # noqa: S608 (quoted names)
    n_all = n_found if share >= 1 else round(max(n_found, 1) / share)
    row_bytes = max(table.n_bytes / max(n_all, 1), 1)
    n_wanted = max(1, min(most_rows, int(MOST_BYTES / row_bytes)))
    where = ""
    if n_found > n_wanted:
        # The number that is drawn varies; three standard deviations less than wanted are rarely too many.
        n_wanted_on_average = max(n_wanted - 3 * math.sqrt(n_wanted), n_wanted / 2)
        where = f" WHERE {dialect.condition(n_wanted_on_average / n_found, seed)}"
    asked = ", ".join(column.expression for column in columns) or "1"
    statement = f"SELECT {dialect.hint(table)}{asked} FROM {source}{where}"  # noqa: S608 (quoted names)
    rows = _run(connection, statement, n_buffered=max(1, min(1000, int(_BUFFER_BYTES / row_bytes))))
    with closing(sqlite3.connect(":memory:")) as database:
        n_rows = _fill(database, table.name, columns, _bounded(rows, n_wanted), seed)
        if rows.fetchone() is not None:
            connection.invalidate()  # else the driver would fetch what is left
        return Sample(database.serialize(), n_rows, max(n_all, n_rows))


def _run(connection: sa.Connection, statement: str, n_buffered: int = 1) -> sa.CursorResult[Any]:
    """Run a statement as it is: names in it may have what stands for parameters elsewhere."""
    plain = connection.execution_options(no_parameters=True, stream_results=True, max_row_buffer=n_buffered)
    return plain.exec_driver_sql(statement)


def _bounded(rows: Iterable[Sequence[Any]], n_wanted: int) -> Iterator[list[Any]]:
    """Yield the values of rows for SQLite, until there are enough or they are longer than was expected."""
    n_bytes = 0
    for number, row in enumerate(rows):
        if number >= n_wanted or n_bytes > 2 * MOST_BYTES:
            return
        values = [_value(value) for value in row]
        n_bytes += sum(len(value) for value in values if isinstance(value, str | bytes))
        yield values


def _value(value: Any) -> Any:
    """Return a value that SQLite takes.

    >>> _value(True), _value(2**63), _value(1.5), _value(b"x"), _value(None)
    (1, '9223372036854775808', '1.5', b'x', None)
    """
    if value is None or isinstance(value, bytes | str):
        return value
    if isinstance(value, int) and -_LARGEST_INTEGER <= value < _LARGEST_INTEGER:
        return int(value)
    return bytes(value) if isinstance(value, bytearray | memoryview) else str(value)


def _fill(
    database: sqlite3.Connection, name: str, columns: Sequence[Column], rows: Iterable[list[Any]], seed: int
) -> int:
    """Store rows under random numbers, the order in which they are read; return how many."""
    table = quoted(f"_{name}" if name.lower().startswith("sqlite_") else name, '"')
    names = _distinct([column.name for column in columns])
    shown = [quoted(name, '"') for name in names]
    declared = [f"{name} {column.kind}" for name, column in zip(shown, columns, strict=True)]
    database.execute(f"CREATE TABLE {table} ({', '.join(declared or ['none TEXT'])})")
    number = [alias for alias in _ROW_NUMBERS if alias not in {name.lower() for name in names}][:1]
    listed = [*number, *shown]
    marks = ", ".join("?" * len(listed))
    insert = f"INSERT INTO {table} ({', '.join(listed)}) VALUES ({marks})"  # noqa: S608 (quoted names)
    order = random.Random(seed)  # noqa: S311 (an order, no secret)
    n_rows = 0
    for n_rows, row in enumerate(rows, 1):  # noqa: B007 (the number of the last one)
        values = row[: len(names)]
        database.execute(insert, [order.getrandbits(62), *values] if number else values)
    return n_rows


def _distinct(names: Iterable[str]) -> list[str]:
    """Return names of which no two differ in case alone.

    >>> _distinct(["a", "A", "b"])
    ['a', 'A_2', 'b']
    """
    found: dict[str, str] = {}
    for name in names:
        other, number = name, 1
        while other.lower() in found:
            number += 1
            other = f"{name}_{number}"
        found[other.lower()] = other
    return list(found.values())
