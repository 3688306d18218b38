"""Totals from the frequencies of capture: Chao's lower bound and the sample-coverage estimators."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from phiscan.language import lazy_gettext as _
from phiscan.metrics.capture_recapture.captures import CaptureTable

ASSUMPTION = _(
    "Chao's bound assumes only that files found rarely tell about files never found; the "
    "sample-coverage total assumes that detectors depend on each other in pairs as their "
    "overlaps show."
)
SOURCE = _("Chao (1987), Biometrics 43:783; Chao & Tsay (1998), JASA 93:283; Chao et al. (2001)")

# Below this coverage the authors advise the one-step total, which is then a lower bound.
LOW_COVERAGE = 0.55


@dataclass(frozen=True, slots=True)
class LowerBound:
    """A lower bound of the expected total; None if it does not exist."""

    total: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class SampleCoverage:
    """The sample coverage (share of captures that other lists also made) and the totals based on it.

    ``independent_total`` is their N0, ``total`` their N (for coverage above 0.55), ``one_step_total`` their
    N1 (for low coverage).
    """

    coverage: float | None = None
    total: float | None = None
    independent_total: float | None = None
    one_step_total: float | None = None
    reason: str | None = None


def chao_lower_bound(table: CaptureTable) -> LowerBound:
    """Return n + f1^2 / (2 f2), with f1 and f2 the files found exactly once and twice.

    Source: Chao (1987), eq. 5.

    >>> chao_lower_bound(CaptureTable(3, (0, 10, 10, 5, 10, 5, 5, 4))).total
    79.0
    """
    once, twice = table.frequencies[1], table.frequencies[2]
    if twice == 0:
        return LowerBound(None, _("no file was found by exactly two detectors"))
    return LowerBound(table.n_found + float(Fraction(once * once, 2 * twice)))


def sample_coverage(table: CaptureTable) -> SampleCoverage:
    """Estimate the sample coverage and the totals of Chao & Tsay for three lists or more.

    The coverage is 1 minus the mean over lists of the share of its files that no other list found. Exact
    rational arithmetic until the last division.

    Source: Chao & Tsay (1998), eq. 2.3 to 2.7; Chao et al. (2001), eq. 9, 12 and 13; t lists: Tsay & Chao
    (2001), J. Appl. Stat. 28:25.
    """
    n_lists = table.n_lists
    singles = [1 << position for position in range(n_lists)]
    sizes = {single: table.margin(single) for single in singles}
    if min(sizes.values()) == 0:
        return SampleCoverage(reason=_("a detector found nothing: its coverage does not exist"))
    alone = sum((Fraction(table.only(single), sizes[single]) for single in singles), Fraction(0))
    coverage = 1 - alone / n_lists
    if coverage == 0:
        return SampleCoverage(0.0, reason=_("no two detectors found the same file"))
    # D: the mean over lists of the number of files that the other lists found.
    others = table.n_found - Fraction(sum(table.only(single) for single in singles), n_lists)
    independent = others / coverage
    # Per pair: files that at most these two lists found, counted by list, and the rate of the overlap.
    pairs = []
    for first, second in combinations(singles, 2):
        weight = table.only(first) + table.only(second) + 2 * table.only(first | second)
        pairs.append((weight, Fraction(table.margin(first | second), sizes[first] * sizes[second])))
    scale = n_lists * coverage

    def step(total: Fraction) -> Fraction:
        """Correct the independent total for the dependence that ``total`` implies."""
        return independent + sum((weight * (total * rate - 1) for weight, rate in pairs), Fraction(0)) / scale

    one_step = step(step(independent))
    # The fixed point N = step(N), which is linear in N.
    slope = sum((weight * rate for weight, rate in pairs), Fraction(0)) / scale
    total, reason = None, None
    if slope < 1:
        fixed = step(Fraction(0)) / (1 - slope)
        if fixed >= table.n_found:
            total = float(fixed)
    if total is None:
        reason = _("total: the overlaps imply more dependence than the coverage allows")
    return SampleCoverage(float(coverage), total, float(independent), float(one_step), reason)
