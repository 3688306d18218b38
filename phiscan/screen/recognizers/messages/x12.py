"""X12 interchanges (claims, remittances, enrolments, eligibility): segment and qualifier say what a value is.

They are read as they were sent, and as the extractor shows them: one segment a line, bars between elements.
Source: X12 005010 implementation guides 837, 835, 834, 270/271 and 278; X12.5 (ISA).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from phiscan.formats.x12_fields import CHANNELS, DAYS, DESKS, NUMBERS, QUALIFIED, SHOWN, STAFF
from phiscan.model import Document, EntityType, Finding, PiiBit, Span
from phiscan.screen.recognizer import FieldSource
from phiscan.screen.validators.dates import is_day
from phiscan.text.passages import Passage, Piece

_FIELD = FieldSource("x12", 0.95)
_ISA = re.compile(r"(?<!\w)ISA( \| |[^\w\s])\d\d\1.{0,10}\1\d\d\1")
_BARE = re.compile(r"\s*(?:GS\*[A-Z]{2}\*|ST\*\d{3}\*)")  # an interchange without its envelope
_ENVELOPE_CHARS = 400  # more than an envelope has
_N_ENVELOPE = 16  # elements of it
_DAY = re.compile(r"((?:18|19|20)\d{6})(?:-((?:18|19|20)\d{6})|(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?)?")
_SHORT_DAY = re.compile(r"\d{6}")
_NAME = re.compile(r"[A-Z][A-Z0-9]{1,2}")
_MIN_LETTERS = 3  # of an organization's name
_MIN_ID = 2
_LETTERS = re.compile(r"[^\W\d_]{2}")  # of text: what one letter says names nobody
_MIN_PHONE = 7  # digits
_PLANS = frozenset({"18", "1L", "6P"})  # references whose third element is the name of a group or plan
_TEXT = {"NTE": 2, "MSG": 1, "K3": 1}


@dataclass(frozen=True, slots=True)
class _Segment:
    """A segment: its elements, the first being its name, and where each begins."""

    elements: tuple[str, ...] = field(repr=False)
    starts: tuple[int, ...]
    component: str

    @property
    def name(self) -> str:
        return self.elements[0]

    def get(self, number: int) -> str:
        """Return an element without the spaces around it; the empty string where there is none."""
        return self.elements[number].strip() if number < len(self.elements) else ""

    def span(self, first: int, last: int) -> Span:
        """Return where elements that are not empty stand, from the first to the last."""
        lead = len(self.elements[first]) - len(self.elements[first].lstrip())
        return Span(self.starts[first] + lead, self.starts[last] + len(self.elements[last].rstrip()))


def is_interchange(text: str) -> bool:
    """Tell whether a text is an X12 interchange, with or without its envelope.

    >>> is_interchange("ISA*00*          *00*"), is_interchange("ST*837*0001~"), is_interchange("ISA means")
    (True, True, False)
    """
    head = text[:_ENVELOPE_CHARS].lstrip("\ufeff \r\n")
    return bool(_ISA.match(head) or _BARE.match(head))


def passages(text: str) -> Iterator[Passage]:
    """Yield the notes and messages of an interchange, and the text that is no segment of it."""
    for segment in _parts(text):
        if isinstance(segment, Span):
            yield [Piece(segment.start, segment.end, segment.of(text))]
            continue
        number = _TEXT.get(segment.name, 0)
        if number and any(char.isalpha() for char in segment.get(number)):
            span = segment.span(number, number)
            yield [Piece(span.start, span.end, span.of(text))]


def x12_findings(document: Document) -> Iterator[Finding]:
    """Yield findings of the identifying elements of X12 segments."""
    is_staff = True
    for segment in (part for part in _parts(document.text) if isinstance(part, _Segment)):
        if segment.name == "NM1":
            is_staff = segment.get(1) in STAFF
        elif segment.name in {"N1", "ISA"}:
            is_staff = True
        yield from _read(segment, is_staff=is_staff)


def _parts(text: str) -> Iterator[_Segment | Span]:
    """Yield the segments of all interchanges, and the stretches of text between and after them.

    Without an envelope, segments are what is between ``~`` or line ends.
    """
    heads = list(_ISA.finditer(text)) if "ISA" in text else []
    first = heads[0].start() if heads else len(text)
    if text.find("NM1*", 0, first) >= 0 or _BARE.match(text, 0, first):
        yield from _split(text, 0, first, "*", ("~", "\n"), ":")
    stops = [head.start() for head in heads[1:]] + [len(text)] * bool(heads)
    for head, following in zip(heads, stops, strict=True):
        element = head[1]
        after_head = text[head.start() : head.start() + _ENVELOPE_CHARS].split(element, _N_ENVELOPE)
        # The last element of the envelope is the component separator, and what follows it ends segments.
        last = after_head[-1] if len(after_head) > _N_ENVELOPE else ":~"
        component, end = last[:1] or ":", last[1:2]
        ends = ("~", "\n") if not end or end.isalnum() or end in " \t" else (end,)
        yield from _split(text, head.start(), following, element, ends, component)


def _split(  # noqa: PLR0917 (a stretch and its separators)
    text: str, start: int, stop: int, element: str, ends: tuple[str, ...], component: str
) -> Iterator[_Segment | Span]:
    beside = None  # where text that is no segment begins
    for match in re.finditer(f"[^{re.escape(''.join(ends))}]+", text[start:stop]):
        segment = match[0]
        lead = len(segment) - len(segment.lstrip("\ufeff\r\n\t "))
        elements = segment[lead:].split(element)
        if len(elements) < 2 or not _NAME.fullmatch(elements[0]):  # noqa: PLR2004 (a name and a value)
            beside = start + match.start() if beside is None else beside
            continue
        if beside is not None:
            yield from _beside(text, beside, start + match.start())
            beside = None
        if start + match.end() == stop:  # nothing ends this one: a line end does, and text may follow
            kept = segment[lead:].partition("\n")[0]
            elements = kept.split(element)
            if lead + len(kept) < len(segment):
                beside = start + match.start() + lead + len(kept)
        starts, position = [], start + match.start() + lead
        for value in elements:
            starts.append(position)
            position += len(value) + len(element)
        yield _Segment(tuple(elements), tuple(starts), component)
    if beside is not None:
        yield from _beside(text, beside, stop)


def _beside(text: str, start: int, end: int) -> Iterator[Span]:
    if _LETTERS.search(text, start, end):
        yield Span(start, end)


def _read(segment: _Segment, *, is_staff: bool) -> Iterator[Finding]:
    name = segment.name
    for number in DAYS.get(name, ()):
        yield from _days(segment, number)
    for number, kind in NUMBERS.get(name, {}).items():
        yield from _number(kind, segment, number)
    match name:
        case "NM1":
            yield from _party(segment, health=is_staff)
        case "N1":
            yield from _organization(segment, 2, _role(segment))
        case "SBR" | "REF" if name == "SBR" or segment.get(1) in _PLANS:
            yield from _organization(segment, 4 if name == "SBR" else 3)
        case "DMG":
            yield from _days(segment, 2, EntityType.DATE_OF_BIRTH)
        case "N3" | "N4":
            yield from _place(segment)
        case "PER":
            yield from _contact(segment, health=is_staff)
        case _:
            pass
    if name in QUALIFIED:
        qualifier, number, kinds = QUALIFIED[name]
        yield from _number(kinds.get(segment.get(qualifier)), segment, number, segment.get(qualifier))


def _party(segment: _Segment, *, health: bool) -> Iterator[Finding]:
    """Yield the name of a person (last, first, middle, prefix, suffix) or of an organization."""
    code = _role(segment)
    if segment.get(2) == "2" or (segment.get(2) != "1" and not segment.get(4)):
        yield from _organization(segment, 3, code)
        return
    filled = [number for number in range(3, 8) if any(char.isalpha() for char in segment.get(number))]
    if not filled:
        return
    bits = {PiiBit.LAST_NAME} if filled[0] == 3 else set()  # noqa: PLR2004 (NM103)
    if segment.get(4):
        bits.add(PiiBit.FIRST_NAME)
    span = segment.span(filled[0], filled[-1])
    yield _FIELD.person(span, bits, _where(segment, filled[0], code), health=health)


def _contact(segment: _Segment, *, health: bool) -> Iterator[Finding]:
    """Yield who answers, when it is somebody, and how."""
    words = re.findall(r"[^\W\d_]+", segment.get(2))
    if len("".join(words)) >= _MIN_LETTERS and not any(word.lower() in DESKS for word in words):
        span = segment.span(2, 2)
        bits = {PiiBit.FIRST_NAME, PiiBit.LAST_NAME} if len(words) > 1 else {PiiBit.LAST_NAME}
        yield _FIELD.person(span, bits, _where(segment, 2, _role(segment)), health=health)
    for number in (3, 5, 7):
        kind = CHANNELS.get(segment.get(number))
        value = segment.get(number + 1)
        is_line = kind in {EntityType.PHONE, EntityType.FAX}
        if kind and (sum(map(str.isdecimal, value)) >= _MIN_PHONE if is_line else len(value) > _MIN_ID):
            yield _found(kind, segment, number + 1, segment.get(number))


def _organization(segment: _Segment, number: int, code: str = "") -> Iterator[Finding]:
    if sum(map(str.isalpha, segment.get(number))) >= _MIN_LETTERS:
        yield _found(EntityType.ORGANIZATION, segment, number, code)


def _place(segment: _Segment) -> Iterator[Finding]:
    """Yield an address as one span: two elements of a street; or city, state, postal code and country."""
    is_street = segment.name == "N3"
    filled = [number for number in range(1, 3 if is_street else 5) if segment.get(number)]
    if filled:
        kind = EntityType.STREET_ADDRESS if is_street else EntityType.LOCATION
        yield _FIELD.value(kind, segment.span(filled[0], filled[-1]), _where(segment, filled[0]))


def _number(
    kind: EntityType | None, segment: _Segment, number: int, qualifier: str = ""
) -> Iterator[Finding]:
    value = segment.get(number)
    if kind and len(value) >= _MIN_ID and any(map(str.isdecimal, value)):
        yield _found(kind, segment, number, qualifier)


def _days(segment: _Segment, number: int, kind: EntityType = EntityType.DATE) -> Iterator[Finding]:
    """Yield the days of an element, of both ends of a range, and of its components in HI."""
    if not segment.get(number):
        return
    position = segment.span(number, number).start
    for value in segment.get(number).split(segment.component):
        match = _DAY.fullmatch(value)
        if match:
            for group in (1, 2):
                if match[group] and is_day(match[group]):
                    end = match.end(2) if group == 2 else match.start(2) - 1 if match[2] else match.end()  # noqa: PLR2004 (the end of a range)
                    yield _FIELD.value(
                        kind, Span(position + match.start(group), position + end), _where(segment, number)
                    )
        elif segment.name == "ISA" and _SHORT_DAY.fullmatch(value):
            yield _found(kind, segment, number)
        position += len(value) + len(segment.component)


def _role(segment: _Segment) -> str:
    """Return whose name it is if that is a code of the guides: no text gets into reasons."""
    return segment.get(1) if segment.get(1) in SHOWN else ""


def _where(segment: _Segment, number: int, qualifier: str = "") -> str:
    """Return a place as the guides write it (NM109 MI); the qualifier is one of a list."""
    return f"{segment.name}{number:02d} {qualifier}".rstrip()


def _found(kind: EntityType, segment: _Segment, number: int, qualifier: str = "") -> Finding:
    return _FIELD.value(kind, segment.span(number, number), _where(segment, number, qualifier))
