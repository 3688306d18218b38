"""Lists of values and ranges of numbers in batches for SQL statements; rows counted, and as values."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from functools import cache
from operator import itemgetter
from typing import Any, TypeVar

import sqlalchemy as sa

T = TypeVar("T")
Run = tuple[int, int]
"""First and last of some consecutive numbers."""

N_PER_STATEMENT = 500  # values of one IN list
N_RUNS = 100  # ranges of numbers of one statement


def listed(name: str) -> sa.BindParameter[Any]:
    """Return the parameter of an IN list in a statement that is compiled once and executed often.

    Compiling a statement takes about ten times as long as SQLite needs to execute it.
    """
    return sa.bindparam(name, expanding=True)


def chunks(values: Iterable[T], n: int = N_PER_STATEMENT) -> Iterator[list[T]]:
    """Yield values in lists that fit into one statement."""
    every = list(values)
    for start in range(0, len(every), n):
        yield every[start : start + n]


def rows_in(
    connection: sa.Connection, query: sa.Select[Any], name: str, values: Iterable[Any]
) -> Iterator[sa.Row[Any]]:
    """Yield the rows of a query with the parameter ``listed(name)``, one batch of values after another."""
    for batch in chunks(values):
        yield from connection.execute(query, {name: batch})


def count(connection: sa.Connection, table: sa.FromClause, *where: sa.ColumnElement[bool]) -> int:
    """Return the number of rows of a table that meet the conditions."""
    query = sa.select(sa.func.count()).select_from(table).where(*where)
    return int(connection.execute(query).scalar_one())


def as_value(kind: Callable[..., T], row: sa.Row[*tuple[Any, ...]], /, **given: Any) -> T:
    """Return a dataclass with the columns of a row that have its fields' names; ``given``: other fields."""
    columns = row._mapping  # noqa: SLF001 (public API)
    return kind(**{name: columns[name] for name in _names(kind) if name in columns} | given)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind))


def merged(runs: Iterable[Run], *, but: Iterable[int] = ()) -> list[Run]:
    """Return runs in order, merged where they are adjacent or overlap, without the numbers ``but``.

    >>> merged([(5, 6), (1, 4), (9, 9)], but=[3])
    [(1, 2), (4, 6), (9, 9)]
    """
    joined: list[Run] = []
    for first, last in sorted(runs):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    for number in but:
        place = bisect_right(joined, number, key=itemgetter(0)) - 1
        if place < 0 or number > joined[place][1]:
            continue
        first, last = joined[place]
        rest = [(first, number - 1), (number + 1, last)]
        joined[place : place + 1] = [run for run in rest if run[0] <= run[1]]
    return joined


def within(column: sa.ColumnElement[Any], runs: Sequence[Run]) -> sa.ColumnElement[bool]:
    """Return the condition that a column is in one of these runs."""
    return sa.or_(*(column.between(first, last) for first, last in runs))
