"""Findings of a document, whose recognizers read one in small letters in capitals and recased as well.

Findings in lines wholly in capitals pass the filter of ``filters/lines_in_capitals.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache, partial

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.lexicon.ordinary_words import load_ordinary
from phiscan.model import Document, EntityType, Finding
from phiscan.normalize.letter_case import (
    Recaser,
    in_capitals,
    in_small_letters,
    is_small,
)
from phiscan.screen.filters.lines_in_capitals import Capitals
from phiscan.screen.free_text import in_free_text, in_label_data
from phiscan.screen.ner.tagger import SOURCE as TAGGER
from phiscan.screen.recognizer import CaseVariant, Recognizer
from phiscan.text.intervals import is_taken, merged

# What recognizers found in one document as it is written, by their ids.
Known = dict[int, tuple[Finding, ...]]

_PEOPLE = frozenset((EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL))
_NAMED = _PEOPLE | {EntityType.ORGANIZATION, EntityType.LOCATION, EntityType.STREET_ADDRESS}


def found_as_written(
    document: Document, recognizers: Iterable[Recognizer], known: Known | None = None
) -> Iterator[Finding]:
    """Yield what recognizers find in a document, read as it is written; findings may overlap.

    Spans are half-open, in code points of the document. ``known``: what some of them have found in this
    document already; what the others find is added.
    """
    capitals, recaser = _writers()
    text = document.text
    one_by_one = list(recognizers)
    found = _read(document, one_by_one, known)
    if is_small(text):
        upper = replace(document, text=in_capitals(text))
        by_shape = [one for one in one_by_one if CaseVariant.UPPERCASE in one.case_variants]
        yield from capitals.classify(upper.text, _read(upper, by_shape))
        standing = list(found)
        named = list(_names(document, one_by_one, standing))
        spans = merged((finding.span.start, finding.span.end) for finding in named)
        for finding in standing:
            start, end = finding.span.start, finding.span.end
            is_guess = finding.source == TAGGER and finding.is_doubtful
            if not is_guess or is_taken(start, end, spans) or recaser.has_unknown(text[start:end]):
                yield finding
        yield from named
    else:
        yield from capitals.classify(text, found)


def _names(
    document: Document, recognizers: Iterable[Recognizer], standing: Iterable[Finding]
) -> Iterator[Finding]:
    """Yield the names in a document as they are found once they have their capitals.

    A name that a rule found already is left out: the rule knows better where it ends.
    """
    by_rule = merged(
        (f.span.start, f.span.end) for f in standing if f.entity_type in _PEOPLE and f.source != TAGGER
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
    return replace(document, text=_writers()[1].recased(in_small_letters(document.text)))


def _read(
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
def _writers() -> tuple[Capitals, Recaser]:
    gazetteer, ordinary = load_gazetteer(), load_ordinary()
    return Capitals(gazetteer, ordinary), Recaser(gazetteer, ordinary)
