"""Homes by the room that somebody has in them: "Country Haven rm 12", "Maison Reine-Marie (chambre 11)".

A name of ordinary words is an organization's where a word for a home is in it and a room after it; the
room is part of where somebody lives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.model import EntityType, Finding, Reason, Span
from phiscan.screen.characteristics import bits_of
from phiscan.text.prefilter import Rare

SOURCE = "organizations.rooms"
_SCORE = 0.846  # above what is due by its place
_REACH = 60
_ROOM = Rare(
    re.compile(
        r"(?:(?<=\w)|[,–/-])[ ]{1,2}\(?(?P<room>(?:room|rm\.?|wing|chambre|ch\.|appt?\.?|lit|#)[ ]?#?[ ]?"  # noqa: RUF001 (texts are written with it)
        r"(?:\d{1,4}(?:[ ]?-?[A-Z\d])?|[A-F])(?!\w))",
        re.IGNORECASE,
    ),
    r"(?i)[ (](?:room|rm|wing|chambre|ch\.|appt?|lit|#)\.? ?#? ?(?:[0-9]|[a-f]\b)",
)
_HOME = (
    r"villas?|haven|manor|lodge|homes?|house|court|gardens?|terrace|residence|r[ée]sidences?|maison|manoir"
    r"|foyer|chsld|rpa|pavillon|village|hall|inn|motel|towers?|hospice|pines|acres|estates?|heritage|abbey"
    r"|retirement|jardins|domaine|ch[âa]teau|auberge|floor"
)
_CAPITAL = r"[^\W\d_a-zà-öø-ÿ]"
_WORD = rf"{_CAPITAL}[\w'’.-]{{0,24}}"  # noqa: RUF001 (names are written with it)
_NAME = re.compile(
    rf"(?:^|(?<=[^\w'’.-]))(?P<name>{_WORD}(?:[ ](?:(?:of|the|de|la|le|les|du|des|à|aux|et|and|&)[ ]){{0,2}}"  # noqa: RUF001 (names are written with it)
    rf"{_WORD}){{1,5}})\Z"
)
_IS_HOME = re.compile(rf"(?:^|[ ])(?:{_HOME})(?:[ ]|$)", re.IGNORECASE)
_ONLY_HOME = re.compile(rf"(?:(?:nursing|retirement|the|group|care|la|le)[ ])?(?:{_HOME})", re.IGNORECASE)
_NUMBERED = re.compile(r"\d[A-Za-z]?,?[ ]$")  # of a street: "12 Manor Court, rm 3"


def residences_by_room(text: str) -> Iterator[Finding]:
    """Yield each home that has a room after it, and the room; spans are half-open, in code points."""
    for match in _ROOM.finditer(text):
        low = max(0, match.start() - _REACH)
        end = len(text[low : match.start()].rstrip(" ,–/-")) + low  # noqa: RUF001 (texts are written with it)
        name = _NAME.search(text, low, end)
        if name is None or not _IS_HOME.search(name["name"]) or _ONLY_HOME.fullmatch(name["name"]):
            continue
        if _NUMBERED.search(text, low, name.start("name")):
            continue
        yield _found(EntityType.ORGANIZATION, name.span("name"), "a home with a room")
        yield _found(EntityType.LOCATION, match.span("room"), "a room of a home")


def _found(kind: EntityType, span: tuple[int, int], why: str) -> Finding:
    return Finding(Span(*span), kind, SOURCE, _SCORE, bits_of(kind), (Reason("context", why, _SCORE),))
