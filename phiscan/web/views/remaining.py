"""Estimates of the PHI left in the queue: a summary, and the figures with their assumptions."""

from __future__ import annotations

from dataclasses import dataclass

from phiscan.language import gettext as _
from phiscan.language import lazy_gettext
from phiscan.report.remaining import Left, Remaining, remaining
from phiscan.report.words import count, number, share
from phiscan.review.worklist.sampling import LeftCounts

UNKNOWN = lazy_gettext("not known")


@dataclass(frozen=True, slots=True)
class LeftView:
    """The estimated number of PHI files in the rest of the queue, and whether it is safe to stop."""

    number: str
    range: str
    answer: str
    why: str
    is_safe: bool
    known: Remaining
    counts: LeftCounts

    @property
    def answers(self) -> tuple[tuple[str, Left], ...]:
        """Both estimates, the stronger one first."""
        return (
            (_("By design: a random sample, reviewed blind"), self.known.by_sample),
            (_("By the scores: ranges of the health score"), self.known.by_score),
        )


def left_view(counts: LeftCounts) -> LeftView:
    """Return the figures of the page; a missing one has a reason."""
    known = remaining(counts)
    best = known.by_sample if known.by_sample.upper is not None else known.by_score
    return LeftView(
        number=UNKNOWN if best.expected is None else _("about {number}", number=number(best.expected)),
        range=_range(known, best),
        answer=_("Yes") if known.safe else _("Not yet"),
        why=known.why,
        is_safe=known.safe,
        known=known,
        counts=counts,
    )


def _range(known: Remaining, best: Left) -> str:
    if best.upper is None:
        return best.reason or ""
    by = (
        _("by the random sample")
        if best is known.by_sample
        else _("by the scores, if the decided items are typical")
    )
    return _("at most {upper} (95%), {by}", upper=count(best.upper), by=by)


def recall_words(known: Remaining) -> str:
    """Return the lower bound of the share of PHI that was found, in words."""
    return (
        UNKNOWN
        if known.recall_lower is None
        else _("at least {recall_lower}", recall_lower=share(known.recall_lower))
    )
