"""Rankings by score: the precision-recall curve, areas under it and under the ROC curve, and their bounds.

Source: Boyd (2014), chapters 3 and 4; Boyd, Eng & Page (2013); Boyd, Santos Costa, Davis & Page (2012).
Conventions are those of their R code: the curve starts at recall 0 with precision 1, and an interpolated
segment that starts there is flat. Where the examples with the highest score are of both classes, no threshold
has a precision of 1: the curve then starts with the precision of these tied examples. The other estimators
and intervals that the source compares are in ``papers/``, outside the program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit, ndtri

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
_SERIES_BELOW = 0.05  # skew under which the logarithm cancels and the series is used
_DIRECT_TERMS = 100_000  # terms of a sum added one by one before the integral takes over


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
class Levels:
    """Precision at each distinct recall, recall 0 (the starting point) first."""

    recall: Floats
    highest: Floats
    lowest: Floats
    median: Floats
    mean: Floats


def levels(ranking: Ranking) -> Levels:
    """Return the precisions at each distinct recall of the points of a curve."""
    points = curve(ranking)
    start = points.precision[0] if ranking.positives[0] else 1.0
    precision = np.concatenate(([start], points.precision))
    true_positives = np.concatenate(([0], np.cumsum(ranking.positives)))
    starts = np.flatnonzero(np.diff(true_positives, prepend=-1))
    ends = np.append(starts[1:], len(precision))
    # Within one recall, precision only falls (recall 0: from the starting point to 0), so order statistics
    # are at known places.
    sizes = ends - starts
    below, above = starts + (sizes - 1) // 2, starts + sizes // 2
    return Levels(
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
    >>> lower_trapezoid(rank([1, 1, 1, 1], [1, 0, 0, 0]))
    0.25
    """
    at = levels(ranking)
    return float(np.diff(at.recall) @ (at.lowest[:-1] + at.highest[1:])) / 2


def interpolated_total(recall: Floats, precision: Floats) -> float:
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


def interpolated_median(ranking: Ranking) -> float:
    """Interpolate between the medians of all points at each recall, also of those after the last positive.

    Source: Boyd, Eng & Page (2013).

    >>> round(interpolated_median(rank([4, 3, 2, 1], [1, 0, 1, 0])), 6)
    0.695594
    """
    at = levels(ranking)
    return interpolated_total(at.recall, at.median)


def auc_roc(ranking: Ranking) -> float:
    """Return the chance that a positive outranks a negative; a tie counts one half.

    Source: Bamber (1975): the Mann-Whitney statistic over n m.

    >>> auc_roc(rank([3, 2, 2, 1], [1, 1, 0, 0]))
    0.875
    """
    below = ranking.m - np.cumsum(ranking.negatives)
    # Python integers: n m reaches 10^18 for counts of 10^9.
    pairs = zip(ranking.positives.tolist(), below.tolist(), ranking.negatives.tolist(), strict=True)
    twice: int = sum(positive * (2 * lower + tied) for positive, lower, tied in pairs if positive)
    return twice / (2 * ranking.n * ranking.m)


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval, or the reason why it does not exist."""

    ends: tuple[float, float] | None
    reason: str = ""


def logit_interval(estimate: float, n: int, level: float = 0.95) -> Interval:
    """Put a normal interval around an area on the logit scale, with n positives as the sample size.

    It does not exist for an estimate of 0 or 1. Source: Boyd (2014), logit interval.
    """
    if not 0 < estimate < 1:
        return Interval(None, f"the logit of {estimate:g} does not exist")
    centre = math.log(estimate / (1 - estimate))
    half = float(ndtri((1 + level) / 2)) / math.sqrt(n * estimate * (1 - estimate))
    return Interval((float(expit(centre - half)), float(expit(centre + half))))


def minimum_precision(recall: float, skew: float) -> float:
    """Return the lowest achievable precision at a recall; ``skew`` is the share of positives.

    Source: Boyd (2014), theorem "Achievable Points".

    >>> minimum_precision(0.5, 0.5)
    0.3333333333333333
    """
    below = 1 - skew + skew * recall
    return skew * recall / below if below else 1.0


def minimum_aucpr(skew: float) -> float:
    """Return the lowest achievable area under the PR curve, which is the area of the unachievable region.

    Source: Boyd (2014), theorem "Minimum AUCPR": 1 + (1 - skew) ln(1 - skew)/skew. For a small skew this is
    summed as the series of skew^k/(k(k+1)), because the formula loses its digits there.

    Raises:
        ValueError: unless 0 <= skew <= 1.

    >>> round(minimum_aucpr(0.5), 6)
    0.306853
    """
    if not 0 <= skew <= 1:
        message = f"expected a share of positives from 0 to 1, got {skew}"
        raise ValueError(message)
    if skew == 1:
        return 1.0
    if skew < _SERIES_BELOW:
        return math.fsum(skew**k / (k * (k + 1)) for k in range(1, 20))
    return 1 + (1 - skew) * math.log1p(-skew) / skew


def minimum_average_precision(n: int, m: int) -> float:
    """Return the average precision of the worst ranking of n positives and m negatives.

    Exact to the last digits for counts up to 10^9 and beyond: after the first terms, the sum of i/(i+m) is
    its integral with the Euler-Maclaurin corrections. Source: Boyd (2014), theorem "Minimum AP".

    Raises:
        ValueError: unless n >= 1 and m >= 0.

    >>> minimum_average_precision(2, 2)
    0.41666666666666663
    """
    if n < 1 or m < 0:
        message = f"expected at least one positive and no negative number of examples, got {n} and {m}"
        raise ValueError(message)
    head = min(n, _DIRECT_TERMS)
    ranks = np.arange(1, head + 1, dtype=np.float64)
    total = math.fsum(ranks / (ranks + m))
    if n > head:
        low, high = head + 1, n
        # i/(i+m) = 1 - m/(i+m): its integral, half the ends, and the first derivative at the ends.
        ratio = (high - low) / (low + m)
        total += (high - low) - m * math.log1p(ratio) + (low / (low + m) + high / (high + m)) / 2
        total += (m / (high + m) ** 2 - m / (low + m) ** 2) / 12
    return total / n
