"""Names of people in a document, by detectors, a learned tagger and filters, listed by name in this module.

A further recognizer is one more line in ``build_name_recognizers``; ``resolution.resolve`` unites the
findings of all and keeps the reasons of each.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Protocol

from phiscan.config import Config
from phiscan.lexicon.capitalized_words import Token, tokenize
from phiscan.lexicon.gazetteer import Gazetteer, load_gazetteer
from phiscan.model import Document, Finding
from phiscan.screen.filters.eponyms import doubt_eponyms, without_eponym_phrases
from phiscan.screen.free_text import in_free_text
from phiscan.screen.ner.spacy_pipeline import SpacyRecognizer
from phiscan.screen.ner.tagger import TaggerRecognizer
from phiscan.screen.recognizer import CaseVariant, Cost, Recognizer
from phiscan.screen.recognizers.identifiers.system_ids import AccountRecognizer, ResourceRecognizer
from phiscan.screen.recognizers.location import cities, places_after_prepositions
from phiscan.screen.recognizers.messages.contact_cards import CardRecognizer
from phiscan.screen.recognizers.messages.dicom import ListingRecognizer, ModelRecognizer
from phiscan.screen.recognizers.messages.edifact import EdifactRecognizer
from phiscan.screen.recognizers.messages.hl7 import Hl7Recognizer
from phiscan.screen.recognizers.messages.x12 import X12Recognizer
from phiscan.screen.recognizers.person.cues import CueRecognizer
from phiscan.screen.recognizers.person.file_names import OwnNameRecognizer
from phiscan.screen.resolution import resolve


class NameSource(Protocol):
    """Whatever finds names of people in a document."""

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings of type PERSON or HEALTH_PROFESSIONAL; they may overlap."""
        ...


@dataclass(frozen=True, slots=True)
class NameText:
    """A text with what every detector and filter of names reads: its tokens and the gazetteer."""

    document: Document
    tokens: list[Token]
    gazetteer: Gazetteer

    @property
    def text(self) -> str:
        """The text of the document."""
        return self.document.text


_Detect = Callable[[NameText], Iterable[Finding]]
_Filter = Callable[[NameText, Sequence[Finding]], Iterable[Finding]]


@cache
def _cues(gazetteer: Gazetteer) -> CueRecognizer:
    return CueRecognizer(gazetteer)


# By name, in the order in which they run; findings of all are united before the next group runs.
DETECTORS: tuple[tuple[str, _Detect], ...] = (
    ("person.cues", lambda name: _cues(name.gazetteer).recognize(name.document)),
)
TAGGED_FILTERS: tuple[tuple[str, _Filter], ...] = (
    ("filters.eponyms", lambda name, found: doubt_eponyms(name.text, found)),
)
PLACES: tuple[tuple[str, _Detect], ...] = (
    (
        "location.prepositions",
        lambda name: places_after_prepositions(name.text, name.tokens, name.gazetteer),
    ),
    ("location.city_and_state", lambda name: cities(name.text, name.gazetteer)),
)
FILTERS: tuple[tuple[str, _Filter], ...] = (
    ("filters.eponym_phrases", lambda name, found: without_eponym_phrases(name.text, found)),
)


class RuleNameRecognizer:
    """Names by labels, titles, credentials, gazetteers and a tagger.

    ``without`` names detectors and filters that are left out (for ablations).
    """

    name: ClassVar = "person"
    cost: ClassVar = Cost.EXPENSIVE
    case_variants: ClassVar = CaseVariant.RECASED

    def __init__(
        self, gazetteer: Gazetteer, tagger: NameSource | None = None, without: Collection[str] = ()
    ) -> None:
        self._gazetteer = gazetteer
        self._tagger = tagger
        self._without = frozenset(without)

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings that do not overlap each other; spans are half-open, in code points."""
        yield from in_free_text(document, self._read)

    def _read(self, document: Document) -> Iterator[Finding]:
        name = NameText(document, tokenize(document.text, self._gazetteer), self._gazetteer)
        found = resolve(self._detected(name, DETECTORS))
        tagged = self._filtered(name, _beyond(found, self._tagged(document)), TAGGED_FILTERS)
        united = resolve([*found, *tagged, *self._detected(name, PLACES)])
        yield from self._filtered(name, united, FILTERS)

    def _tagged(self, document: Document) -> Iterator[Finding]:
        return iter(()) if self._tagger is None else self._tagger.recognize(document)

    def _detected(self, name: NameText, detectors: Iterable[tuple[str, _Detect]]) -> Iterator[Finding]:
        for key, detect in detectors:
            if key not in self._without:
                yield from detect(name)

    def _filtered(
        self, name: NameText, found: Iterable[Finding], filters: Iterable[tuple[str, _Filter]]
    ) -> list[Finding]:
        findings = list(found)
        for key, keep in filters:
            if key not in self._without:
                findings = list(keep(name, findings))
        return findings


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
        Hl7Recognizer(),
        X12Recognizer(),
        EdifactRecognizer(),
        ListingRecognizer(),
        ModelRecognizer(),
        CardRecognizer(),
        AccountRecognizer(),
        ResourceRecognizer(),
        OwnNameRecognizer(gazetteer),
        RuleNameRecognizer(gazetteer, TaggerRecognizer.load()),
    )
    return (*ours, SpacyRecognizer.load(config.name_pipeline)) if config.name_pipeline else ours
