"""Remediation tasks of confirmed files: remedy, owner, deadline, and the proof by a later scan.

A task follows from the records: a verdict of PHI opens it, and a complete scan closes it when the file is
missing or fewer users may read it than when it was confirmed. Nothing is written to a share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from phiscan.language import lazy_gettext as _
from phiscan.model import Verdict
from phiscan.review.decisions.incidents import about_files, owners
from phiscan.review.records.file_records import standing_decision
from phiscan.review.worklist.model import SECOND, Exposure, exposure_of
from phiscan.store.tables import access, decision, departure, examination, file, root, scan, work_item

DAYS_TO_ACT = {Exposure.EVERYONE: 1, Exposure.UNKNOWN: 7, Exposure.GROUP: 14, Exposure.OWNER: 30}
"""Days from the verdict to the end of a task, by who may read the file."""
_BREADTH = {Exposure.OWNER: 0, Exposure.GROUP: 1, Exposure.UNKNOWN: 2, Exposure.EVERYONE: 2}


class TaskState(StrEnum):
    """The state of a task."""

    OPEN = "open"
    OVERDUE = "overdue"
    GONE = "gone"  # a complete scan did not find the file
    RESTRICTED = "restricted"  # fewer users may read it than when it was confirmed
    CHANGED = "changed"  # the content has changed; it must be reviewed again
    EXCEPTED = "excepted"  # it may stay until a day, for a reason


@dataclass(frozen=True, slots=True)
class Task:
    """The task of one confirmed file."""

    file_id: int
    examination_id: int  # as it was confirmed
    content_hash: str
    root_id: int
    root: str
    path: str
    owner: str  # as assigned to the folder, else from the share, else the user id; "" = not known
    exposure: Exposure  # when it was confirmed
    exposure_now: Exposure | None  # None = the file is missing
    n_people: int
    confirmed: datetime
    confirmed_by: str
    due: datetime
    state: TaskState
    proof_scan: int | None  # the scan that proves it; None while open
    proved: datetime | None
    assignee: str = ""
    note: str = ""
    until: date | None = None  # last day of an exception, past or to come
    why: str = ""  # reason of the exception

    @property
    def is_open(self) -> bool:
        """Whether something is still to be done."""
        return self.state in {TaskState.OPEN, TaskState.OVERDUE}


def tasks(connection: sa.Connection, *, now: datetime, cleaned: bool = False) -> tuple[Task, ...]:
    """Return a task for each file whose current verdict is PHI, open tasks first, earliest deadline first.

    Files that await a blind second verdict are excluded: their verdict must not be visible yet.
    ``cleaned``: a file with another content now, which is not PHI, has the task of the content that was.
    """
    rows = connection.execute(_CONFIRMED)
    of_file = (row for row in rows if not cleaned or row.verdict == Verdict.PHI.value)
    standing: dict[int, Any] = {row.file_id: row for row in of_file}
    found = [_task(row, now) for row in standing.values() if row.verdict == Verdict.PHI.value]
    found = _annotated(connection, found, now)
    return tuple(sorted(found, key=lambda one: (not one.is_open, one.due, one.root, one.path)))


def _annotated(connection: sa.Connection, found: list[Task], now: datetime) -> list[Task]:
    """Return the tasks with assigned owners, assignees, notes and exceptions, the last entry of each."""
    about, assigned = about_files(connection, "assignee", "note", "exception"), owners(connection)
    changed = []
    for one in found:
        last = {entry.kind: entry for entry in about.get(one.file_id, ())}
        granted = last.get("exception")
        until = date.fromisoformat(granted.field) if granted and granted.field else None
        due, state = one.due, one.state
        if until is not None and one.is_open:
            due = max(due, datetime.combine(until + timedelta(days=1), time(), UTC))
            is_excepted = now.date() <= until
            state = TaskState.EXCEPTED if is_excepted else TaskState.OVERDUE if due < now else TaskState.OPEN
        texts = {kind: entry.text for kind, entry in last.items()}
        one = replace(one, assignee=texts.get("assignee", ""), note=texts.get("note", ""))  # noqa: PLW2901
        owner, why = assigned.of(one.root_id, one.path) or one.owner, texts["exception"] if until else ""
        changed.append(replace(one, owner=owner, due=due, state=state, until=until, why=why))
    return changed


_then, _now, _seen = examination.alias("then"), examination.alias("now"), examination.alias("seen")
_access_then, _access_now = access.alias("access_then"), access.alias("access_now")
_moved_here, _moved_away = departure.alias("moved_here"), departure.alias("moved_away")
# The file as it was confirmed: the last examination of that content begun before the verdict. A file that
# moved since is compared with its earlier place, an identical file with its own first examination.
_confirmed_id = sa.func.coalesce(
    sa.select(sa.func.max(examination.c.id))
    .join(scan, scan.c.id == examination.c.scan_id)
    .where(
        examination.c.file_id == _seen.c.file_id,
        examination.c.content_hash == decision.c.content_hash,
        scan.c.started <= decision.c.decided,
    )
    .correlate(decision, _seen)
    .scalar_subquery(),
    sa.case((sa.exists().where(_moved_here.c.moved_to == _seen.c.file_id), decision.c.examination_id)),
    sa.select(sa.func.min(examination.c.id))
    .where(examination.c.file_id == _seen.c.file_id, examination.c.content_hash == decision.c.content_hash)
    .correlate(decision, _seen)
    .scalar_subquery(),
)
_last = examination.alias("last")
_latest_id = sa.select(sa.func.max(_last.c.id)).where(_last.c.file_id == _seen.c.file_id)
_complete = scan.alias("complete")
_CONFIRMED = (
    sa.select(
        file.c.id.label("file_id"),
        _then.c.id.label("examination_id"),
        decision.c.verdict,
        decision.c.decided,
        decision.c.reviewer,
        decision.c.content_hash,
        root.c.id.label("root_id"),
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
    .select_from(_seen)
    .join(decision, decision.c.id == standing_decision(_seen))
    .join(file, file.c.id == _seen.c.file_id)
    .join(root, root.c.id == file.c.root_id)
    .join(_then, _then.c.id == _confirmed_id)
    .join(_now, _now.c.id == _latest_id.correlate(_seen).scalar_subquery())
    .outerjoin(_access_then, _access_then.c.examination_id == _then.c.id)
    .outerjoin(_access_now, _access_now.c.examination_id == _now.c.id)
    .outerjoin(_complete, _complete.c.id == root.c.complete_scan_id)
    .outerjoin(work_item, work_item.c.file_id == file.c.id)
    .where(_seen.c.content_hash.in_(sa.select(decision.c.content_hash).correlate(None)))
    .where(sa.or_(work_item.c.awaits.is_(None), work_item.c.awaits != SECOND))
    # The task of a file that moved is that of its new place.
    .where(
        ~sa.exists().where(
            _moved_away.c.file_id == file.c.id,
            _moved_away.c.moved_to.is_not(None),
            _moved_away.c.scan_id > file.c.seen_scan_id,
        )
    )
    .order_by(decision.c.id)
)


def _task(row: Any, now: datetime) -> Task:
    then = exposure_of(row.mode_then, row.readers_then or ())
    present = exposure_of(row.mode_now, row.readers_now or ())
    is_gone = row.seen_scan_id < (row.complete_scan_id or 0)
    due = row.decided + timedelta(days=DAYS_TO_ACT[then])
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
        examination_id=row.examination_id,
        content_hash=row.content_hash,
        root_id=row.root_id,
        root=row.root,
        path=row.path,
        owner=row.owner or (_("no. {number}", number=row.uid) if row.uid is not None else ""),
        exposure=then,
        exposure_now=None if is_gone else present,
        n_people=row.n_people,
        confirmed=row.decided,
        confirmed_by=row.reviewer,
        due=due,
        state=state,
        proof_scan=None if is_open else row.complete_scan_id if is_gone else row.scan_now,
        proved=None if is_open else row.ended,
    )
