"""Dependence of two detectors' verdicts from four counts: mutual information with an exact p-value.

It uses the standard library alone: every scan computes it, and importing scipy takes longer than a scan of an
unchanged share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# Significance level below which independence of a pair is not credible.
CREDIBLE_P = 0.05


@dataclass(frozen=True, slots=True)
class Dependence:
    """Mutual information in nats, and the share of permutations with at least as much."""

    nats: float
    p_value: float
    n: int

    @property
    def credible(self) -> bool:
        """Whether independence is not rejected at the 5% level."""
        return self.p_value > CREDIBLE_P


def verdict_dependence(both: int, only_first: int, only_second: int, neither: int) -> Dependence:
    """Measure the dependence of two detectors' verdicts from their counts; the p-value is exact.

    Shuffling one column of verdicts leaves the margins as they are, so the number that both found is
    hypergeometric: all shuffles are counted at once, however many files there are.

    Raises:
        ValueError: a count is negative, or all are 0.

    Source: as ``dependence`` in independence.py, with the permutation distribution in closed form (Fisher
    1935).

    >>> round(verdict_dependence(10, 0, 0, 10).nats, 6)
    0.693147
    """
    counts = (both, only_first, only_second, neither)
    if min(counts) < 0 or sum(counts) == 0:
        raise ValueError(f"counts: expected four of 0 or more, not all 0, got {counts}")
    n, first, second = sum(counts), both + only_first, both + only_second
    observed = _information(both, first, second, n)
    whole = _log_choose(n, second)
    p_value = math.fsum(
        math.exp(_log_choose(first, found) + _log_choose(n - first, second - found) - whole)
        for found in range(max(0, first + second - n), min(first, second) + 1)
        if _information(found, first, second, n) >= observed - 1e-12
    )
    return Dependence(observed, min(p_value, 1.0), n)


def _information(both: int, first: int, second: int, n: int) -> float:
    """Return the mutual information of two verdicts by their margins, in nats."""
    cells = (
        (both, first * second),
        (first - both, first * (n - second)),
        (second - both, (n - first) * second),
        (n - first - second + both, (n - first) * (n - second)),
    )
    terms = math.fsum(cell / n * math.log(cell * n / product) for cell, product in cells if cell > 0)
    return max(terms, 0.0)  # rounding can make it slightly negative


def _log_choose(n: int, k: int) -> float:
    """Return the logarithm of a binomial coefficient."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
