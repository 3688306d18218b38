r"""Contacts (vCard) and calendars (iCalendar) as they are sent: the property says what its value is.

Files of these kinds come with labels before their values; in mail, logs and exports they stand raw. Source:
RFC 6350 (N, FN, ADR, ORG, BDAY; \, \; \n), RFC 5545 (ATTENDEE, ORGANIZER, CN, CUTYPE; folded lines).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from phiscan.formats.message_fields import DESKS
from phiscan.model import Document, EntityType, Finding, PiiBit, Span
from phiscan.screen.recognizer import FieldSource
from phiscan.text.passages import Passage, Piece

_FIELD = FieldSource("card", 0.9)
_BEGIN = re.compile(r"^BEGIN:V(CARD|CALENDAR)[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_END = {kind: re.compile(f"END:V{kind}", re.IGNORECASE) for kind in ("CARD", "CALENDAR")}
# The lines of a card that nothing ends: properties and what is folded below them. A note may have "Patient:".
_LINES = re.compile(
    r"(?:\r?\n(?:[ \t]+[^\s][^\r\n]*|(?:[\w-]{1,40}\.)?(?:X-[\w-]+|ACTION|ADR|AGENT"
    r"|ANNIVERSARY|ATTACH|ATTENDEE|BDAY"
    r"|BEGIN|CALADRURI|CALSCALE|CALURI|CATEGORIES|CLASS|CLIENTPIDMAP|COMMENT|COMPLETED|CONTACT|CREATED|DEATHDATE"
    r"|DESCRIPTION|DTEND|DTSTAMP|DTSTART|DUE|DURATION|EMAIL|END|EXDATE|FBURL|FN|FREEBUSY|GENDER|GEO|IMPP|KEY|KIND"
    r"|LABEL|LANG|LAST-MODIFIED|LOCATION|LOGO|MAILER|MEMBER|METHOD|N|NICKNAME|NOTE|ORG|ORGANIZER|PERCENT-COMPLETE"
    r"|PHOTO|PRIORITY|PRODID|RDATE|RECURRENCE-ID|RELATED(?:-TO)?|REPEAT|REV|ROLE|RRULE|SEQUENCE|SORT-STRING|SOUND"
    r"|SOURCE|STATUS|SUMMARY|TEL|TITLE|TRANSP|TRIGGER|TZ(?:ID|NAME|OFFSETFROM|OFFSETTO|URL)?|UID|URL|VERSION|XML)"
    r"[;:][^\r\n]*))*+",
    re.IGNORECASE,
)
# A property, its parameters (what is in quotes may hold a colon) and its value, over folded lines.
_PROPERTY = re.compile(
    r"^(?:[\w-]{1,40}\.)?(?P<name>[A-Za-z-]{1,40})"
    r"(?P<parameters>(?:;[^:;\"\r\n]{0,200}(?:\"[^\"\r\n]{0,200}\")?(?:\r?\n[ \t][^:;\"\r\n]{0,80})?){0,12}):"
    r"(?P<value>[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)",
    re.MULTILINE,
)
_COMMON_NAME = re.compile(r";CN=(?:\"(?P<quoted>[^\"]+)\"|(?P<bare>[^\";:]+))", re.IGNORECASE)
_THING = re.compile(r";CUTYPE=(?:ROOM|RESOURCE|GROUP)\b", re.IGNORECASE)
_TEXT = frozenset(
    {"NOTE", "SUMMARY", "DESCRIPTION", "COMMENT", "LOCATION", "NICKNAME", "LABEL", "CONTACT", "RELATED"}
)
_WRITTEN = re.compile(r"\r?\n[ \t]|\\[nN,;\\:]")  # what is not meant as it is: folds, escapes
_TITLE = re.compile(r"(?:dre?|docteure?|doctor)\b", re.IGNORECASE)
_DAY = re.compile(r"(?:18|19|20)\d\d(-?)\d\d\1\d\d(?:T[\d:]{2,8}Z?)?")
_WORD = re.compile(r"[^\W\d_]+")
_MIN_LETTERS = 2


def holds_cards(text: str) -> bool:
    r"""Tell whether contacts or calendars stand in a text.

    >>> holds_cards("See\nBEGIN:VCARD\nFN:Ann Roy\nEND:VCARD"), holds_cards("BEGIN:VCARD begins one")
    (True, False)
    """
    return _BEGIN.search(text) is not None


def passages(text: str) -> Iterator[Passage]:
    """Yield what people wrote in contacts and calendars, and the text between these."""
    done = 0
    for start, end in _blocks(text):
        if start > done:
            yield [Piece(done, start, text[done:start])]
        done = end
        for match in _PROPERTY.finditer(text, start, end):
            if match["name"].upper() in _TEXT and match["value"]:
                yield _as_meant(text, *match.span("value"))
    if done < len(text):
        yield [Piece(done, len(text), text[done:])]


def card_findings(document: Document) -> Iterator[Finding]:
    """Yield findings of the identifying properties of contacts and calendars."""
    text = document.text
    for start, end in _blocks(text) if ":V" in text or ":v" in text else ():
        for match in _PROPERTY.finditer(text, start, end):
            yield from _read(match)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each card begins and ends; one without an end is over where its lines are."""
    begins = list(_BEGIN.finditer(text))
    for begin, following in zip_longest(begins, begins[1:]):
        stop = len(text) if following is None else following.start()
        end = _END[begin[1].upper()].search(text, begin.end(), stop) or _LINES.match(text, begin.end(), stop)
        yield begin.start(), begin.end() if end is None else end.end()


def _as_meant(text: str, start: int, end: int) -> Passage:
    """Return a value without folds and with its escapes read."""
    pieces, done = [], start
    for match in _WRITTEN.finditer(text, start, end):
        if match.start() > done:
            pieces.append(Piece(done, match.start(), text[done : match.start()]))
        sign = "" if match[0][-1].isspace() else "\n" if match[0][1] in "nN" else match[0][1]
        pieces.append(Piece(match.start(), match.end(), sign))
        done = match.end()
    if done < end:
        pieces.append(Piece(done, end, text[done:end]))
    return pieces


def _read(match: re.Match[str]) -> Iterator[Finding]:
    name, value, start = match["name"].upper(), match["value"], match.start("value")
    match name:
        case "N" | "FN":
            yield from _name(value, start, name)
        case "ATTENDEE" | "ORGANIZER":
            common = _COMMON_NAME.search(match["parameters"])
            if common is not None and not _THING.search(match["parameters"]):
                kind = "quoted" if common["quoted"] else "bare"
                yield from _name(common[kind], match.start("parameters") + common.start(kind), f"{name} CN")
        case "BDAY" | "DEATHDATE" if _DAY.fullmatch(value.strip()):
            kind = EntityType.DATE_OF_BIRTH if name == "BDAY" else EntityType.DATE
            yield from _found(kind, value, start, name)
        case "ADR":
            yield from _found(EntityType.STREET_ADDRESS, value, start, name)
        case "ORG":
            yield from _found(EntityType.ORGANIZATION, value.split(";")[0], start, name)
        case _:
            pass


def _name(value: str, start: int, where: str) -> Iterator[Finding]:
    words = _WORD.findall(value)
    if sum(map(len, words)) < _MIN_LETTERS or "@" in value or DESKS & {word.lower() for word in words}:
        return
    kept = value.strip(" ;\\,\r\n\t")
    place = start + value.index(kept)
    bits = {PiiBit.LAST_NAME, PiiBit.FIRST_NAME} if len(words) > 1 else {PiiBit.LAST_NAME}
    is_health = _TITLE.match(kept) is not None or any(_TITLE.match(part) for part in kept.split(";"))
    yield _FIELD.person(Span(place, place + len(kept)), bits, where, health=is_health)


def _found(kind: EntityType, value: str, start: int, where: str) -> Iterator[Finding]:
    kept = value.strip(" ;\r\n\t")
    if any(map(str.isalnum, kept)):
        place = start + value.index(kept)
        yield _FIELD.value(kind, Span(place, place + len(kept)), where)
