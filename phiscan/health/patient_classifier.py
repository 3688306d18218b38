"""Logistic regression: does this window describe an individual patient? Features: its words and its cues.

Leaflets and price lists have the same health terms as a clinic note, but other cues: "people with" and prices
in place of reports, denials, visits and doses. Features are the densities of the cue classes and of the kinds
of health concept, never the concept itself. A lecture may have the cues of a record but other words: the
second model uses all words of a window, too (``word_hashes.py``). Both run in numpy alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from phiscan.errors import ModelError
from phiscan.health.features import BLOCKS, Window
from phiscan.health.text_detector import arrays_of
from phiscan.health.word_hashes import N_BUCKETS, Floats, Words, word_features

SHORT_CHARS = 600  # a shorter window counts as this long, so that one cue does not fill it


@dataclass(frozen=True, slots=True)
class CueModel:
    """Logistic regression: one weight per cue class or kind, and the intercept."""

    weights: Mapping[str, float]
    intercept: float

    def score(self, window: Window) -> float:
        """Return the probability that the window describes a person's health; 0.5 is the threshold."""
        return probability_of(self.intercept + weighted_sum(self.weights, window))


def weighted_sum(weights: Mapping[str, float], window: Window) -> float:
    """Return the weighted sum of a window's densities; features without a weight count 0."""
    return sum(weights.get(name, 0.0) * value for name, value in densities(window))


def probability_of(log_odds: float) -> float:
    """Return the probability of log-odds, which are clipped to [-30, 30] against overflow.

    >>> probability_of(0.0), probability_of(-1000.0) > 0.0
    (0.5, True)
    """
    return 1.0 / (1.0 + math.exp(-max(min(log_odds, 30.0), -30.0)))


def log_odds_of(probability: float) -> float:
    """Return the log-odds of a probability in (0, 1).

    >>> log_odds_of(0.5)
    0.0
    """
    return math.log(probability / (1.0 - probability))


def densities(window: Window) -> Iterator[tuple[str, float]]:
    """Yield the log density of every cue class and kind in a window (per 1,000 characters).

    >>> dict(densities(Window(0, 1000, {"cue:dose": 1, "dx:asthma": 2})))["cue:dose"] == math.log(2)
    True
    """
    per_thousand = 1000 / max(window.end - window.start, SHORT_CHARS)
    n_concepts = 0
    for name, count in window.counts.items():
        if name.startswith(BLOCKS):
            yield name, math.log1p(count * per_thousand)
        else:
            n_concepts += 1
    yield "n_concepts", math.log1p(n_concepts * per_thousand)


@dataclass(frozen=True, slots=True)
class PatientModel:
    """Logistic regression over the words and the cues of a window; the log-odds are 0 at the threshold."""

    words: Floats = field(repr=False)
    cues: Mapping[str, float]
    intercept: float
    version: str

    def score(self, words: Words, window: Window) -> float:
        """Return the probability that the window describes a patient's health; 0.5 is the threshold."""
        buckets, values = word_features(words, window.start, window.end)
        by_words = float(self.words[buckets] @ values)
        return probability_of(self.intercept + by_words + weighted_sum(self.cues, window))


def load_patient_model(path: Path) -> PatientModel:
    """Read the weights.

    Raises:
        ModelError: names the file and what was expected.
    """
    with arrays_of(path, "a model of words") as file:
        words = file["words"].astype(np.float32)
        cues = dict(zip(file["cue_names"].tolist(), file["cues"].tolist(), strict=True))
        intercept, version = float(file["intercept"]), str(file["version"])
    if words.shape != (N_BUCKETS,) or not np.isfinite(words).all():
        raise ModelError(path, f"words: expected {N_BUCKETS} finite numbers")
    return PatientModel(words, cues, intercept, version)
