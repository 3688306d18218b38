"""Elusion sampling: upper bounds of the PHI files among the files that were not referred.

A design-based estimate: a random sample of the unreferred files is reviewed, and the bounds follow from the
sampling design, without assumptions about the detectors. ``population`` counts all unreferred files including
the sample; ``found`` is the number of PHI files in the sample. All bounds are one-sided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phiscan.language import lazy_gettext as _
from phiscan.metrics.intervals import binomial_upper, check_count, check_share

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_SECTIONS = 64  # numbers that a search tries at once
_TAIL = 40  # standard deviations that a sum of probabilities covers on each side


def probability(x: Any, population: int, marked: Any, sample: Any) -> Floats:
    """Return P(X = x) of a sample without replacement, elementwise: three binomial ones of the same share.

    A quotient of factorials of 10^9 would lose seven digits.

    Source: Loader (2000), "Fast and accurate computation of binomial probabilities".

    >>> float(probability(1, 10, 3, 4).round(6))
    0.5
    """
    from scipy import stats  # noqa: PLC0415 (a second to import; not for what needs no bound)

    pmf, share = stats.binom.pmf, sample / population
    parts = pmf(x, marked, share) * pmf(sample - x, population - marked, share)
    return np.asarray(parts / pmf(sample, population, share))


def at_most(x: int, population: int, marked: Integers, sample: int) -> Floats:
    """Return P(X <= x) for each number of marked ones.

    Sums downwards from x, or from far above the mean where x is above that.

    >>> float(at_most(1, 10, np.array([3]), 4)[0].round(6))
    0.666667
    """
    reach = math.ceil(_TAIL * math.sqrt(x + 1)) + _TAIL
    top = np.minimum(x, np.ceil(marked * (sample / population)) + reach)
    return np.asarray(
        probability(top - np.arange(min(2 * reach, x + 1))[:, None], population, marked, sample).sum(axis=0)
    )


ASSUMPTION = _(
    "The sample was drawn at random from all files that were not referred, all of it was "
    "reviewed (what was not counts as PHI), and every verdict is right."
)
SOURCE = _(
    "Clopper & Pearson (1934); Buonaccorsi (1987), Am. Stat. 41:215; sequential: "
    "Waudby-Smith & Ramdas (2020), theorem 3.1"
)

# Probabilities that are this close to the level are compared exactly, in integers.
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
    if sample == 0:
        return population

    def is_likely(marked: Integers) -> Flags:  # it falls as the number of PHI files grows
        ways = range(max(0, found - sample), found + 1)
        return _is_above(at_most(found, population, marked, sample), tail, population, sample, marked, ways)

    # The more was found the longer are the sums, so that fewer numbers are tried at once.
    sections = max(2, min(_SECTIONS, 20_000 // (found + 1)))
    return _largest(found, population - sample + found, is_likely, sections)


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

    def is_credible(marked: Integers) -> Flags:
        likely = probability(found, population, marked, sample)
        return _is_above(likely, tail / (sample + 1), population, sample, marked, [found])

    # P(X = found) has one peak over K; at found/sample of the population it is above the level.
    low = min(max(found * (population + 1) // sample, found), population - sample + found)
    return _largest(low, population - sample + found, is_credible)


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
    enough = max(population - too_many + 1, 0)
    if enough == 0:
        return 0

    def is_missed(samples: Integers) -> Flags:
        likely = probability(0, population, too_many, samples)
        return _is_above(likely, tail, population, samples, np.full(len(samples), too_many), [0])

    return _largest(0, enough, is_missed) + 1


def _check(population: int, sample: int, found: int) -> None:
    check_count("population", population)
    check_count("sample", sample, population)
    check_count("found", found, sample)


def _largest(low: int, high: int, holds: Callable[[Integers], Flags], sections: int = _SECTIONS) -> int:
    """Return the largest number up to which a condition holds, by sections; it holds for ``low``."""
    while low < high:
        tried = low + (high - low) * np.arange(1, sections + 1) // sections
        n_holding = int(holds(tried).sum())
        high = int(tried[n_holding]) - 1 if n_holding < sections else high
        low = int(tried[n_holding - 1]) if n_holding else low
    return low


def _is_above(  # noqa: PLR0917 (a probability and what it is of)
    likely: Floats,
    level: Fraction,
    population: int,
    sample: int | Integers,
    marked: Integers,
    found: Sequence[int],
) -> Flags:
    """Return which probabilities of so many are above a level; exactly, where rounding could decide."""
    above = np.asarray(likely > float(level))
    samples = np.broadcast_to(sample, above.shape)
    if population <= _EXACT_POPULATION:
        for place in np.flatnonzero(np.abs(likely / float(level) - 1) < _TIE):
            n, k = int(samples[place]), int(marked[place])
            ways = sum(math.comb(k, x) * math.comb(population - k, n - x) for x in found if x <= n)
            above[place] = ways > level * math.comb(population, n)
    return above
