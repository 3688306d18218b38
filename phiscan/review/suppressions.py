"""What need not be looked at for a while: a value, or a rule, in a folder or everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class SuppressionKind(StrEnum):
    """By what a finding is passed over."""

    VALUE = "value"  # its keyed identity
    RULE = "rule"  # the rule that found it


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionScope:
    """Which findings a suppression passes over, and where."""

    kind: SuppressionKind
    target: str  # the finding's ``identity``, or its ``source``
    preview: str = ""  # the finding's masked shape, for a value
    root_id: int | None = None  # None = on every root
    folder: str = ""  # below this folder of the root; "" = the whole root


@dataclass(frozen=True, slots=True)
class SuppressionPreview:
    """What a suppression would do now."""

    n_hidden: int  # items of the list that it would hide, in addition to those hidden already
    n_matched: int  # items with a matching finding; the rest of them have other reasons to stay
    examples: tuple[tuple[int, str], ...]  # number and path of some that it would hide
    needs_approval: bool
    why: str  # why it needs approval, in words; "" when it does not


@dataclass(frozen=True, slots=True)
class Suppression:
    """A suppression and what became of it."""

    id: int
    scope: SuppressionScope
    root: str  # "" = every root
    n_hidden: int
    reason: str
    until: datetime
    made_by: str
    made: datetime
    needs_approval: bool
    approved_by: str
    lifted_by: str
    status: str  # "active", "waiting" (for approval), "ended" or "lifted"
