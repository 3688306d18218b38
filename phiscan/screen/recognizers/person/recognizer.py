"""Names of people: the seam, and the explicit tuple of what stands behind it.

``NameRecognizer`` is the seam. A trained model joins by one more line in ``build_name_recognizers``; the
findings of all recognizers are united by ``overlap.resolve`` with the reasons of each.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Protocol

from phiscan.config import Config
from phiscan.lexicon.capitalized_words import FULL_NAME, tokenize
from phiscan.lexicon.gazetteer import Gazetteer, load_gazetteer
from phiscan.model import Document, EntityType, Finding
from phiscan.screen.filters.eponyms import doubt_eponyms, without_eponym_phrases
from phiscan.screen.filters.machine_codes import without_codes_of_machines
from phiscan.screen.filters.name_trimming import trimmed
from phiscan.screen.filters.named_objects import without_things
from phiscan.screen.filters.organizations_as_persons import without_organizations
from phiscan.screen.filters.place_or_person import PlaceFields, as_location
from phiscan.screen.filters.places_as_persons import without_places
from phiscan.screen.free_text import in_free_text
from phiscan.screen.ner.spacy_pipeline import SpacyRecognizer
from phiscan.screen.ner.tagger import TaggerRecognizer
from phiscan.screen.recognizers.identifiers.user_accounts import AccountRecognizer
from phiscan.screen.recognizers.location.city_and_state import cities
from phiscan.screen.recognizers.location.gazetteer_places import find_places
from phiscan.screen.recognizers.location.location_cues import LocationCueRecognizer
from phiscan.screen.recognizers.messages.contact_cards import CardRecognizer
from phiscan.screen.recognizers.messages.dicom_json import ModelRecognizer
from phiscan.screen.recognizers.messages.dicom_listing import ListingRecognizer
from phiscan.screen.recognizers.messages.edifact import EdifactRecognizer
from phiscan.screen.recognizers.messages.hl7 import Hl7Recognizer
from phiscan.screen.recognizers.messages.resource_ids import ResourceRecognizer
from phiscan.screen.recognizers.messages.x12 import X12Recognizer
from phiscan.screen.recognizers.person.age_and_sex import aged_names
from phiscan.screen.recognizers.person.compound_surnames import compound_names
from phiscan.screen.recognizers.person.context_words import ContextRecognizer
from phiscan.screen.recognizers.person.conversation import conversation_names
from phiscan.screen.recognizers.person.cues import CueRecognizer
from phiscan.screen.recognizers.person.enumerations import listed_names
from phiscan.screen.recognizers.person.file_names import OwnNameRecognizer
from phiscan.screen.recognizers.person.initials import initials
from phiscan.screen.recognizers.person.name_patterns import FormRecognizer
from phiscan.screen.recognizers.person.repeated_mentions import repeats
from phiscan.screen.recognizers.person.single_names import single_names, with_initials
from phiscan.screen.recognizers.person.staff_signatures import signs
from phiscan.screen.resolution import resolve

_BY_FORM = frozenset({"names.form", "names.last_first", "names.context"})  # no label, no title


class NameRecognizer(Protocol):
    """Whatever finds names of people in a document."""

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings of type PERSON or HEALTH_PROFESSIONAL; they may overlap."""
        ...


class RuleNameRecognizer:
    """Names by labels, titles, credentials, gazetteers and a tagger; then their mentions in the document."""

    def __init__(self, gazetteer: Gazetteer, tagger: NameRecognizer | None = None) -> None:
        self._gazetteer = gazetteer
        self._tagger = tagger
        self._cues = CueRecognizer(gazetteer)
        self._forms = FormRecognizer(gazetteer)
        self._context = ContextRecognizer(gazetteer)
        self._places = LocationCueRecognizer(gazetteer)

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings that do not overlap each other; spans are half-open, in code points."""
        yield from in_free_text(document, self._read)

    def _read(self, document: Document) -> Iterator[Finding]:
        text = document.text
        tokens = tokenize(text, self._gazetteer)
        found = list(self._cues.recognize(document))
        found.extend(self._forms.in_tokens(text, tokens))
        found.extend(self._context.in_tokens(text, tokens))
        found.extend(aged_names(text, self._gazetteer))
        found.extend(initials(text))
        found.extend(conversation_names(text, self._gazetteer))
        found.extend(signs(text, self._gazetteer))
        found.extend(compound_names(text, self._gazetteer))
        found.extend(single_names(text, self._gazetteer))
        found = _placed(text, resolve(found))
        tagged = _beyond(found, self._tagger.recognize(document)) if self._tagger is not None else []
        tagged = without_places(text, doubt_eponyms(text, tagged), self._gazetteer)
        tagged = without_organizations(text, tagged, self._gazetteer)
        found = _outside_streets(found, tagged)
        listed = list(listed_names(text, resolve([*found, *tagged]), self._gazetteer))
        people = found + listed + [finding for finding in tagged if finding.bits == FULL_NAME]
        found = found + tagged + listed
        if people:
            found.extend(repeats(text, tokens, people, self._gazetteer))
        found.extend(find_places(text, tokens, self._gazetteer))
        found.extend(cities(text, self._gazetteer))
        found.extend(self._places.recognize(text))
        whole = resolve(with_initials(text, resolve(found), self._gazetteer))
        whole = tuple(without_eponym_phrases(text, whole))
        standing = without_codes_of_machines(text, whole)
        for finding in without_things(text, standing, self._gazetteer):
            yield from trimmed(text, finding, self._gazetteer)


def _beyond(found: Sequence[Finding], tagged: Iterator[Finding]) -> list[Finding]:
    """Return what the tagger finds beyond the rules: a label knows better which part of a name it gives.

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


def _placed(text: str, found: Sequence[Finding]) -> list[Finding]:
    """Return what the rules found; what only looks like a name is a place in the column or field of one."""
    fields = PlaceFields(text)
    kinds = [fields.kind(f.span) if _is_by_form(f) else None for f in found]
    return [f if kind is None else as_location(f, kind) for f, kind in zip(found, kinds, strict=True)]


def _outside_streets(found: Sequence[Finding], tagged: Sequence[Finding]) -> list[Finding]:
    """Return what the rules found less names by their form within a street address of the tagger.

    "12 Jessica Towers" is called after somebody. Both lie in text order without overlaps.
    """
    streets = [f for f in tagged if f.entity_type is EntityType.STREET_ADDRESS and not f.is_doubtful]
    starts = [street.span.start for street in streets]
    kept = []
    for finding in found:
        before = bisect_right(starts, finding.span.start) - 1
        if (
            _is_by_form(finding)
            and before >= 0
            and streets[before].span.contains(finding.span)
            and streets[before].span != finding.span
        ):
            continue
        kept.append(finding)
    return kept


def _is_by_form(finding: Finding) -> bool:
    return finding.source in _BY_FORM and finding.entity_type is EntityType.PERSON


def build_name_recognizers(config: Config) -> tuple[NameRecognizer, ...]:
    """Return the name recognizers: ours, and the site's own spaCy pipeline if the configuration names one.

    Raises:
        ConfigError: the site's pipeline cannot be loaded.
        DictionaryError: a name dictionary is damaged.
        ModelError: the weights of the tagger are missing or damaged.
    """
    gazetteer = load_gazetteer()
    ours: tuple[NameRecognizer, ...] = (
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
