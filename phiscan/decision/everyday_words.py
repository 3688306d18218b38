"""Text without a health term to the lines whose words tell of somebody's health all the same.

"Can't leave the ward yet": no lexicon has these words. A linear model of hashed words and pairs of words
scores lines; those above a threshold are passages for the encoder. Learned by ``training.judge.everyday``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from phiscan.health.text_detector import arrays_of
from phiscan.health.word_hashes import BUCKET_BITS, Words, buckets_of

Offsets = npt.NDArray[np.int64]

WORDS_FILE: Final = Path(__file__).parent / "data" / "everyday_words.npz"


@dataclass(frozen=True, slots=True)
class EverydayWords:
    """The weights of words and of pairs of words, and the score from which a line counts."""

    single: npt.NDArray[np.float32] = field(repr=False)
    pairs: npt.NDArray[np.float32] = field(repr=False)
    threshold: float

    def lines(self, words: Words, starts: Offsets, ends: Offsets) -> Offsets:
        """Return the starts of the lines ``[start, end)`` of a text that reach the threshold."""
        return starts[self.scores(words, starts, ends) >= self.threshold]

    def scores(self, words: Words, starts: Offsets, ends: Offsets) -> npt.NDArray[np.float32]:
        """Return the sum of the weights of each line's words and pairs, over the root of their number."""
        single, pairs = buckets_of(words)
        before = np.concatenate(([0.0], np.cumsum(self.single[single], dtype=float)))
        between = np.concatenate(([0.0], np.cumsum(self.pairs[pairs], dtype=float)))
        low, high = words.starts.searchsorted(starts), words.starts.searchsorted(ends)
        last = np.minimum(np.maximum(high - 1, low), len(between) - 1)
        total = before[high] - before[low] + between[last] - between[np.minimum(low, last)]
        return np.asarray(total / np.sqrt(np.maximum(high - low, 1)), dtype=np.float32)


@cache
def load_everyday_words(path: Path = WORDS_FILE) -> EverydayWords:
    """Read the weights; once per process.

    Raises:
        ModelError: names the file and what was expected.
    """
    weights = np.zeros((2, 1 << BUCKET_BITS), dtype=np.float32)
    with arrays_of(path, "the weights of everyday words") as stored:
        for number, name in enumerate(("single", "pairs")):
            weights[number, stored[f"{name}_buckets"]] = stored[name]
        return EverydayWords(weights[0], weights[1], float(stored["threshold"]))
