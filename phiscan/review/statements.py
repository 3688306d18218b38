"""Lists of values cut to what one SQL statement takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import sqlalchemy as sa

T = TypeVar("T")

N_PER_STATEMENT = 500  # values of one IN list


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
