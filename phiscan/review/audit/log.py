"""The audit log: every change of review state, each entry chained to the previous one by its hash.

An entry's hash is sha256 over the canonical JSON of its other columns, including the previous hash: a
changed, removed or inserted entry breaks the chain from there on. The details contain the digest of the
written row, so that a later change of the row, past the log, is found too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from hashlib import sha256
from typing import Any, Literal, TypedDict, Unpack

import sqlalchemy as sa

from phiscan.language import gettext as _
from phiscan.store import seals, signed_head
from phiscan.store.column_types import canonical_json, iso, row_digest, storable, stored_columns
from phiscan.store.database import inserted_id, lock_chain
from phiscan.store.sql_batches import count
from phiscan.store.tables import desk, integrity, scans
from phiscan.store.tables.desk import audit_log
from phiscan.store.tables.integrity import purge
from phiscan.store.tables.schema import ACTED
from phiscan.store.tables.users import UserEvent, log_review, user_event


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The combined content of all certificates."""

    through: int = 0  # last removed entry; 0 = none
    log_hash: str = ""  # its hash
    carried: dict[str, dict[int, str]] = field(default_factory=dict)  # table: {row: digest}
    ranges: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # table: removed rows

    def was_purged(self, table: str, row_id: int) -> bool:
        """Return whether a row was removed by a certified purge."""
        return any(first <= row_id <= last for first, last in self.ranges.get(table, []))


def read(connection: sa.Connection) -> Checkpoint:
    """Return the current checkpoint."""
    ranges: dict[str, list[tuple[int, int]]] = {}
    rows = connection.execute(sa.select(purge).order_by(purge.c.id)).all()
    for row in rows:
        for table, pairs in row.ranges.items():
            ranges.setdefault(table, []).extend((int(first), int(last)) for first, last in pairs)
    if not rows:
        return Checkpoint()
    newest = rows[-1]
    carried = {
        table: {int(number): str(digest) for number, digest in of_table.items()}
        for table, of_table in newest.carried.items()
    }
    return Checkpoint(newest.log_through, newest.log_hash, carried, ranges)


BEFORE_FIRST = "0" * 64


@dataclass(frozen=True, slots=True)
class Tampering:
    """One difference between the database and what the program wrote."""

    table: str  # or an index or trigger
    row: int | None  # number of the row; None = no single row
    what: str
    since: str = ""  # when it was last verified; "" = not known
    by: str = ""  # table whose number ``row`` is, if not its own

    def __str__(self) -> str:
        """Return the difference as one line.

        >>> str(Tampering("finding", 7, "rows were changed", "2026-11-20", by="examination"))
        'finding (examination 7): rows were changed; was right at 2026-11-20'
        """
        other = self.by not in {"", self.table}
        number = "" if self.row is None else f" ({self.by} {self.row})" if other else f" {self.row}"
        return f"{self.table}{number}: {self.what}" + (f"; was right at {self.since}" if self.since else "")


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """The result of verifying the audit log, or everything."""

    n_rows: int
    head: str  # hash of the last entry; noted elsewhere, it proves later that no entry was removed
    found: tuple[Tampering, ...] = ()  # all differences

    @property
    def ok(self) -> bool:
        """Whether nothing differs."""
        return not self.found

    @property
    def first_bad(self) -> int | None:
        """The number of the first invalid entry; None if the first difference is in another table."""
        return self.found[0].row if self.found and self.found[0].table == audit_log.name else None

    @property
    def problem(self) -> str:
        """The first difference in words; "" if there is none."""
        if not self.found:
            return ""
        return self.found[0].what if self.found[0].table == audit_log.name else str(self.found[0])


TABLES = {
    "decide": desk.decision,
    "assign": desk.assignment,
    **dict.fromkeys((event.value for event in UserEvent), user_event),
    "log_review": log_review,
    "carry": desk.decision,
    "undo": desk.decision_undo,
    "second_review": desk.second_review,
    "second_verdict": desk.second_verdict,
    "adjudicate": desk.adjudication,
    "correct_span": desk.span_correction,
    "complete_spans": desk.span_review,
    "correct_topics": desk.topic_correction,
    "suppress": desk.suppression,
    "approve_suppression": desk.suppression_approval,
    "lift_suppression": desk.suppression_lift,
    "reveal": desk.reveal,
    "incident": desk.incident_entry,
    "policy": desk.desk_policy,
    "draw_sample": desk.sample_draw,
    "learn": desk.model_version,
    "activate_model": desk.model_activation,
    "hold": integrity.legal_hold,
    "purge": integrity.purge,
    "use_key": integrity.key_use,
    "patients": scans.patient_event,
    "digest_scan": integrity.scan_digest,
}
"""Table of the rows that each action writes; several actions may share a table."""

_LAST = sa.select(audit_log.c.id, audit_log.c.hash).order_by(audit_log.c.id.desc()).limit(1)
_INSERT = audit_log.insert()


class Act(TypedDict):
    """Who does something, and when."""

    by: str
    now: datetime


def record(
    connection: sa.Connection,
    action: str,
    values: Mapping[str, Any],
    details: Mapping[str, Any],
    **act: Unpack[Act],
) -> int:
    """Insert a row into the table of an action, append its entry to the log, and return its number."""
    return record_all(connection, action, [(values, details)], **act)[0]


def record_all(
    connection: sa.Connection,
    action: str,
    rows: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]],
    **act: Unpack[Act],
) -> list[int]:
    """Insert rows, given with the details of their entries, into the table of an action; return the numbers.

    The columns of who and when (``schema.who``, ``schema.when``) are those of the entries.
    """
    acted: dict[str, Any] = {name: act[part] for name, part in _columns_of_act(TABLES[action])}
    numbers = [inserted_id(connection, TABLES[action], {**acted, **values}) for values, _details in rows]
    details = [details for _values, details in rows]
    append(connection, action, [*zip(numbers, details, strict=True)], actor=act["by"], at=act["now"])
    return numbers


@cache
def _columns_of_act(table: sa.Table) -> tuple[tuple[str, Literal["by", "now"]], ...]:
    return tuple((one.name, one.info[ACTED]) for one in table.columns if ACTED in one.info)


def append(
    connection: sa.Connection,
    action: str,
    entries: Sequence[tuple[int, Mapping[str, Any]]],
    *,
    actor: str,
    at: datetime,
) -> None:
    """Append entries, each the number of a row of the action's table with its details, to the log.

    In the transaction that makes the changes.
    """
    lock_chain(connection)
    if not entries:
        return
    last = connection.execute(_LAST).first()
    number, previous = (last.id, last.hash) if last else (0, BEFORE_FIRST)
    written = digests(connection, TABLES[action], [subject_id for subject_id, _details in entries])
    rows = []
    for subject_id, details in entries:
        number += 1
        row = {
            "id": number,
            "at": iso(at),
            "actor": storable(actor),
            "action": action,
            "subject_id": subject_id,
            "details": {**details, "digest": written[subject_id]},
            "prev_hash": previous,
        }
        previous = _hash(row)
        rows.append({**row, "at": at, "hash": previous})
    connection.execute(_INSERT, rows)
    if signed_head.advance(connection, number, previous, now=at, first_entry=number - len(rows) + 1):
        seals.count_all(connection)


def last_hash(connection: sa.Connection) -> str:
    """Return the hash of the last entry."""
    last = connection.execute(_LAST).first()
    return str(last.hash) if last else BEFORE_FIRST


def verify(connection: sa.Connection) -> AuditCheck:
    """Check the chain entry by entry, and every logged row against its entry; all differences are named.

    After a purge of old entries the chain begins after the last one removed, as the certificate states.
    Entries and rows are compared as stored: what cannot be read differs.
    """
    start = read(connection)
    n_rows, expected, previous = 0, start.through + 1, start.log_hash if start.through else BEFORE_FIRST
    found: list[Tampering] = []
    logged: dict[str, dict[int, tuple[int, str]]] = {table.name: {} for table in TABLES.values()}
    for name, rows in start.carried.items():
        logged.setdefault(name, {}).update(
            (number, (start.through, digest)) for number, digest in rows.items()
        )
    # On the statement, not the connection: later statements must not be streamed too.
    query = sa.select(*stored_columns(audit_log)).order_by(audit_log.c.id)
    for row in connection.execute(query.execution_options(yield_per=1000)).mappings():
        n_rows += 1
        details = details_of(row["details"])
        if problem := _chain_problem(row, details, expected, previous):
            found.append(Tampering(audit_log.name, row["id"], problem))
        previous, expected = str(row["hash"]), row["id"] + 1
        if row["action"] in TABLES:
            digest = str(details.get("digest", ""))
            logged[TABLES[row["action"]].name][row["subject_id"]] = (row["id"], digest)
    for table in {table.name: table for table in TABLES.values()}.values():
        found += _row_problems(connection, table, logged[table.name], start, end=expected)
    return AuditCheck(n_rows, previous, tuple(found))


def _row_problems(
    connection: sa.Connection,
    table: sa.Table,
    entries: Mapping[int, tuple[int, str]],
    start: Checkpoint,
    *,
    end: int,
) -> Iterator[Tampering]:
    """Yield each difference of a logged table from the log, under the entry of the row."""
    stored = digests(connection, table)
    for row_id, (entry_id, digest) in entries.items():
        if stored.get(row_id) != digest and not (
            row_id not in stored and start.was_purged(table.name, row_id)
        ):
            what = _("was changed after it was logged") if row_id in stored else _("was removed")
            problem = _("row {row_id} of {name} {what}", row_id=row_id, name=table.name, what=what)
            yield Tampering(audit_log.name, entry_id, problem)
    for row_id in stored.keys() - entries.keys():
        problem = _(
            "row {unlogged} of {name} is not in the log: entries were cut off, or it was forged",
            unlogged=row_id,
            name=table.name,
        )
        yield Tampering(audit_log.name, end, problem)


def details_of(text: str) -> dict[str, Any]:
    """Return the details of an entry from their JSON; {} if they cannot be read."""
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def contains(connection: sa.Connection, head: str) -> bool:
    """Return whether an entry with this hash (noted earlier by the user) is in the log."""
    # After a purge, the log continues from the hash of the last entry removed.
    was_removed = (purge.c.log_hash == head, purge.c.log_through > 0)
    is_there = count(connection, audit_log, audit_log.c.hash == head) or count(
        connection, purge, *was_removed
    )
    return head == BEFORE_FIRST or bool(is_there)


def _chain_problem(row: sa.RowMapping, details: Mapping[str, Any], expected_id: int, previous: str) -> str:
    if row["id"] != expected_id:
        return _("entry {expected_id} is missing", expected_id=expected_id)
    if row["prev_hash"] != previous:
        return _("it is not chained to the entry before")
    content = {name: value for name, value in row.items() if name != "hash"} | {"details": details}
    try:
        is_right = canonical_json(details) == row["details"] and _hash(content) == row["hash"]
    except (TypeError, ValueError):
        is_right = False  # a value that the program never writes
    if not is_right:
        return _("its content does not match its hash")
    known = row["action"] in TABLES
    return "" if known else _("its action is not one of ours: {action!r}", action=row["action"])


def _hash(row: Mapping[str, Any]) -> str:
    return sha256(canonical_json(row).encode()).hexdigest()


def digests(connection: sa.Connection, table: sa.Table, ids: Sequence[int] | None = None) -> dict[int, str]:
    """Return sha256 over the columns of each row of a table as stored, or of those between some numbers."""
    batch, every = _in_order(table)
    rows = (
        connection.execute(every)
        if ids is None
        else connection.execute(batch, {"first": min(ids), "last": max(ids)})
    )
    return {row.id: row_digest(table, row) for row in rows}


@cache
def _in_order(table: sa.Table) -> tuple[sa.Select[Any], sa.Select[Any]]:
    """Select the rows of a table between two numbers, and all of them."""
    query = sa.select(*stored_columns(table)).order_by(table.c.id)
    return query.where(table.c.id >= sa.bindparam("first"), table.c.id <= sa.bindparam("last")), query
