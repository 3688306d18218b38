"""Margins of the independent detectors to a calibrated P(PHI) and a verdict of each, by Platt scaling.

The verdicts are the capture lists of the missed-PHI estimate, so they are computed independently: no detector
uses another's margin, and the joint model of P(PHI) is no list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from phiscan.config import DetectorThresholds
from phiscan.decision.model import log_odds_of
from phiscan.errors import ModelError
from phiscan.health import DETECTORS
from phiscan.health.classifier import load_model
from phiscan.health.patient_classifier import probability_of

DETECTORS_FILE: Final = Path(__file__).parent / "data" / "detectors.json"
FORMAT_VERSION: Final = 1
MARGIN_RANGE: Final = 8.0  # margins are clipped to this range before calibration

Margins = Iterable[tuple[str, float | None]]


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
        message = f"{path}: detectors: expected slope, intercept and without of {', '.join(DETECTORS)}"
        raise ModelError(message) from None
    chosen = {name: float(getattr(thresholds, name)) for name in DETECTORS}
    return DetectorPanel(lines, log_odds_of(prevalence), chosen)
