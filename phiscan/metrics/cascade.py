"""Estimate what the cascade missed, from the audit sample, with exact binomial intervals.

The cascade skips the expensive recognizers on files that could hardly reach the threshold. A random sample of
those files, drawn by content, is read by every recognizer. The share of the sample that is referred, or holds
identifiers, estimates the share among the skipped files.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from phiscan.metrics.intervals import check_count, clopper_pearson

CONFIDENCE = 0.95
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
    shares = (n_hits / n_audit, *clopper_pearson(n_hits, n_audit, CONFIDENCE))
    expected, low, high = (max(0.0, share * n_left_out - n_known) for share in shares)
    if high == 0:  # more are known than the sample supports: what is not known has no smaller bound
        high = n_left_out - n_known
    return Missed(round(expected, 1), math.floor(low), math.ceil(high))
