"""What is left in the queue, as the page of the list says it in four words."""

from __future__ import annotations

from dataclasses import dataclass

from phiscan.review.sampling import LeftCounts


@dataclass(frozen=True, slots=True)
class LeftView:
    """How many PHI files the rest of the queue probably holds, and whether it is safe to stop."""

    number: str
    range: str
    answer: str
    why: str
    is_safe: bool


def left_view(counts: LeftCounts) -> LeftView:
    """Return the figures of the page; what does not exist says why."""
    return LeftView(
        number="–", range="no sample was drawn", answer="not known", why=f"{counts.undecided}", is_safe=False
    )
