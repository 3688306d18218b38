"""Does a window tell of a patient? A linear model over its words and its cues, in numpy alone.

The cues alone (``person.py``) know how a record speaks. A lecture, a guideline or minutes speak so too, in
other words; so this model reads all words of a window as well, singly and in pairs (``words.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from phiscan.errors import ModelError
from phiscan.health.features import Window
from phiscan.health.patient_cues import probability, weighed
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
        """Return how likely the window tells of a patient's health, in [0, 1]; 0.5 is the threshold."""
        buckets, values = word_features(words, window.start, window.end)
        said = float(self.words[buckets] @ values)
        return probability(self.intercept + said + weighed(self.cues, window))


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
