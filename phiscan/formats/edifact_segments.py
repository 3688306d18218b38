"""Parse EDIFACT interchanges into segments, elements and components, each with its offsets.

Source: ISO 9735 (separators of UNA, by default ``:+.? '``; UNB; the release character).
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

from phiscan.model import Span
from phiscan.text.passages import Passage, Piece

_HEAD = re.compile(
    r"(?<!\w)(?:UNA(?P<component>[^\w\s])(?P<element>[^\w\s]).(?P<release>[^\w\r\n])[^\r\n](?P<end>[^\w\s])[\r\n]{0,4})?"
    r"UNB(?P<bare>[^\w\s])UNO[A-Z](?P<within>[^\w\s])\d"
)
_UNA_CHARS = 9
_TAG = re.compile(r"[A-Z][A-Z0-9]{2}")
Value = tuple[int, int]  # offsets of a component


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment: its tag and its elements, each with the offsets of its components."""

    tag: str
    elements: tuple[tuple[Value, ...], ...]
    text: str = field(repr=False)
    release: str  # the character that escapes a separator

    def get(self, element: int, component: int = 0) -> str:
        """Return a component without surrounding spaces; "" if it is missing."""
        place = self.place(element, component)
        return self.text[place[0] : place[1]] if place else ""

    def place(self, element: int, component: int = 0) -> Value | None:
        """Return the offsets of a component without surrounding spaces; None if it is empty or missing."""
        if element >= len(self.elements) or component >= len(self.elements[element]):
            return None
        start, end = self.elements[element][component]
        value = self.text[start:end]
        kept = value.strip()
        start += value.find(kept)
        return (start, start + len(kept)) if kept else None

    def filled(self, element: int) -> list[Value]:
        """Return the offsets of the non-empty components of an element."""
        count = len(self.elements[element]) if element < len(self.elements) else 0
        return [place for number in range(count) if (place := self.place(element, number))]


def holds_interchange(text: str) -> bool:
    """Return whether a text contains an EDIFACT interchange.

    >>> holds_interchange("UNB+UNOC:3+LAB+GP+240719:1544+77'"), holds_interchange("UNB is short")
    (True, False)
    """
    return _HEAD.search(text) is not None


def passages(text: str) -> Iterator[Passage]:
    """Yield the free text of interchanges, and the text before, between and after them."""
    for part in parts(text):
        if isinstance(part, Span):
            yield [Piece(part.start, part.end, part.of(text))]
        elif part.tag == "FTX" and len(part.elements) > 4:  # noqa: PLR2004 (C108, the text)
            yield _unescaped(text, part.elements[4], part.release)


def parts(text: str) -> Iterator[Segment | Span]:
    """Yield the segments of all interchanges, and the spans of other text."""
    heads = list(_HEAD.finditer(text))
    done = 0
    for number, head in enumerate(heads):
        if head.start() < done:
            continue
        if text[done : head.start()].strip():
            yield Span(done, head.start())
        stop = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        start = head.start() + _UNA_CHARS if head["end"] else head.start()
        component, element = head["component"] or head["within"], head["element"] or head["bare"]
        done = yield from _segments(
            text, start, stop, (component, element, head["release"] or "?", head["end"] or "'")
        )
    if text[done:].strip():
        yield Span(done, len(text))


def _segments(
    text: str, start: int, stop: int, signs: tuple[str, str, str, str]
) -> Generator[Segment, None, int]:
    """Yield the segments of one interchange; return the end of the last complete one."""
    component, element, release, end = signs
    escaped = "" if release == " " else f"{re.escape(release)}.|"
    cut = re.compile(f"{escaped}[{re.escape(component + element + end)}]", re.DOTALL)
    elements: list[tuple[Value, ...]] = []
    values: list[Value] = []
    for match in cut.finditer(text, start, stop):
        if len(match[0]) > 1:
            continue
        values.append((start, match.start()))
        start = match.end()
        if match[0] == component:
            continue
        elements.append(tuple(values))
        values = []
        if match[0] == end:
            low, high = elements[0][0]
            tag = text[low:high].strip()
            if not _TAG.fullmatch(tag):
                return low  # no segment: the interchange is truncated
            yield Segment(tag, tuple(elements), text, release)
            elements = []
            if tag == "UNZ":
                return start
    if elements or values:
        return (elements[0] if elements else values)[0][0]  # truncated within a segment: read as text
    return start


def _unescaped(text: str, values: tuple[Value, ...], release: str) -> Passage:
    """Return lines of text joined by line ends, without their release characters."""
    sign = re.escape(release)
    cut = re.compile(".+" if release == " " else rf"{sign}(?P<meant>.)|[^{sign}]+", re.DOTALL)
    pieces: list[Piece] = []
    for number, (start, end) in enumerate(values):
        if number:
            pieces.append(Piece(start - 1, start, "\n"))
        pieces.extend(
            Piece(start + match.start(), start + match.end(), match.groupdict().get("meant") or match[0])
            for match in cut.finditer(text[start:end])
        )
    return pieces
