"""Names of people in a document, by cues, a learned tagger and filters; the list of recognizers of names.

``resolution.resolve`` unites the findings of all and keeps the reasons of each.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from typing import ClassVar, Protocol

from phiscan.config import Config
from phiscan.lexicon.gazetteer import Gazetteer, load_gazetteer
from phiscan.model import Document, Finding
from phiscan.screen.filters.eponyms import doubt_eponyms, without_eponym_phrases
from phiscan.screen.free_text import in_free_text
from phiscan.screen.ner.spacy_pipeline import SpacyRecognizer
from phiscan.screen.ner.tagger import TaggerRecognizer
from phiscan.screen.recognizer import CaseVariant, Cost, FieldRecognizer, Recognizer
from phiscan.screen.recognizers.location import cities
from phiscan.screen.recognizers.messages.contact_cards import card_findings
from phiscan.screen.recognizers.messages.dicom import listing_findings, model_findings
from phiscan.screen.recognizers.messages.hl7 import hl7_findings
from phiscan.screen.recognizers.messages.segments import segment_findings
from phiscan.screen.recognizers.person.cues import CueRecognizer
from phiscan.screen.recognizers.person.file_names import OwnNameRecognizer
from phiscan.screen.resolution import resolve


class NameSource(Protocol):
    """Whatever finds names of people in a document."""

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings of type PERSON or HEALTH_PROFESSIONAL; they may overlap."""
        ...


@cache
def _cues(gazetteer: Gazetteer) -> CueRecognizer:
    return CueRecognizer(gazetteer)


class RuleNameRecognizer:
    """Names by labels, titles, credentials, gazetteers and a tagger."""

    name: ClassVar = "person"
    cost: ClassVar = Cost.EXPENSIVE
    case_variants: ClassVar = CaseVariant.RECASED

    def __init__(self, gazetteer: Gazetteer, tagger: NameSource | None = None) -> None:
        self._gazetteer = gazetteer
        self._tagger = tagger

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings that do not overlap each other; spans are half-open, in code points."""
        yield from in_free_text(document, self._read)

    def _read(self, document: Document) -> Iterator[Finding]:
        """Yield what cues, the tagger and the gazetteer of places find, united; then filter it."""
        text, gazetteer = document.text, self._gazetteer
        found = resolve(_cues(gazetteer).recognize(document))
        tagged = iter(()) if self._tagger is None else self._tagger.recognize(document)
        names = [*found, *doubt_eponyms(text, _beyond(found, tagged))]
        yield from without_eponym_phrases(text, resolve([*names, *cities(text, gazetteer)]))


def _beyond(found: Sequence[Finding], tagged: Iterator[Finding]) -> list[Finding]:
    """Return what the tagger finds beyond the rules: a label states which part of a name follows.

    ``found`` lies in text order without overlaps. The same name found by both stays: two are surer than one.
    """
    starts = [finding.span.start for finding in found]
    kept = []
    for finding in tagged:
        before = bisect_right(starts, finding.span.start) - 1
        if before >= 0 and found[before].span.contains(finding.span):
            is_same = found[before].span == finding.span and found[before].bits == finding.bits
            if not is_same:
                continue
        kept.append(finding)
    return kept


def build_name_recognizers(config: Config) -> tuple[Recognizer, ...]:
    """Return the name recognizers: ours, and the site's own spaCy pipeline if the configuration names one.

    Raises:
        ConfigError: the site's pipeline cannot be loaded.
        DictionaryError: a name dictionary is damaged.
        ModelError: the weights of the tagger are missing or damaged.
    """
    gazetteer = load_gazetteer()
    ours: tuple[Recognizer, ...] = (
        FieldRecognizer("messages.hl7", hl7_findings),
        FieldRecognizer("messages.segments", segment_findings),
        FieldRecognizer("messages.dicom_listing", listing_findings),
        FieldRecognizer("messages.dicom_json", model_findings),
        FieldRecognizer("messages.contact_cards", card_findings),
        OwnNameRecognizer(gazetteer),
        RuleNameRecognizer(gazetteer, TaggerRecognizer.load()),
    )
    return (*ours, SpacyRecognizer.load(config.name_pipeline)) if config.name_pipeline else ours
