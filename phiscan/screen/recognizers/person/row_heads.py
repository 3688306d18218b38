"""Names at the head of the rows of a list: "0905 bernard, rose / nov 21", "311  WALKING ELK, TOM   7739950".

One row says little, for "aspirin, daily" has the same form. Several rows of which most are surely names say
what the others are, whatever their case and whatever else the words mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.lexicon.capitalized_words import FULL_NAME, name_finding
from phiscan.lexicon.gazetteer import Gazetteer, Word, fold
from phiscan.model import Finding

_PART = r"[^\W\d_]{1,24}(?:[-'’][^\W\d_]{1,24}){0,2}"  # noqa: RUF001 (names are written with it)
_ROW = re.compile(
    r"^[ \t]{0,4}(?:(?:[A-Z]{0,2}\d{1,4}[a-z]?|\d{1,2}:\d\d|[-•*])[.):]?(?:\t|[ ]{1,4}))?"
    rf"(?P<name>(?P<last>{_PART}(?:[ ]{_PART}){{0,2}}),[ ]"
    rf"(?P<first>(?:[\"“][^\W\d_]{{2,12}}[\"”][ ])?{_PART}\.?(?:[ ]{_PART}\.?)?"
    r"(?:[ ][\"“][^\W\d_]{2,12}[\"”])?))"
    r"(?=[ ]{2}|\t|[ ]?[/|;]|[ ][-–(]|[ ][a-z]{0,2}\d|[ ]?\r?$)",  # noqa: RUF001 (texts are written with it)
    re.MULTILINE,
)
_WORD = re.compile(_PART)
_NAMES = Word.FIRST | Word.LAST
_MIN_ROWS, _MIN_LETTERS = 3, 2


def row_names(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield "last, first" at the head of rows; spans are half-open, in code points."""
    rows = [match for match in _ROW.finditer(text) if _may_be(match, gazetteer)]
    sure = sum(_is_sure(match, gazetteer) for match in rows)
    placed = sum(fold(match["last"]) in gazetteer.places for match in rows)
    if len(rows) < _MIN_ROWS or 2 * sure < len(rows) or 2 * placed > len(rows):
        return  # drugs, or places and their counties
    for match in rows:
        yield name_finding(
            match.start("name"), match.end("name"), health=False, bits=FULL_NAME, source="names.row",
            score=0.65, reason=("gazetteer", "last name, first name at the head of a row"),
        )  # fmt: skip


def _words(match: re.Match[str], part: str) -> list[str]:
    return [word for word in _WORD.findall(match[part]) if len(word) >= _MIN_LETTERS]


def _may_be(match: re.Match[str], gazetteer: Gazetteer) -> bool:
    """Tell whether no word of a row speaks against a name."""
    for word in _words(match, "last") + _words(match, "first"):
        flags = gazetteer.of(word)
        if flags & (Word.NOT_PERSON | Word.MONTH_OR_DAY | Word.CREDENTIAL) and not flags & _NAMES:
            return False
    last, first = _words(match, "last"), _words(match, "first")
    if last and first and last[-1].islower() != first[0].islower():
        return False  # "syncope vagale, Ehlers-Danlos"
    is_place = fold(match["last"]) in gazetteer.places and not any(map(gazetteer.of, first))
    return bool(last) and not is_place


def _is_sure(match: re.Match[str], gazetteer: Gazetteer) -> bool:
    """Tell whether the last name is one, and the first name one or an initial; one of them no other word."""
    last = [gazetteer.of(word) for word in _words(match, "last")]
    first = [gazetteer.of(word) for word in _words(match, "first")]
    named = any(f & Word.LAST for f in last) and (not first or any(f & Word.FIRST for f in first))
    plain = any(f & _NAMES and not f & Word.ORDINARY for f in last + first)
    return named and plain
