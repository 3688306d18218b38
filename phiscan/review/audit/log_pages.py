"""Reading the audit log in pages, and "I have reviewed this log"."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.errors import ConflictError, InputError
from phiscan.review.audit import log as audit
from phiscan.store.column_types import storable
from phiscan.store.database import inserted_id
from phiscan.store.tables import audit_log
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


@dataclass(frozen=True, slots=True)
class LogReview:
    """Somebody has reviewed the log up to an entry."""

    id: int
    reviewer: str
    n_entries: int
    head: str
    note: str
    at: datetime


@dataclass(frozen=True, slots=True)
class LogPage:
    """Entries, the newest first; ``older``: the number to ask for next, 0 = there is none."""

    entries: tuple[LogEntry, ...]
    older: int


def page(
    connection: sa.Connection, *, before: int = 0, action: str = "", actor: str = "", limit: int = 100
) -> LogPage:
    """Return entries with a lower number than ``before`` (0 = from the newest)."""
    query = sa.select(audit_log).order_by(audit_log.c.id.desc()).limit(limit + 1)
    if before:
        query = query.where(audit_log.c.id < before)
    if action:
        query = query.where(audit_log.c.action == action)
    if actor:
        query = query.where(audit_log.c.actor == storable(actor))
    rows = connection.execute(query).all()
    entries = tuple(
        LogEntry(row.id, row.at, row.actor, row.action, row.subject_id, row.details, row.hash)
        for row in rows[:limit]
    )
    return LogPage(entries, entries[-1].id if len(rows) > limit else 0)


def choices(connection: sa.Connection) -> tuple[list[str], list[str]]:
    """Return the actions and the actors that occur."""
    actions = sa.select(audit_log.c.action).distinct().order_by(audit_log.c.action)
    actors = sa.select(audit_log.c.actor).distinct().order_by(audit_log.c.actor)
    return list(connection.execute(actions).scalars()), list(connection.execute(actors).scalars())


def reviews(connection: sa.Connection) -> list[LogReview]:
    """Return who has reviewed the log, the newest first."""
    query = sa.select(log_review).order_by(log_review.c.id.desc())
    return [
        LogReview(row.id, row.reviewer, row.n_entries, row.head, row.note, row.at)
        for row in connection.execute(query)
    ]


def sign(connection: sa.Connection, *, head: str, note: str, reviewer: str, now: datetime) -> LogReview:
    """Record that somebody has reviewed the log up to the entry with this hash.

    Raises:
        ConflictError: the log does not hold what was shown (any more).
        InputError: the note is too long.
    """
    note = note.strip()
    if len(note) > MAX_NOTE_CHARS:
        message = f"note: expected at most {MAX_NOTE_CHARS} characters"
        raise InputError(message)
    shown = sa.select(audit_log.c.id).where(audit_log.c.hash == head)
    n_entries = connection.execute(shown).scalar_one_or_none()
    if n_entries is None:
        message = "the log does not hold the entry that was shown; look at it again"
        raise ConflictError(message)
    values = {"reviewer": reviewer, "n_entries": n_entries, "head": head, "note": note, "at": now}
    number = inserted_id(connection, log_review, values)
    details = {"entries": n_entries, "head": head}
    audit.append(connection, [audit.Entry("log_review", number, details)], actor=reviewer, at=now)
    return LogReview(number, reviewer, n_entries, head, note, now)
