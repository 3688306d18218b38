"""The review policy: the share of second reviews, and the size above which a suppression needs approval."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass, field
from datetime import datetime

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.review.audit import log as audit
from phiscan.store.database import lock_chain
from phiscan.store.tables import desk_policy

DEFAULT_SECOND_REVIEW = 0.0  # no second review until a share is set
DEFAULT_HIDE_LIMIT = 20
MAX_HIDE_LIMIT = 2**31 - 1

_LATEST = sa.select(desk_policy).order_by(desk_policy.c.id.desc()).limit(1)


@dataclass(frozen=True, slots=True)
class DeskPolicy:
    """The current policy."""

    second_review: float  # share of decisions that get a blind second review
    hide_limit: int  # a suppression that hides more items needs a lead's approval
    set_by: str
    set_at: datetime | None  # None = the defaults
    seed: str = field(default="", repr=False)  # of the second review's draws, which it makes predictable


def policy(connection: sa.Connection) -> DeskPolicy:
    """Return the current policy without its seed."""
    found = secret_policy(connection)
    if found is None:
        return DeskPolicy(DEFAULT_SECOND_REVIEW, DEFAULT_HIDE_LIMIT, "", None)
    return DeskPolicy(found.second_review, found.hide_limit, found.set_by, found.set_at)


def secret_policy(connection: sa.Connection) -> DeskPolicy | None:
    """Return the current policy with its seed; None = none was set."""
    row = connection.execute(_LATEST).first()
    if row is None:
        return None
    return DeskPolicy(row.second_review, row.hide_limit, row.set_by, row.set_at, row.seed)


def set_policy(
    connection: sa.Connection, *, second_review: float, hide_limit: int, by: str, now: datetime
) -> DeskPolicy:
    """Append a policy, unless it equals the current one; the seed of the first one is reused.

    Raises:
        InputError: a number out of range, or no user name.
    """
    if not (math.isfinite(second_review) and 0 <= second_review <= 1):
        message = _("second_review: expected a share from 0 to 1, got {share}", share=second_review)
        raise InputError(message)
    if not 0 <= hide_limit <= MAX_HIDE_LIMIT:
        message = _("hide_limit: expected a number from 0, got {hide_limit}", hide_limit=hide_limit)
        raise InputError(message)
    if not by.strip():
        message = _("by: expected a name, got an empty text")
        raise InputError(message)
    lock_chain(connection)
    before = secret_policy(connection)
    if before is None or (before.second_review, before.hide_limit) != (second_review, hide_limit):
        values = {
            "second_review": second_review,
            "hide_limit": hide_limit,
            "seed": before.seed if before else secrets.token_hex(16),
            "set_by": by,
            "set_at": now,
        }
        details = {"second_review": second_review, "hide_limit": hide_limit}
        audit.record(connection, "policy", values, details, by=by, now=now)
    return policy(connection)
