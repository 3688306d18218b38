"""Estimates of the PHI in the rest of the review list, and whether it is safe to stop.

Two estimates, each with its assumption. By the random sample: items drawn at random from the undecided ones
and reviewed blind bound all PHI among them, without any assumption about scores. By the scores: in each range
of scores, the share of PHI among the decided items is assumed for the undecided ones; that is correct if,
within a range, the items decided first are like the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from phiscan.language import count, lazy_decimal
from phiscan.language import lazy_gettext as _
from phiscan.metrics import elusion
from phiscan.review.worklist.sampling import LeftCounts, SampleReview

TARGET_RECALL = 0.95  # share of the PHI in the list that must be found before it is safe to stop

BY_SAMPLE = _(
    "The sample was drawn at random from the items then undecided, and every verdict is "
    "right. The bound uses the beginning of the random order that makes it smallest and "
    "holds every PHI found in it; in that beginning, unsure items and items without a "
    "verdict count as PHI."
)
BY_SCORE = _(
    "Within a range of scores, the decided items are like a random sample of all its "
    "items, and every verdict is right. Unsure counts as PHI. Items decided in order of "
    "risk do not quite fulfil this."
)


@dataclass(frozen=True, slots=True)
class Left:
    """PHI among the undecided items: expected number, and upper limit (95%, one-sided); None if unknown."""

    expected: float | None
    upper: int | None
    reason: str | None  # why it is unknown
    assumption: str
    source: str


@dataclass(frozen=True, slots=True)
class Remaining:
    """PHI in the rest of the list, by the sample and by the scores."""

    undecided: int
    found: int
    by_sample: Left
    by_score: Left
    recall_lower: float | None  # lower limit of the share of PHI that was found; by the sample only
    target_recall: float
    safe: bool  # recall_lower reaches the target
    why: str  # in words


def remaining(counts: LeftCounts, *, target_recall: float = TARGET_RECALL) -> Remaining:
    """Estimate the PHI in the undecided rest of the list.

    Raises:
        ValueError: the target is not in [0, 1].

    Source: see :mod:`phiscan.metrics.elusion`; the bound by the sample holds at every look (Waudby-Smith &
    Ramdas 2020), that by the scores is the exact stratified one (Bonferroni).
    """
    by_sample, by_score = _by_sample(counts), _by_score(counts)
    lower = None
    if by_sample.upper is not None:
        lower = elusion.recall_lower(counts.found, by_sample.upper)
    safe = by_sample.upper == 0 or (lower is not None and lower >= target_recall)
    return Remaining(
        undecided=counts.undecided,
        found=counts.found,
        by_sample=by_sample,
        by_score=by_score,
        recall_lower=lower,
        target_recall=target_recall,
        safe=safe,
        why=_why(counts, by_sample, lower, target_recall, safe=safe),
    )


def _by_sample(counts: LeftCounts) -> Left:
    sample = counts.queued
    reason = None
    if counts.undecided == 0:
        return Left(0.0, 0, None, BY_SAMPLE, elusion.SOURCE)
    if sample is None:
        reason = _("no random sample was drawn; `phiscan queue draw --queued 50 --unreferred 100` draws one")
    elif sample.reviewed == 0:
        reason = _("no item of the random sample has been reviewed yet")
    if sample is None or reason is not None:
        return Left(None, None, reason, BY_SAMPLE, elusion.SOURCE)
    return Left(
        expected=_without_found(sample.population * sample.phi / sample.reviewed, sample, counts),
        upper=sample_upper(sample, counts.undecided),
        reason=None,
        assumption=BY_SAMPLE,
        source=elusion.SOURCE,
    )


@lru_cache(maxsize=64)
def sample_upper(sample: SampleReview, undecided: int) -> int:
    """Bound the PHI among the undecided items by the reviewed items of the sample (95%, at every look).

    Every reviewed item of the chosen beginning counts, also after one without a verdict, as in the report:
    see :func:`phiscan.metrics.elusion.best_prefix`. Without a reviewed item the bound is their number.
    """
    prefix = elusion.best_prefix(sample.population, sample.verdicts)
    if prefix is None:
        return undecided
    known = elusion.elusion(sample.population, prefix.size, prefix.found + prefix.open, sequential=True)
    return min(max((known.upper_sequential or 0) - sample.found, 0), undecided)


def _without_found(total: float, sample: SampleReview, counts: LeftCounts) -> float:
    """Subtract the PHI found since the draw from the PHI at the draw."""
    return min(max(total - sample.found, 0.0), float(counts.undecided))


def _by_score(counts: LeftCounts) -> Left:
    if counts.undecided == 0:
        return Left(0.0, 0, None, BY_SCORE, elusion.SOURCE)
    if not any(stratum.n_decided for stratum in counts.strata):
        return Left(None, None, _("nothing has been decided yet"), BY_SCORE, elusion.SOURCE)
    strata = [
        elusion.Stratum(f"{one.low:.1f} to {one.high:.1f}", one.n, one.n_decided, one.n_phi)
        for one in counts.strata
    ]
    known = elusion.stratified_elusion(strata)
    phi = sum(one.n_phi for one in counts.strata)
    expected = None if known.missed is None else max(known.missed - phi, 0.0)
    empty = [one for one in counts.strata if not one.n_decided]
    reason = None
    if expected is None:
        reason = _(
            "nothing has been decided in {empty} of {strata} ranges of scores",
            empty=len(empty),
            strata=len(strata),
        )
    upper = min(max(known.upper_hypergeometric - phi, 0), counts.undecided)
    return Left(expected, upper, reason, BY_SCORE, elusion.SOURCE)


def _why(counts: LeftCounts, left: Left, lower: float | None, target: float, *, safe: bool) -> str:
    if counts.undecided == 0:
        return _("Everything in the list is decided.")
    if left.upper is None:
        return _("Not yet known: {reason}.", reason=left.reason)
    if lower is None:
        return _("It is safe to stop: no PHI was found, and none remains.")
    share = _(
        "at least {lower} of the PHI in the list is found (95% sure)", lower=lazy_decimal(f"{lower:.0%}")
    )
    if safe:
        return _(
            "It is safe to stop: {share}, the target is {target}.",
            share=share,
            target=lazy_decimal(f"{target:.0%}"),
        )
    return _(
        "It is not safe to stop: {share}, the target is {target}; at most {upper} may remain.",
        share=share,
        target=lazy_decimal(f"{target:.0%}"),
        upper=count(left.upper),
    )
