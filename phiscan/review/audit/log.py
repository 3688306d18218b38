"""The audit log: every change of review state, each entry chained to the previous one by its hash.

An entry's hash is sha256 over the canonical JSON of its other columns, including the previous hash: a
changed, removed or inserted entry breaks the chain from there on. The details contain the digest of the
written row, so that a later change of the row, past the log, is found too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from phiscan.language import gettext as _
from phiscan.review.audit import checkpoint
from phiscan.review.records.items import AuditCheck
from phiscan.store import signed_head
from phiscan.store.column_types import canonical_json, iso, storable
from phiscan.store.database import lock_chain
from phiscan.store.tables import (
    adjudication,
    assignment,
    audit_log,
    decision,
    decision_undo,
    desk_policy,
    key_use,
    legal_hold,
    model_activation,
    model_version,
    patient_event,
    purge,
    reveal,
    sample_draw,
    scan_digest,
    second_review,
    second_verdict,
    span_correction,
    span_review,
    suppression,
    suppression_approval,
    suppression_lift,
    topic_correction,
)
from phiscan.store.tables.users import UserEvent, log_review, second_factor_event, user_event

BEFORE_FIRST = "0" * 64

TABLES = {
    "decide": decision,
    "assign": assignment,
    **dict.fromkeys((event.value for event in UserEvent), user_event),
    "second_factor": second_factor_event,
    "log_review": log_review,
    "undo": decision_undo,
    "second_review": second_review,
    "second_verdict": second_verdict,
    "adjudicate": adjudication,
    "correct_span": span_correction,
    "complete_spans": span_review,
    "correct_topics": topic_correction,
    "suppress": suppression,
    "approve_suppression": suppression_approval,
    "lift_suppression": suppression_lift,
    "reveal": reveal,
    "policy": desk_policy,
    "draw_sample": sample_draw,
    "learn": model_version,
    "activate_model": model_activation,
    "hold": legal_hold,
    "purge": purge,
    "use_key": key_use,
    "patients": patient_event,
    "digest_scan": scan_digest,
}
"""Table of the rows that each action writes; several actions may share a table."""

_LAST = sa.select(audit_log.c.id, audit_log.c.hash).order_by(audit_log.c.id.desc()).limit(1)
_INSERT = audit_log.insert()


@dataclass(frozen=True, slots=True)
class Entry:
    """One change to be logged: the action, and the row of the action's table."""

    action: str  # a key of TABLES
    subject_id: int
    details: Mapping[str, Any]


def append(connection: sa.Connection, entries: Sequence[Entry], *, actor: str, at: datetime) -> None:
    """Append entries to the log, in the transaction that makes the changes."""
    lock_chain(connection)
    last = connection.execute(_LAST).first()
    number, previous = (last.id, last.hash) if last else (0, BEFORE_FIRST)
    subjects: dict[str, list[int]] = {}
    for entry in entries:
        subjects.setdefault(entry.action, []).append(entry.subject_id)
    digests = {
        (action, row_id): digest
        for action, ids in subjects.items()
        for row_id, digest in _digests(connection, TABLES[action], ids).items()
    }
    rows = []
    for entry in entries:
        number += 1
        row = {
            "id": number,
            "at": at,
            "actor": storable(actor),
            "action": entry.action,
            "subject_id": entry.subject_id,
            "details": {**entry.details, "digest": digests[(entry.action, entry.subject_id)]},
            "prev_hash": previous,
        }
        previous = _hash(row)
        rows.append({**row, "hash": previous})
    if rows:
        connection.execute(_INSERT, rows)
        signed_head.advance(connection, number, previous, now=at, first_entry=number - len(rows) + 1)


def verify(connection: sa.Connection) -> AuditCheck:
    """Check the chain entry by entry, and every logged row against its entry.

    After a purge of old entries the chain begins after the last one removed, as the certificate states.
    """
    start = checkpoint.read(connection)
    n_rows, previous = 0, start.log_hash if start.through else BEFORE_FIRST
    logged: dict[str, dict[int, tuple[int, str]]] = {table.name: {} for table in TABLES.values()}
    for name, rows in start.carried.items():
        logged.setdefault(name, {}).update(
            (number, (start.through, digest)) for number, digest in rows.items()
        )
    # On the statement, not the connection: later statements must not be streamed too.
    result = connection.execute(
        sa.select(audit_log).order_by(audit_log.c.id).execution_options(yield_per=1000)
    )
    for row in result:
        n_rows += 1
        problem = _chain_problem(row, start.through + n_rows, previous)
        if problem:
            return AuditCheck(ok=False, n_rows=n_rows, first_bad=row.id, problem=problem, head=previous)
        previous = row.hash
        if row.action not in TABLES:
            problem = _("its action is not one of ours: {action!r}", action=row.action)
            return AuditCheck(ok=False, n_rows=n_rows, first_bad=row.id, problem=problem, head=previous)
        logged[TABLES[row.action].name][row.subject_id] = (row.id, row.details.get("digest", ""))
    for table in {table.name: table for table in TABLES.values()}.values():
        stored, entries = _digests(connection, table, None), logged[table.name]
        for row_id, (entry_id, digest) in entries.items():
            if stored.get(row_id) != digest and not (
                row_id not in stored and start.was_purged(table.name, row_id)
            ):
                what = _("was changed after it was logged") if row_id in stored else _("was removed")
                problem = _("row {row_id} of {name} {what}", row_id=row_id, name=table.name, what=what)
                return AuditCheck(ok=False, n_rows=n_rows, first_bad=entry_id, problem=problem, head=previous)
        unlogged = [row_id for row_id in stored if row_id not in entries]
        if unlogged:
            problem = _(
                "row {unlogged} of {name} is not in the log: entries were cut off, or it was forged",
                unlogged=unlogged[0],
                name=table.name,
            )
            return AuditCheck(
                ok=False, n_rows=n_rows, first_bad=start.through + n_rows + 1, problem=problem, head=previous
            )
    return AuditCheck(ok=True, n_rows=n_rows, first_bad=None, problem="", head=previous)


def contains(connection: sa.Connection, head: str) -> bool:
    """Return whether an entry with this hash (noted earlier by the user) is in the log."""
    query = sa.select(sa.func.count()).select_from(audit_log).where(audit_log.c.hash == head)
    known = head == BEFORE_FIRST or checkpoint.is_end_of_purged(connection, head)
    return known or bool(connection.execute(query).scalar_one())


def digests(connection: sa.Connection, table: sa.Table) -> dict[int, str]:
    """Return the digest of every row of a logged table, from its entry in the log."""
    return _digests(connection, table, None)


def _chain_problem(row: sa.Row[Any], expected_id: int, previous: str) -> str:
    if row.id != expected_id:
        return _("entry {expected_id} is missing", expected_id=expected_id)
    if row.prev_hash != previous:
        return _("it is not chained to the entry before")
    content = {name: value for name, value in row._mapping.items() if name != "hash"}  # noqa: SLF001 (public API)
    return "" if _hash(content) == row.hash else _("its content does not match its hash")


def _hash(row: Mapping[str, Any]) -> str:
    return sha256(canonical_json({**row, "at": iso(row["at"])}).encode()).hexdigest()


def _digests(connection: sa.Connection, table: sa.Table, ids: Sequence[int] | None) -> dict[int, str]:
    """Return sha256 over the canonical JSON of each row."""
    batch, every = _in_order(table)
    rows = (
        connection.execute(every)
        if ids is None
        else connection.execute(batch, {"first": min(ids), "last": max(ids)})
    )
    return {
        row.id: sha256(
            canonical_json(
                {n: iso(v) if isinstance(v, datetime) else v for n, v in row._mapping.items()}  # noqa: SLF001
            ).encode()
        ).hexdigest()
        for row in rows
    }


@cache
def _in_order(table: sa.Table) -> tuple[sa.Select[Any], sa.Select[Any]]:
    """Select the rows of a table between two numbers, and all of them."""
    query = sa.select(table).order_by(table.c.id)
    return query.where(table.c.id >= sa.bindparam("first"), table.c.id <= sa.bindparam("last")), query
