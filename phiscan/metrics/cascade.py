"""Estimate what the cascade missed, from the audit sample, with exact binomial intervals.

The cascade skips the expensive recognizers on files that could hardly reach the threshold. A random sample of
those files, drawn by content, is read by every recognizer. The share of the sample that is referred, or holds
identifiers, estimates the share among the skipped files.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from phiscan.metrics.intervals import check_count

CONFIDENCE = 0.95
_STEPS = 60  # of bisection: more than the bits of a double
_NOTHING = 1e-17
NO_SAMPLE = "no file was drawn for the audit sample"


@dataclass(frozen=True, slots=True)
class Missed:
    """An estimated number of files with its interval; all None without a sample."""

    n_files: float | None
    low: int | None
    high: int | None

    def to_json(self) -> dict[str, float | int | None]:
        """Return the three numbers by name."""
        return {"estimate": self.n_files, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class CascadeLoss:
    """The findings that the skipped files are estimated to hold beyond those of the cheap recognizers."""

    n_left_out: int
    n_audit: int
    n_audit_referred: int
    n_audit_identified: int
    referrals: Missed  # files that every recognizer together would have referred
    identified: Missed  # files with identifiers that the cheap recognizers did not find

    def to_json(self) -> dict[str, Any]:
        """Return the object ``cascade`` of ``phiscan scan --json``."""
        return {
            "left_out": self.n_left_out,
            "audit": self.n_audit,
            "audit_referred": self.n_audit_referred,
            "audit_identified": self.n_audit_identified,
            "missed_referrals": self.referrals.to_json(),
            "missed_identified": self.identified.to_json(),
            "confidence": CONFIDENCE,
            "reason": NO_SAMPLE if self.n_left_out and not self.n_audit else None,
        }


def cascade_loss(
    *,
    n_left_out: int = 0,
    n_left_out_identified: int = 0,
    n_audit: int = 0,
    n_audit_referred: int = 0,
    n_audit_identified: int = 0,
) -> CascadeLoss:
    """Estimate the missed files among those that the cascade skipped, with exact binomial intervals.

    Args:
        n_left_out: files on which the expensive recognizers did not run.
        n_left_out_identified: of them, files in which the cheap recognizers found identifiers.
        n_audit: contents sampled from those that would have been skipped.
        n_audit_referred: of them, those that were referred.
        n_audit_identified: of them, those with identifiers, referred ones among them.

    Raises:
        ValueError: a count is negative, or a part is more than its whole.

    Source: Clopper & Pearson (1934), Biometrika 26:404.

    >>> cascade_loss(n_left_out=950, n_audit=50).referrals
    Missed(n_files=0.0, low=0, high=68)
    """
    check_count("n_left_out_identified", n_left_out_identified, n_left_out)
    return CascadeLoss(
        n_left_out,
        n_audit,
        n_audit_referred,
        n_audit_identified,
        _missed(n_audit_referred, n_audit, n_left_out, 0),
        _missed(n_audit_identified, n_audit, n_left_out, n_left_out_identified),
    )


def _missed(n_hits: int, n_audit: int, n_left_out: int, n_known: int) -> Missed:
    """Return the estimated number of skipped files with the property of the hits, less the known ones."""
    check_count("hits of the audit sample", n_hits, n_audit)
    if not n_left_out:
        return Missed(0.0, 0, 0)
    if not n_audit:
        return Missed(None, None, None)
    shares = (n_hits / n_audit, *exact_interval(n_hits, n_audit))
    expected, low, high = (max(0.0, share * n_left_out - n_known) for share in shares)
    if high == 0:  # more are known than the sample supports: what is not known has no smaller bound
        high = n_left_out - n_known
    return Missed(round(expected, 1), math.floor(low), math.ceil(high))


def exact_interval(n_hits: int, n: int) -> tuple[float, float]:
    """Return the Clopper-Pearson interval of a share, by bisection with the standard library alone.

    ``intervals.clopper_pearson`` returns the same by scipy, which takes longer to load than a scan of an
    unchanged share lasts.

    >>> [round(end, 4) for end in exact_interval(71, 123)]
    [0.4849, 0.6658]
    """
    tail = (1 - CONFIDENCE) / 2
    low = 0.0 if n_hits == 0 else 1.0 - _share_with(n - n_hits, n, tail)
    high = 1.0 if n_hits == n else _share_with(n_hits, n, tail)
    return low, high


def _share_with(n_hits: int, n: int, tail: float) -> float:
    """Return the share at which the probability of at most ``n_hits`` hits is ``tail``."""
    low, high = n_hits / n, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _at_most(n_hits, n, middle) > tail:
            low = middle
        else:
            high = middle
    return high


def _at_most(n_hits: int, n: int, share: float) -> float:
    """Return the probability of at most ``n_hits`` hits: terms are summed from the largest until negligible.

    ``share`` is at least ``n_hits / n``, so that the terms decrease.
    """
    ratio = (1 - share) / share if share else math.inf
    log_term = (
        math.lgamma(n + 1)
        - math.lgamma(n_hits + 1)
        - math.lgamma(n - n_hits + 1)
        + n_hits * math.log(share)
        + (n - n_hits) * math.log1p(-share)
        if 0 < share < 1
        else -math.inf
    )
    total = term = 1.0
    for hits in range(n_hits, 0, -1):
        term *= hits / (n - hits + 1) * ratio
        total += term
        if term < total * _NOTHING:
            break
    return total * math.exp(log_term)
