"""State of second reviews by content (draw, second verdict, who judges next), and the policy of review."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.review.audit import log as audit
from phiscan.review.records.file_records import is_about
from phiscan.review.worklist.model import LEAD, NOBODY, OPENING, SECOND
from phiscan.store.database import lock_chain
from phiscan.store.sql_batches import as_value, listed, rows_in
from phiscan.store.tables import (
    adjudication,
    decision,
    decision_undo,
    desk_policy,
    examination,
    second_review,
    second_verdict,
)

_DRAWN = (
    sa.select(second_review, examination.c.file_id.label("of_file"))
    .select_from(second_review)
    .join(decision, decision.c.id == second_review.c.decision_id)
    .join(examination, is_about(decision, examination))
    .where(examination.c.id.in_(listed("examinations")))
)
_SECONDS = (
    sa.select(second_verdict)
    .outerjoin(decision_undo, decision_undo.c.second_verdict_id == second_verdict.c.id)
    .where(second_verdict.c.second_review_id.in_(listed("reviews")), decision_undo.c.id.is_(None))
    .order_by(second_verdict.c.id)
)
_SETTLED = (
    sa.select(adjudication)
    .outerjoin(decision_undo, decision_undo.c.decision_id == adjudication.c.decision_id)
    .where(adjudication.c.second_review_id.in_(listed("reviews")), decision_undo.c.id.is_(None))
    .order_by(adjudication.c.id)
)


def drawn_for(connection: sa.Connection, examination_id: int) -> sa.Row[Any] | None:
    """Return the second review of the content of a result, if there is one."""
    return connection.execute(_DRAWN, {"examinations": [examination_id]}).first()


def current_second_verdicts(connection: sa.Connection, review_ids: Sequence[int]) -> dict[int, sa.Row[Any]]:
    """Return the second verdict of each of these second reviews."""
    return {row.second_review_id: row for row in rows_in(connection, _SECONDS, "reviews", review_ids)}


def settlements(connection: sa.Connection, review_ids: Sequence[int]) -> dict[int, sa.Row[Any]]:
    """Return the adjudication of each of these second reviews."""
    return {row.second_review_id: row for row in rows_in(connection, _SETTLED, "reviews", review_ids)}


def awaited(
    connection: sa.Connection, examination_ids: Sequence[int], verdicts: Mapping[int, sa.Row[Any]]
) -> dict[int, str]:
    """Return which verdict each decided content awaits, by file.

    Args:
        connection: connection to the database.
        examination_ids: the results.
        verdicts: the current decision (verdict, reviewer) by file, of decided files.
    """
    whom = {number: OPENING if row.by_name else NOBODY for number, row in verdicts.items()}
    if not verdicts:
        return whom
    drawn = connection.execute(_DRAWN, {"examinations": list(examination_ids)})
    reviews = {row.of_file: row.id for row in drawn if row.of_file in verdicts}
    if not reviews:
        return whom
    seconds = current_second_verdicts(connection, list(reviews.values()))
    settled = settlements(connection, list(reviews.values()))
    for file_id, review_id in reviews.items():
        if review_id in settled:
            continue
        given, first = seconds.get(review_id), verdicts[file_id]
        # A user's own verdict is not a second one: it became the first when the other was undone.
        if given is None or given.reviewer == first.reviewer:
            whom[file_id] = SECOND
        elif given.verdict != first.verdict:
            whom[file_id] = LEAD
    return whom


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
    return replace(found, seed="")


def secret_policy(connection: sa.Connection) -> DeskPolicy | None:
    """Return the current policy with its seed; None = none was set."""
    row = connection.execute(_LATEST).first()
    return None if row is None else as_value(DeskPolicy, row)


def set_policy(
    connection: sa.Connection, *, second_review: float, hide_limit: int, by: str, now: datetime
) -> DeskPolicy:
    """Append a policy, unless it equals the current one; the seed of the first one is reused.

    Raises:
        InputError: a number out of range, or no user name.
    """
    if not (math.isfinite(second_review) and 0 <= second_review <= 1):
        raise InputError(_("second_review: expected a share from 0 to 1, got {share}", share=second_review))
    if not 0 <= hide_limit <= MAX_HIDE_LIMIT:
        raise InputError(_("hide_limit: expected a number from 0, got {hide_limit}", hide_limit=hide_limit))
    if not by.strip():
        raise InputError(_("by: expected a name, got an empty text"))
    lock_chain(connection)
    before = secret_policy(connection)
    if before is None or (before.second_review, before.hide_limit) != (second_review, hide_limit):
        details = {"second_review": second_review, "hide_limit": hide_limit}
        values = {**details, "seed": before.seed if before else secrets.token_hex(16)}
        audit.record(connection, "policy", values, details, by=by, now=now)
    return policy(connection)
