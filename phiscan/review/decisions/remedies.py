"""Remediation tasks of confirmed files: remedy, owner, deadline, and the proof by a later scan.

A task follows from the records: a verdict of PHI opens it, and a complete scan closes it when the file is
missing or fewer users may read it than when it was confirmed. Nothing is written to a share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from phiscan.language import lazy_gettext as _
from phiscan.model import Verdict
from phiscan.review.decisions.second_verdicts import SECOND
from phiscan.review.worklist.risk import Exposure, exposure_of
from phiscan.store.tables import access, decision, decision_undo, examination, file, root, scan, work_item

_BREADTH = {Exposure.OWNER: 0, Exposure.GROUP: 1, Exposure.UNKNOWN: 2, Exposure.EVERYONE: 2}


class TaskState(StrEnum):
    """The state of a task."""

    OPEN = "open"
    OVERDUE = "overdue"
    GONE = "gone"  # a complete scan did not find the file
    RESTRICTED = "restricted"  # fewer users may read it than when it was confirmed
    CHANGED = "changed"  # the content has changed; it must be reviewed again


@dataclass(frozen=True, slots=True)
class Task:
    """The task of one confirmed file."""

    file_id: int
    root: str
    path: str
    owner: str  # name from the share, else the user id; "" = not known
    exposure: Exposure  # when it was confirmed
    exposure_now: Exposure | None  # None = the file is missing
    n_people: int
    confirmed: datetime
    confirmed_by: str
    due: datetime
    remedy: str
    state: TaskState
    proof_scan: int | None  # the scan that proves it; None while open
    proved: datetime | None


def tasks(connection: sa.Connection, *, due_days: int, now: datetime) -> tuple[Task, ...]:
    """Return a task for each file whose current verdict is PHI, open tasks first, earliest deadline first.

    Files that await a blind second verdict are excluded: their verdict must not be visible yet.
    """
    found = [_task(row, due_days, now) for row in connection.execute(_CONFIRMED)]
    is_done = {TaskState.GONE, TaskState.RESTRICTED, TaskState.CHANGED}
    return tuple(sorted(found, key=lambda one: (one.state in is_done, one.due, one.root, one.path)))


_standing = (
    sa.select(sa.func.max(decision.c.id))
    .where(~sa.exists().where(decision_undo.c.decision_id == decision.c.id))
    .group_by(decision.c.file_id)
)
_then, _now = examination.alias("then"), examination.alias("now")
_access_then, _access_now = access.alias("access_then"), access.alias("access_now")
# The confirmed examination: the last one of that content begun before the verdict.
_confirmed_id = (
    sa.select(sa.func.max(examination.c.id))
    .join(scan, scan.c.id == examination.c.scan_id)
    .where(
        examination.c.file_id == decision.c.file_id,
        examination.c.content_hash == decision.c.content_hash,
        scan.c.started <= decision.c.decided,
    )
    .correlate(decision)
    .scalar_subquery()
)
_latest_id = (
    sa.select(sa.func.max(examination.c.id))
    .where(examination.c.file_id == decision.c.file_id)
    .correlate(decision)
    .scalar_subquery()
)
_complete = scan.alias("complete")
_CONFIRMED = (
    sa.select(
        decision.c.file_id,
        decision.c.decided,
        decision.c.reviewer,
        decision.c.content_hash,
        root.c.display.label("root"),
        root.c.complete_scan_id,
        file.c.display.label("path"),
        file.c.seen_scan_id,
        _then.c.mode.label("mode_then"),
        _then.c.uid,
        _then.c.n_people,
        _access_then.c.readers.label("readers_then"),
        _access_then.c.owner,
        _now.c.mode.label("mode_now"),
        _now.c.content_hash.label("content_now"),
        _now.c.scan_id.label("scan_now"),
        _access_now.c.readers.label("readers_now"),
        _complete.c.ended,
    )
    .join(file, file.c.id == decision.c.file_id)
    .join(root, root.c.id == file.c.root_id)
    .join(_then, _then.c.id == _confirmed_id)
    .join(_now, _now.c.id == _latest_id)
    .outerjoin(_access_then, _access_then.c.examination_id == _then.c.id)
    .outerjoin(_access_now, _access_now.c.examination_id == _now.c.id)
    .outerjoin(_complete, _complete.c.id == root.c.complete_scan_id)
    .outerjoin(work_item, work_item.c.file_id == decision.c.file_id)
    .where(decision.c.id.in_(_standing), decision.c.verdict == Verdict.PHI.value)
    .where(sa.or_(work_item.c.awaits.is_(None), work_item.c.awaits != SECOND))
)


def _task(row: Any, due_days: int, now: datetime) -> Task:
    then = exposure_of(row.mode_then, row.readers_then or ())
    present = exposure_of(row.mode_now, row.readers_now or ())
    is_gone = row.seen_scan_id < (row.complete_scan_id or 0)
    due = row.decided + timedelta(days=due_days)
    if is_gone:
        state = TaskState.GONE
    elif row.content_now != row.content_hash:
        state = TaskState.CHANGED
    elif _BREADTH[present] < _BREADTH[then]:
        state = TaskState.RESTRICTED
    else:
        state = TaskState.OVERDUE if due < now else TaskState.OPEN
    is_open = state in {TaskState.OPEN, TaskState.OVERDUE}
    return Task(
        file_id=row.file_id,
        root=row.root,
        path=row.path,
        owner=row.owner or (_("no. {number}", number=row.uid) if row.uid is not None else ""),
        exposure=then,
        exposure_now=None if is_gone else present,
        n_people=row.n_people,
        confirmed=row.decided,
        confirmed_by=row.reviewer,
        due=due,
        remedy=suggested_remedy(then),
        state=state,
        proof_scan=None if is_open else row.complete_scan_id if is_gone else row.scan_now,
        proved=None if is_open else row.ended,
    )


def suggested_remedy(exposure: Exposure) -> str:
    """Return the first remedy of a confirmed file, by its exposure.

    >>> suggested_remedy(Exposure.OWNER)
    'Ask the owner to delete it or to move it to a protected folder'
    """
    if exposure in {Exposure.EVERYONE, Exposure.UNKNOWN}:
        return _("Restrict access now, then ask the owner to move or delete it; check whether to notify")
    if exposure is Exposure.GROUP:
        return _("Check that the whole group may see it; else restrict access or move it")
    return _("Ask the owner to delete it or to move it to a protected folder")


def open_tasks(found: Sequence[Task]) -> int:
    """Count the tasks that are not done."""
    return sum(one.state in {TaskState.OPEN, TaskState.OVERDUE} for one in found)
