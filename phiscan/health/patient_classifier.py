"""Logistic regression: does this window describe an individual patient? Features: its words and its cues.

A lecture, a guideline or minutes may have the cues of a record (``patient_cues.py``) but other words. So this
model also uses all words of a window, as unigrams and bigrams (``word_hashes.py``). It runs in numpy alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from phiscan.errors import ModelError
from phiscan.health.features import Window
from phiscan.health.patient_cues import probability, weighted_sum
from phiscan.health.text_detector import arrays_of
from phiscan.health.word_hashes import N_BUCKETS, Floats, Words, word_features


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
        return probability(self.intercept + by_words + weighted_sum(self.cues, window))


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
        message = f"{path}: words: expected {N_BUCKETS} finite numbers"
        raise ModelError(message)
    return PatientModel(words, cues, intercept, version)
