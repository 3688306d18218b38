"""What is left in the queue, as the pages say it: first in a few words, then with everything it rests on."""

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
    """How many PHI files the rest of the queue probably holds, and whether it is safe to stop."""

    number: str
    range: str
    answer: str
    why: str
    is_safe: bool
    known: Remaining
    counts: LeftCounts

    @property
    def answers(self) -> tuple[tuple[str, Left], ...]:
        """Both answers, the stronger first."""
        return (
            (_("By design: a random sample, reviewed blind"), self.known.by_sample),
            (_("By the scores: ranges of the health score"), self.known.by_score),
        )


def left_view(counts: LeftCounts) -> LeftView:
    """Return the figures of the page; what does not exist says why."""
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
    """Return how much of the PHI is found at least, in words."""
    return (
        UNKNOWN
        if known.recall_lower is None
        else _("at least {recall_lower}", recall_lower=share(known.recall_lower))
    )
