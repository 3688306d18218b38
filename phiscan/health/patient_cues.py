"""Logistic regression over cues: does a window describe a person's health, or health in general?

Leaflets, abstracts, policies and price lists have the same health terms as a clinic note. The cues differ:
reports and denials, ages, visits, doses taken, record headings and codes in records; "people with", "your
doctor", prices and policies in general texts. The features are the densities of the cue classes and of the
kinds of health concept in a window, never the concept itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from phiscan.health.features import BLOCKS, Window

SHORT_CHARS = 600  # a shorter window counts as this long, so that one cue does not fill it


@dataclass(frozen=True, slots=True)
class CueModel:
    """Logistic regression: one weight per cue class or kind, and the intercept."""

    weights: Mapping[str, float]
    intercept: float

    def score(self, window: Window) -> float:
        """Return the probability that the window describes a person's health; 0.5 is the threshold."""
        return probability(self.intercept + weighted_sum(self.weights, window))


def weighted_sum(weights: Mapping[str, float], window: Window) -> float:
    """Return the weighted sum of a window's densities; features without a weight count 0."""
    return sum(weights.get(name, 0.0) * value for name, value in _densities(window))


def probability(log_odds: float) -> float:
    """Return the probability of log-odds, which are clipped to [-30, 30] against overflow.

    >>> probability(0.0), probability(-1000.0) > 0.0
    (0.5, True)
    """
    return 1.0 / (1.0 + math.exp(-max(min(log_odds, 30.0), -30.0)))


def person_features(window: Window) -> dict[str, float]:
    """Return the log density of every cue class and kind in a window (per 1,000 characters).

    >>> person_features(Window(0, 1000, {"cue:dose": 1, "dx:asthma": 2}))["cue:dose"] == math.log(2)
    True
    """
    return dict(_densities(window))


def _densities(window: Window) -> Iterator[tuple[str, float]]:
    per_thousand = 1000 / max(window.end - window.start, SHORT_CHARS)
    n_concepts = 0
    for name, count in window.counts.items():
        if name.startswith(BLOCKS):
            yield name, math.log1p(count * per_thousand)
        else:
            n_concepts += 1
    yield "n_concepts", math.log1p(n_concepts * per_thousand)
