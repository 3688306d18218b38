"""Parse X12 and EDIFACT interchanges into segments, elements and components, each with its offsets.

They are read as they were sent, and X12 as the extractor shows it: one segment a line, bars between elements.
Source: X12.5 (ISA); ISO 9735 (separators of UNA, by default ``:+.? '``; UNB; the release character).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from phiscan.model import Span
from phiscan.text.passages import Passage, Piece

_ISA = re.compile(r"(?<!\w)ISA( \| |[^\w\s])\d\d\1.{0,10}\1\d\d\1")
_BARE = re.compile(r"\s*(?:GS\*[A-Z]{2}\*|ST\*\d{3}\*)")  # an interchange without its envelope
_ENVELOPE_CHARS = 400  # more than an envelope has
_N_ENVELOPE = 16  # elements of it
_UNB = re.compile(
    r"(?<!\w)(?:UNA(?P<component>[^\w\s])(?P<element>[^\w\s]).(?P<release>[^\w\r\n])[^\r\n](?P<end>[^\w\s])[\r\n]{0,4})?"
    r"UNB(?P<bare>[^\w\s])UNO[A-Z](?P<within>[^\w\s])\d"
)
_UNA_CHARS = 9
_TAG = re.compile(r"[A-Z][A-Z0-9]{1,2}")
_LETTERS = re.compile(r"[^\W\d_]{2}")  # of text: what one letter says names nobody
_TEXT = {"NTE": 2, "MSG": 1, "K3": 1, "FTX": 4}  # the elements that hold free text
Value = tuple[int, int]  # offsets of an element or a component


class Signs(NamedTuple):
    """The separators of an interchange; ``escape`` is a pattern of the character that releases one."""

    format: str  # "x12" or "edifact"
    element: str
    component: str
    ends: str
    escape: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment: its tag and the offsets of its elements, the first of which is the tag."""

    tag: str
    elements: tuple[Value, ...]
    text: str = field(repr=False)
    signs: Signs

    def get(self, element: int, component: int | None = None) -> str:
        """Return an element or a component without surrounding spaces; "" if it is missing."""
        place = self.place(element, component)
        return self.text[place[0] : place[1]] if place else ""

    def place(self, element: int, component: int | None = None) -> Value | None:
        """Return the offsets of what ``get`` returns; None if it is empty or missing."""
        if element >= len(self.elements):
            return None
        if component is None:
            return _stripped(self.text, self.elements[element])
        parts = self.components(element)
        return _stripped(self.text, parts[component]) if component < len(parts) else None

    def components(self, element: int) -> list[Value]:
        """Return the offsets of the components of an element."""
        if element >= len(self.elements):
            return []
        return _cut(self.text, self.elements[element], self.signs.component, self.signs.escape)

    def filled(self, element: int) -> list[Value]:
        """Return the offsets of the components of an element that are not empty."""
        return [place for one in self.components(element) if (place := _stripped(self.text, one))]


def is_x12(text: str) -> bool:
    """Tell whether a text is an X12 interchange, with or without its envelope.

    >>> is_x12("ISA*00*          *00*"), is_x12("ST*837*0001~"), is_x12("ISA means")
    (True, True, False)
    """
    head = text[:_ENVELOPE_CHARS].lstrip("\ufeff \r\n")
    return bool(_ISA.match(head) or _BARE.match(head))


def holds_edifact(text: str) -> bool:
    """Tell whether a text contains an EDIFACT interchange.

    >>> holds_edifact("UNB+UNOC:3+LAB+GP+240719:1544+77'"), holds_edifact("UNB is short")
    (True, False)
    """
    return _UNB.search(text) is not None


def passages(text: str) -> Iterator[Passage]:
    """Yield the free text of interchanges, and the text that is no segment of them."""
    for part in parts(text):
        if isinstance(part, Span):
            yield [Piece(part.start, part.end, part.of(text))]
        elif any(map(str.isalpha, part.get(_TEXT.get(part.tag, len(part.elements))))):
            yield list(_as_meant(part, _TEXT[part.tag]))


def parts(text: str) -> Iterator[Segment | Span]:
    """Yield the segments of all interchanges, and the stretches of text before, between and after them.

    Without an envelope, the segments of X12 are what is between ``~`` or line ends.
    """
    heads = sorted(_heads(text))
    starts = [start for start, _, _ in heads] + [len(text)]
    first = starts[0]
    if text.find("NM1*", 0, first) >= 0 or _BARE.match(text, 0, first):
        yield from _segments(text, 0, first, Signs("x12", "*", ":", "~\n"))
    elif heads:
        yield from _beside(text, 0, first)
    for (_, begin, signs), stop in zip(heads, starts[1:], strict=True):
        yield from _segments(text, begin, stop, signs)


def _heads(text: str) -> Iterator[tuple[int, int, Signs]]:
    """Yield where interchanges and their first segments begin, and their separators."""
    for head in _ISA.finditer(text) if "ISA" in text else ():
        after = text[head.start() : head.start() + _ENVELOPE_CHARS].split(head[1], _N_ENVELOPE)
        # The last element of the envelope is the component separator, and what follows it ends segments.
        last = after[-1] if len(after) > _N_ENVELOPE else ":~"
        component, end = last[:1] or ":", last[1:2]
        ends = "~\n" if not end or end.isalnum() or end in " \t" else end
        yield head.start(), head.start(), Signs("x12", head[1], component, ends)
    for head in _UNB.finditer(text) if "UNB" in text else ():
        begin = head.start() + (_UNA_CHARS if head["end"] else 0)
        release = head["release"] or "?"
        escape = "" if release == " " else f"{re.escape(release)}.|"
        element, component = head["element"] or head["bare"], head["component"] or head["within"]
        yield head.start(), begin, Signs("edifact", element, component, head["end"] or "'", escape)


def _segments(text: str, start: int, stop: int, signs: Signs) -> Iterator[Segment | Span]:
    """Yield the segments of one interchange, and the text that is none of them."""
    beside = None  # where text that is no segment begins
    between = re.compile(f"(?:{signs.escape}[^{re.escape(signs.ends)}])+", re.DOTALL)
    for match in between.finditer(text, start, stop):
        lead = len(match[0]) - len(match[0].lstrip("\ufeff\r\n\t "))
        low, high = match.start() + lead, match.end()
        if high == stop:  # nothing ends this one: in X12 a line end does, and text may follow
            high = text.find("\n", low, stop) % (stop + 1) if signs.format == "x12" else low
        elements = _cut(text, (low, high), signs.element, signs.escape)
        tag = text[slice(*elements[0])].rstrip()
        if len(elements) > 1 and _TAG.fullmatch(tag):
            if beside is not None:
                yield from _beside(text, beside, match.start())
            beside = high if high < match.end() else None
            yield Segment(tag, tuple(elements), text, signs)
        elif beside is None:
            beside = match.start()
    if beside is not None:
        yield from _beside(text, beside, stop)


def _beside(text: str, start: int, end: int) -> Iterator[Span]:
    if _LETTERS.search(text, start, end):
        yield Span(start, end)


def _cut(text: str, place: Value, sign: str, escape: str) -> list[Value]:
    """Return the offsets of what is between the signs that no release character precedes."""
    found, start = [], place[0]
    for match in re.compile(escape + re.escape(sign), re.DOTALL).finditer(text, *place):
        if match[0] == sign:
            found.append((start, match.start()))
            start = match.end()
    return [*found, (start, place[1])]


def _stripped(text: str, place: Value) -> Value | None:
    """Return offsets without the spaces around what is there; None if it is empty."""
    value = text[slice(*place)]
    kept = value.strip()
    start = place[0] + value.find(kept)
    return (start, start + len(kept)) if kept else None


def _as_meant(segment: Segment, element: int) -> Iterator[Piece]:
    """Yield a text, of EDIFACT its lines joined by line ends and without their release characters."""
    text, escape = segment.text, segment.signs.escape
    values = segment.components(element) if escape else [segment.elements[element]]
    cut = re.compile(
        rf"{escape[:-2]}(?P<meant>.)|[^{escape[:-2]}]+" if escape else "(?P<meant>).+", re.DOTALL
    )
    for number, (start, end) in enumerate(values):
        if number:
            yield Piece(start - 1, start, "\n")
        for match in cut.finditer(text, start, end):
            yield Piece(match.start(), match.end(), match["meant"] or match[0])
