"""Elusion sampling: upper bounds of the PHI files among the files that were not referred.

A design-based estimate: a random sample of the unreferred files is reviewed, and the bounds follow from the
sampling design, without assumptions about the detectors. ``population`` counts all unreferred files including
the sample; ``found`` is the number of PHI files in the sample. All bounds are one-sided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from phiscan.language import lazy_gettext as _
from phiscan.metrics.capture_recapture.poisson import factorial_remainder
from phiscan.metrics.intervals import binomial_upper, check_count, check_share

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


ASSUMPTION = _(
    "The sample was drawn at random from all files that were not referred, all of it was "
    "reviewed (what was not counts as PHI), and every verdict is right."
)
SOURCE = _(
    "Clopper & Pearson (1934); Buonaccorsi (1987), Am. Stat. 41:215; sequential: "
    "Waudby-Smith & Ramdas (2020), theorem 3.1"
)

# Probabilities whose logarithms are this close to the level are compared exactly, in integers.
_TIE = 1e-9
_EXACT_POPULATION = 20_000


@dataclass(frozen=True, slots=True)
class Elusion:
    """Share and number of missed files with their upper bounds; None where they do not exist."""

    rate: float | None
    rate_upper: float
    missed: float | None
    upper_hypergeometric: int
    upper_binomial: float
    upper_sequential: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Stratum:
    """One stratum of the unreferred files, its sample and the PHI files found in it."""

    name: str
    population: int
    sample: int
    found: int


@dataclass(frozen=True, slots=True)
class Prefix:
    """A prefix of a random order: its number of items, of PHI among them, and of items without a verdict."""

    size: int
    found: int
    open: int


def tail_of(confidence: float) -> Fraction:
    """Return 1 - confidence as an exact decimal, not as the nearest binary number.

    >>> tail_of(0.95)
    Fraction(1, 20)
    """
    check_share("confidence", confidence, open_ends=True)
    return 1 - Fraction(repr(float(confidence)))


def hypergeometric_upper(population: int, sample: int, found: int, tail: Fraction) -> int:
    """Return the largest number of PHI files in the population that the sample does not reject.

    K files are rejected when P(X <= found) <= tail.

    Source: Buonaccorsi (1987); Konijn (1973), "Statistical Theory of Sample Survey Design and Analysis".

    >>> hypergeometric_upper(1000, 100, 0, Fraction(1, 20))
    28
    """
    _check(population, sample, found)
    low, high = found, population - sample + found
    # P(X <= found) falls as the number of PHI files grows.
    while low < high:
        middle = (low + high + 1) // 2
        if _more_likely(population, sample, found, middle, tail):
            low = middle
        else:
            high = middle - 1
    return low


def sequential_upper(population: int, sample: int, found: int, tail: Fraction) -> int:
    """Return the upper end of the any-time-valid interval: it holds after every file, whenever one stops.

    K files stay in the interval while prior/posterior < 1/tail; with the uniform prior on 0 to N that is
    (n + 1) P(X = found) > tail.

    Source: Waudby-Smith & Ramdas (2020), "Confidence sequences for sampling without replacement", NeurIPS.

    >>> sequential_upper(1000, 100, 0, Fraction(1, 20))
    69
    """
    _check(population, sample, found)
    if sample == 0:
        return population
    # P(X = found) has one peak over K; at found/sample of the population it is above the level.
    low = min(max(found * (population + 1) // sample, found), population - sample + found)
    high = population - sample + found
    while low < high:
        middle = (low + high + 1) // 2
        if _credible(population, sample, found, middle, tail):
            low = middle
        else:
            high = middle - 1
    return low


def best_prefix(
    population: int, verdicts: Sequence[bool | None], *, confidence: float = 0.95
) -> Prefix | None:
    """Return the prefix of a random order with the tightest bound; items without a verdict are allowed.

    ``verdicts`` are in that order: whether it is PHI, or None for an item without a verdict. Such
    an item counts as PHI in the bound, so that it cannot make the bound smaller. The prefixes compared end
    at a reviewed item and include every PHI item of ``verdicts``; of those, the one of the smallest
    sequential bound is returned, the longest at equal bounds. Choosing after the fact is valid, because the
    sequential bounds of all prefixes hold simultaneously with the given confidence. None: nothing has been
    reviewed.

    Raises:
        ValueError: there are more verdicts than items, or the level is not in (0, 1).

    Source: Waudby-Smith & Ramdas (2020), theorem 3.1 (intersection of a confidence sequence).

    >>> best_prefix(1000, [False] * 39 + [None] + [False] * 17 + [True] + [None] * 100)
    Prefix(size=58, found=1, open=1)
    """
    check_count("verdicts", len(verdicts), population)
    tail = tail_of(confidence)
    shortest = max((place for place, is_phi in enumerate(verdicts, start=1) if is_phi), default=1)
    best: tuple[int, Prefix] | None = None
    found = n_open = 0
    for place, is_phi in enumerate(verdicts, start=1):
        found += is_phi is True
        n_open += is_phi is None
        follows = verdicts[place] if place < len(verdicts) else None
        # Another item without PHI only makes the bound smaller: a prefix that ends there need not be tried.
        if is_phi is None or place < shortest or follows is False:
            continue
        upper = sequential_upper(population, place, found + n_open, tail)
        if best is None or upper <= best[0]:
            best = (upper, Prefix(place, found, n_open))
    return None if best is None else best[1]


def elusion(
    population: int, sample: int, found: int, *, confidence: float = 0.95, sequential: bool = False
) -> Elusion:
    """Return upper bounds of the PHI files among the files that were not referred.

    Raises:
        ValueError: a count is negative, found > sample, sample > population, or the level is not in (0, 1).

    >>> elusion(1000, 100, 0).upper_hypergeometric
    28
    """
    _check(population, sample, found)
    tail = tail_of(confidence)
    bound = _bounds([Stratum("", population, sample, found)], tail, sequential=sequential)
    if not sample:
        return replace(bound, rate_upper=1.0, missed=None, reason=_("the sample is empty"))
    return replace(bound, rate=found / sample, rate_upper=binomial_upper(found, sample, float(tail)))


def stratified_elusion(
    strata: Sequence[Stratum], *, confidence: float = 0.95, sequential: bool = False
) -> Elusion:
    """Return upper bounds of the total over H strata: each at level (1 - confidence)/H (Bonferroni).

    Raises:
        ValueError: there is no stratum, or one has impossible counts (its name is in the message).

    >>> strata = [Stratum("a", 500, 50, 0), Stratum("b", 500, 50, 0)]
    >>> stratified_elusion(strata).upper_hypergeometric
    66
    """
    if not strata:
        message = "strata: expected at least one"
        raise ValueError(message)
    for stratum in strata:
        try:
            _check(stratum.population, stratum.sample, stratum.found)
        except ValueError as error:
            message = f"stratum {stratum.name}: {error}"
            raise ValueError(message) from None
    bound = _bounds(strata, tail_of(confidence) / len(strata), sequential=sequential)
    if not any(stratum.population for stratum in strata):
        return replace(bound, rate=None, missed=0.0, reason=_("there is no unreferred file"))
    return bound if bound.missed is not None else replace(bound, reason=_("a stratum has no sample"))


def _bounds(strata: Sequence[Stratum], tail: Fraction, *, sequential: bool) -> Elusion:
    """Add up the bounds of strata, each at this tail; nothing is expected where a stratum has no sample."""
    population = sum(stratum.population for stratum in strata)
    counts = [(stratum.population, stratum.sample, stratum.found) for stratum in strata]
    binomial = 0.0
    for size, sample, found in counts:
        binomial += size * (binomial_upper(found, sample, float(tail)) if sample else 1.0)
    is_sampled = all(sample or not size for size, sample, _found in counts)
    missed = sum((Fraction(size * found, sample) for size, sample, found in counts if sample), Fraction(0))
    return Elusion(
        rate=float(missed / population) if is_sampled and population else None,
        rate_upper=binomial / population if population else 1.0,
        missed=float(missed) if is_sampled else None,
        upper_hypergeometric=sum(hypergeometric_upper(*part, tail) for part in counts),
        upper_binomial=binomial,
        upper_sequential=sum(sequential_upper(*part, tail) for part in counts) if sequential else None,
    )


def recall_lower(true_positives: int, missed_upper: int) -> float | None:
    """Return the lower bound of recall if at most ``missed_upper`` files were missed; None without any PHI.

    >>> recall_lower(95, 5)
    0.95
    """
    check_count("true_positives", true_positives)
    whole = true_positives + missed_upper
    return true_positives / whole if whole else None


def sample_size(target: float, *, confidence: float = 0.95, population: int | None = None) -> int:
    """Return the sample size at which a sample without PHI bounds the rate by ``target``.

    Without a population: the smallest n whose Clopper-Pearson bound is at most target. With one: the smallest
    n for which the hypergeometric bound is at most target times the population, so that
    ``elusion(population, n, 0)`` then says so.

    Raises:
        ValueError: target or confidence is not in (0, 1), or the population is negative.

    >>> sample_size(0.01), sample_size(0.01, population=1000)
    (299, 238)
    """
    check_share("target", target, open_ends=True)
    tail = tail_of(confidence)
    share = Fraction(repr(float(target)))
    if population is None:
        n = max(1, math.ceil(math.log(tail) / math.log1p(-target)))
        # The quotient of logarithms may fall on either side of a whole number.
        if n <= _EXACT_POPULATION:
            while n > 1 and (1 - share) ** (n - 1) <= tail:
                n -= 1
            while (1 - share) ** n > tail:
                n += 1
        return n
    check_count("population", population)
    too_many = math.floor(share * population) + 1
    low, high = 0, max(population - too_many + 1, 0)
    while low < high:
        middle = (low + high) // 2
        if _more_likely(population, middle, 0, too_many, tail):
            low = middle + 1
        else:
            high = middle
    return low


def _check(population: int, sample: int, found: int) -> None:
    check_count("population", population)
    check_count("sample", sample, population)
    check_count("found", found, sample)


def _more_likely(population: int, sample: int, found: int, marked: int, tail: Fraction) -> bool:
    """Return whether P(X <= found) > tail; in exact integers when the logarithms are too close."""
    gap = log_at_most(found, population, marked, sample) - math.log(tail)
    if abs(gap) > _TIE or population > _EXACT_POPULATION:
        return gap > 0
    ways = sum(
        math.comb(marked, x) * math.comb(population - marked, sample - x)
        for x in range(max(0, sample + marked - population), found + 1)
    )
    return ways > tail * math.comb(population, sample)


def _credible(population: int, sample: int, found: int, marked: int, tail: Fraction) -> bool:
    """Return whether (n + 1) P(X = found) > tail; in exact integers when the logarithms are too close."""
    gap = log_probability(found, population, marked, sample) + math.log(sample + 1) - math.log(tail)
    if abs(gap) > _TIE or population > _EXACT_POPULATION:
        return gap > 0
    ways = math.comb(marked, found) * math.comb(population - marked, sample - found)
    return (sample + 1) * ways > tail * math.comb(population, sample)
