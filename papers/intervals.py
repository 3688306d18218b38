"""Lift, and the other intervals for the area under the precision-recall curve that the source compares.

Source: Boyd (2014), chapter 4; Boyd, Eng & Page (2013).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from phiscan.metrics.ranking import Floats, Integers, Interval, Ranking, average_precision

_CHUNK = 4_000_000  # numbers held at once while bootstrapping
_LEAST_WIDTH = 1e-9  # narrower, and the ends differ by rounding alone
_NO_SPREAD = "{} has no spread in these examples, so that an interval would have no width"
_MANY_SCORES = 10_000  # distinct scores from which on resampled rows are drawn one by one
MAX_FOLDS = 10


def lift(precision: float, skew: float) -> float:
    """Return how many times more positives there are among the marked than among all.

    Source: Piatetsky-Shapiro & Masand (1999).

    >>> lift(0.5, 0.25)
    2.0
    """
    return precision / skew


def binomial_interval(estimate: float, n: int, level: float = 0.95) -> Interval:
    """Put a normal interval around an area, with n positives as the sample size, cut to [0, 1].

    It does not exist for an estimate of 0 or 1, whose variance is 0. Source: Boyd (2014), binomial interval.

    >>> binomial_interval(0.5, 100).ends
    (0.4020018007729973, 0.5979981992270027)
    """
    if not 0 < estimate < 1:
        return Interval(None, f"the binomial variance of {estimate:g} is 0")
    half = float(stats.norm.ppf((1 + level) / 2)) * math.sqrt(estimate * (1 - estimate) / n)
    return Interval((max(estimate - half, 0.0), min(estimate + half, 1.0)))


def bootstrap_interval(
    ranking: Ranking, *, replicates: int = 1_000, level: float = 0.95, seed: int = 0
) -> Interval:
    """Return the percentiles of average precision over resampled data sets.

    Positives and negatives are resampled separately, so the skew stays. Its coverage is below nominal for few
    positives. It does not exist where all resampled areas are alike, as for a perfect ranking.
    Source: Boyd (2014), bootstrap interval.
    """
    if replicates < 1:
        return Interval(None, "no replicates were requested")
    areas = _resampled_areas(ranking, replicates, np.random.default_rng(seed))
    low, high = np.quantile(areas, [(1 - level) / 2, (1 + level) / 2])
    if high - low < _LEAST_WIDTH:
        return Interval(None, _NO_SPREAD.format("the area of resampled data sets"))
    return Interval((float(low), float(high)))


def _resampled_areas(ranking: Ranking, replicates: int, generator: np.random.Generator) -> Floats:
    if len(ranking.scores) > _MANY_SCORES and ranking.n + ranking.m < 4 * len(ranking.scores):
        return _resampled_areas_by_row(ranking, replicates, generator)
    rows = max(1, _CHUNK // len(ranking.scores))
    areas = []
    for begin in range(0, replicates, rows):
        size = min(rows, replicates - begin)
        positives = generator.multinomial(ranking.n, ranking.positives / ranking.n, size=size)
        negatives = generator.multinomial(ranking.m, ranking.negatives / ranking.m, size=size)
        areas.append(_areas(positives, negatives))
    return np.concatenate(areas)


def _resampled_areas_by_row(ranking: Ranking, replicates: int, generator: np.random.Generator) -> Floats:
    """Draw row numbers instead of counts: several times faster where most scores occur once."""
    n_scores = len(ranking.scores)
    sides = [
        np.repeat(np.arange(n_scores, dtype=np.int32), counts)
        for counts in (ranking.positives, ranking.negatives)
    ]
    areas = []
    for _ in range(replicates):
        positives, negatives = (
            np.bincount(rows[generator.integers(0, len(rows), len(rows))], minlength=n_scores)
            for rows in sides
        )
        areas.append(_areas(positives[None, :], negatives[None, :]))
    return np.concatenate(areas)


def _areas(positives: Integers, negatives: Integers) -> Floats:
    """Return the average precision of each row of resampled counts; columns are scores, highest first."""
    hits = np.cumsum(positives, axis=1)
    marked = hits + np.cumsum(negatives, axis=1)
    precision = np.divide(hits, marked, out=np.zeros(hits.shape), where=marked > 0)
    areas: Floats = (positives * precision).sum(axis=1) / hits[:, -1]
    return areas


def n_folds(ranking: Ranking) -> int:
    """Return the number of folds used: ten, or as many as the rarer class allows."""
    return min(MAX_FOLDS, ranking.n, ranking.m)


def cross_validation_interval(ranking: Ranking, *, level: float = 0.95, seed: int = 0) -> Interval:
    """Return the t interval around the mean of average precision over disjoint, stratified folds.

    Its coverage is below nominal for few positives. It is cut to [0, 1], and does not exist where all folds
    have the same area. Source: Boyd (2014), cross-validation interval.
    """
    folds = n_folds(ranking)
    if folds < 2:  # noqa: PLR2004 (a variance needs two folds)
        return Interval(None, "fewer than two positives or two negatives")
    generator = np.random.default_rng(seed)
    positives = _deal(ranking.positives.tolist(), folds, generator)
    negatives = _deal(ranking.negatives.tolist(), folds, generator)
    areas = np.array(
        [
            average_precision(Ranking(ranking.scores[kept], own[kept], other[kept]))
            for own, other in zip(positives, negatives, strict=True)
            for kept in [np.flatnonzero(own + other)]
        ]
    )
    half = float(stats.t.ppf((1 + level) / 2, folds - 1)) * float(areas.std(ddof=1)) / math.sqrt(folds)
    mean = float(areas.mean())
    if 2 * half < _LEAST_WIDTH:
        return Interval(None, _NO_SPREAD.format("the area of the folds"))
    return Interval((max(mean - half, 0.0), min(mean + half, 1.0)))


def _deal(counts: list[int], folds: int, generator: np.random.Generator) -> list[Integers]:
    """Deal shuffled examples into folds whose sizes differ by one at most; one count array per fold."""
    groups = np.repeat(np.arange(len(counts)), counts)
    generator.shuffle(groups)
    return [np.bincount(part, minlength=len(counts)) for part in np.array_split(groups, folds)]
