"""The words of a name that begins after a cue: up to other punctuation, a label, a word that ends it."""

from __future__ import annotations

import re

from phiscan.lexicon.capitalized_words import WORD
from phiscan.lexicon.gazetteer import Gazetteer, Word

_WORD = re.compile(WORD)
_JOIN = re.compile(r"\.? \"(?=\w)|\.?\" |\.? \((?=\w)|\.?\) |[ \u00a0]|\.[ ]?|, ?|\^")
_DAY_OR_YEAR = re.compile(r"[.,]?[ ]{1,2}\d")
STOP_WORDS = frozenset(
    "dob date birth mrn age sex gender phone tel address email id no number male female m.d md unknown"  # noqa: SIM905 (a list of words reads best as a text)
    " none nil ok okay"
    " na n/a null true false yes no not see as per same self other various pending test the and or with"
    " of in on"
    " is was has had et ou le la les un une au aux pour sur est patient name nom signature title titre type"
    " city state zip street ssn fax home work cell relationship relation reason room bed unit ward hospital"
    " clinic department dept facility date/time time from to re cc subject sent of phn nam ddn hcn phin mhsc"
    " ohip ramq cell tel ext poste unknown inconnu aucun aucune none her his their our your leur notre"
    " votre".split()
)
_MAX_WORDS = 5
_MIN_ROLE = 7  # letters of a word that is nobody's: what somebody does, after a name that no list has


def read_words(gazetteer: Gazetteer, text: str, start: int, limit: int) -> list[tuple[int, int]]:  # noqa: C901, PLR0912 (one decision after the other reads best in one place)
    """Return the words of the name that begins at ``start``, up to other punctuation or a label."""
    words: list[tuple[int, int]] = []
    position, commas, lower = start, 0, None
    while len(words) < _MAX_WORDS:
        match = _WORD.match(text, position, limit)
        if match is None:
            break
        word = match[0]
        flags = gazetteer.of(word)
        is_lower = word[0].islower()
        particle = bool(flags & Word.PARTICLE)
        if word.lower() in STOP_WORDS and not (particle and words and is_lower):
            break
        if flags & Word.CREDENTIAL and words and word.isupper() and len(word) > 1:
            break
        if flags & Word.MONTH_OR_DAY and words and _DAY_OR_YEAR.match(text, match.end()):
            break  # "Ann Roy, March 2024": a date after the name
        if lower is None:
            lower = is_lower
        elif is_lower != lower and is_lower and not particle:
            break
        if is_lower and flags & Word.ORDINARY and not flags & (Word.FIRST | Word.LAST) and not particle:
            break
        words.append(match.span())
        join = _JOIN.match(text, match.end(), limit)
        if join is None:
            break
        if "," in join[0]:
            commas += 1
            if commas > 1 or len(words) > 3:  # noqa: PLR2004 (Last Last Last, First)
                break
        if "." in join[0] and len(word) > 1 and not particle and word.lower() not in {"jr", "sr"}:
            break
        position = join.end()
    while words and gazetteer.of(text[slice(*words[-1])]) & Word.PARTICLE and len(words) > 1:
        if not text[words[-1][0]].islower():
            break
        words.pop()
    return words[: _n_before_role(gazetteer, text, words)]


def _n_before_role(gazetteer: Gazetteer, text: str, words: list[tuple[int, int]]) -> int:
    """Return how many words stand before a comma with what somebody does: "Ann Roy, Manager"."""
    n_before = next(
        (n for n in range(2, len(words)) if "," in text[words[n - 1][1] : words[n][0]]), len(words)
    )
    if n_before == len(words) or any(end - start == 1 for start, end in words[:2]):
        return len(words)
    first, behind = (text[slice(*words[n])] for n in (0, n_before))
    of_first, of_behind = gazetteer.of(first), gazetteer.of(behind)
    if of_behind & Word.FIRST:
        return len(words)
    is_known = of_first & Word.FIRST and not of_first & Word.PARTICLE  # not "Van Dyke, Will"
    is_short = behind.isupper() and len(behind) > 1 and not first.isupper()
    is_role = of_behind & Word.ORDINARY and (is_known or len(behind) >= _MIN_ROLE)
    return n_before if is_short or is_role else len(words)
