"""Estimates from verified screened positives alone: TDP, FRP, PPV, coverage, and ratios of two screens.

Files without the screened characteristic are never opened by a reviewer, so the usual confusion matrix
has two unknown cells and neither sensitivity nor specificity exists. The joint probabilities do.

Source: Sokolova & El Emam (2008), "Evaluation of Learning from Screened Positive Examples"; the measures
are those of Pepe (2003), "The Statistical Evaluation of Medical Tests for Classification and Prediction".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from phiscan.language import lazy_gettext as _
from phiscan.metrics.intervals import Z95, Figure, check_count, proportion

ASSUMPTION = _(
    "The screened files are a random sample of the files that the figures "
    "describe, and every screened positive got its right verdict."
)
SOURCE = _("Sokolova & El Emam (2008), eq. 10-13; Clopper & Pearson (1934)")


@dataclass(frozen=True, slots=True)
class ScreenedPositives:
    """True detection probability, false referral probability and positive predictive value of a screen."""

    n: int
    tdp: Figure
    frp: Figure
    ppv: Figure


@dataclass(frozen=True, slots=True)
class RelativeScreening:
    """TDP and FRP of one characteristic divided by those of another on the same files."""

    rtdp: Figure
    rfrp: Figure


def tdp_frp(n_phi: int, n_not_phi: int, n_not_screened: int) -> ScreenedPositives:
    """Estimate TDP, FRP and PPV from the verified screened positives.

    TDP = P[PHI = 1, PII = 1] and FRP = P[PHI = 0, PII = 1] are joint probabilities over all files; PPV is
    the share of PHI among the screened positives. Intervals are Clopper-Pearson, 95%.

    The paper's section 6 prints the coverage of the two characteristics as "0.610%" and "0.634%" of the
    files; 75/123 and 78/123 are proportions: 61.0% and 63.4%.

    Args:
        n_phi: screened positive files that were verified as PHI.
        n_not_phi: screened positive files that were verified as not PHI.
        n_not_screened: files that the screen did not mark; they are not verified.

    Source: Sokolova & El Emam (2008), eq. 10-13.

    >>> found = tdp_frp(71, 4, 48)
    >>> round(found.tdp.value, 3), round(found.frp.value, 3)
    (0.577, 0.033)
    """
    n = n_phi + n_not_phi + n_not_screened
    return ScreenedPositives(
        n=n,
        tdp=proportion(n_phi, n, _("there is no file")),
        frp=proportion(n_not_phi, n, _("there is no file")),
        ppv=proportion(n_phi, n_phi + n_not_phi, _("no file was screened positive")),
    )


def coverage(n_phi: int, n_not_phi: int, n_not_screened: int) -> Figure:
    """Estimate the share of files that show the characteristic (screened positive, PHI or not).

    Source: Sokolova & El Emam (2008), section 6.

    >>> round(coverage(71, 4, 48).value, 3)
    0.61
    """
    return proportion(n_phi + n_not_phi, n_phi + n_not_phi + n_not_screened, _("there is no file"))


def relative(
    first: tuple[int, int],
    other: tuple[int, int],
    *,
    both: tuple[int, int] | None = None,
    n_files: int | None = None,
) -> RelativeScreening:
    """Divide TDP and FRP of one characteristic by those of another on the same files.

    The number of files cancels, so the ratios are ratios of counts. The interval needs the paired table,
    that is how many files both characteristics marked; without it the interval is None. It is None too where
    both marked the very same files: only files that one of them marked alone contribute to the variance.

    Args:
        first: (PHI, not PHI) among the files that the first characteristic marked.
        other: the same for the other characteristic.
        both: the same for the files that both marked.
        n_files: the number of files, where it is known.

    Raises:
        ValueError: the overlap is larger than one of its parts, or the counts need more files than there are.

    Source: Pepe (2003), section 7.2; interval on the log scale: Cheng & Macaluso (1997), Epidemiology 8:104.

    >>> round(relative((71, 4), (75, 3)).rtdp.value, 4)
    0.9467
    """
    overlap = (None, None) if both is None else both
    relative_rates = RelativeScreening(
        rtdp=_ratio("PHI", first[0], other[0], overlap[0]),
        rfrp=_ratio("not PHI", first[1], other[1], overlap[1]),
    )
    # Files that one of the two marked: at the largest possible overlap where it is not given.
    shared = both or (min(first[0], other[0]), min(first[1], other[1]))
    n_marked = sum(first) + sum(other) - sum(shared)
    if n_files is not None and n_marked > n_files:
        message = f"the two characteristics: expected to mark at most {n_files} files, got {n_marked}"
        raise ValueError(message)
    return relative_rates


def _ratio(kind: str, first: int, other: int, both: int | None) -> Figure:
    if other == 0:
        return Figure(None, None, _("the other characteristic marked no {kind} file to divide by", kind=kind))
    value = first / other
    if both is None:
        return Figure(
            value, None, _("the interval needs the number of files that both characteristics marked")
        )
    check_count(f"both {kind}", both, min(first, other))
    if first == 0:
        return Figure(value, None, _("a ratio of 0 has no interval on the log scale"))
    if first == other == both:
        reason = _(
            "both characteristics marked the same {kind} files: the interval would have no width", kind=kind
        )
        return Figure(value, None, reason)
    # Delta-method variance of the log ratio of two paired proportions; only discordant files count.
    spread = Z95 * math.sqrt((first + other - 2 * both) / (first * other))
    return Figure(value, (value * math.exp(-spread), value * math.exp(spread)))
