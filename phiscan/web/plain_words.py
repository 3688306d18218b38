"""Findings, modes and locators in the words of a privacy officer."""

from __future__ import annotations

import re
import stat
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from phiscan.language import gettext as _
from phiscan.language import lazy_gettext
from phiscan.model import EntityType, PiiBit, PiiVector, Reason
from phiscan.report.words import FORMATS, SHORT_TYPES
from phiscan.review.decisions.learning import Correction, Mark
from phiscan.visible import visible

INTO: Final = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "  # from a folder or container to its content

# Colour of each type of identifier; the type is always written next to it, for readers who see no colour.
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

SHORT: Final = SHORT_TYPES

# Short labels of the characteristics for a row of the list, the most identifying first.
_BITS: Final = (
    *(PiiBit.FIRST_NAME, PiiBit.LAST_NAME, PiiBit.HEALTH_CARD, PiiBit.MRN, PiiBit.HEALTH_PLAN, PiiBit.SIN),
    *(PiiBit.SSN, PiiBit.PASSPORT, PiiBit.DRIVER_LICENSE, PiiBit.BIOMETRIC, PiiBit.ACCOUNT, PiiBit.LICENSE),
    *(PiiBit.VEHICLE, PiiBit.DEVICE, PiiBit.OTHER_ID, PiiBit.STREET_ADDRESS, PiiBit.PHONE, PiiBit.FAX),
    *(PiiBit.EMAIL, PiiBit.DATE, PiiBit.AGE_OVER_89, PiiBit.LOCATION, PiiBit.HEALTH_PROFESSIONAL),
    *(PiiBit.ORGANIZATION, PiiBit.URL, PiiBit.IP),
)
_NAMES = {PiiBit.FIRST_NAME: SHORT[EntityType.PERSON], PiiBit.LAST_NAME: SHORT[EntityType.PERSON]}
_NAMES[PiiBit.AGE_OVER_89] = lazy_gettext("age over 89")
SHORT_BITS: Final = {bit: _NAMES.get(bit) or SHORT[EntityType[bit.name]] for bit in _BITS}

_STEPS: Final[dict[str, str]] = {
    "rule": lazy_gettext("its format is one of: {}"),
    "check": lazy_gettext("its check digits or numbering plan are valid"),
    "header": lazy_gettext("it is in a column headed “{}”"),
    "label": lazy_gettext("it follows the label “{}”"),
    "gazetteer": lazy_gettext("it is on the name lists ({})"),
    "title": lazy_gettext("it follows a title ({})"),
    "signature": lazy_gettext("it signs a letter ({})"),
    "learned": lazy_gettext("a learned model supports it: {}"),
    "model": lazy_gettext("its spelling and context are those of a name"),
    "overlap": lazy_gettext("it was preferred to another interpretation of the same text, {}"),
    "place": lazy_gettext("it {}"),
    "role": lazy_gettext("the person is {}, not the one whom the file is about"),
    "veto": lazy_gettext("no such value has been issued"),
    "doubt": lazy_gettext("it is {}"),
    "misread": lazy_gettext("text recognition seems to have misread it ({})"),
    "cap": lazy_gettext("one of many alike, so that only a share was examined: {}"),
}
# Reasons of the name tagger that refer to no cue of the document.
_NAME_LABELS: Final = {
    "label": lazy_gettext("name"),
    "label_first": lazy_gettext("first name"),
    "label_last": lazy_gettext("last name"),
    "label_health": lazy_gettext("health professional"),
}
_READERS = (
    (stat.S_IROTH, lazy_gettext("everyone with access to the share")),
    (stat.S_IRGRP, lazy_gettext("the file's group")),
)
_LOCATION = re.compile(r"[a-z]+[0-9]*(?:[!/][A-Za-z]+[0-9]*)?")
_LOCATIONS: Final = {
    "line": lazy_gettext("line"),
    "row": lazy_gettext("row"),
    "page": lazy_gettext("page"),
    "p": lazy_gettext("page"),
    "slide": lazy_gettext("slide"),
    "sheet": lazy_gettext("sheet"),
    "header": lazy_gettext("page header"),
    "footer": lazy_gettext("page footer"),
}
_WHOLE_LOCATIONS: Final = {
    "filename": lazy_gettext("name of the file"),
    "folder": lazy_gettext("name of a folder"),
    "rest": lazy_gettext("rest of the text"),
    "pages": lazy_gettext("other pages"),
}

_NO_WIDTH = "\N{ZERO WIDTH SPACE}"
_UNCHANGED = frozenset(f"\n\t{_NO_WIDTH}")
_PICTURES = 0x2400  # U+2400 and on: a picture of each control character
_N_CONTROLS = 0x20
_DELETE, _DELETE_PICTURE = "\x7f", "\u2421"
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

MARKS: Mapping[Mark, str] = {
    Mark.RIGHT: lazy_gettext("confirmed"),
    Mark.WRONG_TYPE: lazy_gettext("wrong type"),
    Mark.WRONG_EXTENT: lazy_gettext("wrong extent"),
    Mark.SPURIOUS: lazy_gettext("false positive"),
    Mark.MISSED: lazy_gettext("missed"),
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


# The types with a digit: digit, type, short label and colour; and those without one.
DIGIT_KINDS = tuple((at, kind.value, SHORT[kind], colour(kind)) for at, kind in enumerate(DIGITS, 1))
OTHER_KINDS = tuple((kind.value, label, colour(kind)) for kind, label in SHORT.items() if kind not in DIGITS)


def kinds_of(vector: PiiVector) -> tuple[str, ...]:
    """Return the kinds of identifiers in a file, in a few words each.

    >>> kinds_of(PiiVector(frozenset({PiiBit.FIRST_NAME, PiiBit.LAST_NAME, PiiBit.DATE})))
    ('name', 'date')
    """
    return tuple(dict.fromkeys(str(words) for bit, words in SHORT_BITS.items() if bit in vector.bits))


@cache
def _types_by_rule() -> Mapping[str, EntityType]:
    from phiscan.screen.rules.definitions import load_rules  # noqa: PLC0415 (no command but the desk needs it)

    return {rule.id: rule.entity_type for rule in load_rules().rules}


def source_words(source: str) -> str:
    """Return what a rule or recognizer finds, without its id.

    >>> source_words("date.iso.1"), source_words("names.tagger"), source_words("hl7")
    ('date', 'name', 'identifier')
    """
    if source.startswith("names."):
        return str(SHORT[EntityType.PERSON])
    kind = _types_by_rule().get(source)
    return str(SHORT[kind]) if kind else _("identifier")


def step(reason: Reason) -> str:
    """Return one step of a score as a clause.

    >>> step(Reason("label", "date of birth", 0.9))
    'it follows the label “date of birth”'
    >>> step(Reason("context", "not phone", 0.3))
    'nearby words are evidence against it (not phone)'
    """
    detail = visible(reason.detail)
    if reason.kind == "context":
        detail = detail.replace("_", " ")
        if detail.startswith("not "):
            return _("nearby words are evidence against it ({detail})", detail=detail)
        return _("nearby words support it ({detail})", detail=detail)
    if reason.kind == "label" and detail.startswith("repeats"):
        return _("it repeats a name found elsewhere in this file")
    if reason.kind in {"rule", "overlap"}:
        detail = source_words(reason.detail)
    elif reason.kind in {"label", "header", "signature"}:
        detail = str(_NAME_LABELS.get(detail, detail))
    return str(_STEPS.get(reason.kind, f"{visible(reason.kind)}: {{}}")).format(detail)


def mode_letters(mode: int) -> str:
    """Return the permission bits as ``ls`` writes them, without the type; "" when the share has none.

    >>> mode_letters(0o100640), mode_letters(0)
    ('rw-r-----', '')
    """
    return stat.filemode(mode)[1:] if mode & 0o7777 else ""


def readers_by_mode(mode: int) -> str:
    """Return who may read a file by its permission bits, the widest circle first; "" when they are unknown.

    >>> readers_by_mode(0o100600), readers_by_mode(0o100644)
    ('only its owner', 'everyone with access to the share')
    """
    if not mode & 0o7777:
        return ""
    return next((str(words) for bit, words in _READERS if mode & bit), _("only its owner"))


def shown(text: str) -> str:
    r"""Return the text with every invisible character replaced by a visible one, one for one.

    >>> shown("a\x00b\r\n\u202ec\rd") == "a\u2400b\u200b\n\ufffdc\nd"
    True
    """
    if text.isascii() and text.isprintable():
        return text
    if "\r" in text:  # a line end of another system, whose places in the text stay the same
        text = text.replace("\r\n", f"{_NO_WIDTH}\n").replace("\r", "\n")
    return "".join(char if char in _UNCHANGED else _visible_char(char) for char in text)


def _visible_char(char: str) -> str:
    if char < chr(_N_CONTROLS):
        return chr(_PICTURES + ord(char))
    if char == _DELETE:
        return _DELETE_PICTURE
    return _REPLACEMENT if unicodedata.category(char) in _INVISIBLE else char


def file_name(path: str) -> str:
    """Return the name of a file at the end of its path, with every character visible."""
    return visible(path.rpartition("/")[2])


def place_words(root: str, folder: str) -> str:
    """Return root and folder as parts of a path.

    >>> place_words("/srv/share", "Clinics/2024").split(INTO)
    ['/srv/share', 'Clinics', '2024']
    """
    return INTO.join(visible(part) for part in (root, *folder.split("/")) if part)


def place_of(record: Any, *, with_root: bool = True) -> str:
    """Return share and folder of a record that has a root and a path; without the share only the folder."""
    return place_words(record.root if with_root else "", record.path.rpartition("/")[0])


def format_words(media_type: str) -> str:
    """Return a media type in words."""
    return str(FORMATS.get(media_type, visible(media_type)) or _("type unknown"))


def locator_words(locator: str) -> str:
    """Return a locator in words: containers, then the location in the document.

    >>> locator_words("#p1/form"), locator_words(""), locator_words("#filename")
    ('page 1, form', 'text', 'name of the file')
    >>> locator_words("older.zip!/op note.rtf#line4").split(INTO)
    ['older.zip', 'op note.rtf, line 4']
    """
    containers, _hash, location = locator.rpartition("#")
    if not _LOCATION.fullmatch(location):  # no locator, but part of a name
        containers, location = locator, ""
    shown = INTO.join(visible(part) for part in containers.split("!/") if part)
    where = ", ".join(_location(part) for part in location.replace("!", "/").split("/") if part)
    return ", ".join(part for part in (shown, where) if part) or _("text")


def _location(part: str) -> str:
    head = part.rstrip("0123456789")
    number = part[len(head) :]
    if number and head in _LOCATIONS:
        return f"{_LOCATIONS[head]} {number}"
    return str(_WHOLE_LOCATIONS.get(part) or visible(part))


def mark_words(correction: Correction) -> str:
    """Return the correction of a span in words."""
    words = MARKS.get(correction.mark, correction.mark.value)
    if correction.mark is Mark.WRONG_TYPE:
        return f"{words}: {SHORT[correction.entity_type]}"
    if correction.mark is Mark.WRONG_EXTENT:
        return _(
            "{words}: {start} to {end}", words=words, start=correction.span.start, end=correction.span.end
        )
    return words
