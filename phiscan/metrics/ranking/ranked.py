"""Examples ranked by score, and the points of their precision-recall curve.

Source: Boyd (2014), "Empirical PR Points".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Examples grouped by score: one entry per distinct score, highest first.

    ``positives`` and ``negatives`` are the numbers of examples with that score; ties are one group, so every
    figure computed from a ranking is independent of the order of tied examples.
    """

    scores: Floats
    positives: Integers
    negatives: Integers

    @property
    def n(self) -> int:
        """The number of positive examples."""
        return int(self.positives.sum())

    @property
    def m(self) -> int:
        """The number of negative examples."""
        return int(self.negatives.sum())

    @property
    def skew(self) -> float:
        """The share of positive examples, n/(n+m)."""
        return self.n / (self.n + self.m)


def rank(scores: npt.ArrayLike, labels: npt.ArrayLike) -> Ranking:
    """Group examples by score; a higher score means more likely positive.

    ``scores`` and ``labels`` (true = positive) have the same length, in any order.

    Raises:
        ValueError: a score is not finite, the lengths differ, or one of the classes is absent.

    >>> rank([0.2, 0.9, 0.9], [0, 1, 0]).positives.tolist()
    [1, 0]
    """
    values = np.asarray(scores, dtype=np.float64)
    positive = np.asarray(labels, dtype=bool)
    if values.ndim != 1 or values.shape != positive.shape:
        message = f"expected as many labels as scores, got {positive.shape} and {values.shape}"
        raise ValueError(message)
    if not np.isfinite(values).all():
        message = "expected finite scores"
        raise ValueError(message)
    if positive.all() or not positive.any():
        message = "expected at least one positive and one negative example"
        raise ValueError(message)
    distinct, group = np.unique(-values, return_inverse=True)
    n_positive = np.bincount(group[positive], minlength=len(distinct))
    n_negative = np.bincount(group[~positive], minlength=len(distinct))
    return Ranking(-distinct, n_positive.astype(np.int64), n_negative.astype(np.int64))


@dataclass(frozen=True, slots=True)
class Curve:
    """The empirical points, one per distinct score, from the highest threshold to the lowest."""

    recall: Floats
    precision: Floats


def curve(ranking: Ranking) -> Curve:
    """Return recall and precision when everything at or above each distinct score is called positive.

    >>> curve(rank([3, 2, 1], [1, 0, 1])).precision.round(3).tolist()
    [1.0, 0.5, 0.667]
    """
    true_positives = np.cumsum(ranking.positives)
    marked = true_positives + np.cumsum(ranking.negatives)
    return Curve(true_positives / ranking.n, true_positives / marked)
