"""Findings by the letter case of a document: variants of texts in small letters, a filter for capitals.

A text in small letters is also read in capitals, for shapes, and recased, for names. The shapes of names,
towns and streets are made of words with a capital. In "ADMITTED WITH CHF, OR IF SHE LIVES ALONE, ME" every
word has one, so findings in lines wholly in capitals are cut at a word that no name holds, and dropped where
they hold ordinary words alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise

from phiscan.lexicon.capitalized_words import LATIN_UPPER
from phiscan.lexicon.gazetteer import Gazetteer, Word, fold, load_gazetteer
from phiscan.lexicon.ordinary_words import SENTENCE, WORD, OrdinaryWords, load_ordinary
from phiscan.model import Document, EntityType, Finding, Span
from phiscan.normalize.letter_case import (
    Recaser,
    in_capitals,
    in_small_letters,
    is_small,
)
from phiscan.screen.free_text import in_free_text, in_label_data
from phiscan.screen.ner.tagger import SOURCE as TAGGER
from phiscan.screen.recognizer import CaseVariant, Recognizer
from phiscan.text.chunks import line_bounds
from phiscan.text.intervals import is_taken, merged

# What recognizers found in one document as it is written, by their ids.
Known = dict[int, tuple[Finding, ...]]

_PEOPLE = frozenset((EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL))


def findings_of_variants(
    document: Document, recognizers: Iterable[Recognizer], known: Known | None = None
) -> Iterator[Finding]:
    """Yield what recognizers find in a document and in its case variants; findings may overlap.

    Spans are half-open, in code points of the document. ``known``: what some of them have found in this
    document already; what the others find is added.
    """
    capitals, recaser = _resources()
    text = document.text
    recognizers = list(recognizers)
    found = _recognized(document, recognizers, known)
    if not is_small(text):
        yield from capitals.filtered(text, found)
        return
    upper = replace(document, text=in_capitals(text))
    by_shape = [one for one in recognizers if CaseVariant.UPPERCASE in one.case_variants]
    yield from capitals.filtered(upper.text, _recognized(upper, by_shape))
    as_written = list(found)
    recased = list(_recased_names(document, recognizers, as_written))
    spans = merged((finding.span.start, finding.span.end) for finding in recased)
    for finding in as_written:
        start, end = finding.span.start, finding.span.end
        is_guess = finding.source == TAGGER and finding.is_doubtful
        if not is_guess or is_taken(start, end, spans) or recaser.has_unknown(text[start:end]):
            yield finding
    yield from recased


def _recased_names(
    document: Document, recognizers: Iterable[Recognizer], as_written: Iterable[Finding]
) -> Iterator[Finding]:
    """Yield the names found in the recased document; those that a rule found as written are left out."""
    by_rule = merged(
        (f.span.start, f.span.end) for f in as_written if f.entity_type in _PEOPLE and f.source != TAGGER
    )
    for one in recognizers:
        if CaseVariant.RECASED in one.case_variants:
            # Formats are known by their capitals: the text is cut into passages before it loses them.
            for finding in in_free_text(document, partial(_recognize_recased, one)):
                if finding.source != TAGGER or not is_taken(finding.span.start, finding.span.end, by_rule):
                    yield finding


def _recognize_recased(recognizer: Recognizer, document: Document) -> Iterator[Finding]:
    return recognizer.recognize(_recased(document))


def _recased(document: Document) -> Document:
    return replace(document, text=_resources()[1].recased(in_small_letters(document.text)))


def _recognized(
    document: Document, recognizers: Iterable[Recognizer], known: Known | None = None
) -> Iterator[Finding]:
    for one in recognizers:
        if known is None:
            yield from in_label_data(document, one.recognize)
            continue
        if id(one) not in known:
            known[id(one)] = tuple(in_label_data(document, one.recognize))
        yield from known[id(one)]


@cache
def _resources() -> tuple[CapitalsFilter, Recaser]:
    gazetteer, ordinary = load_gazetteer(), load_ordinary()
    return CapitalsFilter(gazetteer, ordinary), Recaser(gazetteer, ordinary)


_LINE_CHARS = 80  # on each side of a finding
_COUNTED = re.compile(r"(?P<word>[^\W\d_]{4,})\d{1,3}")
_SMALL = re.compile(rf"[^\W\d_{LATIN_UPPER}]")
_QUOTE = re.compile(r"[\"'](?=\s)")
_BEFORE_STATE = re.compile(r",| \(")
_BEFORE_TOWN = SENTENCE | frozenset(("in", "on", "to", "at", "the", "and", "of", "out", "way", "near"))
_IN_NO_STREET = SENTENCE | frozenset(
    "and to at in kg g mg mcg ml cm mm min mins day days wk wks week weeks hr hrs hour hours yo yrs ans an"  # noqa: SIM905 (a list of words reads best as a text)
    " jours mois heures minutes pts visits cash".split()
)
_NAMES = Word.FIRST | Word.LAST
_PEOPLE = frozenset((EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL))
_Words = Sequence[re.Match[str]]


class CapitalsFilter:
    """Cuts or drops findings in lines that are wholly in capitals, by the ordinary words that they hold."""

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
            "names.label": self._after_label,
            "names.header": self._after_label,
        }

    def filtered(self, text: str, findings: Iterable[Finding]) -> Iterator[Finding]:
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
        if finding.source == TAGGER:  # by how words look; a label says more
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

    def _after_label(self, text: str, finding: Finding, words: _Words) -> Span | None:
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
