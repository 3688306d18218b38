"""Raw HL7 v2 messages: the segment and the field say what a value is, so nothing has to be guessed.

Only the fields of Safe Harbor identifiers are read, with the standard encoding characters ``|^~``.
Source: HL7 v2.9, chapters 3 (PID, PD1, NK1, PV1), 4 (ORC, OBR), 6 (GT1, IN1) and 2A (data types XPN, XAD,
XTN, CX).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from phiscan.model import Document, EntityType, Finding, PiiBit, Reason, Span
from phiscan.screen.name_tokens import name_finding
from phiscan.screen.patterns import bits_of

SCORE = 0.95
_SEGMENT = re.compile(r"(?:^|(?<=[\n\r\x0b]))(PID|PD1|NK1|PV1|ORC|OBR|GT1|IN1|MRG|ROL|AIP)\|[^\n\r]{1,20000}")
_NAME, _DOCTOR, _ADDRESS = "name", "doctor", "address"
_FIELDS: Mapping[str, Mapping[int, str | EntityType]] = {
    "PID": {
        2: EntityType.MRN, 3: EntityType.MRN, 4: EntityType.MRN, 5: _NAME, 6: _NAME, 7:
        EntityType.DATE_OF_BIRTH,
        9: _NAME, 11: _ADDRESS, 13: EntityType.PHONE, 14: EntityType.PHONE, 18: EntityType.ACCOUNT,
        19: EntityType.SSN, 20: EntityType.DRIVER_LICENSE, 21: EntityType.MRN, 29: EntityType.DATE,
    },
    "PD1": {4: _DOCTOR},
    "NK1": {
        2: _NAME, 4: _ADDRESS, 5: EntityType.PHONE, 6: EntityType.PHONE, 16: EntityType.DATE_OF_BIRTH, 30:
        _NAME,
        31: EntityType.PHONE, 32: _ADDRESS, 33: EntityType.OTHER_ID, 37: EntityType.SSN,
    },
    "PV1": {7: _DOCTOR, 8: _DOCTOR, 9: _DOCTOR, 17: _DOCTOR, 19: EntityType.ACCOUNT, 52: _DOCTOR},
    "ORC": {10: _DOCTOR, 11: _DOCTOR, 12: _DOCTOR, 14: EntityType.PHONE, 22: _ADDRESS, 23: EntityType.PHONE,
            24: _ADDRESS},
    "OBR": {10: _DOCTOR, 16: _DOCTOR, 17: EntityType.PHONE, 28: _DOCTOR},
    "GT1": {3: _NAME, 5: _ADDRESS, 6: EntityType.PHONE, 7: EntityType.PHONE, 8: EntityType.DATE_OF_BIRTH,
            12: EntityType.SSN},
    "IN1": {5: _ADDRESS, 7: EntityType.PHONE, 8: EntityType.HEALTH_PLAN, 16: _NAME,
            18: EntityType.DATE_OF_BIRTH,
            19: _ADDRESS, 36: EntityType.HEALTH_PLAN, 49: EntityType.HEALTH_PLAN},
    "MRG": {1: EntityType.MRN, 7: _NAME},
    "ROL": {4: _DOCTOR},
    "AIP": {3: _DOCTOR},
}  # fmt: skip
# The type code of an identifier (table 0203) says more than its field.
_CODES = {
    "SS": EntityType.SSN,
    "SIN": EntityType.SIN,
    "DL": EntityType.DRIVER_LICENSE,
    "PPN": EntityType.PASSPORT,
    "JHN": EntityType.HEALTH_CARD,
    "HC": EntityType.HEALTH_CARD,
    "MC": EntityType.HEALTH_PLAN,
    "MA": EntityType.HEALTH_PLAN,
    "MI": EntityType.HEALTH_PLAN,
    "AN": EntityType.ACCOUNT,
    "VN": EntityType.ACCOUNT,
    "NPI": EntityType.LICENSE,
}
_MIN_ID = 2


def is_message(text: str) -> bool:
    r"""Tell whether a text is a raw HL7 v2 message (or a batch of them).

    >>> is_message("MSH|^~\\&|LAB|"), is_message("MSH is short for")
    (True, False)
    """
    return text[:200].lstrip("\ufeff\x0b\r\n ").startswith(("MSH|", "FHS|", "BHS|"))


class Hl7Recognizer:
    """Find the identifying fields of HL7 v2 segments."""

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings in text order; spans are half-open, in code points."""
        text = document.text
        if "PID|" not in text and not is_message(text):
            return
        for match in _SEGMENT.finditer(text):
            fields = _FIELDS[match[1]]
            position = match.start()
            for number, field in enumerate(match[0].split("|")):
                kind = fields.get(number)
                if kind is not None and field.strip('" '):
                    where = f"{match[1]}-{number}"
                    for start, value in _repetitions(field, position):
                        yield from _read(kind, value, start, where)
                position += len(field) + 1


def _repetitions(field: str, position: int) -> Iterator[tuple[int, str]]:
    for value in field.split("~"):
        if value.strip('" ^'):
            yield position, value
        position += len(value) + 1


def _read(kind: str | EntityType, value: str, start: int, where: str) -> Iterator[Finding]:  # noqa: C901 (one decision after the other reads best in one place)
    parts = value.split("^")
    if kind == _NAME:
        yield from _name(parts, start, where, health=False)
    elif kind == _DOCTOR:
        offset = len(parts[0]) + 1
        if len(parts) > 1:
            yield from _name(parts[1:], start + offset, where, health=True)
        if len(parts[0]) > _MIN_ID and any(c.isdecimal() for c in parts[0]):
            yield _found(EntityType.LICENSE, start, len(parts[0]), where)
    elif kind == _ADDRESS:
        yield from _address(parts, start, where)
    elif kind is EntityType.PHONE:
        if sum(c.isdecimal() for c in value) > 6:  # noqa: PLR2004 (the shortest phone number has seven)
            yield _found(EntityType.PHONE, start, len(value.rstrip("^")), where)
    elif isinstance(kind, EntityType):
        code = parts[4] if len(parts) > 4 else ""  # noqa: PLR2004 (CX.5)
        entity_type = _CODES.get(code, kind) if kind is not EntityType.DATE_OF_BIRTH else kind
        first = parts[0].strip('"')
        if entity_type is EntityType.MRN and len(first) >= _MIN_ID:
            first = value.rstrip("^")  # a record number is one only together with who assigned it
        if len(first) >= _MIN_ID and any(c.isalnum() for c in first):
            yield _found(entity_type, start + value.index(first), len(first), where)


def _name(parts: list[str], start: int, where: str, *, health: bool) -> Iterator[Finding]:
    """Yield the name in the components family, given, middle, suffix, prefix."""
    kept = parts[:5]
    while kept and not kept[-1].strip('" '):
        kept.pop()
    if not any(any(c.isalpha() for c in part) for part in kept):
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
    yield name_finding(
        start + lead, start + lead + length, health=health, bits=frozenset(bits), source="names.hl7",
        score=SCORE, reason=("label", where),
    )  # fmt: skip


def _address(parts: list[str], start: int, where: str) -> Iterator[Finding]:
    """Yield an address as one span, with the bits of its parts: street, city and state, postal code."""
    kept = parts[:9]
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
    yield Finding(
        Span(start + lead, start + lead + length), kind, "hl7", SCORE, bits, (Reason("label", where, SCORE),)
    )


def _found(kind: EntityType, start: int, length: int, where: str) -> Finding:
    return Finding(
        Span(start, start + length), kind, "hl7", SCORE, bits_of(kind), (Reason("label", where, SCORE),)
    )
