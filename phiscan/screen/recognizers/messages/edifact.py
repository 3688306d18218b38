"""EDIFACT interchanges of health care (MEDREQ, MEDRPT, MEDDIS, referrals): types of values by their segment.

Source: UN/EDIFACT D.93A to D.03B (segments ADR, BGM, COM, CTA, DTM, IDE, NAD, PNA, RFF); the messages of the
NHS (MEDREQ and MEDRPT of pathology).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.formats.edifact_segments import Segment, Value, parts
from phiscan.formats.hl7_fields import AUTHORITIES
from phiscan.model import Document, EntityType, Finding, PiiBit, Span
from phiscan.screen.recognizer import FieldSource
from phiscan.screen.validators.dates import is_day

_FIELD = FieldSource("edifact", 0.95)
_POSTAL = re.compile(r"(?=[A-Z0-9 -]{0,9}\d)[A-Z0-9]{2,6}(?:[ -][A-Z0-9]{3,4})?", re.IGNORECASE)
_STAMP = re.compile(r"((?:18|19|20)\d{6})(?:\d{4}(?:\d\d)?)?(?:-?((?:18|19|20)\d{6})(?:\d{4}(?:\d\d)?)?)?")
_SHORT_DAY = re.compile(r"\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_INITIALS = re.compile(
    r"(?:^(?:dre?|mrs?|ms|mme|docteure?|prof)\b|[^\W\d_]{2} (?:[A-Z]\.?){1,2}$|,)", re.IGNORECASE
)
_BIRTH = "329"
_PATIENT = frozenset({"PAT", "BBY", "CCW"})
_KIN = frozenset({"NOK", "EMC", "REL"})
_CARDS = frozenset({"NHI", "NHS", "CHI", "NBM", "MCP"}) | set(AUTHORITIES)
_TITLES = frozenset({"TI", "NQ"})
_FIRST = frozenset({"FO", "FS", "GI", "MI", "NI"})  # parts of a name that are no family's
_CHANNELS = {"TE": EntityType.PHONE, "FX": EntityType.FAX, "EM": EntityType.EMAIL, "AL": EntityType.PHONE}
_MIN_ID, _MIN_CONTROL, _MIN_LETTERS, _MIN_PHONE = 2, 5, 2, 6


def edifact_findings(document: Document) -> Iterator[Finding]:
    """Yield findings of the identifying components of EDIFACT segments."""
    if "UNB" not in document.text:
        return
    for part in parts(document.text):
        if isinstance(part, Segment):
            yield from _read(part)


def _read(segment: Segment) -> Iterator[Finding]:
    for element, component, least in _NUMBERS.get(segment.tag, ()):
        yield from _number(EntityType.OTHER_ID, segment, element, component, least)
    read = _READERS.get(segment.tag)
    if read is not None:
        yield from read(segment)


def _envelope(segment: Segment) -> Iterator[Finding]:
    for number in (2, 3):
        yield from _sender(segment, number)
    if _SHORT_DAY.fullmatch(segment.get(4)) or is_day(segment.get(4)):
        yield from _found(EntityType.DATE, segment, 4)


def _line(segment: Segment) -> Iterator[Finding]:
    kind = _CHANNELS.get(segment.get(1, 1))
    if kind and (kind is EntityType.EMAIL or sum(map(str.isdecimal, segment.get(1))) >= _MIN_PHONE):
        yield from _found(kind, segment, 1)


def _contact(segment: Segment) -> Iterator[Finding]:
    yield from _person(segment, [place] if (place := segment.place(2, 1)) else [], health=True)


def _address(segment: Segment) -> Iterator[Finding]:
    yield from _street(segment.filled(2)[1:] or segment.filled(2), segment)
    for number in (3, 4, 5, 6):
        yield from _place(segment, number)


def _moment(segment: Segment) -> Iterator[Finding]:
    place = segment.place(1, 1)
    stamp = _STAMP.fullmatch(segment.get(1, 1))
    short = segment.get(1, 2) == "101" and _SHORT_DAY.fullmatch(segment.get(1, 1))
    if place and (short or (stamp and is_day(stamp[1]))):
        kind = EntityType.DATE_OF_BIRTH if segment.get(1) == _BIRTH else EntityType.DATE
        yield _FIELD.value(kind, Span(*place), segment.tag)


def _sender(segment: Segment, number: int) -> Iterator[Finding]:
    name = segment.get(number)
    if _holds_digit(name):
        yield from _number(EntityType.OTHER_ID, segment, number, least=_MIN_CONTROL)
    elif sum(map(str.isalpha, name)) > _MIN_LETTERS:
        yield from _found(EntityType.ORGANIZATION, segment, number)


def _party(segment: Segment) -> Iterator[Finding]:
    """Yield who takes part (NAD): number, name or lines of an address; street, town, postal code."""
    role = segment.get(1)
    names = segment.filled(4) or segment.filled(3)
    texts = [segment.text[start:end] for start, end in names]
    is_address = not segment.filled(4) and (role in _PATIENT or any(map(_holds_digit, texts)))
    is_person = role in _PATIENT | _KIN or len(names) > 1 or any(map(_INITIALS.search, texts))
    if is_address:
        yield from _street(names, segment)
    elif is_person:
        yield from _person(segment, names, health=role not in _PATIENT | _KIN)
    elif names and any(map(str.isalpha, texts[0])):
        yield _FIELD.value(EntityType.ORGANIZATION, Span(*names[0]), segment.tag)
    kind = EntityType.MRN if role in _PATIENT else EntityType.LICENSE
    yield from _number(kind if is_person else EntityType.OTHER_ID, segment, 2)
    yield from _street(segment.filled(5), segment)
    for number in (6, 7, 8):
        yield from _place(segment, number)


def _named(segment: Segment) -> Iterator[Finding]:
    """Yield the number and the name of a person (PNA); each part of the name says which it is."""
    role = segment.get(1)
    if role in _PATIENT:
        agencies = {segment.get(2, number).upper() for number in (1, 2, 3)}
        kind = EntityType.HEALTH_CARD if agencies & _CARDS else EntityType.MRN
        yield from _number(kind, segment, 2)
    elif role not in _KIN:
        yield from _number(EntityType.LICENSE, segment, 2)
    for number in range(5, 10):
        place = segment.place(number, 1)
        if place and segment.get(number) not in _TITLES and segment.get(number, 1).strip("-"):
            bit = PiiBit.FIRST_NAME if segment.get(number) in _FIRST else PiiBit.LAST_NAME
            yield _FIELD.person(Span(*place), {bit}, segment.tag, health=role not in _PATIENT | _KIN)


def _person(segment: Segment, names: list[Value], *, health: bool) -> Iterator[Finding]:
    if names and sum(map(str.isalpha, segment.text[names[0][0] : names[-1][1]])) >= _MIN_LETTERS:
        span = Span(names[0][0], names[-1][1])
        yield _FIELD.person(span, {PiiBit.FIRST_NAME, PiiBit.LAST_NAME}, segment.tag, health=health)


def _street(places: list[Value], segment: Segment) -> Iterator[Finding]:
    """Yield the lines of an address as one span."""
    if places:
        yield _FIELD.value(EntityType.STREET_ADDRESS, Span(places[0][0], places[-1][1]), segment.tag)


def _place(segment: Segment, number: int) -> Iterator[Finding]:
    value = segment.get(number)
    if _POSTAL.fullmatch(value):
        yield from _found(EntityType.POSTAL_CODE, segment, number)
    elif sum(map(str.isalpha, value)) >= _MIN_LETTERS and not _holds_digit(value):
        yield from _found(EntityType.LOCATION, segment, number)


def _number(
    kind: EntityType, segment: Segment, element: int, component: int = 0, least: int = _MIN_ID
) -> Iterator[Finding]:
    value = segment.get(element, component)
    if len(value) >= least and _holds_digit(value):
        yield from _found(kind, segment, element, component)


def _holds_digit(value: str) -> bool:
    return any(map(str.isdecimal, value))


def _found(kind: EntityType, segment: Segment, element: int, component: int = 0) -> Iterator[Finding]:
    place = segment.place(element, component)
    if place:
        yield _FIELD.value(kind, Span(*place), segment.tag)


# The numbers of segments: element, component, and how many characters it has at least.
_NUMBERS = {
    "UNB": ((5, 0, _MIN_CONTROL),), "UNZ": ((2, 0, _MIN_CONTROL),), "BGM": ((2, 0, _MIN_ID),),
    "IDE": ((2, 0, _MIN_ID),), "RFF": ((1, 1, _MIN_ID),),
}  # fmt: skip
_READERS = {
    "UNB": _envelope, "DTM": _moment, "COM": _line, "CTA": _contact, "NAD": _party, "PNA": _named,
    "ADR": _address,
}  # fmt: skip
