"""Half-open intervals of code points: whether sorted ones overlap or contain another, and their union."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable, Sequence


def is_taken(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Tell whether one of the sorted ``spans``, which do not overlap, has a part of ``[start, end)``."""
    index = bisect_right(spans, (end - 1, sys.maxsize)) - 1
    return index >= 0 and spans[index][1] > start


def is_within(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Tell whether one of the sorted ``spans``, which do not overlap, has all of ``[start, end)``."""
    index = bisect_right(spans, (start, sys.maxsize)) - 1
    return index >= 0 and end <= spans[index][1]


def merged(intervals: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return intervals in text order, those that overlap or touch as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
