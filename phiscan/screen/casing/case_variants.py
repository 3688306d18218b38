"""A document read as it is written: with capitals, in capitals alone, or in small letters alone.

What is found in lines wholly in capitals is looked at once more (``capitals.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.model import Document, EntityType, Finding
from phiscan.screen.attributes.named_roles import may_have_role
from phiscan.screen.casing.lowercase import (
    Recaser,
    in_capitals,
    in_small_letters,
    is_in_capitals,
    is_small,
    with_capitals,
)
from phiscan.screen.casing.ordinary_words import WORD, load_ordinary
from phiscan.screen.casing.uppercase import Capitals
from phiscan.screen.free_text import in_free_text, in_label_data
from phiscan.screen.ner.tagger import SOURCE as TAGGER
from phiscan.screen.recognizer import CaseVariant, Recognizer
from phiscan.screen.resolution import is_taken, is_within, merged

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
                yield capitals.with_doubt(text, finding)
        yield from named
    elif is_in_capitals(text):
        standing = list(capitals.classify(text, found))
        named = [one for one in _names(document, one_by_one, standing) if not one.is_doubtful]
        yield from _outside_firms([*standing, *named])
    else:
        yield from capitals.classify(text, found)


def _outside_firms(found: Sequence[Finding]) -> list[Finding]:
    """Return findings without the places within the name of an organization: "ADMIT TO RIVERVIEW MANOR"."""
    firms = merged((f.span.start, f.span.end) for f in found if f.entity_type is EntityType.ORGANIZATION)
    return [
        finding
        for finding in found
        if finding.entity_type is not EntityType.LOCATION
        or not is_within(finding.span.start, finding.span.end, firms)
    ]


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
                    yield _writers()[0].with_doubt(document.text, finding)


def _recognize_recased(recognizer: Recognizer, document: Document) -> Iterator[Finding]:
    return recognizer.recognize(_recased(document))


def _recased(document: Document) -> Document:
    return replace(document, text=_writers()[1].recased(in_small_letters(document.text)))


def with_usual_capitals(document: Document, findings: Iterable[Finding]) -> Document:
    """Return a document in small letters or capitals as it is usually written: names with a capital.

    What tells the role of a person, as a reference or a byline does, is classified by how names are written.
    """
    found = tuple(findings)
    if not (may_have_role(found) and (is_small(document.text) or is_in_capitals(document.text))):
        return document
    text = _recased(document).text
    ordinary = load_ordinary()
    places = []
    for finding in found:
        if finding.entity_type in _NAMED:
            words = [match.span() for match in WORD.finditer(text, finding.span.start, finding.span.end)]
            names = [span for span in words if not ordinary.is_one(text[slice(*span)])]
            places += names or words
    return replace(document, text=with_capitals(text, places))


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
