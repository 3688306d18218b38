"""The points of a precision-recall curve and every estimator of the area under it.

Source: Boyd (2014), chapter 4; Boyd, Eng & Page (2013). Conventions are those of their R code: the curve
starts at
recall 0 with precision 1, and a segment that starts at recall 0 is flat.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import integrate
from scipy.special import expit, log_ndtr

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_PANELS = 24
_AGREE = 1e-14  # of the two rules with one another, to trust them
_Z_REACH = 38.0  # beyond this many standard deviations a double holds no probability


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


def average_precision(ranking: Ranking) -> float:
    """Average the precision at every positive example; tied examples share one threshold.

    Source: Manning, Raghavan & Schuetze (2008); Boyd (2014).

    >>> average_precision(rank([4, 3, 2, 1], [1, 0, 1, 0]))
    0.8333333333333333
    """
    return float(ranking.positives @ curve(ranking).precision) / ranking.n


@dataclass(frozen=True, slots=True)
class _Levels:
    """Precision at each distinct recall, recall 0 (with the starting point of precision 1) first."""

    recall: Floats
    highest: Floats
    lowest: Floats
    median: Floats
    mean: Floats


def _levels(ranking: Ranking) -> _Levels:
    points = curve(ranking)
    precision = np.concatenate(([1.0], points.precision))
    true_positives = np.concatenate(([0], np.cumsum(ranking.positives)))
    starts = np.flatnonzero(np.diff(true_positives, prepend=-1))
    ends = np.append(starts[1:], len(precision))
    # Within one recall, precision only falls (recall 0: from the starting point to 0), so order statistics
    # are at known places.
    sizes = ends - starts
    below, above = starts + (sizes - 1) // 2, starts + sizes // 2
    return _Levels(
        true_positives[starts] / ranking.n,
        precision[starts],
        precision[ends - 1],
        (precision[below] + precision[above]) / 2,
        np.add.reduceat(precision, starts) / sizes,
    )


def lower_trapezoid(ranking: Ranking) -> float:
    """Join the lowest precision at each recall with the highest at the next one by straight lines.

    Source: Boyd, Eng & Page (2013), after Abeel, Van de Peer & Saeys (2009).

    >>> lower_trapezoid(rank([4, 3, 2, 1], [1, 0, 1, 0]))
    0.7916666666666666
    """
    at = _levels(ranking)
    return float(np.diff(at.recall) @ (at.lowest[:-1] + at.highest[1:])) / 2


def upper_trapezoid(ranking: Ranking) -> float:
    """Join the highest precisions at neighbouring recalls by straight lines: an overestimate.

    Source: Boyd, Eng & Page (2013), after Abeel, Van de Peer & Saeys (2009).

    >>> upper_trapezoid(rank([4, 3, 2, 1], [1, 0, 1, 0]))
    0.9166666666666666
    """
    at = _levels(ranking)
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


def interpolated_area(start: tuple[float, float], end: tuple[float, float]) -> float:
    """Return the area under the interpolated curve between two (recall, precision) points.

    Source: Boyd (2014), interpolation theorem. From recall 0 the curve is flat, at the precision of ``end``.

    >>> interpolated_area((0.0, 1.0), (0.5, 0.8))
    0.4
    """
    recalls, precisions = np.array([start[0], end[0]]), np.array([start[1], end[1]])
    return _interpolated_total(recalls, precisions)


def _line(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    """Return a and b of p = r/(ar + b); ar + b is the number of marked per positive example."""
    (r1, p1), (r2, p2) = start, end
    q1 = (1 - p1) * r1 / p1 if r1 > 0 else 0.0
    q2 = (1 - p2) * r2 / p2
    slope = (q2 - q1) / (r2 - r1)
    return 1 + slope, q1 - r1 * slope


def _interpolated_total(recall: Floats, precision: Floats) -> float:
    """Sum the interpolated areas between neighbouring points; recall ascends without repetition."""
    width = np.diff(recall)
    marked = np.divide(recall, precision, out=np.zeros_like(recall), where=recall > 0)
    a = np.diff(marked) / width
    b = marked[:-1] - a * recall[:-1]
    area = width * precision[1:]
    bent = recall[:-1] > 0
    a, b, width, marked = a[bent], b[bent], width[bent], marked[:-1][bent]
    # The theorem's difference of two logarithms as one log1p: no cancellation between close points.
    area[bent] = (width - b / a * np.log1p(a * width / marked)) / a
    return float(area.sum())


def interpolated_max(ranking: Ranking) -> float:
    """Interpolate between the highest precisions of each recall. Source: Boyd, Eng & Page (2013)."""
    at = _levels(ranking)
    return _interpolated_total(at.recall, at.highest)


def interpolated_median(ranking: Ranking) -> float:
    """Interpolate between the medians of all points at each recall, also of those after the last positive.

    Source: Boyd, Eng & Page (2013).

    >>> round(interpolated_median(rank([4, 3, 2, 1], [1, 0, 1, 0])), 6)
    0.695594
    """
    at = _levels(ranking)
    return _interpolated_total(at.recall, at.median)


def interpolated_mean(ranking: Ranking) -> float:
    """Interpolate between the means of all points at each recall. Source: Boyd, Eng & Page (2013)."""
    at = _levels(ranking)
    return _interpolated_total(at.recall, at.mean)


def interpolated_convex(ranking: Ranking) -> float:
    """Interpolate between the vertices of the convex hull in ROC space.

    Source: Davis & Goadrich (2006); Boyd, Eng & Page (2013).

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
    return _interpolated_total(points[:, 1] / ranking.n, precision)


def _turns_left(first: tuple[int, int], second: tuple[int, int], third: tuple[int, int]) -> bool:
    """Tell whether ``second`` is on or below the line from ``first`` to ``third`` (integers: exact)."""
    ahead = (second[0] - first[0]) * (third[1] - first[1])
    across = (second[1] - first[1]) * (third[0] - first[0])
    return ahead >= across


def binormal(ranking: Ranking) -> float | None:
    """Fit a normal distribution to each class (sample mean, sample sd) and integrate its PR curve.

    None when a class has fewer than two examples or no spread. Source: Brodersen et al. (2010); Boyd, Eng &
    Page (2013).
    """
    if ranking.n < 2 or ranking.m < 2:  # noqa: PLR2004 (a standard deviation needs two)
        return None
    mean_positive, sd_positive = _moments(ranking.scores, ranking.positives)
    mean_negative, sd_negative = _moments(ranking.scores, ranking.negatives)
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
    """Estimate the area under the PR curve in every way that the source compares.

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
