"""A long document as windows: documents of their own that end where a segment or a line ends."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from phiscan.model import Document, Finding, PatientMatch, Segment, Span, TermHit

Placed = TypeVar("Placed", Finding, TermHit, PatientMatch)

WINDOW_CHARS = 16_000
_MIN_SHARE = 0.5  # of WINDOW_CHARS; a boundary before that makes the window too short
_MOST_HEADER_CHARS = 600
_MIN_CELLS = 3
_DELIMITERS = ("\t", "|", ";", ",")
_INSERT = "INSERT INTO"
_VALUES = re.compile(r"INSERT INTO [^;'\n]{1,500}\bVALUES\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TextWindow:
    """A stretch ``[start, end)`` of a document, and the document that is examined in its place."""

    start: int
    end: int
    document: Document
    n_header_chars: int = 0  # a repeated header line is before the stretch

    @property
    def n_chars(self) -> int:
        """Code points of the stretch, the repeated header not counted."""
        return self.end - self.start

    def in_whole(self, span: Span) -> Span | None:
        """Return where a span of the window lies in the whole document; None outside the stretch."""
        start, end = span.start - self.n_header_chars, span.end - self.n_header_chars
        if start < 0 or end > self.n_chars:
            return None
        return Span(start + self.start, end + self.start)


def moved(found: Iterable[Placed], place_of: Callable[[Span], Span | None]) -> Iterator[Placed]:
    """Yield what was found at its place in another document, where it has one there."""
    return (replace(one, span=span) for one in found if (span := place_of(one.span)) is not None)


def window_ranges(document: Document, n_chars: int = WINDOW_CHARS) -> list[tuple[int, int]]:
    """Cut a text into ranges of at most ``n_chars``, at the beginning of a segment, a line or a word."""
    text, starts = document.text, [segment.start for segment in document.segments]
    ranges: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = start + n_chars
        end = (
            _boundary(text, starts, start + int(n_chars * _MIN_SHARE), end) if end < len(text) else len(text)
        )
        ranges.append((start, end))
        start = end
    return ranges


def _boundary(text: str, starts: Sequence[int], low: int, high: int) -> int:
    index = bisect_right(starts, high) - 1
    if index >= 0 and starts[index] > low:
        return starts[index]
    for mark in ("\n", ". ", " "):
        if (found := text.rfind(mark, low, high)) >= 0:
            return found + len(mark)
    return high


def cut_window(document: Document, start: int, end: int, title: str = "") -> TextWindow:
    """Return a range of a document as a document, after the header line that names its columns.

    ``title``: a line that it has in place of that one.
    """
    header = f"{title}\n" if title else _header(document, start)
    shift = len(header) - start
    segments = [Segment("", 0, len(header) - 1)] if header else []
    segments += _segments(document.segments, start, end, shift)
    text = header + document.text[start:end]
    inner = replace(document, text=text, segments=tuple(segments), unread=())
    return TextWindow(start, end, inner, len(header))


def _segments(segments: Sequence[Segment], start: int, end: int, shift: int) -> Iterator[Segment]:
    low = bisect_right(segments, start, key=lambda segment: segment.end)
    for segment in segments[low:]:
        if segment.start >= end:
            break
        yield Segment(segment.locator, max(segment.start, start) + shift, min(segment.end, end) + shift)


def _header(document: Document, start: int) -> str:
    """Return the line that names the columns at ``start``, where the rows are not labelled themselves."""
    if not start or document.media_type != "text/plain":
        return ""
    text = document.text
    insert = text.rfind(_INSERT, 0, start)
    if insert >= 0:
        found = _VALUES.match(text, insert)
        return f"{found[0]}\n" if found else ""
    end = text.find("\n", 0, _MOST_HEADER_CHARS)
    first, second = text[: max(end, 0)], text[end + 1 : end + 1 + _MOST_HEADER_CHARS].partition("\n")[0]
    for delimiter in _DELIMITERS:
        n_cells = first.count(delimiter) + 1
        if n_cells >= _MIN_CELLS and second.count(delimiter) + 1 == n_cells:
            return f"{first}\n"
    return ""
