"""Tell from its context whether a health term that is a surname as well (Crohn, Parkinson) names a person."""

from __future__ import annotations

import re
from typing import Final

from phiscan.lexicon.gazetteer import Word, load_gazetteer

_AROUND: Final = 40  # characters on each side
_BEFORE: Final = re.compile(r"([^\W\d_][\w'-]*)(\.?)[ \t]{1,3}\Z")
_LABEL: Final = re.compile(r"\b(?:name|surname|nom|patient|patiente)[ \t]{0,3}:[ \t]{0,3}\Z", re.IGNORECASE)
_AFTER: Final = re.compile(r"(?:['\N{RIGHT SINGLE QUOTATION MARK}]s)?,[ \t]{0,3}([^\W\d_][\w'-]*)")


def is_surname(text: str, start: int, end: int) -> bool:
    """Tell whether a capitalized term is part of a name: a title, a given name or an initial is next to it.

    >>> [is_surname(text, 4, 9) for text in ("Mr. Crohn called", "Has Crohn's disease", "No, Crohn, Anna")]
    [True, False, True]
    """
    if not text[start].isupper():
        return False
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    if _LABEL.search(before):
        return True
    if (found := _BEFORE.search(before)) and _is_of_a_name(found[1], is_shortened=bool(found[2])):
        return True
    follows = _AFTER.match(after)
    return follows is not None and _is_given_name(follows[1])


def _is_of_a_name(word: str, *, is_shortened: bool) -> bool:
    """Tell a title (Mr, Dr), an initial (P.) or a given name."""
    if word[0].isupper() and len(word) == 1:
        return is_shortened
    return bool(load_gazetteer().of(word) & (Word.TITLE | Word.TITLE_HEALTH)) or _is_given_name(word)


def _is_given_name(word: str) -> bool:
    flags = load_gazetteer().of(word)
    return word[0].isupper() and bool(flags & Word.FIRST) and not flags & Word.ORDINARY
