"""A random sample of the rows of a table, as a SQLite database in memory.

The number of rows that are kept depends on how long they are, so that a sample has a bounded size; a table
with fewer rows is taken whole. The same seed draws the same rows of the same data. They are stored in a
random order, so that every part of the sample is a sample as well.
"""

from __future__ import annotations

import math
import random
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from phiscan.crawl.databases.dialects import POSTGRESQL, Dialect

MOST_BYTES = 64 * 1024**2  # of the rows that are wanted, by their average length
_BLOCK_BYTES = 8192
_LARGEST_INTEGER = 2**63


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample of the rows of a table."""

    data: bytes = field(repr=False)
    n_rows: int
    n_all: int  # of the table


def take_sample(
    connection: sa.Connection, dialect: Dialect, table: sa.Row[Any], most_rows: int, seed: int
) -> Sample:
    """Return at most so many rows of a table, drawn at random, as a SQLite database of one table.

    All statements see the same state of the table: the connection's transaction is a snapshot. Where blocks
    can be drawn, about one is read for each row that is wanted; else all are.
    """
    source = dialect.source.format(".".join(map(dialect.quoted, (table.place, table.name))))
    share = min(1.0, most_rows * _BLOCK_BYTES / max(table.n_scanned_bytes, 1)) if dialect.blocks else 1.0
    if share < 1:
        source += dialect.blocks.format(percent=share * 100, seed=seed)
    ((n_found,),) = _rows(connection, dialect, f"SELECT count(*) FROM {source}")  # noqa: S608 (quoted names)
    n_all = n_found if share >= 1 else round(max(n_found, 1) / share)
    row_bytes = max(table.n_bytes / max(n_all, 1), 1)
    n_wanted = max(1, min(most_rows, int(MOST_BYTES / row_bytes)))
    if n_found > n_wanted:
        # The number that is drawn varies; three standard deviations less than wanted are rarely too many.
        n_wanted_on_average = max(n_wanted - 3 * math.sqrt(n_wanted), n_wanted / 2)
        source += f" WHERE {dialect.condition.format(share=n_wanted_on_average / n_found, seed=seed)}"
    declared, expressions = _columns(connection, dialect, table)
    statement = f"SELECT {table.hint}{', '.join(expressions)} FROM {source}"  # noqa: S608 (quoted names)
    found = _rows(connection, dialect, statement)
    rows = list(_bounded(found, n_wanted))
    if next(found, None) is not None:
        connection.invalidate()  # else the driver would fetch what is left
    random.Random(seed).shuffle(rows)  # noqa: S311 (an order, no secret)
    name = POSTGRESQL.quoted(f"_{table.name}" if table.name.lower().startswith("sqlite_") else table.name)
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE TABLE {name} ({', '.join(declared)})")
        places = ", ".join("?" * len(declared))
        database.executemany(f"INSERT INTO {name} VALUES ({places})", rows)  # noqa: S608 (a quoted name)
        return Sample(database.serialize(), len(rows), max(n_all, len(rows)))


def _columns(connection: sa.Connection, dialect: Dialect, table: sa.Row[Any]) -> tuple[list[str], list[str]]:
    """Return the columns of a table, also those not shown by default: declared for SQLite, and asked for.

    SQLite knows no names that differ in case alone.
    """
    declared, expressions, names = [], [], set()
    place = {"schema": table.place, "name": table.name}
    for column, kind in connection.execute(sa.text(dialect.columns), place):
        shown = column
        while shown.lower() in names:
            shown += "_2"
        names.add(shown.lower())
        found = next(one for one in dialect.types if re.fullmatch(one[0], kind))
        declared.append(f"{POSTGRESQL.quoted(shown)} {found[1]}")
        expressions.append(found[2].format(f"t.{dialect.quoted(column)}"))
    return declared or ["none TEXT"], expressions or ["1"]


def _rows(connection: sa.Connection, dialect: Dialect, statement: str) -> Iterator[Sequence[Any]]:
    """Run a statement as it is, and yield its rows, of which one is in memory at a time.

    Names in it may have what stands for parameters elsewhere. How long rows are is not known before: a cell
    that compresses well is far longer than its part of the table.
    """
    if dialect is POSTGRESQL:
        raw: Any = connection.connection.dbapi_connection
        return iter(raw.cursor().stream(statement))
    plain = connection.execution_options(no_parameters=True, stream_results=True, max_row_buffer=1)
    return iter(plain.exec_driver_sql(statement))


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
