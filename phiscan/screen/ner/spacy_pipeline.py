"""Text to names by a spaCy pipeline of the site, which the configuration names."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

from phiscan.errors import ConfigError
from phiscan.model import Document, EntityType, Finding, PiiBit, Reason, Span, bits_of
from phiscan.screen.recognizer import CaseVariant, Cost
from phiscan.text.intervals import chunks

CHUNK_CHARS = 50_000  # spaCy's memory grows with the text; it is cut at line ends
SCORE = 0.7
_TYPES = {
    "PERSON": EntityType.PERSON,
    "PER": EntityType.PERSON,
    "PATIENT": EntityType.PERSON,
    "DOCTOR": EntityType.HEALTH_PROFESSIONAL,
    "HCW": EntityType.HEALTH_PROFESSIONAL,
    "ORG": EntityType.ORGANIZATION,
    "HOSPITAL": EntityType.ORGANIZATION,
    "GPE": EntityType.LOCATION,
    "LOC": EntityType.LOCATION,
    "FAC": EntityType.LOCATION,
    "DATE": EntityType.DATE,
}


class SpacyRecognizer:
    """Turn the entities of a spaCy pipeline into findings."""

    name: ClassVar = "ner.spacy_pipeline"
    cost: ClassVar = Cost.EXPENSIVE
    case_variants: ClassVar = CaseVariant.AS_WRITTEN

    def __init__(self, pipeline: Any, name: str) -> None:
        self._pipeline = pipeline
        self._source = f"spacy.{name}"

    @classmethod
    def load(cls, name: str) -> Self:
        """Load a pipeline by its package name or path.

        Raises:
            ConfigError: spaCy is missing or does not find it, or it has no component that marks entities.
        """
        try:
            pipeline = importlib.import_module("spacy").load(name)
        except (OSError, ImportError, ValueError) as error:
            kind = type(error).__name__
            message = (
                f"name_pipeline: expected spaCy (phiscan[spacy]) and a pipeline of its, got {name} ({kind})"
            )
            raise ConfigError(message) from None
        if not {"ner", "entity_ruler", "span_ruler"} & set(pipeline.pipe_names) and not pipeline.pipe_names:
            message = f"name_pipeline: {name}: expected a component that marks entities, found none"
            raise ConfigError(message)
        return cls(pipeline, name)

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield the pipeline's entities of the types that phiscan knows; spans in code points."""
        for base, chunk in chunks(document.text, CHUNK_CHARS):
            yield from findings_of(self._pipeline(chunk).ents, self._source, base)


def findings_of(entities: Iterable[Any], source: str, base: int = 0) -> Iterator[Finding]:
    """Yield the entities of a spaCy document whose type phiscan knows; its text begins at ``base``."""
    for entity in entities:
        kind = _TYPES.get(entity.label_)
        if kind is None or not entity.text.strip() or (kind is EntityType.DATE and not _has_day(entity.text)):
            continue
        bits = bits_of(kind)
        if kind is EntityType.PERSON:
            n_words = len(entity.text.split())
            bits = frozenset({PiiBit.FIRST_NAME, PiiBit.LAST_NAME} if n_words > 1 else {PiiBit.LAST_NAME})
        span = Span(base + entity.start_char, base + entity.end_char)
        yield Finding(span, kind, source, SCORE, bits, (Reason("model", source, SCORE),))


def _has_day(text: str) -> bool:
    """Is a date more than a year or a duration?"""
    words = text.split()
    return len(words) > 1 and any(c.isdecimal() for c in text) and not text.strip().isdecimal()
