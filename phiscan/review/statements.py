"""Lists of values cut to what one SQL statement takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

T = TypeVar("T")

N_PER_STATEMENT = 500  # values of one IN list
N_RUNS = 100  # ranges of numbers in one statement


def listed(name: str) -> sa.BindParameter[Any]:
    """Return the place of an IN list in a statement that is put together once and executed often.

    Putting a statement together costs about ten times what SQLite needs to answer it.
    """
    return sa.bindparam(name, expanding=True)


def chunks(values: Iterable[T]) -> Iterator[list[T]]:
    """Cut values into lists that fit into one statement."""
    every = list(values)
    for start in range(0, len(every), N_PER_STATEMENT):
        yield every[start : start + N_PER_STATEMENT]


def some_runs(numbers: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """Yield lists of first and last of the runs of consecutive numbers among these, which are sorted."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
            continue
        if len(runs) == N_RUNS:
            yield runs
            runs = []
        runs.append((number, number))
    if runs:
        yield runs
