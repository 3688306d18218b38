"""The purge: rows that the policy deletes are removed in one transaction, with a certificate about them.

The certificate is a row of ``purge``, itself in the audit log, without any removed value: counts, dates and
one digest over all removed rows, which can be recomputed from an earlier backup.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError, StoreError
from phiscan.review.audit import log as audit
from phiscan.review.decisions.incidents import not_closed
from phiscan.review.integrity import digests, verification
from phiscan.review.records import recording, summaries
from phiscan.review.retention import deletion_plan
from phiscan.review.retention.deletion_plan import Cuts, Retention, holds
from phiscan.review.worklist import rows as work_rows
from phiscan.store import append_only, seals
from phiscan.store import portable_rows as portable
from phiscan.store.column_types import UtcTime, stored_columns
from phiscan.store.database import Database, is_sqlite
from phiscan.store.tables import APPEND_ONLY, audit_log, metadata, purge

LOGGED = {table.name: table for table in audit.TABLES.values()}


@dataclass(frozen=True, slots=True)
class Certificate:
    """The result of a purge, or of a dry run."""

    id: int | None  # None = nothing was removed (a dry run, or nothing to remove)
    purged: str
    purged_by: str
    policy: dict[str, Any]
    counts: dict[str, int]
    oldest: str | None
    newest: str | None
    digest: str
    log_through: int
    log_hash: str
    n_holds: int
    n_incidents: int = 0  # not closed: the records of their files are kept
    audit_entry: int | None = None
    audit_hash: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the certificate for export."""
        return {
            "certificate": self.id,
            "purged": self.purged,
            "purged_by": self.purged_by,
            "policy": self.policy,
            "rows": sum(self.counts.values()),
            "counts": self.counts,
            "oldest": self.oldest,
            "newest": self.newest,
            "sha256": self.digest,
            "log": {"purged_through": self.log_through, "hash": self.log_hash or None},
            "holds": self.n_holds,
            "incidents": self.n_incidents,
            "audit": {"entry": self.audit_entry, "hash": self.audit_hash or None},
        }


@dataclass(slots=True)
class _Removed:
    """Digest and counts of the removed rows."""

    counts: dict[str, int] = field(default_factory=dict)
    ranges: dict[str, list[list[int]]] = field(default_factory=dict)
    times: list[str] = field(default_factory=list)
    digest: Any = field(default_factory=sha256)


class _DryRunOverError(Exception):
    """Rolls the transaction of a dry run back."""

    def __init__(self, certificate: Certificate) -> None:
        super().__init__()
        self.certificate = certificate


def run(database: Database, policy: Retention, *, by: str, now: datetime, dry_run: bool) -> Certificate:
    """Purge the rows that the policy deletes; a dry run does the same and rolls it back.

    Raises:
        InputError: no user name.
        StoreError: the audit log is not intact, or rows cannot be removed; nothing was.
    """
    if not by.strip():
        message = "by: expected a name"
        raise InputError(message)

    def remove(connection: sa.Connection) -> Certificate:
        certificate = _remove(connection, policy, by=by, now=now)
        if dry_run:
            raise _DryRunOverError(certificate)
        return certificate

    try:
        certificate = database.write(remove, durable=True, lock="exclusive")
    except _DryRunOverError as over:
        return over.certificate
    if certificate.counts:
        _scrub(database, certificate.counts)
    return certificate


def certificates(connection: sa.Connection) -> list[Certificate]:
    """Return every certificate, oldest first."""
    entries = {
        row.subject_id: row
        for row in connection.execute(sa.select(audit_log).where(audit_log.c.action == "purge"))
    }
    found = []
    for row in connection.execute(sa.select(purge).order_by(purge.c.id)):
        entry = entries.get(row.id)  # None if its own entry was purged later
        found.append(
            Certificate(
                id=row.id,
                purged=row.purged.isoformat(),
                purged_by=row.purged_by,
                policy={name: row.policy[name] for name in row.policy if name not in {"holds", "incidents"}},
                counts=row.counts,
                oldest=row.oldest.isoformat() if row.oldest else None,
                newest=row.newest.isoformat() if row.newest else None,
                digest=row.digest,
                log_through=row.log_through,
                log_hash=row.log_hash,
                n_holds=row.policy["holds"],
                n_incidents=row.policy.get("incidents", 0),
                audit_entry=entry.id if entry else None,
                audit_hash=entry.hash if entry else "",
            )
        )
    return found


def _remove(connection: sa.Connection, policy: Retention, *, by: str, now: datetime) -> Certificate:
    check = verification.verify(connection, with_list=False)
    if not check.ok:
        where = f"entry {check.first_bad}: " if check.first_bad else ""
        message = f"nothing was purged: the audit log is not whole: {where}{check.problem}"
        raise StoreError(message)
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete = ON")  # overwrites removed rows
    cuts = deletion_plan.cuts_of(policy, now)
    n_holds = len(holds(connection))
    deletion_plan.mark(connection, cuts)
    for number in deletion_plan.scans_that_lose_rows(connection):
        summaries.cache_totals(connection, number)
    removed = _Removed()
    with append_only.lifted(connection, APPEND_ONLY):
        for table in reversed(metadata.sorted_tables):
            if (condition := deletion_plan.condition(table)) is not None:
                _remove_rows(connection, table, condition, removed)
        deletion_plan.unmark(connection)
        recording.forget_folders(connection)  # derived data, not counted by the certificate
        through, log_hash = _log_end(connection, cuts, n_holds)
        before = audit.read(connection)
        if through > before.through:
            _count_rows(connection, audit_log, audit_log.c.id <= through, removed)
        through, log_hash = (through, log_hash) if through else (before.through, before.log_hash)
        certificate = _certify(connection, policy, removed, (through, log_hash), n_holds, by=by, now=now)
        connection.execute(audit_log.delete().where(audit_log.c.id <= through))
    if "work_item" in removed.counts:
        work_rows.rebuild(connection)  # its counts are updated row by row otherwise
    digests.renew(connection, actor=by, now=now)
    after = audit.verify(connection)
    if not after.ok:  # a fault of the program; rolled back, because the log could not be verified
        message = f"nothing was purged: the audit log would not be whole: {after.problem}"
        raise StoreError(message)
    return certificate


def _certify(
    connection: sa.Connection,
    policy: Retention,
    removed: _Removed,
    log: tuple[int, str],
    n_holds: int,
    *,
    by: str,
    now: datetime,
) -> Certificate:
    through, log_hash = log
    live = not_closed().subquery()
    n_incidents = connection.execute(sa.select(sa.func.count()).select_from(live)).scalar_one()
    times = sorted(removed.times)
    values: dict[str, Any] = {
        "purged": now,
        "purged_by": by,
        "policy": {**policy.to_json(now), "holds": n_holds, "incidents": n_incidents},
        "counts": dict(sorted(removed.counts.items())),
        "oldest": datetime.fromisoformat(times[0]) if times else None,
        "newest": datetime.fromisoformat(times[-1]) if times else None,
        "digest": removed.digest.hexdigest(),
        "ranges": removed.ranges,
        "log_through": through,
        "log_hash": log_hash,
        "carried": _carried(connection, through),
    }
    if removed.counts:
        # Not the server's next number: a dry run would use one up, and certificates must have no gaps.
        number = 1 + connection.execute(sa.select(sa.func.coalesce(sa.func.max(purge.c.id), 0))).scalar_one()
        connection.execute(purge.insert().values(id=number, **values))
        details = {"rows": sum(removed.counts.values()), "log_through": through}
        audit.append(connection, [audit.Entry("purge", number, details)], actor=by, at=now)
        return certificates(connection)[-1]
    return Certificate(
        id=None,
        purged=now.isoformat(),
        purged_by=by,
        policy=policy.to_json(now),
        counts={},
        oldest=None,
        newest=None,
        digest=values["digest"],
        log_through=through,
        log_hash=log_hash,
        n_holds=n_holds,
        n_incidents=n_incidents,
    )


def _remove_rows(
    connection: sa.Connection, table: sa.Table, condition: sa.ColumnElement[bool], removed: _Removed
) -> None:
    numbers = _count_rows(connection, table, condition, removed)
    if table.name in removed.counts:
        seals.remove(connection, table, condition)
    if numbers:
        removed.ranges[table.name] = audit.as_ranges(numbers)


def _count_rows(
    connection: sa.Connection, table: sa.Table, condition: sa.ColumnElement[bool], removed: _Removed
) -> list[int]:
    """Add the rows to the removed ones; return their numbers if the table is a logged one."""
    query = sa.select(*stored_columns(table)).where(condition).order_by(*table.primary_key.columns)
    times = [n for n, column in enumerate(table.columns) if isinstance(column.type, UtcTime)]
    numbers: list[int] = []
    spans: list[str] = []
    n_rows = 0
    for row in connection.execute(query.execution_options(yield_per=portable.N_ROWS_AT_ONCE)):
        if not n_rows:
            removed.digest.update(f"{table.name}\n".encode())
        n_rows += 1
        removed.digest.update(portable.to_line(table.name, row) + b"\n")
        moments = spans + [row[n] for n in times if row[n]]
        spans = [min(moments), max(moments)] if moments else []
        if table.name in LOGGED:
            numbers.append(row.id)
    removed.times.extend(spans)
    if n_rows:
        removed.counts[table.name] = n_rows
    return numbers


def _log_end(connection: sa.Connection, cuts: Cuts, n_holds: int) -> tuple[int, str]:
    """Return number and hash of the last entry of the log to be removed; (0, "") = none.

    Only the oldest entries can be removed, or the chain would break; none while a hold is active.
    """
    if n_holds:
        return 0, ""
    first_remaining = connection.execute(
        sa.select(sa.func.min(audit_log.c.id)).where(audit_log.c.at >= cuts.logs)
    ).scalar()
    query = sa.select(audit_log.c.id, audit_log.c.hash).order_by(audit_log.c.id.desc()).limit(1)
    if first_remaining is not None:
        query = query.where(audit_log.c.id < first_remaining)
    last = connection.execute(query).first()
    return (last.id, last.hash) if last else (0, "")


def _carried(connection: sa.Connection, through: int) -> dict[str, dict[str, str]]:
    """Return the digests of logged rows that remain although their log entry is removed."""
    query = sa.select(audit_log.c.action, audit_log.c.subject_id).where(audit_log.c.id > through)
    logged: Collection[tuple[str, int]] = {
        (audit.TABLES[row.action].name, row.subject_id) for row in connection.execute(query)
    }
    carried: dict[str, dict[str, str]] = {}
    for name, table in LOGGED.items():
        for number, digest in audit.digests(connection, table).items():
            if (name, number) not in logged:
                carried.setdefault(name, {})[str(number)] = digest
    return carried | digests.carried_states(connection, _states(connection, through))


def _states(connection: sa.Connection, through: int) -> digests.States:
    """Return the states of accounts whose only log entries are removed now or were before."""
    known = digests.states_from_carried(audit.read(connection).carried)
    query = sa.select(audit_log.c.details).where(audit_log.c.id <= through).order_by(audit_log.c.id)
    for details in connection.execute(query).scalars():
        digests.add_states(known, details)
    return known


def _scrub(database: Database, tables: Collection[str]) -> None:
    """Erase removed rows from the disk: the log of an SQLite file, dead rows on a server."""
    if is_sqlite(database.url):
        database.outside_transactions("PRAGMA wal_checkpoint(TRUNCATE)")
        return
    for table in sorted(tables):
        database.outside_transactions(f"VACUUM {table}")
