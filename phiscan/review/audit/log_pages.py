"""Pages of the audit log, and the reviews "I have reviewed this log"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import sqlalchemy as sa

from phiscan.errors import ConflictError, InputError
from phiscan.language import gettext as _
from phiscan.review.audit import log as audit
from phiscan.review.decisions.reveals import purpose_shown
from phiscan.store.column_types import storable
from phiscan.store.tables import audit_log, file, reveal
from phiscan.store.tables.users import log_review

MAX_NOTE_CHARS = 2_000


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


def page(
    connection: sa.Connection,
    *,
    before: int = 0,
    action: str = "",
    actor: str = "",
    day: date | None = None,
    limit: int = 100,
) -> LogPage:
    """Return entries before number ``before`` (0 = from the newest); ``day`` is a day of UTC."""
    query = sa.select(audit_log).order_by(audit_log.c.id.desc()).limit(limit + 1)
    if before:
        query = query.where(audit_log.c.id < before)
    if action:
        query = query.where(audit_log.c.action == action)
    if actor:
        query = query.where(audit_log.c.actor == storable(actor))
    if day is not None:
        begins = datetime.combine(day, time(), UTC)
        query = query.where(audit_log.c.at >= begins, audit_log.c.at < begins + timedelta(days=1))
    rows = connection.execute(query).all()
    entries = _with_files(
        connection,
        tuple(
            LogEntry(row.id, row.at, row.actor, row.action, row.subject_id, row.details, row.hash)
            for row in rows[:limit]
        ),
    )
    return LogPage(entries, entries[-1].id if len(rows) > limit else 0)


def _with_files(connection: sa.Connection, entries: tuple[LogEntry, ...]) -> tuple[LogEntry, ...]:
    """Add to each entry the path of its file, and to a reveal its purpose."""
    numbers = {one.id: number for one in entries if isinstance(number := one.details.get("file"), int)}
    paths = _values(connection, file.c.id, file.c.display, set(numbers.values()))
    reveals = {one.subject_id for one in entries if one.action == "reveal"}
    purposes = _values(connection, reveal.c.id, reveal.c.purpose, reveals)
    return tuple(
        replace(
            one,
            file_id=numbers.get(one.id),
            path=paths.get(numbers.get(one.id, -1), ""),
            purpose=purpose_shown(purposes[one.subject_id])
            if one.action == "reveal" and one.subject_id in purposes
            else "",
        )
        for one in entries
    )


def _values(
    connection: sa.Connection, key: sa.Column[Any], value: sa.Column[Any], keys: set[int]
) -> dict[int, str]:
    return {row[0]: row[1] for row in connection.execute(sa.select(key, value).where(key.in_(sorted(keys))))}


def choices(connection: sa.Connection) -> tuple[list[str], list[str]]:
    """Return the actions and actors in the log."""
    actions = sa.select(audit_log.c.action).distinct().order_by(audit_log.c.action)
    actors = sa.select(audit_log.c.actor).distinct().order_by(audit_log.c.actor)
    return list(connection.execute(actions).scalars()), list(connection.execute(actors).scalars())


def reviews(connection: sa.Connection) -> list[LogReview]:
    """Return the reviews of the log, newest first."""
    query = sa.select(log_review).order_by(log_review.c.id.desc())
    return [
        LogReview(row.id, row.reviewer, row.n_entries, row.head, row.note, row.at)
        for row in connection.execute(query)
    ]


def sign(connection: sa.Connection, *, head: str, note: str, reviewer: str, now: datetime) -> LogReview:
    """Record a review of the log up to the entry with this hash.

    Raises:
        ConflictError: the log does not contain the hash.
        InputError: the note is too long.
    """
    note = note.strip()
    if len(note) > MAX_NOTE_CHARS:
        message = _("note: expected at most {max_note_chars} characters", max_note_chars=MAX_NOTE_CHARS)
        raise InputError(message)
    shown = sa.select(audit_log.c.id).where(audit_log.c.hash == head)
    n_entries = connection.execute(shown).scalar_one_or_none()
    if n_entries is None:
        raise ConflictError(_("the log does not hold the entry that was shown; look at it again"))
    values = {"reviewer": reviewer, "n_entries": n_entries, "head": head, "note": note, "at": now}
    details = {"entries": n_entries, "head": head}
    number = audit.record(connection, "log_review", values, details, by=reviewer, now=now)
    return LogReview(number, reviewer, n_entries, head, note, now)
