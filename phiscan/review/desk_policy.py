"""How the desk works: which share goes to a second person, and how broad a suppression may be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class DeskPolicy:
    """The policy that stands."""

    second_review: float  # share of decisions that go blind to a second person
    hide_limit: int  # a suppression that hides more items needs a lead's approval
    set_by: str
    set_at: datetime | None  # None = nobody has set one: the defaults


DEFAULT_SECOND_REVIEW = (
    0.0  # until ``set_policy``: the program that decides says the share of its configuration
)
DEFAULT_HIDE_LIMIT = 20
