"""The whole verification: log, signed head, schema, digests of results, accounts, derived tables.

Every difference is reported: table, row, kind of change, and when it was last verified.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from hashlib import sha256
from itertools import islice
from typing import Any

import sqlalchemy as sa

from phiscan.errors import StoreError
from phiscan.review.audit import log as audit
from phiscan.review.integrity import digests
from phiscan.review.records.items import AuditCheck, Tampering
from phiscan.review.worklist import rows as work_rows
from phiscan.store import append_only, seals, signed_head
from phiscan.store.column_types import CanonicalJson, UtcTime, canonical_json, stored_columns
from phiscan.store.tables import (
    APPEND_ONLY,
    audit_head,
    audit_log,
    examination,
    examination_digest,
    file,
    metadata,
    root,
    scan,
    scan_root,
    seal_total,
    sighting,
)

_LEFT_OUT = ("alembic_version", "sqlite_")


def problems(connection: sa.Connection) -> list[tuple[str, str]]:
    """Return the name of each table, index, view or trigger that differs, and the difference."""
    if connection.dialect.name != "sqlite":
        return _on_server(connection)
    found, expected = _described(connection), _expected()
    differing = [
        (name, "was removed" if name not in found else "was added" if name not in expected else "was changed")
        for name in sorted(found.keys() | expected.keys())
        if found.get(name) != expected.get(name)
    ]
    return [(name, f"of the schema {how}") for name, how in differing]


@cache
def _expected() -> dict[str, str]:
    """Return the description of a newly created database."""
    engine = sa.create_engine("sqlite://")
    with engine.begin() as connection:
        metadata.create_all(connection)
        found = _described(connection)
    engine.dispose()
    return found


def _described(connection: sa.Connection) -> dict[str, str]:
    query = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    found = connection.exec_driver_sql(query).all()
    return {name: " ".join(sql.split()) for name, sql in found if not name.startswith(_LEFT_OUT)}


def _on_server(connection: sa.Connection) -> list[tuple[str, str]]:
    """Return triggers that are missing or disabled, and tables or columns that differ, on PostgreSQL."""
    query = (
        "SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
        "WHERE pg_table_is_visible(pg_class.oid) AND tgenabled <> 'D' AND NOT tgisinternal"
    )
    existing = set(connection.exec_driver_sql(query).scalars())
    expected = {f"{table}_no_{what}" for table in APPEND_ONLY for what in ("change", "truncate")}
    found = [(name, "of the schema was removed or switched off") for name in sorted(expected - existing)]
    found += [(name, "of the schema was added") for name in sorted(existing - expected)]
    bodies = connection.exec_driver_sql(
        "SELECT proname, prosrc FROM pg_proc WHERE proname LIKE '%%_refuse' AND pg_function_is_visible(oid)"
    )
    for name, body in bodies.all():
        table = name.removesuffix("_refuse")
        made = append_only.statements("postgresql", table, ())[0] if table in APPEND_ONLY else ""
        if body.strip() not in made:
            found.append((name, "of the schema was changed"))
    inspector = sa.inspect(connection)
    for table in metadata.sorted_tables:
        columns = (
            {one["name"] for one in inspector.get_columns(table.name)}
            if inspector.has_table(table.name)
            else set()
        )
        if columns != set(table.columns.keys()):
            found.append((table.name, "of the schema was changed"))
    return found


N_NAMED = 100  # differences reported; the check stops after them
# What a value that the program never writes can raise where it is read.
_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, StoreError, sa.exc.SQLAlchemyError)


@dataclass(frozen=True, slots=True)
class NotCovered:
    """What of a table can be changed without being noticed, with the reason."""

    table: str
    what: str  # the name of a column, "rows added", "rows removed", or "everything"
    why: str


NOT_COVERED = (
    NotCovered("near_group", "everything", "computed again from the signatures at the end of each scan"),
    NotCovered("saved_view", "everything", "filters that a person saved"),
    NotCovered("sign_in_attempt", "everything", "for the limits of sign-ins; the audit log has the attempts"),
    NotCovered("sign_in_flow", "everything", "hashes of secrets that only the browser has, for minutes"),
    NotCovered("sign_in_challenge", "everything", "a sign-in under way; the code is still needed"),
    NotCovered("api_token", "used", "last use, for display"),
    NotCovered("api_token", "rows removed", "an expired token is removed by policy"),
    NotCovered("audit_head", "id", "always 1: a constraint refuses other rows"),
    NotCovered("audit_head", "rows added", "a constraint refuses other rows"),
    NotCovered("root", "rows added", "a root without scans"),
    NotCovered("scan", "rows added", "a scan without results"),
    NotCovered("user_account", "second_factor_step", "last code that was used; each is valid for a minute"),
)
"""What ``verify`` cannot find; a test compares it with the schema, by changing each column."""


def verify(connection: sa.Connection, *, with_list: bool = True) -> AuditCheck:
    """Check everything that can be checked from the database itself and the signing key.

    ``with_list``: also the review list, which can be rebuilt from the other tables. What cannot be read is
    a difference itself, and the rest is checked.
    """
    found: list[Tampering] = []
    check = AuditCheck(ok=False, n_rows=0, first_bad=None, problem="", head=audit.BEFORE_FIRST)
    try:
        check = audit.verify(connection)
        found += check.found[:N_NAMED]
    except _UNREADABLE as error:
        found.append(Tampering("audit_log", None, _cannot(error)))
    for look, about in _LOOKS.items():
        if look is _list and not with_list:
            continue
        try:
            found += islice(look(connection), N_NAMED - len(found))
        except _UNREADABLE as error:
            found.append(Tampering(about, None, _cannot(error)))
    if not found:
        return check
    first = found[0]
    is_entry = first.table == "audit_log"
    return AuditCheck(
        ok=False,
        n_rows=check.n_rows,
        first_bad=first.row if is_entry else None,
        problem=first.what if is_entry else str(first),
        head=check.head,
        found=tuple(found),
    )


def _cannot(error: Exception) -> str:
    return f"cannot be checked: a value cannot be read ({type(error).__name__})"


def _head(connection: sa.Connection) -> Iterator[Tampering]:
    start = audit.read(connection)
    at_head = signed_head.problem(connection, first_entry=start.through + 1, start_hash=start.log_hash)
    if at_head is not None:
        yield Tampering("audit_log", *at_head)


def _unreadable(connection: sa.Connection) -> Iterator[Tampering]:
    """Name each row with a value that its column's type cannot read, in tables without digests of results."""
    of_results = {examination, file, sighting, examination_digest, *digests.CHILDREN}
    for table in metadata.sorted_tables:
        typed = [column for column in table.columns if isinstance(column.type, UtcTime | CanonicalJson)]
        if table in of_results or not typed:
            continue
        for row in seals.rows(connection, table):
            bad = [column.name for column in typed if not _is_readable(column, row[column.name], connection)]
            if bad:
                what = f"{', '.join(bad)} cannot be read"
                yield Tampering(table.name, row.get("id"), what)


def _is_readable(column: sa.Column[Any], value: Any, connection: sa.Connection) -> bool:
    try:
        read = column.type.process_result_value(value, connection.dialect)  # type: ignore[attr-defined]
    except _UNREADABLE:
        return False
    return not isinstance(read, datetime) or read.tzinfo is not None


def _seals(connection: sa.Connection) -> Iterator[Tampering]:
    """Name the rows of sealed tables that were not written with the key; without the key nothing is said."""
    if signed_head.key_of(connection) is None:
        return
    for table in seals.TABLES:
        for row in seals.rows(connection, table):
            if not seals.is_right(connection, table, row):
                key = next(iter(table.primary_key.columns)).name
                by = "" if key == "id" else key.removesuffix("_id")
                number = None if table is seal_total else row[key]
                yield Tampering(table.name, number, "was changed or added (wrong seal)", by=by)
    if connection.execute(sa.select(audit_head.c.id)).first() is None:
        return  # nothing was ever signed, or its removal is named already
    stored = seals.stored_totals(connection)
    for table in seals.COUNTED:
        n_rows, _ = found = seals.total_of(connection, table)
        if table.name not in stored:
            yield Tampering("seal_total", None, f"the count of {table.name} was removed or changed")
        elif stored[table.name] != found:
            what = f"rows were removed or doubled: {n_rows} of {stored[table.name][0]}"
            yield Tampering(table.name, None, what)


def _schema(connection: sa.Connection) -> Iterator[Tampering]:
    for name, what in problems(connection):
        yield Tampering(name, None, what)


def _scans(connection: sa.Connection) -> Iterator[Tampering]:
    start = audit.read(connection)
    existing = {row.id: row for row in connection.execute(sa.select(scan.c.id, scan.c.status))}
    newest = digests.newest(connection)
    for scan_id in existing.keys() - newest.keys():  # unfinished
        yield from _examinations(connection, scan_id, None, "")
    for scan_id, expected in newest.items():
        since = expected.made
        if scan_id not in existing:
            if not start.was_purged("scan_digest", expected.id):
                yield Tampering("scan", scan_id, "was removed", since)
            continue
        if existing[scan_id].status != "complete":
            yield Tampering("scan", scan_id, f"status became {existing[scan_id].status}", since)
        if digests.scan_row_of(connection, scan_id) != expected.scan_row:
            yield Tampering("scan", scan_id, "it or its roots were changed", since)
        yield from _examinations(connection, scan_id, expected, since)
        if digests.sightings_of(connection, scan_id) != (expected.n_sightings, expected.sightings):
            what = f"the files that scan {scan_id} saw were changed"
            yield Tampering("sighting", None, what, since)
    orphans = sa.select(examination_digest.c.examination_id).where(
        examination_digest.c.examination_id.not_in(sa.select(examination.c.id))
    )
    for number in connection.execute(orphans.limit(N_NAMED)).scalars():
        yield Tampering("examination", number, "was removed")


def _examinations(
    connection: sa.Connection, scan_id: int, expected: sa.Row[Any] | None, since: str
) -> Iterator[Tampering]:
    made, n_rows, is_whole = sha256(), 0, True
    for found in digests.of_scan(connection, scan_id):
        stored = digests.stored_digests(connection, list(found))
        for number, parts in found.items():
            text, _ = stored.get(number, ("", False))
            n_rows += 1
            made.update(digests.line_of(number, text))
            if not text:
                is_whole = False
                yield Tampering("examination", number, "was added, or its digest was removed", since)
            elif text != canonical_json(parts):
                is_whole = False
                kept = audit.details_of(text)
                for table in sorted(kept.keys() | parts.keys()):
                    if kept.get(table) != parts.get(table):
                        yield Tampering(table, number, _how(table, kept, parts), since, by="examination")
    if (
        expected is not None
        and is_whole
        and (n_rows, made.hexdigest()) != (expected.n_examinations, expected.examinations)
    ):
        what = (
            f"results were added or removed, or their digests changed: {n_rows} of {expected.n_examinations}"
        )
        yield Tampering("scan", scan_id, what, since)


def _how(table: str, kept: Mapping[str, Any], parts: digests.Parts) -> str:
    if table not in parts:
        return "all rows were removed"
    if table not in kept:
        return "rows were added"
    return "was changed" if table == "examination" else "rows were changed, added or removed"


def _files(connection: sa.Connection) -> Iterator[Tampering]:
    """Check the derived columns: the last scan that saw a file, and the newest complete scan of a root."""
    last = (
        sa.select(sighting.c.file_id, sa.func.max(sighting.c.scan_id).label("seen"))
        .group_by(sighting.c.file_id)
        .subquery()
    )
    query = (
        sa.select(file.c.id, file.c.seen_scan_id, last.c.seen)
        .outerjoin(last, last.c.file_id == file.c.id)
        .where(sa.or_(last.c.seen.is_(None), last.c.seen != file.c.seen_scan_id))
        .order_by(file.c.id)
    )
    for row in connection.execute(query.limit(N_NAMED)):
        what = f"was seen last by scan {row.seen}, its row says {row.seen_scan_id}"
        yield Tampering("file", row.id, what)
    newest = digests.newest(connection)
    for row in connection.execute(sa.select(root)):
        of_root = sa.select(scan_root.c.scan_id).where(scan_root.c.root_id == row.id)
        whole = [n for n in connection.execute(of_root).scalars() if n in newest and newest[n].whole]
        if whole and row.complete_scan_id != max(whole) and (row.complete_scan_id or 0) in {0, *newest}:
            what = f"its newest complete scan is {max(whole)}, its row says {row.complete_scan_id}"
            yield Tampering("root", row.id, what, newest[max(whole)].made)
    others = sighting.join(examination, examination.c.id == sighting.c.examination_id)
    crossed = sa.select(sighting.c.file_id).select_from(others)
    crossed = crossed.where(examination.c.file_id != sighting.c.file_id).limit(N_NAMED)
    for number in connection.execute(crossed).scalars():
        yield Tampering("sighting", number, "has the result of another file", by="file")


def _accounts(connection: sa.Connection) -> Iterator[Tampering]:
    start = audit.read(connection)
    known = digests.states_from_carried(start.carried)
    since: dict[tuple[str, int], str] = {}
    query = sa.select(*stored_columns(audit_log)).order_by(audit_log.c.id)
    for row in connection.execute(query.execution_options(yield_per=1000)):
        details = audit.details_of(row.details)
        digests.add_states(known, details)
        for name, numbers in details.get("states", {}).items():
            since.update({(name, int(number)): row.at for number in numbers})
    for table in digests.STATE_COLUMNS:
        expected = known.get(table.name, {})
        found = digests.states(connection, table)
        for number, state in found.items():
            kept = expected.get(number, {})
            changed = [name for name, digest in kept.items() if state[name] != digest]
            moment = since.get((table.name, number), "")
            if changed:
                yield Tampering(table.name, number, f"{', '.join(changed)} changed", moment)
            elif state.keys() - kept.keys():
                yield Tampering(table.name, number, "no entry of the log made it", moment)
        if table.name == "user_account":
            for number in sorted(expected.keys() - found.keys()):
                yield Tampering(table.name, number, "was removed", since.get((table.name, number), ""))


def _list(connection: sa.Connection) -> Iterator[Tampering]:
    for number, what in work_rows.differences(connection):
        yield Tampering("work_item", number, what)


_LOOKS = {
    _head: "audit_head",
    _unreadable: "database",
    _schema: "schema",
    _seals: "seal",
    _scans: "scan",
    _files: "file",
    _accounts: "user_account",
    _list: "work_item",
}
"""What each part of the verification is about, in its order."""


def verify_to(connection: sa.Connection, *, head: str = "") -> AuditCheck:
    """Verify, and check that the log contains a hash that was noted earlier ("" = none)."""
    check = verify(connection)
    if not head or audit.contains(connection, head):
        return check
    problem = "the noted hash is not in the log: it was rewritten or cut off"
    return AuditCheck(
        ok=False, n_rows=check.n_rows, first_bad=check.n_rows + 1, problem=problem, head=check.head
    )
