"""Thresholds of the tagger for a name by its words: from which it is shown, and from which it counts.

A name that is shown and does not count is doubtful. What was measured when these were set, and on which
texts: docs/decisions/0016.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import regex

from phiscan.lexicon.gazetteer import Word, fold
from phiscan.model import Finding, Reason
from phiscan.screen.ner.tokens import HEALTH, NATION

MAX_DOUBTFUL = 0.19  # below the score of any other finding
# Probabilities from which a name is shown, and from which it counts; unknown: no word of it is on a list.
SHOWN, SHOWN_UNKNOWN, COUNTS, COUNTS_UNKNOWN = 0.02, 0.1, 0.2, 0.25
# A name that is also an ordinary word or a term of medicine, or is in capitals, needs more.
ORDINARY_WORD, CAPITALS, NEVER = 0.75, 0.75, 2.0
# So does a single word: a capital at the start of a sentence in another language is no name.
ONE_WORD, ONE_UNKNOWN_WORD = 0.3, 0.9
ABBREVIATION, _ABBREVIATION_CHARS = 0.9, 3  # a single word of so few capitals: ASA, ECG, LEE
_NAMES: Final = int(Word.FIRST | Word.LAST)
_ORDINARY: Final = int(Word.ORDINARY | HEALTH)
_NUMBER = re.compile(r"\d{2}")
_CAPITALISED = regex.compile(r"(?<!\p{L})\p{Lu}\p{Ll}")
# French and Romance names of streets and houses begin with what they are.
_LEADING = frozenset("hopital clinique rue boulevard avenue chemin rua via calle".split())  # noqa: SIM905 (a list of words reads best as a text)
_ELIDED = re.compile(r"(?:[cdjlmnst]|qu)['’](\w{2,})$", re.IGNORECASE)  # noqa: RUF001 (texts are written with it)
_HUMPS = regex.compile(r"\p{Lu}*\p{Ll}+|\p{L}+")  # "Scale", "Crop"; "Mc", "Donald"
_FIRST_HUMPS = frozenset({"fitz", "mcc", "vander", "vanden", "ben", "ap"})


def as_doubtful(finding: Finding, why: str) -> Finding:
    """Return a finding as a doubtful one: lowest in score, without bits."""
    if finding.is_doubtful:
        return finding
    score = min(finding.score, MAX_DOUBTFUL)
    reasons = (*finding.reasons, Reason("doubt", why, score))
    return replace(finding, score=score, bits=frozenset(), reasons=reasons, priority=None)


def without_elision(look_up: Callable[[str], int]) -> Callable[[str], int]:
    """Return a look-up that takes a French elision for what follows it: "L'examen", "qu'état".

    What is itself on a list of names stays one: D'Amico.
    """

    def flags(word: str) -> int:
        own = look_up(word)
        elided = _ELIDED.match(word)
        if own & _NAMES or elided is None:
            return own
        rest = look_up(elided[1])
        return rest if rest & _ORDINARY and not rest & _NAMES else own

    return flags


def is_only_a_name(flags: int) -> bool:
    """Tell whether a word is on a list of names and is neither an ordinary word nor one of medicine."""
    return bool(flags & _NAMES and not flags & _ORDINARY)


def least(words: Sequence[str], look_up: Callable[[str], int]) -> tuple[float, float]:
    """Return the probability from which a name of these words is shown, and from which it counts.

    ``words``: as they are in the text. ``look_up``: the flags of a word, ``Word`` and those of the tagger.
    """
    flags = [look_up(word) for word in words]
    if len(words) == 1:
        return _least_of_one_word(words[0], flags[0], look_up)
    if any(map(is_only_a_name, flags)):
        return SHOWN, COUNTS
    if all(word.isupper() for word in words):
        return CAPITALS, CAPITALS
    if all(f & _ORDINARY for f in flags):
        possible = _threshold_of_ordinary_words(flags)
        return possible, possible
    return SHOWN_UNKNOWN, COUNTS_UNKNOWN


def _least_of_one_word(word: str, flags: int, look_up: Callable[[str], int]) -> tuple[float, float]:
    if flags & NATION:
        return ORDINARY_WORD, ORDINARY_WORD  # a country more often than a name: France, Jordan
    if is_only_a_name(flags):
        return SHOWN, ABBREVIATION if word.isupper() and len(word) <= _ABBREVIATION_CHARS else ONE_WORD
    if is_made_up(word, look_up):
        return NEVER, NEVER
    if word.isupper():
        return CAPITALS, CAPITALS
    possible, counts = SHOWN_UNKNOWN, ONE_UNKNOWN_WORD
    if flags & _ORDINARY:
        possible = counts = _threshold_of_ordinary_words([flags])
    return possible, NEVER if word.islower() else counts


def _threshold_of_ordinary_words(flags: Sequence[int]) -> float:
    return ORDINARY_WORD if any(f & _NAMES for f in flags) else NEVER


def is_made_up(word: str, look_up: Callable[[str], int]) -> bool:
    """Tell whether a word joins words as programs name things: ScaleCrop, not McDonald or JaneDoe."""
    humps = _HUMPS.findall(word)
    if len(humps) < 2 or not word.isalpha() or word.isupper():  # noqa: PLR2004 (two words are joined)
        return False
    if fold(humps[0]) in _FIRST_HUMPS or look_up(humps[0]) & Word.PARTICLE:
        return False
    return not any(is_only_a_name(look_up(hump)) for hump in humps)


def least_in_place(words: Sequence[str], name: str, line: str, look_up: Callable[[str], int]) -> float:
    """Return the probability from which a name counts by its numbers, its ends and its line; 0.0: any.

    ``words``: of ``name``; ``line``: what is around it.
    """
    if _NUMBER.search(name):
        return NEVER  # an account
    if len(words) > 1:
        is_place = fold(words[0]) in _LEADING
        last = look_up(words[-1])
        ends = last & Word.NOT_PERSON and not last & (_NAMES | Word.PARTICLE)
        # "Marlow Ltd", "Hôpital Davis", "Rua do Paseo"; not "ROY, ANN PAGE", which is a name and a label.
        return NEVER if is_place or (ends and "," not in name) else 0.0
    # Where others have capitals, a word in small letters is hardly ever a name: "earnest", "brown".
    return ORDINARY_WORD if words[0].islower() and _CAPITALISED.search(line) else 0.0
