"""What capitals in a row do not tell: in a line wholly in capitals every word looks like a name.

The shapes of names, towns, streets and organizations are made of words with a capital. In "ADMITTED WITH CHF,
OR IF SHE LIVES ALONE, ME" all words have one. So findings in such lines are looked at once more: what holds a
word that no name holds is cut there, and what holds ordinary words alone is nobody's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from phiscan.lexicon.gazetteer import Gazetteer, Word, fold
from phiscan.lexicon.ordinary_words import SENTENCE, WORD, OrdinaryWords
from phiscan.model import EntityType, Finding, Span
from phiscan.screen.ner.tagger import SOURCE as TAGGER
from phiscan.text.chunks import line_bounds

_LINE_CHARS = 80  # on each side of a finding
_COUNTED = re.compile(r"(?P<word>[^\W\d_]{4,})\d{1,3}")
_SMALL = re.compile(r"[^\W\d_A-ZÀ-ÖØ-Þ]")
_QUOTE = re.compile(r"[\"'](?=\s)")
_BEFORE_STATE = re.compile(r",| \(")
_BEFORE_TOWN = SENTENCE | frozenset(("in", "on", "to", "at", "the", "and", "of", "out", "way", "near"))
_IN_NO_STREET = SENTENCE | frozenset(
    "and to at in kg g mg mcg ml cm mm min mins day days wk wks week weeks hr hrs hour hours yo yrs ans an"  # noqa: SIM905 (a list of words reads best as a text)
    " jours mois heures minutes pts visits cash".split()
)
# What finds people by how words look; a label or title says more.
_BY_LOOK = frozenset((TAGGER, "names.salutation"))
_NAMES = Word.FIRST | Word.LAST
_PEOPLE = frozenset((EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL))
_Words = Sequence[re.Match[str]]


class Capitals:
    """Looks at findings in lines that are wholly in capitals."""

    def __init__(self, gazetteer: Gazetteer, ordinary: OrdinaryWords) -> None:
        self._gazetteer = gazetteer
        self._ordinary = ordinary
        self._cuts: dict[str, Callable[[str, Finding, _Words], Span | None]] = {
            "location.city_state": self._town,
            "location.labelled": self._quoted,
            "address.street": self._street,
            "address.spelled": self._street,
            "address.street_fr": self._french_street,
            "organization.labelled": self._labelled,
            "names.label": self._behind_label,
            "names.header": self._behind_label,
        }

    def classify(self, text: str, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Yield findings as they were, cut, or not at all; spans are half-open, in code points."""
        for finding in findings:
            cut = self._cut(finding)
            start, end = finding.span.start, finding.span.end
            if cut is None or _SMALL.search(text, start, end) or not _is_in_capitals(text, start, end):
                yield finding
                continue
            span = cut(text, finding, list(WORD.finditer(text, start, end)))
            if span is not None:
                yield finding if span == finding.span else replace(finding, span=span)

    def _cut(self, finding: Finding) -> Callable[[str, Finding, _Words], Span | None] | None:
        if finding.source in _BY_LOOK:
            return self._person if finding.entity_type in _PEOPLE else None
        family, _, number = finding.source.rpartition(".")
        if family.startswith("other_id."):
            return self._code
        return self._cuts.get(family if number.isdecimal() else finding.source)

    def _person(self, text: str, finding: Finding, words: _Words) -> Span | None:
        """Return the span of a name; None where all its words are ordinary ones."""
        del text
        is_name = not words or any(not self._ordinary.is_only(word[0]) for word in words)
        return finding.span if is_name or all(len(word[0]) == 1 for word in words) else None

    def _code(self, text: str, finding: Finding, words: _Words) -> Span | None:
        """Return a code without the words after it: "UNIT W0712 24 118803 WAS HUNG".

        A word of the language with a small number is none: "file item12", "FILE PAGE3".
        """
        counted = _COUNTED.fullmatch(text, finding.span.start, finding.span.end)
        if counted is not None and self._ordinary.is_only(counted["word"]):
            return None
        end = finding.span.end
        for word in reversed(words):
            if word.end() != end or text[word.start() - 1] != " " or not self._ordinary.is_one(word[0]):
                break
            end = finding.span.start + len(text[finding.span.start : word.start()].rstrip())
        return Span(finding.span.start, end) if end > finding.span.start else None

    def _behind_label(self, text: str, finding: Finding, words: _Words) -> Span | None:
        """Return the span of a name; None where it is a sentence of ordinary words: "UNDER DR"."""
        is_sentence = len(words) > 1 and any(fold(word[0]) in SENTENCE for word in words)
        return self._person(text, finding, words) if is_sentence else finding.span

    def _town(self, text: str, finding: Finding, words: _Words) -> Span | None:
        """Return a town with its state, without what runs into it: "MOVED TO THUNDER BAY, ON"."""
        comma = _BEFORE_STATE.search(text, finding.span.start, finding.span.end)
        town = [word for word in words if word.end() <= comma.start()] if comma else list(words[:-1])
        for index in range(len(town) - 1, -1, -1):
            if fold(town[index][0]) in _BEFORE_TOWN:
                town = town[index + 1 :]
                break
        while town and not self._is_town(text, town):
            if not self._ordinary.is_one(town[0][0]):
                break
            town = town[1:]
        return Span(town[0].start(), finding.span.end) if town else None

    def _quoted(self, text: str, finding: Finding, words: _Words) -> Span | None:
        """Return what follows a label up to a quotation mark: "CITY = 'RED DEER' AND"."""
        del words
        quote = _QUOTE.search(text, finding.span.start + 1, finding.span.end)
        return Span(finding.span.start, quote.start()) if quote else finding.span

    def _is_town(self, text: str, words: _Words) -> bool:
        return self._gazetteer.is_place(text[words[0].start() : words[-1].end()])

    def _street(self, text: str, finding: Finding, words: _Words) -> Span | None:
        """Return the span of an address; None where a sentence runs from the number to the street."""
        del text
        return None if any(fold(word[0]) in _IN_NO_STREET for word in words) else finding.span

    def _french_street(self, text: str, finding: Finding, words: _Words) -> Span | None:
        """Return an address up to the next sentence: "12 RUE DES ÉRABLES. ELLE EST BIEN"."""
        for before, word in pairwise(words):
            is_next = text[before.end() : word.start()] == ". " and fold(word[0]) in SENTENCE
            if is_next and word[0].lower() != "est":  # the east of a street
                return Span(finding.span.start, before.end())
        return finding.span

    def _labelled(self, text: str, finding: Finding, words: _Words) -> Span | None:
        """Return what follows a label up to the first word of a sentence."""
        del text
        return self._named(finding, next(iter(_pieces(words)), []), n_words=len(words))

    def _named(self, finding: Finding, piece: _Words, *, n_words: int) -> Span | None:
        if len(piece) == n_words:
            return finding.span
        if not any(not self._ordinary.is_only(word[0]) for word in piece):
            return None
        return Span(piece[0].start(), piece[-1].end())


def _pieces(words: _Words) -> Iterator[list[re.Match[str]]]:
    """Yield the runs of words between words of sentences; the first may be empty."""
    piece: list[re.Match[str]] = []
    for word in words:
        if fold(word[0]) in SENTENCE:
            yield piece
            piece = []
        elif piece and "%" in word.string[piece[-1].end() : word.start()]:
            yield piece
            piece = [word]
        else:
            piece.append(word)
    yield piece


def _is_in_capitals(text: str, start: int, end: int) -> bool:
    return _SMALL.search(text, *line_bounds(text, start, end, _LINE_CHARS)) is None
