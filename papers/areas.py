"""The other estimators of the area under the precision-recall curve that the source compares.

Source: Boyd (2014), chapter 4; Boyd, Eng & Page (2013). The three that it recommends are in
``phiscan.metrics.ranking``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import integrate
from scipy.special import expit, log_ndtr

from phiscan.metrics.ranking import (
    Floats,
    Integers,
    Ranking,
    average_precision,
    interpolated_median,
    interpolated_total,
    levels,
    lower_trapezoid,
)

_PANELS = 24
_AGREE = 1e-14  # of the two rules with one another, to trust them
_Z_REACH = 38.0  # beyond this many standard deviations a double holds no probability


def upper_trapezoid(ranking: Ranking) -> float:
    """Join the highest precisions at neighbouring recalls by straight lines: an overestimate.

    Source: Boyd, Eng & Page (2013), after Abeel, Van de Peer & Saeys (2009).

    >>> from phiscan.metrics.ranking import rank
    >>> upper_trapezoid(rank([4, 3, 2, 1], [1, 0, 1, 0]))
    0.9166666666666666
    """
    at = levels(ranking)
    return float(np.diff(at.recall) @ (at.highest[:-1] + at.highest[1:])) / 2


def interpolated_precision(recall: float, start: tuple[float, float], end: tuple[float, float]) -> float:
    """Interpolate in PR space between two (recall, precision) points, start before end.

    The curve is the image of a straight line in ROC space: true and false positives grow in proportion.
    Source: Boyd (2014), interpolation theorem; Davis & Goadrich (2006).

    >>> round(interpolated_precision(0.5, (0.25, 1.0), (0.75, 0.5)), 4)
    0.5714
    """
    a, b = _line(start, end)
    return recall / (a * recall + b) if recall > 0 else end[1]


def _line(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    """Return a and b of p = r/(ar + b); ar + b is the number of marked per positive example."""
    (r1, p1), (r2, p2) = start, end
    q1 = (1 - p1) * r1 / p1 if r1 > 0 else 0.0
    q2 = (1 - p2) * r2 / p2
    slope = (q2 - q1) / (r2 - r1)
    return 1 + slope, q1 - r1 * slope


def interpolated_area(start: tuple[float, float], end: tuple[float, float]) -> float:
    """Return the area under the interpolated curve between two (recall, precision) points.

    Source: Boyd (2014), interpolation theorem. From recall 0 the curve is flat, at the precision of ``end``.

    >>> interpolated_area((0.0, 1.0), (0.5, 0.8))
    0.4
    """
    recalls, precisions = np.array([start[0], end[0]]), np.array([start[1], end[1]])
    return interpolated_total(recalls, precisions)


def interpolated_max(ranking: Ranking) -> float:
    """Interpolate between the highest precisions of each recall. Source: Boyd, Eng & Page (2013)."""
    at = levels(ranking)
    return interpolated_total(at.recall, at.highest)


def interpolated_mean(ranking: Ranking) -> float:
    """Interpolate between the means of all points at each recall. Source: Boyd, Eng & Page (2013)."""
    at = levels(ranking)
    return interpolated_total(at.recall, at.mean)


def interpolated_convex(ranking: Ranking) -> float:
    """Interpolate between the vertices of the convex hull in ROC space.

    Source: Davis & Goadrich (2006); Boyd, Eng & Page (2013).

    >>> from phiscan.metrics.ranking import rank
    >>> round(interpolated_convex(rank([4, 3, 2, 1], [1, 0, 1, 0])), 6)
    0.887327
    """
    hits = [0, *np.cumsum(ranking.positives).tolist()]
    false = [0, *np.cumsum(ranking.negatives).tolist()]
    hull: list[tuple[int, int]] = []
    for point in zip(false, hits, strict=True):
        while len(hull) > 1 and _turns_left(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    vertices: list[tuple[int, int]] = []  # of the vertices at one recall, the first has the highest precision
    for negatives, positives in hull:
        if not vertices or positives > vertices[-1][1]:
            vertices.append((negatives, positives))
    points = np.array(vertices, dtype=np.float64)
    marked = points.sum(axis=1)
    precision = np.divide(points[:, 1], marked, out=np.ones_like(marked), where=marked > 0)
    return interpolated_total(points[:, 1] / ranking.n, precision)


def _turns_left(first: tuple[int, int], second: tuple[int, int], third: tuple[int, int]) -> bool:
    """Tell whether ``second`` is on or below the line from ``first`` to ``third`` (integers: exact)."""
    ahead = (second[0] - first[0]) * (third[1] - first[1])
    across = (second[1] - first[1]) * (third[0] - first[0])
    return ahead >= across


@dataclass(frozen=True, slots=True)
class AreaEstimates:
    """Every estimate of the area under one PR curve; the binormal one may not exist."""

    average_precision: float
    lower_trapezoid: float
    upper_trapezoid: float
    interpolated_max: float
    interpolated_median: float
    interpolated_mean: float
    interpolated_convex: float
    binormal: float | None


def area_estimates(ranking: Ranking) -> AreaEstimates:
    """Estimate the area under the PR curve by every method that the source compares.

    Source: Boyd (2014), chapter 4, which recommends average precision, lower trapezoid and interpolated
    median.
    """
    return AreaEstimates(
        average_precision(ranking),
        lower_trapezoid(ranking),
        upper_trapezoid(ranking),
        interpolated_max(ranking),
        interpolated_median(ranking),
        interpolated_mean(ranking),
        interpolated_convex(ranking),
        binormal(ranking),
    )


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


def normalised_aucpr(area: float, minimum: float) -> float | None:
    """Rescale an area so that 0 is the minimum for its skew and 1 is perfect; None when both coincide.

    It can be compared across data sets of different skew. The lowest achievable curve is concave, so that
    straight lines between its points pass below it: an area that is below the minimum only for this is 0.
    Source: Boyd et al. (2012), AUCNPR.

    >>> normalised_aucpr(0.75, 0.5)
    0.5
    """
    return max(area - minimum, 0.0) / (1 - minimum) if minimum < 1 else None
