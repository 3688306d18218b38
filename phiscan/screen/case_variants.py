"""Findings in a document and, if it is in small letters, in capitals (for shapes) and recased (for names)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache, partial

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.lexicon.ordinary_words import load_ordinary
from phiscan.model import Document, EntityType, Finding
from phiscan.normalize.letter_case import Recaser, in_capitals, in_small_letters, is_small
from phiscan.screen.free_text import in_free_text, in_label_data
from phiscan.screen.ner.tagger import SOURCE as TAGGER
from phiscan.screen.recognizer import CaseVariant, Recognizer
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
    recaser = _recaser()
    text = document.text
    recognizers = list(recognizers)
    found = _recognized(document, recognizers, known)
    if not is_small(text):
        yield from found
        return
    upper = replace(document, text=in_capitals(text))
    by_shape = [one for one in recognizers if CaseVariant.UPPERCASE in one.case_variants]
    yield from _recognized(upper, by_shape)
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
    return replace(document, text=_recaser().recased(in_small_letters(document.text)))


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
def _recaser() -> Recaser:
    return Recaser(load_gazetteer(), load_ordinary())
