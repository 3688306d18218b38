"""Three detectors with disjoint features: the capture lists of the missed-PHI estimate.

A sees identifiers found by patterns and the health dictionaries' plain counts; B sees person names,
the kNN over concepts and the cues; C sees only how the text is written, with what A and B rest on masked out.
None of them sees another's verdict, and the decision table is no input to any; the table asks C in one row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Final

from phiscan.health.classifier import Classifier
from phiscan.health.decision_table import HEALTH, NAMES
from phiscan.health.text_detector import masked
from phiscan.model import Document, EntityType, HealthScore, PiiBit, Screening

DETECTORS: Final = ("patterns", "names", "text")
MIN_CONCEPTS: Final = 4  # different health concepts
MIN_DENSITY: Final = 2.0  # health terms per 1,000 characters
_NAME_TYPES: Final = frozenset({EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL})
_WEAK: Final = NAMES | {
    PiiBit.HEALTH_PROFESSIONAL,
    PiiBit.ORGANIZATION,
    PiiBit.LOCATION,
    PiiBit.DATE,
    PiiBit.URL,
}


def detect(
    document: Document, screening: Screening, health: HealthScore, classifier: Classifier | None
) -> tuple[tuple[str, bool], ...]:
    """Return each detector's verdict on "is this a PHI file", in the order of ``DETECTORS``.

    A and B run on every file. C runs on the audit sample and on whatever the cascade lets through;
    ``classifier`` None leaves it out, and then the file has no verdict of C.
    """
    found = (
        (DETECTORS[0], by_patterns(document, screening, health)),
        (DETECTORS[1], by_names(screening, health)),
    )
    if classifier is None:
        return found
    return (*found, (DETECTORS[2], by_text(document, screening, health, classifier)))


def is_laid_out_as_a_record(verdicts: Collection[tuple[str, bool]]) -> bool:
    """Tell what C said among the verdicts of ``detect``; False where it did not run."""
    return (DETECTORS[2], True) in verdicts


def by_patterns(document: Document, screening: Screening, health: HealthScore) -> bool:
    """A: an identifier that a pattern found, in a text where health terms are many and dense."""
    identified = any(
        not finding.bits <= _WEAK and finding.entity_type not in _NAME_TYPES for finding in screening.findings
    )
    if not identified:
        return False
    kinds = Counter(hit.concept for hit in health.terms)
    return len(kinds) >= MIN_CONCEPTS and 1000 * len(health.terms) >= MIN_DENSITY * len(document.text)


def by_names(screening: Screening, health: HealthScore) -> bool:
    """B: a person's name, and the nearest prototypes of concepts near enough."""
    return health.by_concepts >= HEALTH and bool(screening.vector.bits & NAMES)


def by_text(document: Document, screening: Screening, health: HealthScore, classifier: Classifier) -> bool:
    """C: written and laid out like a PHI file, with every finding and every health term masked."""
    spans = [finding.span for finding in screening.counted] + [hit.span for hit in health.terms]
    model = classifier.text_model
    return model.decide(masked(document.text, spans)) >= model.threshold
