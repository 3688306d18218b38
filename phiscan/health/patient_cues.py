"""Is this clinical information about a person, or text about health? A small linear model over cues.

Leaflets, abstracts, policies and price lists have the same health words as a clinic note. What differs is
who is spoken of and how: reports and denials, ages, visits, doses taken, record headings and codes on one
side; "people with", "your doctor", prices, policies on the other. The model sees only the density of the
cue classes and of the kinds of health concept in a window, never which concept it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from phiscan.health.features import BLOCKS, Window

SHORT_CHARS = 600  # a shorter window counts as this long, so that one cue does not fill it


@dataclass(frozen=True, slots=True)
class PersonModel:
    """Logistic regression: one weight per cue class or kind, and the intercept."""

    weights: Mapping[str, float]
    intercept: float

    def score(self, window: Window) -> float:
        """Return the probability that the window tells of a person's health; 0.5 is the threshold."""
        return probability(self.intercept + weighed(self.weights, window))


def weighed(weights: Mapping[str, float], window: Window) -> float:
    """Return the sum of a window's densities, each by its weight; what has none counts nothing."""
    return sum(weights.get(name, 0.0) * value for name, value in _densities(window))


def probability(log_odds: float) -> float:
    """Return the probability of log-odds, which are cut to a range in which arithmetic is safe.

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
