"""The history of a file by user and action; pages of the audit log, and the reviews of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import sqlalchemy as sa

from phiscan.errors import ConflictError
from phiscan.language import gettext as _
from phiscan.model import Verdict
from phiscan.review.audit import log as audit
from phiscan.review.decisions import discussion
from phiscan.review.decisions.writing import checked_text, purpose_shown
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.model import FIRST, MAX_NOTE_CHARS, SECOND, HistoryEntry, Progress
from phiscan.store.column_types import storable
from phiscan.store.sql_batches import as_value
from phiscan.store.tables.desk import (
    adjudication,
    assignment,
    audit_log,
    decision,
    decision_undo,
    reveal,
    second_review,
    second_verdict,
    span_correction,
    topic_correction,
    work_item,
)
from phiscan.store.tables.scans import file
from phiscan.store.tables.schema import ACTED
from phiscan.store.tables.users import log_review

_WHEN = {"decide": 0, "adjudicate": 0, "second_verdict": 1, "undo": 2}


def history(connection: sa.Connection, file_id: int, *, viewer: str) -> tuple[HistoryEntry, ...]:
    """Return the history of a file, oldest first.

    A reviewer who is to give a blind second verdict does not see entries of others on the present content.
    """
    current = connection.execute(sa.select(work_item).where(work_item.c.file_id == file_id)).first()
    content = current.content_hash if current else None
    entries = [
        *_verdicts(connection, file_id, content, current.decision_id if current else None),
        *_undone(connection, file_id, content),
        *_others(connection, file_id, content),
    ]
    if current is not None and current.awaits == SECOND and current.reviewer != viewer:
        entries = [one for one in entries if one.who == viewer or not one.same_content]
    for row in discussion.entries(connection, file_id, viewer=viewer):
        is_comment = row.kind == discussion.COMMENT
        words, note = (row.field, row.text) if is_comment else (row.text, "")
        who = row.entered_by
        entries.append(HistoryEntry(row.entered, who, row.kind, same_content=True, reason=words, note=note))
    return tuple(sorted(entries, key=lambda one: (one.at, _WHEN.get(one.what, 1))))


def progress(connection: sa.Connection, *, since: datetime) -> Progress:
    """Count the decisions since a moment that are not undone, and the items of the list.

    Blind second verdicts are included.
    """
    by_reviewer: Counter[str] = Counter()
    for table, undone in (
        (decision, decision_undo.c.decision_id),
        (second_verdict, decision_undo.c.second_verdict_id),
    ):
        query = (
            sa.select(table.c.reviewer, sa.func.count())
            .where(table.c.decided >= since, ~sa.exists().where(undone == table.c.id))
            .group_by(table.c.reviewer)
        )
        for reviewer, n in connection.execute(query):
            by_reviewer[reviewer] += n
    awaits: Counter[str] = Counter()
    for whom, *_rest, n in work_rows.statuses(connection):
        awaits[whom] += n
    return Progress(by_reviewer.total(), dict(by_reviewer.most_common()), awaits.total(), awaits[FIRST])


def _about(table: sa.Table, file_id: int, content: str | None) -> sa.ColumnElement[bool]:
    """Return the condition of what was done with a file, or with any file of its present content."""
    here = table.c.file_id == file_id
    return here | (decision.c.content_hash == content) if content else here


def _verdicts(
    connection: sa.Connection, file_id: int, content: str | None, standing: int | None
) -> Iterator[HistoryEntry]:
    firsts = (
        sa.select(decision, adjudication.c.id.label("settled"))
        .outerjoin(decision_undo, decision_undo.c.decision_id == decision.c.id)
        .outerjoin(adjudication, adjudication.c.decision_id == decision.c.id)
    )
    seconds = (
        sa.select(second_verdict, decision.c.content_hash)
        .outerjoin(decision_undo, decision_undo.c.second_verdict_id == second_verdict.c.id)
        .join(second_review, second_review.c.id == second_verdict.c.second_review_id)
        .join(decision, decision.c.id == second_review.c.decision_id)
    )
    for table, query in ((decision, firsts), (second_verdict, seconds)):
        with_file = query.add_columns(file.c.display, decision_undo.c.id.label("undo_id"))
        with_file = with_file.join(file, file.c.id == table.c.file_id)
        for row in connection.execute(with_file.where(_about(table, file_id, content))):
            is_undone, same_content = row.undo_id is not None, row.content_hash == content
            if table is decision:
                what, is_current = "adjudicate" if row.settled else "decide", row.id == standing
            else:
                what, is_current = "second_verdict", same_content and not is_undone
            yield as_value(
                HistoryEntry,
                row,
                at=row.decided,
                who=row.reviewer,
                what=what,
                verdict=Verdict(row.verdict),
                is_current=is_current,
                same_content=same_content,
                path=row.display if row.file_id != file_id else "",
                is_undone=is_undone,
            )


def _undone(connection: sa.Connection, file_id: int, content: str | None) -> list[HistoryEntry]:
    query = (
        sa.select(decision_undo, decision.c.content_hash)
        .outerjoin(decision, decision.c.id == decision_undo.c.decision_id)
        .where(_about(decision_undo, file_id, content))
    )
    return [
        HistoryEntry(row.undone, row.undone_by, "undo", same_content=row.content_hash in {content, None})
        for row in connection.execute(query)
    ]


def _others(connection: sa.Connection, file_id: int, content: str | None) -> list[HistoryEntry]:
    """Return the assignments, reveals and corrections of a file."""
    entries = []
    for table, what, reason in (
        (assignment, "assign", assignment.c.assignee),
        (reveal, "reveal", reveal.c.purpose),
        (span_correction, "correct", sa.literal("")),
        (topic_correction, "topic", sa.literal("")),
    ):
        who, when = (column for column in table.c if ACTED in column.info)
        seen = table.c.content_hash if "content_hash" in table.c else sa.null()
        query = sa.select(when, who, reason, seen).where(table.c.file_id == file_id)
        for at, person, why, seen_content in connection.execute(query):
            is_same = bool(seen_content) and seen_content == content
            words = purpose_shown(why) if table is reveal else why
            entries.append(HistoryEntry(at, person, what, same_content=is_same, reason=words))
    return entries


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry of the audit log."""

    id: int
    at: datetime
    actor: str
    action: str
    subject_id: int
    details: dict[str, Any]
    hash: str
    file_id: int | None = None  # the file of the action; None = it concerns no file
    path: str = ""  # of that file, display form
    purpose: str = ""  # of a reveal


@dataclass(frozen=True, slots=True)
class LogReview:
    """A review of the log up to an entry."""

    id: int
    reviewer: str
    n_entries: int
    head: str
    note: str
    at: datetime


@dataclass(frozen=True, slots=True)
class LogPage:
    """Entries, newest first; ``older``: the number of the next page, 0 = there is none."""

    entries: tuple[LogEntry, ...]
    older: int


def log_page(
    connection: sa.Connection,
    *,
    before: int = 0,
    action: str = "",
    actor: str = "",
    day: date | None = None,
    limit: int = 100,
) -> LogPage:
    """Return entries before number ``before`` (0 = from the newest); ``day`` is a day of UTC."""
    begins = datetime.combine(day or date.min, time(), UTC)
    wanted = (
        (before, audit_log.c.id < before),
        (action, audit_log.c.action == action),
        (actor, audit_log.c.actor == storable(actor)),
        (day, (audit_log.c.at >= begins) & (audit_log.c.at < begins + timedelta(days=1))),
    )
    query = sa.select(audit_log).where(*(condition for given, condition in wanted if given))
    rows = connection.execute(query.order_by(audit_log.c.id.desc()).limit(limit + 1)).all()
    shown = rows[:limit]
    files = {row.id: number for row in shown if isinstance(number := row.details.get("file"), int)}
    paths = _values(connection, file.c.id, file.c.display, set(files.values()))
    reveals = {row.subject_id for row in shown if row.action == "reveal"}
    purposes = _values(connection, reveal.c.id, reveal.c.purpose, reveals)
    entries = tuple(
        as_value(
            LogEntry,
            row,
            file_id=files.get(row.id),
            path=paths.get(files.get(row.id, -1), ""),
            purpose=purpose_shown(purposes[row.subject_id])
            if row.action == "reveal" and row.subject_id in purposes
            else "",
        )
        for row in shown
    )
    return LogPage(entries, shown[-1].id if len(rows) > limit else 0)


def _values(
    connection: sa.Connection, key: sa.Column[Any], value: sa.Column[Any], keys: set[int]
) -> dict[int, str]:
    return {row[0]: row[1] for row in connection.execute(sa.select(key, value).where(key.in_(sorted(keys))))}


def log_choices(connection: sa.Connection) -> tuple[list[str], list[str]]:
    """Return the actions and actors in the log."""
    actions = sa.select(audit_log.c.action).distinct().order_by(audit_log.c.action)
    actors = sa.select(audit_log.c.actor).distinct().order_by(audit_log.c.actor)
    return list(connection.execute(actions).scalars()), list(connection.execute(actors).scalars())


def log_reviews(connection: sa.Connection) -> list[LogReview]:
    """Return the reviews of the log, newest first."""
    query = sa.select(log_review).order_by(log_review.c.id.desc())
    return [as_value(LogReview, row) for row in connection.execute(query)]


def sign_log(connection: sa.Connection, *, head: str, note: str, reviewer: str, now: datetime) -> LogReview:
    """Record a review of the log up to the entry with this hash.

    Raises:
        ConflictError: the log does not contain the hash.
        InputError: the note is too long.
    """
    note = checked_text("note", note, MAX_NOTE_CHARS)
    shown = sa.select(audit_log.c.id).where(audit_log.c.hash == head)
    n_entries = connection.execute(shown).scalar_one_or_none()
    if n_entries is None:
        raise ConflictError(_("the log does not hold the entry that was shown; look at it again"))
    values = {"n_entries": n_entries, "head": head, "note": note}
    details = {"entries": n_entries, "head": head}
    number = audit.record(connection, "log_review", values, details, by=reviewer, now=now)
    return LogReview(number, reviewer, n_entries, head, note, now)


def times(connection: sa.Connection, *, since: datetime) -> dict[str, list[datetime]]:
    """Return when each reviewer decided since a moment, in order; blind second verdicts are included."""
    found: dict[str, list[datetime]] = {}
    for table in (decision, second_verdict):
        query = sa.select(table.c.reviewer, table.c.decided).where(table.c.decided >= since)
        for reviewer, decided in connection.execute(query):
            found.setdefault(reviewer, []).append(decided)
    return {reviewer: sorted(decided) for reviewer, decided in sorted(found.items())}
