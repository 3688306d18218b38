"""The number of PHI files that two detectors both missed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from phiscan.language import lazy_gettext as _
from phiscan.metrics.intervals import Z95

ASSUMPTION = _(
    "The two detectors miss files independently of each other, every PHI file is as easy "
    "to find as any other, and every referred file got its right verdict."
)
SOURCE = _(
    "Mane et al. (2004), section 2; Goldberg & Wittes (1978); Chapman (1951); variances: "
    "Sekar & Deming (1949), Seber (1970); interval: Chao (1987)"
)


@dataclass(frozen=True, slots=True)
class Total:
    """An estimated number of PHI files, found and missed together; None where it does not exist."""

    total: float | None = None
    missed: float | None = None
    se: float | None = None
    ci95: tuple[float, float] | None = None
    reason: str | None = None


def log_interval(n_found: int, missed: float, se: float) -> tuple[float, float] | None:
    """Return the log-transformed 95% interval of a total; None when missed or se is 0.

    It is never below the number of files found.

    Source: Chao (1987), Biometrics 43:783, eq. 12.
    """
    if missed <= 0 or se <= 0:
        return None
    factor = math.exp(Z95 * math.sqrt(math.log1p((se / missed) ** 2)))
    return n_found + missed / factor, n_found + missed * factor


def lincoln_petersen(n_both: int, n_only_first: int, n_only_second: int) -> Total:
    """Estimate the total as n1 n2 / m, the maximum likelihood estimate under independence.

    Missed is n12 n21 / n11 in the notation of Mane et al. The standard error is the delta-method one,
    sqrt(n1 n2 (n1 - m) (n2 - m) / m^3).

    Args:
        n_both: PHI files that both detectors found (n11).
        n_only_first: PHI files that only the first one found (n12).
        n_only_second: PHI files that only the second one found (n21).

    Source: Goldberg & Wittes (1978), Biometrics 34:77; Sekar & Deming (1949), JASA 44:101.

    >>> lincoln_petersen(20, 80, 80).total
    500.0
    """
    if n_both == 0:
        return Total(reason=_("no file was found by both detectors: the estimate is infinite"))
    first, second = n_both + n_only_first, n_both + n_only_second
    missed = float(Fraction(n_only_first * n_only_second, n_both))
    variance = float(Fraction(first * second * n_only_first * n_only_second, n_both**3))
    return _total(n_both, n_only_first, n_only_second, missed, variance)


def chapman(n_both: int, n_only_first: int, n_only_second: int) -> Total:
    """Estimate the total as (n1 + 1)(n2 + 1)/(m + 1) - 1, which has less bias and needs no overlap.

    Source: Chapman (1951), Univ. Calif. Publ. Stat. 1:131; variance: Seber (1970), Biometrics 26:13.

    >>> round(chapman(20, 80, 80).total, 2)
    484.76
    """
    first, second = n_both + n_only_first, n_both + n_only_second
    if first == 0 or second == 0:
        if first == second:
            return Total(reason=_("neither detector found anything, so the overlap gives no estimate"))
        return Total(reason=_("one of the two detectors found nothing, so the overlap gives no estimate"))
    # (n1 + 1)(n2 + 1)/(m + 1) - 1 - n is exactly n12 n21/(m + 1): no difference of large numbers.
    missed = float(Fraction(n_only_first * n_only_second, n_both + 1))
    variance = float(
        Fraction((first + 1) * (second + 1) * n_only_first * n_only_second, (n_both + 1) ** 2 * (n_both + 2))
    )
    return _total(n_both, n_only_first, n_only_second, missed, variance)


def _total(n_both: int, n_only_first: int, n_only_second: int, missed: float, variance: float) -> Total:
    n_found = n_both + n_only_first + n_only_second
    se = math.sqrt(variance)
    interval = log_interval(n_found, missed, se)
    reason = None
    if interval is None:
        reason = _("nothing is estimated as missed: the log-transformed interval needs more than that")
    return Total(n_found + missed, missed, se, interval, reason)
