"""Byte offsets of UTF-8 to code-point offsets, for the engines that run over bytes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import re2

from phiscan.text.automata import spans


def code_points(raw: bytes, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Turn byte offsets into code-point offsets: take away the continuation bytes before each.

    ``places`` has any shape; a surrogate that ``surrogatepass`` wrote counts as one code point, as in
    ``str``.

    >>> code_points("é=1".encode(), np.array([0, 2, 3])).tolist()
    [0, 1, 2]
    """
    # Continuation bytes are few, and so are the places: cheaper than a running count over every byte.
    continued = np.flatnonzero((np.frombuffer(raw, dtype=np.uint8) & 0xC0) == 0x80)  # noqa: PLR2004 (UTF-8)
    return places - np.searchsorted(continued, places)


def spans_of(scanner: re2._Regexp, text: str) -> list[tuple[int, int]]:
    """Return what a scanner of bytes finds in a text, half-open, in code points."""
    raw = text.encode("utf-8", "surrogatepass")
    return in_text(text, raw, list(spans(scanner, raw)))


def in_text(text: str, raw: bytes, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans of the UTF-8 form ``raw`` of a text as spans of the text."""
    if len(raw) == len(text) or not spans:
        return spans
    return [(start, end) for start, end in code_points(raw, np.asarray(spans, dtype=np.int64)).tolist()]
