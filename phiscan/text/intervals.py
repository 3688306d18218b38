"""Half-open intervals of code points: overlap, containment and union of sorted ones; pieces of a text."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence


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


def chunks(text: str, n_chars: int) -> Iterator[tuple[int, str]]:
    r"""Yield pieces of at most ``n_chars`` with where they begin.

    A text is cut after a line end in the second half of a piece, or else after a space, or else anywhere.

    >>> list(chunks("Ann Roy\nwas seen", 12))
    [(0, 'Ann Roy\n'), (8, 'was seen')]
    """
    start = 0
    while start < len(text):
        end = min(len(text), start + n_chars)
        if end < len(text):
            middle = start + n_chars // 2
            cut = text.rfind("\n", middle, end)
            cut = cut if cut > 0 else text.rfind(" ", middle, end)
            end = cut + 1 if cut > 0 else end
        yield start, text[start:end]
        start = end


def line_bounds(text: str, start: int, end: int, reach: int) -> tuple[int, int]:
    """Return where the line of ``[start, end)`` begins and ends, no further than ``reach`` on each side."""
    low = max(0, start - reach)
    high = text.find("\n", end, end + reach)
    return max(low, text.rfind("\n", low, start) + 1), end + reach if high < 0 else high
