"""Cost curves and Brier curves: the expected cost of a ranking or of probabilities, for every cost ratio.

Sources: Drummond & Holte (2006), "Cost curves"; Ferri, Hernandez-Orallo & Flach (2011), "Brier curves".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from phiscan.metrics.ranking import Ranking

Floats = npt.NDArray[np.float64]
_GRID = 501


def roc_points(ranking: Ranking) -> tuple[Floats, Floats]:
    """Return false and true positive rates, from marking nothing to marking everything."""
    fpr = np.concatenate(([0.0], np.cumsum(ranking.negatives) / ranking.m))
    tpr = np.concatenate(([0.0], np.cumsum(ranking.positives) / ranking.n))
    return fpr, tpr


def cost_curve(ranking: Ranking, grid: Sequence[float] | Floats | None = None) -> tuple[Floats, Floats]:
    """Return the lower envelope of normalised expected cost over the probability-cost function PC(+).

    A threshold is the line from its false positive rate at PC(+) = 0 to its false negative rate at 1; the
    best threshold for each PC(+) is taken.

    >>> from phiscan.metrics.ranking import rank
    >>> cost_curve(rank([2, 1], [1, 0]), [0.0, 0.5, 1.0])[1].tolist()
    [0.0, 0.0, 0.0]
    """
    x = np.linspace(0, 1, _GRID) if grid is None else np.asarray(grid, dtype=float)
    fpr, tpr = roc_points(ranking)
    costs = np.full(len(x), np.inf)
    for part in np.array_split(np.arange(len(fpr)), max(1, len(fpr) // 1000)):
        lines = (1 - tpr[part])[:, None] * x + fpr[part][:, None] * (1 - x)
        costs = np.minimum(costs, lines.min(axis=0))
    return x, costs


def brier_curve(
    probabilities: Sequence[float] | Floats, labels: Sequence[bool], grid: Sequence[float] | None = None
) -> tuple[Floats, Floats]:
    """Return the loss 2 (c FP(c) + (1 - c) FN(c)) / N when the threshold is the cost proportion c itself.

    The area below the curve is the Brier score.

    Raises:
        ValueError: a probability is not in [0, 1].

    >>> brier_curve([0.25], [True], [0.0, 0.5])[1].tolist()
    [0.0, 1.0]
    """
    p, y = np.asarray(probabilities, dtype=float), np.asarray(labels, dtype=bool)
    _check(p)
    c = np.linspace(0, 1, _GRID) if grid is None else np.asarray(grid, dtype=float)
    positives, negatives = np.sort(p[y]), np.sort(p[~y])
    missed = np.searchsorted(positives, c, side="right") if len(positives) else np.zeros(len(c))
    wrong = len(negatives) - np.searchsorted(negatives, c, side="right")
    return c, 2 * (c * wrong + (1 - c) * missed) / len(p)


def brier_score(probabilities: Sequence[float] | Floats, labels: Sequence[bool]) -> float:
    """Return the mean squared difference of probabilities and labels.

    Raises:
        ValueError: a probability is not in [0, 1].

    >>> brier_score([0.25, 0.5], [True, False])
    0.40625
    """
    p, y = np.asarray(probabilities, dtype=float), np.asarray(labels, dtype=float)
    _check(p)
    return float(np.mean((p - y) ** 2))


def _check(p: Floats) -> None:
    if len(p) == 0 or not (p.min() >= 0 and p.max() <= 1):
        message = "scores: expected probabilities from 0 to 1"
        raise ValueError(message)
