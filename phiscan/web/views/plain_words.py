"""What findings, modes and locators mean, in the words of a privacy officer."""

from __future__ import annotations

import re
import stat
from typing import Final

from phiscan.model import EntityType, PiiBit, PiiVector, Reason
from phiscan.visible import visible

INTO: Final = (
    " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "  # from a folder or container to what lies in it
)

# Which colour a type of identifier has on the page; colour is never the only sign, the type is beside it.
COLOURS: Final[dict[EntityType, str]] = {
    EntityType.PERSON: "name",
    EntityType.HEALTH_PROFESSIONAL: "name",
    EntityType.ORGANIZATION: "place",
    EntityType.STREET_ADDRESS: "place",
    EntityType.LOCATION: "place",
    EntityType.POSTAL_CODE: "place",
    EntityType.DATE: "when",
    EntityType.DATE_OF_BIRTH: "when",
    EntityType.AGE_OVER_89: "when",
}

# Short labels, for a shape in its place.
SHORT: Final[dict[EntityType, str]] = {
    EntityType.PERSON: "name",
    EntityType.HEALTH_PROFESSIONAL: "professional",
    EntityType.ORGANIZATION: "organization",
    EntityType.STREET_ADDRESS: "address",
    EntityType.LOCATION: "place",
    EntityType.POSTAL_CODE: "postal code",
    EntityType.DATE: "date",
    EntityType.DATE_OF_BIRTH: "birth date",
    EntityType.AGE_OVER_89: "age",
    EntityType.PHONE: "phone",
    EntityType.FAX: "fax",
    EntityType.EMAIL: "e-mail",
    EntityType.SIN: "SIN",
    EntityType.SSN: "SSN",
    EntityType.HEALTH_CARD: "health card",
    EntityType.PASSPORT: "passport",
    EntityType.DRIVER_LICENSE: "driver's licence",
    EntityType.MRN: "record number",
    EntityType.HEALTH_PLAN: "health plan",
    EntityType.ACCOUNT: "account",
    EntityType.CREDIT_CARD: "payment card",
    EntityType.LICENSE: "licence",
    EntityType.VEHICLE: "vehicle",
    EntityType.DEVICE: "device",
    EntityType.URL: "web address",
    EntityType.IP: "IP address",
    EntityType.BIOMETRIC: "biometric",
    EntityType.OTHER_ID: "other number",
}

# Short labels of the characteristics for a line of the list, what singles a person out first.
SHORT_BITS: Final[dict[PiiBit, str]] = {
    PiiBit.FIRST_NAME: "name",
    PiiBit.LAST_NAME: "name",
    PiiBit.HEALTH_CARD: "health card",
    PiiBit.MRN: "record number",
    PiiBit.HEALTH_PLAN: "health plan",
    PiiBit.SIN: "SIN",
    PiiBit.SSN: "SSN",
    PiiBit.PASSPORT: "passport",
    PiiBit.DRIVER_LICENSE: "driver's licence",
    PiiBit.BIOMETRIC: "biometric",
    PiiBit.ACCOUNT: "account",
    PiiBit.LICENSE: "licence",
    PiiBit.VEHICLE: "vehicle",
    PiiBit.DEVICE: "device",
    PiiBit.OTHER_ID: "other number",
    PiiBit.STREET_ADDRESS: "address",
    PiiBit.PHONE: "phone",
    PiiBit.FAX: "fax",
    PiiBit.EMAIL: "e-mail",
    PiiBit.DATE: "date",
    PiiBit.AGE_OVER_89: "age over 89",
    PiiBit.LOCATION: "place",
    PiiBit.HEALTH_PROFESSIONAL: "professional",
    PiiBit.ORGANIZATION: "organization",
    PiiBit.URL: "web address",
    PiiBit.IP: "IP address",
}

_STEPS: Final[dict[str, str]] = {
    "rule": "its format matches rule {}",
    "check": "its check digits or numbering plan ({}) are valid",
    "header": "it is in a column headed “{}”",
    "label": "it follows the label “{}”",
    "gazetteer": "it is on the name lists ({})",
    "title": "it follows a title ({})",
    "signature": "it signs a letter ({})",
    "learned": "a learned model supports it: {}",
    "model": "the tagger {} detected it from its spelling and context",
    "overlap": "it was preferred to another interpretation of the same text, {}",
    "place": "it {}",
    "role": "the person is {}, not the one whom the file is about",
    "veto": "no such value has been issued ({})",
    "doubt": "it is {}",
    "misread": "text recognition seems to have misread it ({})",
    "cap": "one of many alike, so that only a share was examined: {}",
}
# What the name finder writes where no word of the document's form is meant.
_NAME_LABELS: Final = {
    "label": "name",
    "label_first": "first name",
    "label_last": "last name",
    "label_health": "health professional",
}
_READERS = ((stat.S_IROTH, "everyone with access to the share"), (stat.S_IRGRP, "the file's group"))
_PLACE = re.compile(r"[a-z]+[0-9]*(?:[!/][A-Za-z]+[0-9]*)?")
_PLACES: Final = {
    "line": "line",
    "row": "row",
    "page": "page",
    "p": "page",
    "slide": "slide",
    "sheet": "sheet",
    "header": "page header",
    "footer": "page footer",
}
_WHOLE_PLACES: Final = {
    "filename": "name of the file",
    "folder": "name of a folder",
    "rest": "rest of the text",
    "pages": "other pages",
}

# The types of identifiers that a digit selects when a finding is corrected, the most frequent first.
DIGITS: Final[tuple[EntityType, ...]] = (
    EntityType.PERSON,
    EntityType.DATE_OF_BIRTH,
    EntityType.DATE,
    EntityType.HEALTH_CARD,
    EntityType.MRN,
    EntityType.PHONE,
    EntityType.STREET_ADDRESS,
    EntityType.HEALTH_PROFESSIONAL,
    EntityType.ORGANIZATION,
)


def colour(kind: EntityType) -> str:
    """Return the group of a type: name, place, when or id."""
    return COLOURS.get(kind, "id")


def digit_kinds() -> tuple[tuple[int, str, str, str], ...]:
    """Return the types with a digit: digit, type, short label and colour."""
    return tuple((at, kind.value, SHORT[kind], colour(kind)) for at, kind in enumerate(DIGITS, 1))


def other_kinds() -> tuple[tuple[str, str, str], ...]:
    """Return the types without a digit: type, short label and colour."""
    return tuple((kind.value, label, colour(kind)) for kind, label in SHORT.items() if kind not in DIGITS)


def kinds_of(vector: PiiVector) -> tuple[str, ...]:
    """Return what identifiers a file holds, in a few words each.

    >>> kinds_of(PiiVector(frozenset({PiiBit.FIRST_NAME, PiiBit.LAST_NAME, PiiBit.DATE})))
    ('name', 'date')
    """
    return tuple(dict.fromkeys(words for bit, words in SHORT_BITS.items() if bit in vector.bits))


def step(reason: Reason) -> str:
    """Return one step of a score as a clause.

    >>> step(Reason("label", "date of birth", 0.9))
    'it follows the label “date of birth”'
    >>> step(Reason("context", "not phone", 0.3))
    'nearby words are evidence against it (not phone)'
    """
    detail = visible(reason.detail)
    if reason.kind == "context":
        if detail.startswith("not "):
            return f"nearby words are evidence against it ({detail})"
        return f"nearby words support it ({detail})"
    if reason.kind == "label" and detail.startswith("repeats"):
        return "it repeats a name found elsewhere in this file"
    if reason.kind in {"label", "header", "signature"}:
        detail = _NAME_LABELS.get(detail, detail)
    return _STEPS.get(reason.kind, f"{visible(reason.kind)}: {{}}").format(detail)


def mode_letters(mode: int) -> str:
    """Return the permission bits as ``ls`` writes them, without the type; "" when the share has none.

    >>> mode_letters(0o100640), mode_letters(0)
    ('rw-r-----', '')
    """
    return stat.filemode(mode)[1:] if mode & 0o7777 else ""


def readers_by_mode(mode: int) -> str:
    """Say who may read a file by its permission bits, the widest circle first; "" when they are unknown.

    >>> readers_by_mode(0o100600), readers_by_mode(0o100644)
    ('only its owner', 'everyone with access to the share')
    """
    if not mode & 0o7777:
        return ""
    return next((words for bit, words in _READERS if mode & bit), "only its owner")


def locator_words(locator: str) -> str:
    """Return the way through containers and the place in the document as words.

    >>> locator_words("#p1/form"), locator_words(""), locator_words("#filename")
    ('page 1, form', 'text', 'name of the file')
    >>> locator_words("older.zip!/op note.rtf#line4").split(INTO)
    ['older.zip', 'op note.rtf, line 4']
    """
    way, _, place = locator.rpartition("#")
    if not _PLACE.fullmatch(place):  # no place, but part of a name
        way, place = locator, ""
    shown = INTO.join(visible(part) for part in way.split("!/") if part)
    where = ", ".join(_place(part) for part in place.replace("!", "/").split("/") if part)
    return ", ".join(part for part in (shown, where) if part) or "text"


def _place(part: str) -> str:
    head = part.rstrip("0123456789")
    number = part[len(head) :]
    if number and head in _PLACES:
        return f"{_PLACES[head]} {number}"
    return _WHOLE_PLACES.get(part) or visible(part)
