"""X12 and EDIFACT: segment, element and qualifier say of what type a value is.

X12: claims, remittances, enrolments, eligibility (005010, guides 837, 835, 834, 270/271 and 278). EDIFACT:
MEDREQ, MEDRPT, MEDDIS, referrals (UN/EDIFACT D.93A to D.03B), and the messages of the NHS for pathology.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from phiscan.formats.message_fields import AUTHORITIES, CHANNELS, DESKS, NUMBERS, QUALIFIED, SHOWN, STAFF
from phiscan.formats.segments import Segment, Value, parts
from phiscan.lexicon.capitalized_words import FIRST_ONLY, FULL_NAME, LAST_ONLY
from phiscan.model import Document, EntityType, Finding, PiiBit, Span
from phiscan.screen.recognizer import FieldSource
from phiscan.screen.validators.dates import is_day

_FIELD = {name: FieldSource(name, 0.95) for name in ("x12", "edifact")}
_STAMP = r"(?:18|19|20)\d{6}(?:(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?)?"
_DAYS = re.compile(rf"({_STAMP})(?:-({_STAMP}))?")
_SHORT_DAY = re.compile(r"\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_POSTAL = re.compile(r"(?=[A-Z0-9 -]{0,9}\d)[A-Z0-9]{2,6}(?:[ -][A-Z0-9]{3,4})?", re.IGNORECASE)
_INITIALS = re.compile(
    r"(?:^(?:dre?|mrs?|ms|mme|docteure?|prof)\b|[^\W\d_]{2} (?:[A-Z]\.?){1,2}$|,)", re.IGNORECASE
)
_PLANS = frozenset({"18", "1L", "6P"})  # references whose third element is the name of a group or plan
_ORGANIZATIONS = {"NM1": 3, "N1": 2, "SBR": 4, "REF": 3}  # the elements of their names
_BIRTH, _SHORT = "329", "101"  # of a DTM of EDIFACT: the day of birth, and a form with a year of two digits
_PATIENT = frozenset({"PAT", "BBY", "CCW"})
_LAY = _PATIENT | {"NOK", "EMC", "REL"}
_CARDS = frozenset({"NHI", "NHS", "CHI", "NBM", "MCP"}) | set(AUTHORITIES)
_TITLES = frozenset({"TI", "NQ"})
_FIRST = frozenset({"FO", "FS", "GI", "MI", "NI"})  # parts of a name that are no family's
_DATES = frozenset({EntityType.DATE, EntityType.DATE_OF_BIRTH})
_LINES = frozenset({EntityType.PHONE, EntityType.FAX})
_MIN_ID, _MIN_CONTROL, _MIN_LETTERS, _MIN_ORGANIZATION, _MIN_PHONE = 2, 5, 2, 3, 6


def segment_findings(document: Document) -> Iterator[Finding]:
    """Yield findings of the identifying elements of X12 and EDIFACT segments."""
    is_staff = True  # whoever the address and the contact that follow in X12 belong to
    for segment in parts(document.text):
        if isinstance(segment, Span):
            continue
        if segment.tag in {"NM1", "N1", "ISA"}:
            is_staff = segment.tag != "NM1" or segment.get(1) in STAFF
        for element, component, kind in NUMBERS.get((segment.signs.format, segment.tag), ()):
            if kind in _DATES:
                yield from _days(kind, segment, element)
            else:
                yield from _number(kind, segment, element, component)
        yield from (
            _edifact(segment) if segment.signs.format == "edifact" else _x12(segment, is_staff=is_staff)
        )


def _x12(segment: Segment, *, is_staff: bool) -> Iterator[Finding]:
    get = segment.get
    role = get(1) if get(1) in SHOWN else ""  # no text gets into reasons
    match segment.tag:
        case "NM1" if get(2) == "1" or (get(2) != "2" and get(4)):  # last, first, middle, prefix, suffix
            filled = [number for number in range(3, 8) if any(map(str.isalpha, get(number)))]
            last = LAST_ONLY if filled[:1] == [3] else frozenset()
            bits, where = (
                last | (FIRST_ONLY if get(4) else frozenset()),
                f"{min(filled, default=0):02d} {role}",
            )
            yield from _person(segment, map(segment.place, filled), bits, where, health=is_staff)
        case "N3":
            yield from _together(EntityType.STREET_ADDRESS, segment, map(segment.place, (1, 2)))
        case "N4":
            yield from _together(EntityType.LOCATION, segment, map(segment.place, (1, 2, 3, 4)))
        case "NM1" | "N1" | "SBR" | "REF" if segment.tag != "REF" or get(1) in _PLANS:
            role = role if segment.tag in {"NM1", "N1"} else ""
            yield from _organization(segment, _ORGANIZATIONS[segment.tag], qualifier=role)
        case "PER":
            words = re.findall(r"[^\W\d_]+", get(2))
            if len("".join(words)) >= _MIN_ORGANIZATION and not any(word.lower() in DESKS for word in words):
                bits = FULL_NAME if len(words) > 1 else LAST_ONLY
                yield from _person(segment, [segment.place(2)], bits, f"02 {role}", health=is_staff)
            for number in (3, 5, 7):
                yield from _line(get(number), segment, number + 1)
        case _:
            pass
    qualifier, number, kinds = QUALIFIED.get(segment.tag, (0, 0, {}))
    yield from _number(kinds.get(get(qualifier)), segment, number, qualifier=get(qualifier))


def _edifact(segment: Segment) -> Iterator[Finding]:
    match segment.tag:
        case "UNB":  # who sends and who receives
            for number in (2, 3):
                if _holds_digit(segment.get(number, 0)):
                    yield from _number(EntityType.OTHER_ID, segment, number, 0)
                else:
                    yield from _organization(segment, number, 0)
        case "COM":
            yield from _line(segment.get(1, 1), segment, 1, 0)
        case "CTA":
            yield from _person(segment, [segment.place(2, 1)], FULL_NAME, "02", health=True)
        case "ADR":
            street = segment.filled(2)
            yield from _together(EntityType.STREET_ADDRESS, segment, street[1:] or street)
            yield from _places(segment, range(3, 7))
        case "NAD":
            yield from _party(segment)
        case "PNA":
            yield from _named(segment)
        case _:
            pass


def _party(segment: Segment) -> Iterator[Finding]:
    """Yield who takes part (NAD): number, name or lines of an address; street, town, postal code."""
    role = segment.get(1, 0)
    names = segment.filled(4) or segment.filled(3)
    texts = [segment.text[start:end] for start, end in names]
    is_person = role in _LAY or len(names) > 1 or any(map(_INITIALS.search, texts))
    if not segment.filled(4) and (role in _PATIENT or any(map(_holds_digit, texts))):
        yield from _together(EntityType.STREET_ADDRESS, segment, names)
    elif is_person:
        yield from _person(segment, names, FULL_NAME, "04", health=role not in _LAY)
    elif names and any(map(str.isalpha, texts[0])):
        yield _found(EntityType.ORGANIZATION, segment, names[0], "04")
    kind = EntityType.MRN if role in _PATIENT else EntityType.LICENSE
    yield from _number(kind if is_person else EntityType.OTHER_ID, segment, 2, 0)
    yield from _together(EntityType.STREET_ADDRESS, segment, segment.filled(5))
    yield from _places(segment, range(6, 9))


def _named(segment: Segment) -> Iterator[Finding]:
    """Yield the number and the name of a person (PNA); each part of the name says which it is."""
    role = segment.get(1, 0)
    if role in _PATIENT:
        agencies = {segment.get(2, number).upper() for number in (1, 2, 3)}
        yield from _number(EntityType.HEALTH_CARD if agencies & _CARDS else EntityType.MRN, segment, 2, 0)
    elif role not in _LAY:
        yield from _number(EntityType.LICENSE, segment, 2, 0)
    for number in range(5, 10):
        part, place = segment.get(number, 0), segment.place(number, 1)
        if place and part not in _TITLES and segment.get(number, 1).strip("-"):
            bits = FIRST_ONLY if part in _FIRST else LAST_ONLY
            yield _FIELD["edifact"].person(Span(*place), bits, f"PNA{number:02d}", health=role not in _LAY)


def _person(
    segment: Segment, places: Iterable[Value | None], bits: Iterable[PiiBit], where: str, *, health: bool
) -> Iterator[Finding]:
    for one in _together(EntityType.PERSON, segment, places):
        if sum(map(str.isalpha, one.span.of(segment.text))) >= _MIN_LETTERS:
            field = _FIELD[segment.signs.format]
            yield field.person(one.span, bits, f"{segment.tag}{where}".rstrip(), health=health)


def _together(kind: EntityType, segment: Segment, places: Iterable[Value | None]) -> Iterator[Finding]:
    """Yield what is from the first to the last of some places as one finding."""
    filled = [place for place in places if place]
    if filled:
        yield _found(kind, segment, (filled[0][0], filled[-1][1]))


def _places(segment: Segment, numbers: Iterable[int]) -> Iterator[Finding]:
    for number in numbers:
        value, place = segment.get(number, 0), segment.place(number, 0)
        is_name = sum(map(str.isalpha, value)) >= _MIN_LETTERS and not _holds_digit(value)
        if place and (is_name or _POSTAL.fullmatch(value)):
            kind = EntityType.LOCATION if is_name else EntityType.POSTAL_CODE
            yield _found(kind, segment, place, f"{number:02d}")


def _days(kind: EntityType, segment: Segment, number: int) -> Iterator[Finding]:
    """Yield the days in the components of an element, and both ends of a range."""
    is_short = segment.tag in {"ISA", "UNB"} or (segment.tag == "DTM" and segment.get(1, 2) == _SHORT)
    kind = EntityType.DATE_OF_BIRTH if segment.tag == "DTM" and segment.get(1, 0) == _BIRTH else kind
    for start, end in segment.filled(number):
        days = _DAYS.fullmatch(segment.text, start, end)
        for low, high in (days.span(1), days.span(2)) if days else ():
            if low >= 0 and is_day(segment.text[low : low + 8]):
                yield _found(kind, segment, (low, high), f"{number:02d}")
        if is_short and _SHORT_DAY.fullmatch(segment.text, start, end):
            yield _found(kind, segment, (start, end), f"{number:02d}")


def _line(channel: str, segment: Segment, number: int, component: int | None = None) -> Iterator[Finding]:
    kind, value, place = (
        CHANNELS.get(channel),
        segment.get(number, component),
        segment.place(number, component),
    )
    least, n_signs = (_MIN_PHONE, _n_digits(value)) if kind in _LINES else (_MIN_ID + 1, len(value))
    if kind and place and n_signs >= least:
        yield _found(kind, segment, place, f"{number:02d} {channel}")


def _organization(
    segment: Segment, number: int, component: int | None = None, qualifier: str = ""
) -> Iterator[Finding]:
    place = segment.place(number, component)
    if place and sum(map(str.isalpha, segment.get(number, component))) >= _MIN_ORGANIZATION:
        yield _found(EntityType.ORGANIZATION, segment, place, f"{number:02d} {qualifier}")


def _number(
    kind: EntityType | None, segment: Segment, number: int, component: int | None = None, qualifier: str = ""
) -> Iterator[Finding]:
    value, place = segment.get(number, component), segment.place(number, component)
    least = _MIN_CONTROL if segment.tag in {"UNB", "UNZ"} else _MIN_ID
    if kind and place and len(value) >= least and _holds_digit(value):
        yield _found(kind, segment, place, f"{number:02d} {qualifier}")


def _n_digits(value: str) -> int:
    return sum(map(str.isdecimal, value))


def _holds_digit(value: str) -> bool:
    return any(map(str.isdecimal, value))


def _found(kind: EntityType, segment: Segment, place: Value, where: str = "") -> Finding:
    """Return the finding of a value; its place as the guides write it (NM109 MI)."""
    return _FIELD[segment.signs.format].value(kind, Span(*place), f"{segment.tag}{where}".rstrip())
