"""Trimming of a name: words at its ends that are written as names are and do not belong to it.

In front a greeting or a relation ("Bonjour Jean", "Friend Ann"); after it codes, a credential, numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from phiscan.lexicon.capitalized_words import CREDENTIALS
from phiscan.lexicon.gazetteer import Gazetteer, Word, fold
from phiscan.model import Span
from phiscan.screen.ner.name_confidence import is_only_a_name
from phiscan.screen.ner.spans import n_codes

_ARTICLES = frozenset({"le", "la", "les", "un", "une", "des"})  # before a word in lower case: "le sel"
_WORDS = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_DIGIT = re.compile(r"\d")
# Interjections before a name: "Well, Vincent".
_INTERJECTIONS = frozenset("well yes no ok okay sorry please bye oui non pardon voilà".split())  # noqa: SIM905 (a list of words reads best as a text)
_INTERJECTION, _GREETING, _CLOSING, _RELATION = range(1, 5)
_KINDS = {
    _GREETING: ("salutation",),
    _CLOSING: ("closing",),
    _RELATION: ("kin", "label", "introduction_weak"),
}
_N_WORDS = 20_000  # in the cache of cues
# An article joined to the rest of an Arabic name: "Abdulrahman al-Farsi".
_ARTICLE_AND_NAME = re.compile(
    r"[ ](?:[aeu]l|a[dnrz]|ash)-[^\W\d_a-zà-öø-ÿ][^\W\d_]{2,20}(?:-[^\W\d_]{2,20})?(?!\w)"
)
_NAMES = Word.FIRST | Word.LAST
Places = Sequence[tuple[int, int]]


class NameEnds:
    """Trims the words at the ends of a name that do not belong to it."""

    def __init__(self, gazetteer: Gazetteer) -> None:
        self._gazetteer = gazetteer
        self._cues = {
            cue: frozenset(fold(w) for kind in kinds for w in gazetteer.cues.get(kind, ()) if " " not in w)
            for cue, kinds in _KINDS.items()
        }
        self._cue = lru_cache(_N_WORDS)(self._cue_of)

    def trimmed(self, text: str, span: Span) -> Span | None:
        """Return the span without the words at its ends that are no part of the name; None if none is left.

        In front: signs, figures, a greeting, a relation, the title of a doctor or nurse, a French article.
        After: words in lower case that end no name, codes after a comma, numbers. An Arabic
        article and what it is joined to belong to the name before them.
        """
        look_up = self._gazetteer.of
        places = [match.span() for match in _WORDS.finditer(text, span.start, span.end)]
        has_digit = _DIGIT.search(text, max(0, span.start - 1), span.end + 1) is not None
        if has_digit and any(not _touches_digit(text, place) for place in places):
            while _touches_digit(text, places[0]):  # "8h15 Roy Ann"
                del places[0]
            while _touches_digit(text, places[-1]):
                del places[-1]
        del places[: self.n_leads(text, places)]
        while len(places) > 1 and (
            look_up(text[slice(*places[0])]) & Word.TITLE_HEALTH
            or (text[slice(*places[0])] in _ARTICLES and text[places[1][0]].islower())
        ):
            del places[0]
        cut = len(places) - (n_codes(text, places) or _n_after_credential(text, places))
        is_capital = bool(places) and text[places[0][0]].isupper()
        while cut and text[places[cut - 1][0]].islower():
            flags = look_up(text[slice(*places[cut - 1])])
            # Of a name that begins with a capital no particle is the last word, nor a word that no list has.
            if not is_capital and (flags & Word.PARTICLE or not flags & Word.ORDINARY):
                break
            if is_capital and is_only_a_name(flags):
                break
            cut -= 1
        if not cut:
            return None
        end = places[cut - 1][1]
        is_whole = cut == len(places) and not (has_digit and _DIGIT.search(text, end, span.end))
        end = span.end if is_whole else end
        rest = _ARTICLE_AND_NAME.match(text, end)
        return Span(places[0][0], end if rest is None else rest.end())

    def n_leads(self, text: str, places: Places) -> int:
        """Return the number of words in front that are a greeting or a relation; never all.

        ``places``: of the words of a name.
        """
        n_words = 0
        while n_words < len(places) - 1 and self._is_lead(text, places[n_words], places[n_words + 1]):
            n_words += 1
        return n_words

    def _is_lead(self, text: str, place: tuple[int, int], following: tuple[int, int]) -> bool:
        word = text[slice(*place)]
        cue = self._cue(word)
        if not cue:
            return False
        gap = text[place[1] : following[0]]
        if cue == _INTERJECTION:
            return "," in gap
        flags = self._gazetteer.of(word)
        if flags & Word.PARTICLE or "." in gap:
            return False
        if not flags & _NAMES:
            return cue != _RELATION or "," not in gap
        # What is a family's name, too, needs a first name after it: not "Son Nguyen".
        may_be_cue = cue == _GREETING or bool(cue == _RELATION and flags & Word.ORDINARY)
        is_name = self._gazetteer.of(text[slice(*following)]) & Word.FIRST
        return bool(may_be_cue and is_name and not gap.strip())

    def _cue_of(self, word: str) -> int:
        """Return what a word in front of a name may be besides a name; 0 for most."""
        key = fold(word)
        if key in _INTERJECTIONS and word[0].isupper():
            return _INTERJECTION
        return next((cue for cue, words in self._cues.items() if key in words), 0)


def _n_after_credential(text: str, places: Places) -> int:
    """Return the number of words at the end that are the credential of a name: "Ann Roy, M.D."."""
    for index in range(1, len(places) - 1):
        credential = CREDENTIALS.match(text, places[index][1])
        if credential is not None and credential.end() >= places[-1][1]:
            return len(places) - 1 - index
    return 0


def _touches_digit(text: str, place: tuple[int, int]) -> bool:
    return text[place[0] - 1 : place[0]].isdigit() or text[place[1] : place[1] + 1].isdigit()
