"""Names in small letters behind a title in small letters: "dr. smith", "mrs o'neil"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from phiscan.lexicon.capitalized_words import FULL_NAME, LAST_ONLY, WORD, is_term, name_finding
from phiscan.lexicon.gazetteer import Gazetteer, Word
from phiscan.model import Finding

LOWER_TITLES: Final = r"\b(?:mr|mrs|ms|dr|dre|mme|mlle|prof)\b\.? {1,2}[a-z]"  # for a scanner of bytes
_CLOSED = re.compile(r"[ ]?[,.;)](?!\w)|[ ]?(?:\n|$)")
_LOWER_TITLE = re.compile(r"(?:mr|mrs|ms|dr|dre|mme|mlle|prof)\.? {1,2}[a-z]")
_WORD = re.compile(WORD)


def lower_titled(gazetteer: Gazetteer, text: str, start: int) -> Iterator[Finding]:
    """Yield the name behind the title in small letters that begins at ``start``, if one does."""
    title = _LOWER_TITLE.match(text, start)
    if title is None:
        return
    end = title.end()
    match = _WORD.match(text, end - 1)
    if match is None or text[start].isupper():
        return
    words = [match.span()]
    flags = gazetteer.of(match[0])
    is_doctor = text[start:end].startswith(("dr", "prof"))
    is_lady = text[start:end].startswith(("mme", "mlle", "mrs"))  # these stand before nothing but names
    is_titled = is_doctor or is_lady
    if flags & (Word.FIRST | Word.LAST) == 0 and (flags or not is_titled or len(match[0]) < 4):  # noqa: PLR2004 (a name)
        return  # "ms contin", "mr angiography", "dr appointment"
    closed = flags & Word.LAST and _CLOSED.match(text, match.end()) is not None  # "dr. park, "
    blocked = Word.EPONYM | Word.MONTH_OR_DAY | (0 if closed else Word.NOT_PERSON)
    if flags & blocked or is_term(text, match.end(), gazetteer):
        return
    following = _WORD.match(text, match.end() + 1) if text[match.end() : match.end() + 1] == " " else None
    is_long = following is not None and len(following[0]) > 2  # noqa: PLR2004 ("au" is a name, and French)
    if is_long and following and _continues(gazetteer, text, following):
        words.append(following.span())
    health = is_doctor
    yield name_finding(
        words[0][0], words[-1][1], health=health, bits=FULL_NAME if len(words) > 1 else LAST_ONLY,
        source="names.title", score=0.8, reason=("title", "title"),
    )  # fmt: skip


def _continues(gazetteer: Gazetteer, text: str, following: re.Match[str]) -> bool:
    """Tell whether a word goes on with a name: a surname, or where the sentence ends one that no list has."""
    flags = gazetteer.of(following[0])
    if flags & (Word.LAST | Word.ORDINARY) == Word.LAST:
        return True
    return not flags and following[0].islower() and _CLOSED.match(text, following.end()) is not None
