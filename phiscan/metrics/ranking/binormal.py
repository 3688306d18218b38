"""The binormal estimate of the area under the precision-recall curve: a normal distribution per class.

Source: Brodersen et al. (2010); Boyd, Eng & Page (2013).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import integrate
from scipy.special import expit, log_ndtr

from phiscan.metrics.ranking.ranked import Floats, Integers, Ranking

_PANELS = 24
_AGREE = 1e-14  # of the two rules with one another, to trust them
_Z_REACH = 38.0  # beyond this many standard deviations a double holds no probability


def binormal(ranking: Ranking) -> float | None:
    """Fit a normal distribution to each class (sample mean, sample sd) and integrate its PR curve.

    None when a class has fewer than two examples or no spread. Source: Brodersen et al. (2010); Boyd, Eng &
    Page (2013).
    """
    if ranking.n < 2 or ranking.m < 2:  # noqa: PLR2004 (a standard deviation needs two)
        return None
    # Asked of the scores themselves: the rounded mean of equal scores can differ from each of them.
    if (ranking.positives > 0).sum() < 2 or (ranking.negatives > 0).sum() < 2:  # noqa: PLR2004 (no spread)
        return None
    # The area does not change with the scores' unit; squares of very large ones would overflow.
    scores = np.ldexp(ranking.scores, -int(np.frexp(np.abs(ranking.scores).max())[1]))
    mean_positive, sd_positive = _moments(scores, ranking.positives)
    mean_negative, sd_negative = _moments(scores, ranking.negatives)
    if sd_positive == 0 or sd_negative == 0:
        return None
    shift, scale = (mean_positive - mean_negative) / sd_negative, sd_positive / sd_negative
    return binormal_area(ranking.skew, shift, scale)


def _moments(scores: Floats, counts: Integers) -> tuple[float, float]:
    total = counts.sum()
    mean = float(scores @ counts / total)
    return mean, float(np.sqrt((scores - mean) ** 2 @ counts / (total - 1)))


def binormal_area(skew: float, shift: float, scale: float) -> float:
    """Integrate the PR curve of negatives ~ Normal(0, 1) and positives ~ Normal(shift, scale).

    ``skew`` is the share of positives. Source: Brodersen et al. (2010).

    >>> round(binormal_area(0.1, 0.0, 1.0), 12)
    0.1
    """
    coarse = _binormal_panels(skew, shift, scale, _PANELS)
    fine = _binormal_panels(skew, shift, scale, 2 * _PANELS)
    if abs(fine - coarse) <= _AGREE:
        return fine
    # The precision jumps where the two tails cross: adaptive integration, split there.
    middle = float(np.clip(-shift / scale, -_Z_REACH, _Z_REACH))
    cuts = sorted({-_Z_REACH, -8.0, -3.0, 0.0, 3.0, 8.0, middle, _Z_REACH})
    parts = [
        integrate.quad(
            lambda z: float(_binormal_weighted(np.array([z]), skew, shift, scale)[0]),
            low,
            high,
            epsabs=1e-14,
            epsrel=1e-12,
            limit=500,
        )[0]
        for low, high in pairwise(cuts)
    ]
    return float(sum(parts))


def _binormal_weighted(z: Floats, skew: float, shift: float, scale: float) -> Floats:
    """Return precision times density where positives lie z standard deviations from their mean."""
    odds = np.log((1 - skew) / skew)
    precision = expit(log_ndtr(-z) - log_ndtr(-(shift + scale * z)) - odds)
    weighted: Floats = precision * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    return weighted


def _binormal_panels(skew: float, shift: float, scale: float, n_panels: int) -> float:
    """Integrate with a 20-point Gauss-Legendre rule in each of equal panels."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(-9.0, 9.0, n_panels + 1)
    half = (edges[1] - edges[0]) / 2
    z = (edges[:-1, None] + half) + half * nodes
    return float((_binormal_weighted(z, skew, shift, scale) * weights).sum() * half)
