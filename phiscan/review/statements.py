"""Lists of values cut to what one SQL statement takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

N_PER_STATEMENT = 500  # values of one IN list


def chunks(values: Iterable[T]) -> Iterator[list[T]]:
    """Cut values into lists that fit into one statement."""
    listed = list(values)
    for start in range(0, len(listed), N_PER_STATEMENT):
        yield listed[start : start + N_PER_STATEMENT]
