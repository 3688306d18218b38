"""Every estimator of the area under the precision-recall curve.

Source: Boyd (2014), chapter 4; Boyd, Eng & Page (2013). Conventions are those of their R
code: the curve starts at recall 0 with precision 1, and a segment that starts at recall 0 is flat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phiscan.metrics.ranking.binormal import binormal
from phiscan.metrics.ranking.ranked import Floats, Ranking, curve


def average_precision(ranking: Ranking) -> float:
    """Average the precision at every positive example; tied examples share one threshold.

    Source: Manning, Raghavan & Schuetze (2008); Boyd (2014).

    >>> from phiscan.metrics.ranking.ranked import rank
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

    >>> from phiscan.metrics.ranking.ranked import rank
    >>> lower_trapezoid(rank([4, 3, 2, 1], [1, 0, 1, 0]))
    0.7916666666666666
    """
    at = _levels(ranking)
    return float(np.diff(at.recall) @ (at.lowest[:-1] + at.highest[1:])) / 2


def upper_trapezoid(ranking: Ranking) -> float:
    """Join the highest precisions at neighbouring recalls by straight lines: an overestimate.

    Source: Boyd, Eng & Page (2013), after Abeel, Van de Peer & Saeys (2009).

    >>> from phiscan.metrics.ranking.ranked import rank
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

    >>> from phiscan.metrics.ranking.ranked import rank
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

    >>> from phiscan.metrics.ranking.ranked import rank
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
