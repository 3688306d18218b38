"""Correct the health score's log-odds by a linear model of a window's features, learned from verdicts.

The shipped score is the starting point (slope 1, all weights 0), which the penalty pulls to. The threshold
stays 0.5, so the decision table does not change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from phiscan.health.features import BLOCKS, Window
from phiscan.health.patient_cues import person_features, probability

MAX_LOG_ODDS: Final = 7.0  # of the shipped score (0.001 and 0.999), so that a review can always change it


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A linear correction: slope on the shipped log-odds, one weight per feature, intercept."""

    slope: float
    intercept: float
    weights: Mapping[str, float]

    def score(self, shipped: float, window: Window) -> float:
        """Return the corrected score of a window in [0, 1]."""
        total = self.slope * log_odds(shipped) + self.intercept
        total += sum(
            self.weights.get(name, 0.0) * value for name, value in adjustment_features(window).items()
        )
        return probability(total)


def log_odds(score: float) -> float:
    """Return the log-odds of a score, clipped to [-MAX_LOG_ODDS, MAX_LOG_ODDS].

    >>> log_odds(0.5), round(log_odds(1.0), 3)
    (0.0, 7.0)
    """
    if score <= 0.0 or score >= 1.0:
        return math.copysign(MAX_LOG_ODDS, score - 0.5)
    return max(min(math.log(score / (1.0 - score)), MAX_LOG_ODDS), -MAX_LOG_ODDS)


def adjustment_features(window: Window) -> dict[str, float]:
    """Return the densities of cues and kinds, and the log counts of concepts, normalised to length 1.

    >>> adjustment_features(Window(0, 1000, {"dx:asthma": 3}))["dx:asthma"]
    1.0
    """
    concepts = {
        name: math.log1p(count) for name, count in window.counts.items() if not name.startswith(BLOCKS)
    }
    length = math.sqrt(sum(value * value for value in concepts.values())) or 1.0
    return {**person_features(window), **{name: value / length for name, value in concepts.items()}}
