"""The last review action of a user: the verdicts of one form, undone and redone as a whole.

Verdicts of one user at the same moment are one action: a single verdict, or that on a group. A lead's
adjudication is no such action: it is undone on its own page, where its effect is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.errors import ConflictError
from phiscan.language import gettext as _
from phiscan.model import Verdict
from phiscan.review.decisions import verdicts
from phiscan.store.tables import adjudication, decision, decision_undo, file, second_verdict


@dataclass(frozen=True, slots=True)
class Act:
    """Verdicts that a reviewer recorded, or undid, at one moment."""

    file_ids: tuple[int, ...]
    path: str  # of the first file, display form
    verdict: Verdict
    at: datetime


_NOT_ADJUDICATED = ~sa.exists().where(adjudication.c.decision_id == decision.c.id)
_VERDICT_TABLES = (
    (decision, decision_undo.c.decision_id, _NOT_ADJUDICATED),
    (second_verdict, decision_undo.c.second_verdict_id, sa.true()),
)


def last_action(connection: sa.Connection, by: str) -> Act | None:
    """Return the last action of a user that is not undone; None = there is none."""
    latest: list[datetime] = []
    for table, undone, condition in _VERDICT_TABLES:
        query = (
            sa.select(table.c.decided)
            .where(table.c.reviewer == by, condition, ~sa.exists().where(undone == table.c.id))
            .order_by(table.c.id.desc())
            .limit(1)
        )
        latest += connection.execute(query).scalars()
    if not latest:
        return None
    at = max(latest)
    rows = [
        row
        for table, undone, condition in _VERDICT_TABLES
        for row in connection.execute(
            sa.select(table.c.file_id, table.c.verdict)
            .where(table.c.reviewer == by, table.c.decided == at, condition)
            .where(~sa.exists().where(undone == table.c.id))
            .order_by(table.c.id)
        )
    ]
    return _act(connection, rows, at)


def last_undone(connection: sa.Connection, by: str) -> Act | None:
    """Return the action that a user undid last, unless they have recorded a verdict since."""
    at = connection.execute(
        sa.select(sa.func.max(decision_undo.c.undone)).where(decision_undo.c.undone_by == by)
    ).scalar()
    given = last_action(connection, by)
    if at is None or (given is not None and given.at > at):
        return None
    return _act(connection, _undone_rows(connection, by, at), at)


def undo_last(connection: sa.Connection, *, by: str, now: datetime) -> Act:
    """Undo the last action of a user as a whole, and return it.

    Raises:
        ConflictError: there is none, or none of its verdicts is current any more.
    """
    act = last_action(connection, by)
    if act is None:
        message = _("nothing to undo: {by} has given no verdict", by=by)
        raise ConflictError(message)
    undone = []
    for file_id in act.file_ids:
        try:
            verdicts.undo(connection, file_id, by=by, now=now, lead=False)
        except ConflictError:
            continue  # another user has decided it since, or a lead has settled it
        undone.append(file_id)
    if not undone:
        message = _(
            "{path}: nothing to undo: the verdict by {by} does not hold any more", path=act.path, by=by
        )
        raise ConflictError(message)
    return Act(tuple(undone), act.path, act.verdict, now)


def redo_last(connection: sa.Connection, *, by: str, now: datetime) -> Act:
    """Record the verdicts again that a user undid last, with their reasons and notes, and return them.

    Raises:
        ConflictError: nothing was undone since their last verdict, or another user has decided a file.
    """
    act = last_undone(connection, by)
    if act is None:
        message = _("nothing to redo: {by} has undone no verdict since the last one", by=by)
        raise ConflictError(message)
    for row in _undone_rows(connection, by, act.at):
        verdicts.decide(
            connection,
            row.file_id,
            Verdict(row.verdict),
            reviewer=by,
            now=now,
            reason=row.reason,
            note=row.note,
            by_name=row.by_name,
        )
    return Act(act.file_ids, act.path, act.verdict, now)


def _undone_rows(connection: sa.Connection, by: str, at: datetime) -> list[Any]:
    return [
        row
        for table, undone, _ in _VERDICT_TABLES
        for row in connection.execute(
            sa.select(table.c.file_id, table.c.verdict, table.c.reason, table.c.note, table.c.by_name)
            .join(decision_undo, undone == table.c.id)
            .where(decision_undo.c.undone_by == by, decision_undo.c.undone == at, table.c.reviewer == by)
            .order_by(table.c.id)
        )
    ]


def _act(connection: sa.Connection, rows: list[Any], at: datetime) -> Act | None:
    if not rows:
        return None
    path = connection.execute(sa.select(file.c.display).where(file.c.id == rows[0].file_id)).scalar_one()
    return Act(tuple(row.file_id for row in rows), path, Verdict(rows[0].verdict), at)
