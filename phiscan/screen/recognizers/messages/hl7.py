"""Raw HL7 v2 messages: the segment and the field say what a value is, so nothing has to be guessed.

Only the fields of identifiers are read (``message_fields``), and every time stamp, whatever separates them
(``hl7_encoding``). Source: HL7 v2.9, chapter 2A (data types CX, DTM, EI, HD, PL, XAD, XCN, XON, XPN, XTN).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from phiscan.formats.hl7_encoding import as_standard, is_message
from phiscan.formats.message_fields import AUTHORITIES, CODES, DATED, FIELDS, OBSERVED, STRAY, Kind, Part
from phiscan.model import Document, EntityType, Finding, PiiBit, Span, bits_of
from phiscan.screen.recognizer import FieldSource
from phiscan.screen.validators.check_digits import npi, ssn
from phiscan.screen.validators.dates import is_day
from phiscan.screen.validators.verdicts import Verdict

_FIELD = FieldSource("hl7", 0.95)
_SEGMENT = re.compile(rf"(?:^|(?<=[\n\r\x0b]))({'|'.join((*FIELDS, *DATED))})\|[^\n\r]{{1,20000}}")
_STAMP = re.compile(
    r"(?<![^|^~&])((?:18|19|20)\d\d(?:0[1-9]|1[0-2])\d\d)"
    r"(?:(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d(?:\.\d{1,4})?)?)?(?:[+-]\d{4})?(?![^|^~&])"
)
_NUMBER = re.compile(r"(?=(?:[^\d|]{0,3}\d){6})[A-Za-z0-9][A-Za-z0-9-]{5,24}")
_PHONE = re.compile(r"1?[2-9]\d{2}-?[2-9]\d{2}-?\d{4}")
_LICENSED = re.compile(r"[12]\d{9}\^[^\W\d_]{2}")
# Relations (table 0063, and French) in the place of a name.
_RELATIONS = frozenset(
    "sel spo chd dep par fth mth bro sib gch grd emc emr exf nch oth own sci trn unk oad ext fnd asc cgv dom"  # noqa: SIM905 (a list of words reads best as a text)
    " self soi conj enf mere pere parent tuteur mandataire autre".split()
)
_VERSION = re.compile(r"[A-Z]{1,2}")
# Users that are no people: other single words in a field for a name.
_MACHINES = frozenset(
    "admin auto autoverify batch device default engine extern external fax hl7 host interface lab lis"  # noqa: SIM905 (a list of words reads best as a text)
    " pharmacy none null other pacs portal self service system test unknown user web".split()
)
_DATES = (EntityType.DATE, EntityType.DATE_OF_BIRTH)
_OF_MESSAGES = frozenset({"MSH-10", "MSA-2"})
_MIN_MESSAGE = 6  # characters of the number of a message: a shorter one counts those of a day
_MIN_ID = 2
_MIN_NAME = 3
_MIN_DATE = 6  # digits: a year alone is no date
_CODE, _AUTHORITY, _VERSIONS = 4, 3, 9  # components of CX: its type, who assigned it, where versions begin
_FACILITY = 3  # component of PL


def hl7_findings(document: Document) -> Iterator[Finding]:
    """Yield findings of the identifying fields of HL7 v2 segments."""
    text = as_standard(document.text)
    if "PID|" not in text and not is_message(text):
        return
    for match in _SEGMENT.finditer(text):
        yield from _segment(match[1], match[0], match.start())


def _segment(name: str, segment: str, position: int) -> Iterator[Finding]:
    fields = segment.split("|")
    kinds = FIELDS.get(name, {})
    stray = EntityType.OTHER_ID if name[0] == "Z" else STRAY.get(name)
    first = 1 if name in ("MSH", "FHS", "BHS") else 0  # their first field is the bar itself
    for number, field in enumerate(fields, start=first):
        if number > first and field.strip('" '):
            kind = kinds.get(number)
            if name == "OBX" and number == 5:  # noqa: PLR2004 (the value; its type is the second field)
                kind = OBSERVED.get(fields[2])
            where = f"{name}-{number}"
            if kind is not None:
                for start, value in _repetitions(field, position):
                    yield from _read(kind, value, start, where)
            elif _LICENSED.match(field) and npi(field[:10]) is Verdict.CONFIRM:
                for start, value in _repetitions(field, position):
                    yield from _read(
                        Part.DOCTOR, value, start, where
                    )  # wherever a sender has put a clinician
            elif stray is not None and _NUMBER.fullmatch(field) and not _STAMP.fullmatch(field):
                yield _found(_stray(name, field, stray), position, len(field), where)
            if kind not in _DATES:
                yield from _stamps(field, position, where)
        position += len(field) + 1


def _stray(name: str, number: str, kind: EntityType) -> EntityType:
    """Return what a long number is that is in a field of its segment that holds none by the standard."""
    if name[0] == "Z":
        return EntityType.PHONE if _PHONE.fullmatch(number) else kind
    return EntityType.SSN if name != "IN1" and number.isdecimal() and _is_ssn(number) else kind


def _stamps(field: str, position: int, where: str) -> Iterator[Finding]:
    """Yield the components of a field that are a day, with or without its time and zone."""
    for match in _STAMP.finditer(field):
        if is_day(match[1]):
            yield _found(EntityType.DATE, position + match.start(), len(match[0]), where)


def _repetitions(field: str, position: int) -> Iterator[tuple[int, str]]:
    for value in field.split("~"):
        if value.strip('" ^'):
            yield position, value
        position += len(value) + 1


def _read(kind: Kind, value: str, start: int, where: str) -> Iterator[Finding]:
    if isinstance(kind, Part) and _STAMP.fullmatch(value):
        return  # the moment of an order in the place of its number
    parts = value.split("^")
    match kind:
        case Part.NAME:
            yield from _name(parts, start, where, health=False)
        case Part.DOCTOR | Part.OPERATOR:
            yield from _staff(parts, start, where, kind)
        case Part.ADDRESS:
            yield from _address(parts, start, where)
        case Part.ORGANIZATION | Part.EMPLOYER | Part.PLACE:
            index = _FACILITY if kind is Part.PLACE else 0
            yield from _organization(parts, index, start, where)
        case Part.NUMBER if where not in _OF_MESSAGES or len(parts[0]) >= _MIN_MESSAGE:
            yield from _numbered(EntityType.OTHER_ID, parts[0].partition("&")[0], start, where)
        case EntityType.PHONE:
            if sum(c.isdecimal() for c in value) > 6:  # noqa: PLR2004 (the shortest phone number has seven)
                line = EntityType.FAX if "FX" in parts else EntityType.PHONE
                yield _found(line, start, len(value.rstrip("^")), where)
        case EntityType():
            yield from _identifier(kind, parts, start, where)


def _identifier(kind: EntityType, parts: Sequence[str], start: int, where: str) -> Iterator[Finding]:
    """Yield the number of a CX field, as what its type code or else who assigned it says."""
    entity_type = CODES.get(parts[_CODE]) if len(parts) > _CODE else None
    if entity_type is None and len(parts) > _AUTHORITY:
        words = re.split(r"[^A-Z0-9]", parts[_AUTHORITY].upper())
        entity_type = next((AUTHORITIES[word] for word in words if word in AUTHORITIES), None)
    entity_type = entity_type or kind
    if entity_type is EntityType.MRN and len(parts[0].strip('"')) >= _MIN_ID:
        whole = "^".join(parts).rstrip("^")  # a record number is one only together with who assigned it
        yield _found(entity_type, start, len(whole), where)
        return
    yield from _numbered(entity_type, parts[0], start, where)
    if entity_type is EntityType.HEALTH_CARD:
        offset = len("^".join(parts[:_VERSIONS])) + 1
        for part in parts[_VERSIONS:]:
            if _VERSION.fullmatch(part):  # the version code of a card is a part of its number
                yield _found(entity_type, start + offset, len(part), where)
            offset += len(part) + 1


def _numbered(kind: EntityType, value: str, start: int, where: str) -> Iterator[Finding]:
    number = value.strip('"')
    least = _MIN_DATE if kind in _DATES else _MIN_ID
    if len(number) >= least and any(c.isdecimal() for c in number):
        yield _found(kind, start + value.index(number), len(number), where)


def _staff(parts: list[str], start: int, where: str, kind: Kind) -> Iterator[Finding]:
    """Yield the number and the name of a person who acts for the facility."""
    if parts[0].count("&") > 1:  # name and number within one component (data type NDL)
        parts = parts[0].split("&")
    number, named = parts[0], parts[1:]
    if not any(any(c.isalpha() for c in part) for part in named[:5]):
        bare = number.lower().strip('" ')
        if len(bare) >= _MIN_NAME and not any(c.isdecimal() for c in bare) and bare not in _MACHINES:
            yield from _name([number], start, where, health=True)  # a name, or a user's, and no more
            return
    elif number.isalpha() and sum(any(map(str.isalpha, part)) for part in named) == 1:
        yield from _name(parts, start, where, health=True)  # a family name in the place of its number
        return
    elif named:
        yield from _name(named, start + len(number) + 1, where, health=True)
    if _is_account(number, named) or (named and len(number) >= _MIN_NAME and number.isalpha()):
        yield _found(EntityType.OTHER_ID, start, len(number), where)
    elif len(number) > _MIN_ID and any(c.isdecimal() for c in number) and "@" not in number:
        licensed = kind is Part.DOCTOR or "NPI" in parts or _is_npi(number)
        yield _found(EntityType.LICENSE if licensed else EntityType.OTHER_ID, start, len(number), where)


def _is_account(name: str, named: Sequence[str]) -> bool:
    """Tell whether an account has a part of the name of its user in it: PBUCHANAN, klassen.t."""
    account = name.casefold()
    return any(len(part) > _MIN_NAME and part.casefold() in account for part in named[:2])


def _organization(parts: Sequence[str], index: int, start: int, where: str) -> Iterator[Finding]:
    if len(parts) <= index:
        return
    position = start
    for part in parts:
        if _is_npi(part):
            yield _found(EntityType.LICENSE, position, len(part), where)
        position += len(part) + 1
    offset = len("^".join(parts[:index])) + bool(index)
    name = parts[index].partition("&")[0].strip('"')
    if index == 0 and len(parts) > 1 and name[:1].isdecimal() and any(c.isalpha() for c in parts[1]):
        offset, name = len(parts[0]) + 1, parts[1]  # a number, then the name of its bearer
    if sum(c.isalpha() for c in name) >= _MIN_NAME:
        yield _found(EntityType.ORGANIZATION, start + offset, len(name), where)


def _is_ssn(number: str) -> bool:
    return len(number) == 9 and ssn(number) is not Verdict.VETO  # noqa: PLR2004 (digits)


def _is_npi(number: str) -> bool:
    return len(number) == 10 and number.isdecimal() and npi(number) is Verdict.CONFIRM  # noqa: PLR2004 (digits)


def _name(parts: Sequence[str], start: int, where: str, *, health: bool) -> Iterator[Finding]:
    """Yield the name in the components family, given, middle, suffix, prefix."""
    kept = list(parts[:5])
    while kept and not kept[-1].strip('" '):
        kept.pop()
    if not any(any(c.isalpha() for c in part) for part in kept):
        return
    if len(kept) == 1 and kept[0].strip('" ').lower() in _RELATIONS:
        return
    lead = 0
    while not kept[0]:
        kept.pop(0)
        lead += 1
    bits = set()
    if lead == 0:
        bits.add(PiiBit.LAST_NAME)
    if len(kept) > 1 - lead:
        bits.add(PiiBit.FIRST_NAME)
    length = len("^".join(kept))
    yield _FIELD.person(Span(start + lead, start + lead + length), bits, where, health=health)


def _address(parts: Sequence[str], start: int, where: str) -> Iterator[Finding]:
    """Yield an address as one span, with the bits of its parts: street, city and state, postal code."""
    kept = list(parts[:9])
    while kept and not kept[-1].strip('" '):
        kept.pop()
    lead = 0
    while kept and not kept[0]:
        kept.pop(0)
        lead += 1
    length = len("^".join(kept))
    if not kept or not any(c.isalnum() for c in "".join(kept)):
        return
    street = lead == 0
    kind = EntityType.STREET_ADDRESS if street else EntityType.LOCATION
    bits = bits_of(kind) | (bits_of(EntityType.LOCATION) if len(kept) > 1 else frozenset())
    yield replace(_found(kind, start + lead, length, where), bits=bits)


def _found(kind: EntityType, start: int, length: int, where: str) -> Finding:
    return _FIELD.value(kind, Span(start, start + length), where)
