"""A random share of decided items goes blind to a second person; who disagree are settled by a lead."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from phiscan.model import Verdict


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two people who gave one content different verdicts, for the lead who settles it."""

    id: int  # number of the second review
    file_id: int
    root: str
    path: str
    examination_id: int
    first: Verdict
    first_reviewer: str
    first_reason: str
    first_note: str
    second: Verdict
    second_reviewer: str
    second_reason: str
    second_note: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Rating:
    """The blind pair of verdicts on one content, for agreement statistics."""

    file_id: int
    content_hash: str
    first_reviewer: str
    first: Verdict
    second_reviewer: str
    second: Verdict
    settled: Verdict | None  # by the lead; None = they agreed, or it is not settled yet


@dataclass(frozen=True, slots=True)
class SecondReviewCounts:
    """How far the second review has come."""

    drawn: int
    waiting: int
    agreed: int
    disagreed: int  # settled ones included
    settled: int
