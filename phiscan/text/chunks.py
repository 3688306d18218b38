"""Pieces of a long text, for what must not grow with all of it: chunks, and the line around a place."""

from __future__ import annotations

from collections.abc import Iterator


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
