"""The status line of every page: open, decided and awaited items, today's rate, when it is safe to stop.

All pages show the same figures, from the view of the user: items that the user skipped, or must not see
before a second reviewer has decided, are not counted as open.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from phiscan.language import gettext as _
from phiscan.language import ngettext
from phiscan.metrics import elusion
from phiscan.report.remaining import TARGET_RECALL, remaining, sample_upper
from phiscan.report.words import count
from phiscan.review.worklist.model import WorkCounts, WorkState
from phiscan.review.worklist.sampling import LeftCounts, SampleReview

if TYPE_CHECKING:
    from phiscan.web.request_context import Desk

DECIDED = (WorkState.PHI, WorkState.NOT_PHI, WorkState.UNSURE)


@dataclass(frozen=True, slots=True)
class StatusLine:
    """The figures; ``open``, ``skipped``, ``decided`` and ``waiting`` add up to ``total``."""

    open: int
    skipped: int
    decided: int
    waiting: int  # decided, and hidden until a second reviewer has decided
    total: int
    today: int
    mine_today: int
    stop: str  # when it is safe to stop

    @property
    def words(self) -> tuple[str, ...]:
        """The parts of the line; parts that are zero are omitted."""
        parts = [
            ngettext("{n} open", "{n} open", self.open),
            ngettext("{n} decided", "{n} decided", self.decided),
        ]
        if self.skipped:
            parts.append(ngettext("{n} skipped", "{n} skipped", self.skipped))
        if self.waiting:
            parts.append(
                ngettext("{n} waiting for second review", "{n} waiting for second review", self.waiting)
            )
        parts.append(_("{total} in all", total=count(self.total)))
        decided_today = ngettext("{n} decided today", "{n} decided today", self.today)
        if self.mine_today and self.mine_today != self.today:
            decided_today += _(", {mine_today} by you", mine_today=count(self.mine_today))
        return (*parts, decided_today, self.stop)


def status_line(desk: Desk, viewer: str) -> StatusLine:
    """Count the figures of the line for one user."""
    now, work = desk.now(), desk.store.desk
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return _line(work.counts(viewer=viewer, now=now), _today(desk, midnight), work.left(), viewer)


def _today(desk: Desk, midnight: datetime) -> dict[str, int]:
    return dict(desk.store.desk.progress(since=midnight).by_reviewer)


def _line(counts: WorkCounts, today: dict[str, int], left: LeftCounts, viewer: str) -> StatusLine:
    states = counts.by_state
    is_open, skipped = states[WorkState.UNDECIDED], states[WorkState.SKIPPED]
    decided = sum(states[state] for state in DECIDED)
    total = states[WorkState.ANY]
    return StatusLine(
        open=is_open,
        skipped=skipped,
        decided=decided,
        waiting=max(0, total - is_open - skipped - decided),
        total=total,
        today=sum(today.values()),
        mine_today=today.get(viewer, 0),
        stop=stop_words(left),
    )


def stop_words(left: LeftCounts) -> str:
    """Return whether it is safe to stop, or how many blind items of the random sample are needed at least."""
    if remaining(left).safe:
        return _("safe to stop")
    if left.queued is None:
        return _("not safe to stop: no random sample drawn")
    needed = blind_needed(left.queued, left.found, left.undecided)
    if needed is None:
        return _("not safe to stop: a larger random sample is needed")
    return ngettext(
        "safe to stop after {n} more blind item without PHI",
        "safe to stop after {n} more blind items without PHI",
        needed,
    )


@lru_cache(maxsize=64)
def blind_needed(sample: SampleReview, found: int, undecided: int) -> int | None:
    """Return how many more sampled items, none of them PHI, make it safe to stop; None = too few are drawn.

    They are judged in random order, so that gaps are filled first. Source: the
    any-time-valid bound of :mod:`phiscan.metrics.elusion`, solved by bisection.
    """
    order = (*sample.verdicts, *(None,) * (sample.drawn - len(sample.verdicts)))
    is_open = [place for place, verdict in enumerate(order) if verdict is None]

    def is_safe(n_more: int) -> bool:
        filled = list(order)
        for place in is_open[:n_more]:
            filled[place] = False
        upper = sample_upper(replace(sample, verdicts=tuple(filled)), undecided)
        lower = elusion.recall_lower(found, upper)
        return upper == 0 or (lower is not None and lower >= TARGET_RECALL)

    low, high = 1, len(is_open)
    if low > high or not is_safe(high):
        return None
    while low < high:
        middle = (low + high) // 2
        if is_safe(middle):
            high = middle
        else:
            low = middle + 1
    return low
