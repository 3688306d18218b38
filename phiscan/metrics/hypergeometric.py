"""Hypergeometric probabilities with full precision for populations of up to 10^9 files.

Notation: a population of N files, K of them marked, a sample of n without replacement, x marked ones in it.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from phiscan.metrics.capture_recapture.poisson import factorial_remainder

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_CHUNK = 1 << 14


def log_probability(x: int, population: int, marked: int, sample: int) -> float:
    """Return log P(X = x), or minus infinity where x is impossible.

    Differences of log-factorials of 10^9 lose seven digits; Loader's form, three binomial probabilities of
    the same share, has no such differences.

    Source: Loader (2000), "Fast and accurate computation of binomial probabilities".

    >>> round(math.exp(log_probability(1, 10, 3, 4)), 6)
    0.5
    """
    if x < max(0, sample + marked - population) or x > min(sample, marked):
        return -math.inf
    if sample in {0, population}:
        return 0.0
    return (
        _log_binomial(x, marked, sample, population)
        + _log_binomial(sample - x, population - marked, sample, population)
        - _log_binomial(sample, population, sample, population)
    )


def log_at_most(x: int, population: int, marked: int, sample: int) -> float:
    """Return log P(X <= x).

    Sums from x away from the mean, where the terms fall off geometrically, and turns to the other tail when x
    lies above the mean.

    >>> round(math.exp(log_at_most(1, 10, 3, 4)), 6)
    0.666667
    """
    lowest, highest = max(0, sample + marked - population), min(sample, marked)
    if x < lowest:
        return -math.inf
    if x >= highest:
        return 0.0
    if (x + 1) * population > marked * sample:
        above = log_probability(x + 1, population, marked, sample)
        tail = above + math.log(_tail_ratio(x + 1, population, marked, sample, upward=True))
        return math.log(-math.expm1(tail)) if tail < 0 else -math.inf
    return log_probability(x, population, marked, sample) + math.log(
        _tail_ratio(x, population, marked, sample, upward=False)
    )


def _tail_ratio(x: int, population: int, marked: int, sample: int, *, upward: bool) -> float:
    """Return the sum of P(X = k)/P(X = x) over k from x to the end of the tail."""
    total, last, start = 1.0, 1.0, 0
    length = (min(sample, marked) - x) if upward else (x - max(0, sample + marked - population))
    while start < length:
        steps = np.arange(start, min(start + _CHUNK, length), dtype=float)
        if upward:
            k = x + steps
            ratios = (marked - k) * (sample - k) / ((k + 1) * (population - marked - sample + k + 1))
        else:
            k = x - steps
            ratios = k * (population - marked - sample + k) / ((marked - k + 1) * (sample - k + 1))
        terms = last * np.cumprod(ratios)
        total += math.fsum(terms)
        last = float(terms[-1])
        if last < total * 1e-18:
            break
        start += _CHUNK
    return total


def _log_binomial(x: int, trials: int, hits: int, of: int) -> float:
    """Return log P(X = x) of a binomial with the share hits/of; 0 < hits < of."""
    if trials == 0:
        return 0.0
    misses = of - hits
    if x == 0:
        return trials * _log_share(misses, hits, of)
    if x == trials:
        return trials * _log_share(hits, misses, of)
    rest = trials - x
    return (
        _remainder(trials)
        - _remainder(x)
        - _remainder(rest)
        - _deviance_part(x, trials, hits, of)
        - _deviance_part(rest, trials, misses, of)
        + 0.5 * math.log(trials / (x * rest))
        - _HALF_LOG_2PI
    )


def _log_share(part: int, rest: int, whole: int) -> float:
    return math.log1p(-rest / whole) if rest < part else math.log(part / whole)


@lru_cache(maxsize=1 << 16)
def _remainder(value: int) -> float:
    """Return Stirling's remainder log v! - (v + 1/2) log v + v - log(2 pi)/2, v >= 1."""
    if value > 30:  # noqa: PLR2004 (the first term left out is below 1e-15 there)
        square = float(value) * value
        return (
            1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / (1188 * square)) / square) / square) / square
        ) / value
    return float(factorial_remainder(np.array([float(value)]))[0]) - 0.5 * math.log(value) - _HALF_LOG_2PI


def _deviance_part(x: int, trials: int, hits: int, of: int) -> float:
    """Return x log(x/m) - x + m for m = trials hits/of, exact when x is near m."""
    # (m - x)/x from whole numbers: no rounding before the division.
    excess = (trials * hits - x * of) / (x * of)
    if abs(excess) < 0.1:  # noqa: PLR2004 (the series below converges there to all digits)
        term, total, power = excess * excess, 0.0, 2
        while True:
            total += term / power
            if abs(term) < 1e-19 * abs(total) or term == 0:
                return x * total
            term *= -excess
            power += 1
    return x * (excess - math.log1p(excess))
