"""Retention: policy, legal holds, the deletion plan, and the purge with its certificate.

Seeds are marked by their own rules (a missing file, a verdict about a replaced content, a result superseded
by a later scan, an old sign-in). Then all rows that refer to a marked row are marked too, table by table
along the foreign keys, so that a table that is added later is included automatically. All of them are removed
in one transaction. The certificate is a row of ``purge``, itself in the audit log, without any removed value:
counts, dates and one digest over all removed rows, which can be recomputed from an earlier backup.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from phiscan.config import Config, RetentionTable
from phiscan.errors import ConfigError, InputError, StoreError
from phiscan.review import integrity
from phiscan.review.audit import log as audit
from phiscan.review.decisions.incidents import files_of, not_closed
from phiscan.review.records import scans
from phiscan.review.records.file_records import IS_PRESENT, present
from phiscan.review.worklist import rows as work_rows
from phiscan.store import append_only, seals
from phiscan.store import portable_rows as portable
from phiscan.store.column_types import UtcTime, iso, stored_columns
from phiscan.store.database import Database, is_sqlite
from phiscan.store.sql_batches import as_value, count, merged
from phiscan.store.tables import users
from phiscan.store.tables.desk import (
    assignment,
    audit_log,
    decision,
    incident_entry,
    push_delivery,
    reveal,
    second_review,
    skip,
    suppression,
    work_item,
)
from phiscan.store.tables.integrity import legal_hold, purge
from phiscan.store.tables.scans import examination, file, folder, patient_event, root, scan, sighting
from phiscan.store.tables.schema import APPEND_ONLY, metadata


@dataclass(frozen=True, slots=True)
class Hold:
    """An active hold."""

    id: int
    root: str
    path: str  # "" = the whole root
    reason: str
    set_by: str
    set_at: datetime


def held_files() -> sa.Select[Any]:
    """Select the numbers of all files that are kept.

    A hold names them or their root, an incident that is not closed has them, or they are identical to one
    that is named or of such an incident.
    """
    held = examination.alias()
    named = _standing(legal_hold.c.file_id).union(files_of(incident_entry.c.incident.in_(not_closed())))
    contents = sa.select(held.c.content_hash).where(held.c.file_id.in_(named), held.c.content_hash != "")
    identical = sa.select(examination.c.file_id).where(examination.c.content_hash.in_(contents))
    return sa.select(file.c.id).where(
        sa.or_(
            file.c.id.in_(named),
            file.c.id.in_(identical),
            file.c.root_id.in_(_standing(legal_hold.c.root_id)),
        )
    )


def holds(connection: sa.Connection) -> list[Hold]:
    """Return the active holds, oldest first."""
    newest = sa.or_(
        legal_hold.c.id.in_(_newest(legal_hold.c.file_id)), legal_hold.c.id.in_(_newest(legal_hold.c.root_id))
    )
    of_file = root.alias()
    query = (
        sa.select(
            legal_hold,
            sa.func.coalesce(root.c.display, of_file.c.display).label("root"),
            sa.func.coalesce(file.c.display, "").label("path"),
        )
        .outerjoin(root, root.c.id == legal_hold.c.root_id)
        .outerjoin(file, file.c.id == legal_hold.c.file_id)
        .outerjoin(of_file, of_file.c.id == file.c.root_id)
        .where(newest, legal_hold.c.state == "placed")
        .order_by(legal_hold.c.id)
    )
    return [as_value(Hold, row) for row in connection.execute(query)]


def set_holds(
    connection: sa.Connection,
    *,
    state: str,
    files: Sequence[int] = (),
    roots: Sequence[str] = (),
    reason: str,
    by: str,
    now: datetime,
) -> None:
    """Place or lift holds on files, by number, and on roots, by their path in display form.

    Raises:
        InputError: no reason or no user name, an unknown file or root, or a hold to lift that is not active.
    """
    for name, value in (("reason", reason), ("by", by)):
        if not value.strip():
            raise InputError(name, "expected a text")
    targets: list[tuple[sa.Column[Any], int]] = []
    for number in files:
        if connection.execute(sa.select(file.c.id).where(file.c.id == number)).first() is None:
            message = f"file {number}: no such file; expected a number that `phiscan queue list` shows"
            raise InputError(message)
        targets.append((legal_hold.c.file_id, number))
    targets += [(legal_hold.c.root_id, _root_number(connection, path)) for path in roots]
    for column, number in targets:
        stands = connection.execute(sa.select(sa.literal(number).in_(_standing(column)))).scalar()
        if state == "lifted" and not stands:
            message = f"{column.name.removesuffix('_id')} {number}: it has no hold"
            raise InputError(message)
        details = {column.name: number, "state": state}
        audit.record(connection, "hold", {**details, "reason": reason}, details, by=by, now=now)


def _root_number(connection: sa.Connection, path: str) -> int:
    numbers = {row.display: int(row.id) for row in connection.execute(sa.select(root.c.id, root.c.display))}
    path = path if path in numbers else path.rstrip("/")  # a shell completes a folder's name with a slash
    if path not in numbers:
        known = ", ".join(sorted(numbers)) or "none yet"
        raise InputError(path, f"no such root; expected one that was scanned: {known}")
    return numbers[path]


def _newest(column: sa.Column[Any]) -> sa.Select[Any]:
    return sa.select(sa.func.max(legal_hold.c.id)).where(column.is_not(None)).group_by(column)


def _standing(column: sa.Column[Any]) -> sa.Select[Any]:
    return sa.select(column).where(legal_hold.c.id.in_(_newest(column)), legal_hold.c.state == "placed")


DAYS_PER_YEAR = 365.25
MAX_YEARS = 200


@dataclass(frozen=True, slots=True)
class Retention(RetentionTable):
    """Retention times in years, and the dates that follow from them."""

    def before(self, now: datetime) -> dict[str, datetime]:
        """Return the dates before which rows are purged: findings, decisions, logs, superseded."""
        return {
            item.name.removesuffix("_years"): now - timedelta(days=DAYS_PER_YEAR * getattr(self, item.name))
            for item in fields(self)
        }

    def to_json(self, now: datetime) -> dict[str, float | str]:
        """Return the years and the dates before which rows are purged."""
        years = {item.name: getattr(self, item.name) for item in fields(self)}
        return {**years, **{f"{name}_before": iso(moment) for name, moment in self.before(now).items()}}


def policy_of(config: Config) -> Retention:
    """Return the policy of a configuration.

    Raises:
        ConfigError: names the field.
    """
    policy = Retention(*astuple(config.retention))
    for item in fields(Retention):
        if not 0 < getattr(policy, item.name) <= MAX_YEARS:
            raise ConfigError(
                config.source, f"retention.{item.name}: expected years above 0, up to {MAX_YEARS}"
            )
    return policy


_marks = sa.Table(
    "deletion_mark",
    sa.MetaData(),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("id", sa.BigInteger, primary_key=True),
    prefixes=["TEMPORARY"],
)
_OLD_SCAN = "scan whose superseded rows go"  # not the name of a table: the scan itself remains

# Tables whose rows have a retention time of their own; the column with their age.
_LOGS: dict[sa.Table, sa.ColumnElement[Any]] = {
    users.user_event: users.user_event.c.at,
    users.log_review: users.log_review.c.at,
    patient_event: patient_event.c.done,
    push_delivery: push_delivery.c.sent,
    users.sign_in_attempt: users.sign_in_attempt.c.at,
    users.sign_in_flow: users.sign_in_flow.c.created,
    users.sign_in_challenge: users.sign_in_challenge.c.created,
    users.web_session: sa.func.coalesce(users.web_session.c.ended, users.web_session.c.seen),
    users.api_token: sa.func.coalesce(users.api_token.c.revoked, users.api_token.c.expires),
}

_ended = sa.func.coalesce(scan.c.ended, scan.c.started)

# Derived again by each scan from other tables: it keeps no row from deletion, but must not lose valid rows.
_DERIVED = frozenset({"near_group", "near_signature"})


Cuts = Mapping[str, datetime]
"""The dates before which rows are deleted (``Retention.before``)."""


def mark(connection: sa.Connection, cuts: Cuts) -> None:
    """Mark every row that the policy deletes."""
    _marks.drop(connection, checkfirst=True)  # left by an attempt that met a lock
    _marks.create(connection, checkfirst=False)
    connection.execute(_marking(file.name, _missing_files(cuts)))
    for table, query in _decisions_on_replaced_content(cuts):
        connection.execute(_marking(table.name, query))
    for table, moment in _LOGS.items():
        connection.execute(_marking(table.name, sa.select(table.c.id).where(moment < cuts["logs"])))
    connection.execute(_marking(reveal.name, _unheld(reveal).where(reveal.c.revealed < cuts["logs"])))
    connection.execute(
        _marking(suppression.name, sa.select(suppression.c.id).where(suppression.c.until < cuts["decisions"]))
    )
    _spread(connection)
    standing = sa.select(root.c.complete_scan_id).where(root.c.complete_scan_id.is_not(None))
    old = sa.select(scan.c.id).where(_ended < cuts["superseded"], scan.c.id.not_in(standing))
    connection.execute(_marking(_OLD_SCAN, old))
    connection.execute(_marking(examination.name, _superseded_results(cuts)))
    _spread(connection)
    connection.execute(_marking(scan.name, _forgotten_scans(cuts)))
    _spread(connection)


@cache
def condition(table: sa.Table) -> sa.ColumnElement[bool]:
    """Return the condition of the marked rows of a table; of some it is never true."""
    parts = [_marked(column, parent) for column, parent in _references(table)]
    if "id" in table.primary_key.columns:
        parts.append(_marked(table.c.id, table.name))
    if table is sighting:
        parts.append(_superseded_sighting())
    return sa.or_(sa.false(), *parts)


def scans_that_lose_rows(connection: sa.Connection) -> list[int]:
    """Return the scans, not marked themselves, whose numbers cannot be counted from rows afterwards."""
    query = sa.select(sighting.c.scan_id).where(condition(sighting)).distinct().order_by(sighting.c.scan_id)
    marked = set(connection.execute(sa.select(_marks.c.id).where(_marks.c.kind == scan.name)).scalars())
    return [number for number in connection.execute(query).scalars() if number not in marked]


def _marking(kind: str, ids: sa.Select[Any]) -> sa.Insert:
    column = next(iter(ids.subquery().c))
    known = sa.select(_marks.c.id).where(_marks.c.kind == kind)
    rows = sa.select(sa.literal(kind), column).where(column.not_in(known)).distinct()
    return _marks.insert().from_select(["kind", "id"], rows)


def _spread(connection: sa.Connection) -> None:
    for statement in _spreading():
        connection.execute(statement)


@cache
def _spreading() -> list[sa.Insert]:
    """Return the statements that mark the rows that refer to marked rows, in the order of the references."""
    statements = []
    for table in metadata.sorted_tables:
        references = list(_references(table))
        if references and "id" in table.primary_key.columns:
            refers = sa.or_(*(_marked(column, parent) for column, parent in references))
            statements.append(_marking(table.name, sa.select(table.c.id).where(refers)))
    return statements


def _references(table: sa.Table) -> Iterator[tuple[sa.Column[Any], str]]:
    for column in table.columns:
        for reference in column.foreign_keys:
            yield column, reference.column.table.name


def _marked(column: sa.ColumnElement[Any], kind: str) -> sa.ColumnElement[bool]:
    return column.in_(sa.select(_marks.c.id).where(_marks.c.kind == kind))


def _missing_files(cuts: Cuts) -> sa.Select[Any]:
    """Files that are missing, without any later decision or action, or one that stands for another file.

    What was done about an incident was done about each of its files.
    """
    made = decision.alias()
    carried = sa.exists().where(made.c.file_id == file.c.id, _is_content_present(made.c.content_hash))
    entry = incident_entry.alias()
    recent = sa.select(entry.c.incident).where(entry.c.entered >= cuts["decisions"])
    query = (
        sa.select(file.c.id)
        .join(root, root.c.id == file.c.root_id)
        .join(scan, scan.c.id == file.c.seen_scan_id)
        .where(file.c.id.not_in(files_of(incident_entry.c.incident.in_(recent))))
        .where(~IS_PRESENT, _ended < cuts["findings"], file.c.id.not_in(held_files()), ~carried)
    )
    for table in metadata.sorted_tables:
        times = [column for column in table.columns if isinstance(column.type, UtcTime)]
        if "file_id" not in table.columns or not times or table is work_item:
            continue
        later = sa.or_(*(column >= cuts["decisions"] for column in times))
        query = query.where(~sa.exists().where(table.c.file_id == file.c.id, later))
    return query


def _is_content_present(content_hash: sa.Column[str]) -> sa.ColumnElement[bool]:
    """Return the condition that a file has a content now, wherever it is."""
    files = present(sa.select(sighting.c.file_id), None)
    same = files.where(examination.c.content_hash == content_hash, content_hash != "")
    return same.correlate(content_hash.table).exists()


def _unheld(table: sa.Table) -> sa.Select[Any]:
    return sa.select(table.c.id).where(table.c.file_id.not_in(held_files()))


def _decisions_on_replaced_content(cuts: Cuts) -> Iterator[tuple[sa.Table, sa.Select[Any]]]:
    """Decisions on a content that the file no longer has, and assignments that a later one replaced."""
    for table in metadata.sorted_tables:
        times = [column for column in table.columns if isinstance(column.type, UtcTime)]
        if not {"id", "file_id", "content_hash"} <= set(table.columns.keys()) or not times or table is reveal:
            continue
        standing = (
            sa.exists()
            .where(
                file.c.id == table.c.file_id,
                sighting.c.scan_id == file.c.seen_scan_id,
                sighting.c.file_id == file.c.id,
                examination.c.id == sighting.c.examination_id,
                examination.c.content_hash == table.c.content_hash,
            )
            .correlate(table)
        )
        query = _unheld(table).where(~standing, *(column < cuts["decisions"] for column in times))
        if table in {decision, second_review}:
            query = query.where(~_is_content_present(table.c.content_hash))
        yield table, query
    later = assignment.alias()
    replaced = sa.exists().where(later.c.file_id == assignment.c.file_id, later.c.id > assignment.c.id)
    yield assignment, _unheld(assignment).where(assignment.c.assigned < cuts["decisions"], replaced)
    yield skip, _unheld(skip).where(skip.c.until < cuts["decisions"])


def _superseded_sighting() -> sa.ColumnElement[bool]:
    """Sightings of an old scan whose file was seen again later."""
    return sa.and_(
        _marked(sighting.c.scan_id, _OLD_SCAN),
        sighting.c.file_id.not_in(held_files()),
        sa.exists()
        .where(file.c.id == sighting.c.file_id, file.c.seen_scan_id != sighting.c.scan_id)
        .correlate(sighting),
    )


def _superseded_results(cuts: Cuts) -> sa.Select[Any]:
    """Results without any remaining sighting or decision that refers to them."""
    remaining_sightings = sa.select(sighting.c.examination_id).where(~condition(sighting))
    query = (
        sa.select(examination.c.id)
        .join(scan, scan.c.id == examination.c.scan_id)
        .where(
            _ended < cuts["superseded"],
            examination.c.file_id.not_in(held_files()),
            examination.c.id.not_in(remaining_sightings),
        )
    )
    for table in metadata.sorted_tables:
        for column, parent in _references(table):
            if parent != examination.name or column.primary_key or table is sighting:
                continue
            referring = sa.select(column).where(column.is_not(None))
            if "id" in table.primary_key.columns:
                referring = referring.where(~_marked(table.c.id, table.name))
            query = query.where(examination.c.id.not_in(referring))
    return query


def _forgotten_scans(cuts: Cuts) -> sa.Select[Any]:
    """Scans without any remaining row except the scan itself."""
    query = sa.select(scan.c.id).where(_ended < cuts["findings"])
    for table in metadata.sorted_tables:
        for column, parent in _references(table):
            if parent != scan.name or table.name in {"scan_root", "scan_totals", "scan_digest", *_DERIVED}:
                continue
            referring = sa.select(column).where(column.is_not(None), ~condition(table))
            query = query.where(scan.c.id.not_in(referring))
    return query


LOGGED = {table.name: table for table in audit.TABLES.values()}
_KEPT = ("holds", "incidents")  # their numbers, in the policy of a certificate


@dataclass(frozen=True, slots=True)
class Certificate:
    """The result of a purge, or of a dry run."""

    id: int | None  # None = nothing was removed (a dry run, or nothing to remove)
    purged: datetime
    purged_by: str
    policy: dict[str, Any]
    counts: dict[str, int]
    oldest: datetime | None
    newest: datetime | None
    digest: str
    log_through: int
    log_hash: str
    audit_entry: int | None = None
    audit_hash: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the certificate for export."""
        return {
            "certificate": self.id,
            "purged": self.purged.isoformat(),
            "purged_by": self.purged_by,
            "policy": {name: value for name, value in self.policy.items() if name not in _KEPT},
            "rows": sum(self.counts.values()),
            "counts": self.counts,
            "oldest": self.oldest.isoformat() if self.oldest else None,
            "newest": self.newest.isoformat() if self.newest else None,
            "sha256": self.digest,
            "log": {"purged_through": self.log_through, "hash": self.log_hash or None},
            **{name: self.policy[name] for name in _KEPT},
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
    # None if its own entry was purged later
    return [
        as_value(
            Certificate, row, audit_entry=entry.id if entry else None, audit_hash=entry.hash if entry else ""
        )
        for row in connection.execute(sa.select(purge).order_by(purge.c.id))
        for entry in [entries.get(row.id)]
    ]


def _remove(connection: sa.Connection, policy: Retention, *, by: str, now: datetime) -> Certificate:
    check = integrity.verify(connection, with_list=False)
    if not check.ok:
        where = f"entry {check.first_bad}: " if check.first_bad else ""
        message = f"nothing was purged: the audit log is not whole: {where}{check.problem}"
        raise StoreError(message)
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete = ON")  # overwrites removed rows
    cuts = policy.before(now)
    n_holds = len(holds(connection))
    mark(connection, cuts)
    for number in scans_that_lose_rows(connection):
        scans.cache_totals(connection, number)
    removed = _Removed()
    with append_only.lifted(connection, APPEND_ONLY):
        for table in reversed(metadata.sorted_tables):
            numbers = _count_rows(connection, table, condition(table), removed)
            if table.name in removed.counts:
                seals.remove(connection, table, condition(table))
            if numbers:
                removed.ranges[table.name] = [[*run] for run in merged((one, one) for one in numbers)]
        _marks.drop(connection, checkfirst=False)
        # A full rescan follows: files may have lost their numbers. Not counted by the certificate.
        seals.remove(connection, folder)
        through, log_hash = _log_end(connection, cuts, n_holds)
        before = audit.read(connection)
        if through > before.through:
            _count_rows(connection, audit_log, audit_log.c.id <= through, removed)
        through, log_hash = (through, log_hash) if through else (before.through, before.log_hash)
        certificate = _certify(connection, policy, removed, (through, log_hash), n_holds, by=by, now=now)
        connection.execute(audit_log.delete().where(audit_log.c.id <= through))
    if "work_item" in removed.counts:
        work_rows.rebuild(connection)  # its counts are updated row by row otherwise
    integrity.renew(connection, actor=by, now=now)
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
    n_incidents = count(connection, not_closed().subquery())
    times = sorted(removed.times)
    values: dict[str, Any] = {
        "policy": {**policy.to_json(now), "holds": n_holds, "incidents": n_incidents},
        "counts": dict(sorted(removed.counts.items())),
        "oldest": datetime.fromisoformat(times[0]) if times else None,
        "newest": datetime.fromisoformat(times[-1]) if times else None,
        "digest": removed.digest.hexdigest(),
        "log_through": through,
        "log_hash": log_hash,
    }
    if not removed.counts:
        return Certificate(None, now, by, **values)
    # Not the server's next number: a dry run would use one up, and certificates must have no gaps.
    number = 1 + (connection.execute(sa.select(sa.func.max(purge.c.id))).scalar() or 0)
    values |= {"id": number, "ranges": removed.ranges, "carried": _carried(connection, through)}
    details = {"rows": sum(removed.counts.values()), "log_through": through}
    audit.record(connection, "purge", values, details, by=by, now=now)
    return certificates(connection)[-1]


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
        sa.select(sa.func.min(audit_log.c.id)).where(audit_log.c.at >= cuts["logs"])
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
    return carried


def _scrub(database: Database, tables: Collection[str]) -> None:
    """Erase removed rows from the disk: the log of an SQLite file, dead rows on a server."""
    if is_sqlite(database.url):
        database.outside_transactions("PRAGMA wal_checkpoint(TRUNCATE)")
        return
    for table in sorted(tables):
        database.outside_transactions(f"VACUUM {table}")
