"""Three detectors with disjoint features: the capture lists of the missed-PHI estimate.

A uses identifiers found by patterns and the counts of health terms; B uses person names, the kNN over
concepts and the cues; C uses the style and layout of the text, with the features of A and B masked out. No
detector uses another's verdict, and the joint model of P(PHI) is no list. Platt scaling makes a calibrated
P(PHI) of a margin.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from phiscan.config import DetectorThresholds
from phiscan.errors import ModelError
from phiscan.health.classifier import Classifier, load_model
from phiscan.health.file_evidence import NAMES
from phiscan.health.patient_classifier import log_odds_of, probability_of
from phiscan.health.text_detector import masked
from phiscan.model import Document, EntityType, HealthScore, PiiBit, Screening

DETECTORS_FILE: Final = Path(__file__).parent / "data" / "detectors.json"
FORMAT_VERSION: Final = 1
MARGIN_RANGE: Final = 8.0  # margins are clipped to this range before calibration
DETECTORS: Final = ("patterns", "names", "text")
MIN_CONCEPTS: Final = 4  # different health concepts
MIN_DENSITY: Final = 2.0  # health terms per 1,000 characters
PATTERNS_RANGE: Final = 3.0  # margins of A are cut to this range
NAMES_RANGE: Final = 6.0  # and those of B
_LEAST_SCORE: Final = 1e-4  # beyond the range of B's margins
Margins = Iterable[tuple[str, float | None]]
_NAME_TYPES: Final = frozenset({EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL})
_WEAK: Final = NAMES | {
    PiiBit.HEALTH_PROFESSIONAL,
    PiiBit.ORGANIZATION,
    PiiBit.LOCATION,
    PiiBit.DATE,
    PiiBit.URL,
}


def detector_margins(
    document: Document, screening: Screening, health: HealthScore, text: float | None
) -> tuple[tuple[str, float | None], ...]:
    """Return each detector's margin to its shipped threshold (>= 0: positive), in the order of ``DETECTORS``.

    None: the detector's required feature is missing (A: an identifier, B: a person's name).

    ``text``: the margin of C, as ``text_margin`` returns it; None leaves C out.
    """
    found = (
        (DETECTORS[0], by_patterns(document, screening, health)),
        (DETECTORS[1], by_names(screening, health)),
    )
    return found if text is None else (*found, (DETECTORS[2], text))


def by_patterns(document: Document, screening: Screening, health: HealthScore) -> float | None:
    """Return detector A's margin: an identifier found by a pattern, in a text dense in health terms.

    The margin is the log of the ratio of concepts, or of term density, to the minimum; the lower one counts.
    """
    identified = any(
        not finding.bits <= _WEAK and finding.entity_type not in _NAME_TYPES for finding in screening.findings
    )
    if not identified:
        return None
    least = _density(document, health)
    return max(min(math.log(least), PATTERNS_RANGE), -PATTERNS_RANGE) if least else -PATTERNS_RANGE


def is_dense(document: Document, health: HealthScore) -> bool:
    """Tell whether a text has the health terms that detector A needs beside an identifier."""
    return _density(document, health) >= 1.0


def _density(document: Document, health: HealthScore) -> float:
    """Return the lower ratio of different concepts, and of terms by length, to what detector A needs."""
    many = len({hit.concept for hit in health.terms}) / MIN_CONCEPTS
    return min(many, 1000 * len(health.terms) / (MIN_DENSITY * max(len(document.text), 1)))


def by_names(screening: Screening, health: HealthScore) -> float | None:
    """Return detector B's margin in log-odds: a person's name, and concepts close to the prototypes."""
    if not screening.vector.bits & NAMES:
        return None
    score = min(max(health.by_concepts, _LEAST_SCORE), 1.0 - _LEAST_SCORE)
    return max(min(math.log(score / (1.0 - score)), NAMES_RANGE), -NAMES_RANGE)


def text_margin(
    document: Document, screening: Screening, health: HealthScore, classifier: Classifier
) -> float:
    """Return detector C's margin in log-odds: style and layout, with findings and health terms masked."""
    spans = [finding.span for finding in screening.counted] + [hit.span for hit in health.terms]
    model = classifier.text_model
    return model.decide(masked(document.text, spans)) - model.threshold


@dataclass(frozen=True, slots=True)
class DetectorLine:
    """Platt scaling of one detector's margin, at a prevalence of one half."""

    slope: float
    intercept: float
    without: float  # log-odds if the detector's required feature (an identifier, a name) is missing

    def log_odds(self, margin: float | None) -> float:
        """Return the log-odds of PHI for a margin; None = the detector's required feature is missing."""
        if margin is None:
            return self.without
        return self.slope * max(min(margin, MARGIN_RANGE), -MARGIN_RANGE) + self.intercept


@dataclass(frozen=True, slots=True)
class DetectorPanel:
    """The calibrated detectors, the prevalence of the share, and the threshold of each."""

    lines: Mapping[str, DetectorLine]
    prior: float  # log-odds of PHI on the share
    thresholds: Mapping[str, float]  # P(PHI) from which a detector marks a file; 0 = its shipped threshold

    def probabilities(self, margins: Margins) -> tuple[tuple[str, float], ...]:
        """Return P(PHI) by each detector alone."""
        return tuple((name, probability_of(self._log_odds(name, margin))) for name, margin in margins)

    def verdicts(self, margins: Margins) -> tuple[tuple[str, bool], ...]:
        """Return each detector's verdict on "is this a PHI file"."""
        return tuple((name, self._marks(name, margin)) for name, margin in margins)

    def _log_odds(self, name: str, margin: float | None) -> float:
        return self.lines[name].log_odds(margin) + self.prior

    def _marks(self, name: str, margin: float | None) -> bool:
        if margin is None:
            return False
        threshold = self.thresholds.get(name, 0.0)
        if not threshold:
            return margin >= 0
        return self._log_odds(name, margin) >= log_odds_of(threshold)


def load_panel(
    thresholds: DetectorThresholds, prevalence: float, path: Path = DETECTORS_FILE
) -> DetectorPanel:
    """Read the calibration of the detectors.

    Raises:
        ModelError: names the file and what was expected.
    """
    raw = load_model(path, FORMAT_VERSION)
    try:
        lines = {
            name: DetectorLine(*(float(raw["detectors"][name][part]) for part in DetectorLine.__slots__))
            for name in DETECTORS
        }
    except (KeyError, TypeError, ValueError):
        raise ModelError(
            path, f"detectors: expected slope, intercept and without of {', '.join(DETECTORS)}"
        ) from None
    chosen = {name: float(getattr(thresholds, name)) for name in DETECTORS}
    return DetectorPanel(lines, log_odds_of(prevalence), chosen)
