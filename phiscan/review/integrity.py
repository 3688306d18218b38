"""Detection of changes of the database that the program did not make, and their exact location.

Digests of results (examinations with child rows, scans) are written with them. The whole verification
compares log, signed head, schema, seals, digests, accounts and derived tables.
Every difference is reported: table, row, kind of change, and when it was last verified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from hashlib import sha256
from itertools import islice
from typing import Any

import sqlalchemy as sa

from phiscan.errors import StoreError
from phiscan.review.audit import log as audit
from phiscan.review.audit.log import AuditCheck, Tampering
from phiscan.review.worklist import rows as work_rows
from phiscan.store import append_only, seals, signed_head
from phiscan.store import portable_rows as portable
from phiscan.store.column_types import canonical_json, stored_columns
from phiscan.store.sql_batches import chunks
from phiscan.store.tables.integrity import audit_head, examination_digest, scan_digest, seal_total
from phiscan.store.tables.scans import examination, file, root, scan, scan_root, sighting
from phiscan.store.tables.schema import APPEND_ONLY, metadata
from phiscan.store.tables.users import UserEvent, user_account, user_event

N_AT_ONCE = 2000  # examinations per batch in memory
N_HEX = 24
CHILDREN = tuple(
    table
    for table in metadata.sorted_tables
    if "examination_id" in table.primary_key.columns and table is not examination_digest
)
"""The tables with rows of an examination."""

Parts = dict[str, str]
"""Digest of one examination by table."""


def parts_of(connection: sa.Connection, ids: Sequence[int]) -> dict[int, Parts]:
    """Return the parts of examinations by number; missing examinations are omitted."""
    hashes: dict[int, dict[str, Any]] = {}
    own = (
        sa.select(examination.c.id, *stored_columns(examination), file.c.root_id, file.c.path, file.c.display)
        .join(file, file.c.id == examination.c.file_id)
        .where(examination.c.id.in_(ids))
    )
    for row in connection.execute(own):
        hashes[row[0]] = {"examination": sha256(portable.to_line("examination", row[1:]))}
    for table in CHILDREN:
        query = (
            sa.select(table.c.examination_id, *stored_columns(table))
            .where(table.c.examination_id.in_(ids))
            .order_by(*table.primary_key.columns)
        )
        for row in connection.execute(query):
            of_examination = hashes.get(row[0])
            if of_examination is not None:
                line = portable.to_line(table.name, row[1:]) + b"\n"
                of_examination.setdefault(table.name, sha256()).update(line)
    return {
        number: {name: made.hexdigest()[:N_HEX] for name, made in of_examination.items()}
        for number, of_examination in hashes.items()
    }


def write(connection: sa.Connection, ids: Sequence[int]) -> None:
    """Write the digests of examinations that were just recorded."""
    for batch in chunks(ids):
        found = parts_of(connection, batch)
        rows = [{"examination_id": number, "parts": parts} for number, parts in found.items()]
        seals.insert(connection, examination_digest, rows)


def stored_digests(connection: sa.Connection, ids: Sequence[int]) -> dict[int, tuple[str, bool]]:
    """Return the stored parts of examinations as JSON, and whether their seal is right."""
    query = seals.rows(connection, examination_digest, examination_digest.c.examination_id.in_(ids))
    return {
        row["examination_id"]: (row["parts"], seals.is_right(connection, examination_digest, row))
        for row in query
    }


def refuse_forged(connection: sa.Connection, scan_id: int) -> int:
    """Invalidate the results of an unfinished scan that it did not record so; return their number.

    Their files are read again, as after a change of the versions.
    """
    n_refused = 0
    for found in of_scan(connection, scan_id):
        stored = stored_digests(connection, list(found))
        forged = [
            number for number, parts in found.items() if stored.get(number) != (canonical_json(parts), True)
        ]
        read_again(connection, forged)
        n_refused += len(forged)
    return n_refused


def read_again(connection: sa.Connection, examination_ids: Sequence[int]) -> None:
    """Have the files of some results read by the next scan, as after a change of the versions."""
    for ids in chunks(examination_ids):
        changed = examination.update().where(examination.c.id.in_(ids))
        connection.execute(changed.values(versions_key=""))


def of_scan(connection: sa.Connection, scan_id: int) -> Iterator[dict[int, Parts]]:
    """Yield the parts of a scan's examinations, in batches, in ascending order."""
    last = 0
    while True:
        query = (
            sa.select(examination.c.id)
            .where(examination.c.scan_id == scan_id, examination.c.id > last)
            .order_by(examination.c.id)
            .limit(N_AT_ONCE)
        )
        ids = list(connection.execute(query).scalars())
        if not ids:
            return
        found = parts_of(connection, ids)
        yield {number: found.get(number, {}) for number in ids}
        last = ids[-1]


def line_of(number: int, parts: str) -> bytes:
    """Return the part of an examination that is included in the digest of its scan."""
    return f"{number}:{parts}\n".encode("utf-8", "surrogatepass")


def sightings_of(connection: sa.Connection, scan_id: int) -> tuple[int, str]:
    """Return the number of files of a scan, and sha256 over them and their results."""
    query = (
        sa.select(sighting.c.file_id, sighting.c.examination_id)
        .where(sighting.c.scan_id == scan_id)
        .order_by(sighting.c.file_id)
        .execution_options(yield_per=10_000)
    )
    made, n_rows = sha256(), 0
    for batch in connection.execute(query).partitions():
        made.update("".join(f"{row[0]}:{row[1]}\n" for row in batch).encode())
        n_rows += len(batch)
    return n_rows, made.hexdigest()


def scan_row_of(connection: sa.Connection, scan_id: int) -> str:
    """Return sha256 over a scan and its roots; "" if there is no such scan."""
    row = connection.execute(sa.select(*stored_columns(scan)).where(scan.c.id == scan_id)).first()
    if row is None:
        return ""
    roots = (
        sa.select(scan_root.c.position, root.c.id, root.c.path, root.c.display)
        .join(root, root.c.id == scan_root.c.root_id)
        .where(scan_root.c.scan_id == scan_id)
        .order_by(scan_root.c.position)
    )
    lines = [
        portable.to_line("scan", row),
        *(portable.to_line("root", one) for one in connection.execute(roots)),
    ]
    return sha256(b"\n".join(lines)).hexdigest()


def make(connection: sa.Connection, scan_id: int, *, whole: bool, refused: int = 0, now: datetime) -> None:
    """Write the digest of a complete scan over those of its results into table and log.

    Only digests with a right seal count: a result that this program did not record is found later.
    ``refused``: stored results that were not believed when the scan was resumed.
    """
    made: Made = (*combined(connection, scan_id, sealed=True), *sightings_of(connection, scan_id))
    details = {"refused": refused} if refused else {}
    _append(connection, scan_id, made, "scan", whole=whole, by="phiscan", now=now, details=details)


def newest_digests(connection: sa.Connection) -> dict[int, sa.Row[Any]]:
    """Return the valid digest by scan, as stored."""
    query = sa.select(*stored_columns(scan_digest)).order_by(scan_digest.c.id)
    return {row.scan_id: row for row in connection.execute(query)}


def renew(connection: sa.Connection, *, actor: str, now: datetime) -> None:
    """Write the digests of scans again that lost rows by a purge.

    They are computed from the remaining digests of the examinations only, not from the results, so that a
    change of the results is still found afterwards.
    """
    existing = set(connection.execute(sa.select(scan.c.id)).scalars())
    for scan_id, row in newest_digests(connection).items():
        if scan_id not in existing:
            continue
        made: Made = (*combined(connection, scan_id), *sightings_of(connection, scan_id))
        if (made[0], made[2]) != (row.n_examinations, row.n_sightings):
            _append(connection, scan_id, made, "purge", whole=row.whole, by=actor, now=now, details={})


def combined(connection: sa.Connection, scan_id: int, *, sealed: bool = False) -> tuple[int, str]:
    """Return number and sha256 of the stored digests of a scan's examinations; or only of sealed ones."""
    of_scan = sa.select(examination.c.id).where(examination.c.scan_id == scan_id)
    made, n_rows = sha256(), 0
    for row in seals.rows(connection, examination_digest, examination_digest.c.examination_id.in_(of_scan)):
        if not sealed or seals.is_right(connection, examination_digest, row):
            made.update(line_of(row["examination_id"], row["parts"]))
            n_rows += 1
    return n_rows, made.hexdigest()


Made = tuple[int, str, int, str]
"""Number of the results of a scan and sha256 over their digests; the same of the files that it saw."""


def _append(
    connection: sa.Connection,
    scan_id: int,
    made: Made,
    cause: str,
    *,
    whole: bool,
    by: str,
    now: datetime,
    details: Mapping[str, Any],
) -> None:
    columns = ("n_examinations", "examinations", "n_sightings", "sightings")
    values = {"scan_id": scan_id, "cause": cause, **dict(zip(columns, made, strict=True)), "whole": whole}
    values["scan_row"] = scan_row_of(connection, scan_id)
    details = {"scan": scan_id, "cause": cause, "examinations": made[0], **details}
    audit.record(connection, "digest_scan", values, details, by=by, now=now)


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
    columns = sa.inspect(connection).get_multi_columns()
    for table in metadata.sorted_tables:
        if {one["name"] for one in columns.get((None, table.name), ())} != set(table.columns.keys()):
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
    NotCovered("push_delivery", "everything", "what receivers were sent, not what was found"),
    NotCovered("saved_view", "everything", "filters that a person saved"),
    NotCovered("sign_in_attempt", "everything", "for the limits of sign-ins; the audit log has the attempts"),
    NotCovered("sign_in_flow", "everything", "hashes of secrets that only the browser has, for minutes"),
    NotCovered("sign_in_challenge", "everything", "a sign-in under way; the code is still needed"),
    NotCovered("audit_head", "id", "always 1: a constraint refuses other rows"),
    NotCovered("audit_head", "rows added", "a constraint refuses other rows"),
    NotCovered("root", "rows added", "a root without scans"),
    NotCovered("scan", "rows added", "a scan without results"),
)
"""What ``verify`` cannot find; a test compares it with the schema, by changing each column."""


def verify(connection: sa.Connection, *, with_list: bool = True) -> AuditCheck:
    """Check everything that can be checked from the database itself and the signing key.

    ``with_list``: also the review list, which can be rebuilt from the other tables. What cannot be read is
    a difference itself, and the rest is checked.
    """
    check = AuditCheck(0, audit.BEFORE_FIRST)
    found: list[Tampering] = []
    try:
        check = audit.verify(connection)
        found += check.found[:N_NAMED]
    except _UNREADABLE as error:
        found.append(Tampering("audit_log", None, _cannot(error)))
    for about, look in _LOOKS.items():
        if about == "work_item" and not with_list:
            continue
        try:
            found += islice(look(connection), N_NAMED - len(found))
        except _UNREADABLE as error:
            found.append(Tampering(about, None, _cannot(error)))
    return replace(check, found=tuple(found))


def _cannot(error: Exception) -> str:
    return f"cannot be checked: a value cannot be read ({type(error).__name__})"


def _head(connection: sa.Connection) -> Iterator[Tampering]:
    start = audit.read(connection)
    at_head = signed_head.problem(connection, first_entry=start.through + 1, start_hash=start.log_hash)
    if at_head is not None:
        yield Tampering("audit_log", *at_head)


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


def _scans(connection: sa.Connection) -> Iterator[Tampering]:
    start = audit.read(connection)
    existing = {row.id: row for row in connection.execute(sa.select(scan.c.id, scan.c.status))}
    newest = newest_digests(connection)
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
        if scan_row_of(connection, scan_id) != expected.scan_row:
            yield Tampering("scan", scan_id, "it or its roots were changed", since)
        yield from _examinations(connection, scan_id, expected, since)
        if sightings_of(connection, scan_id) != (expected.n_sightings, expected.sightings):
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
    for found in of_scan(connection, scan_id):
        stored = stored_digests(connection, list(found))
        for number, parts in found.items():
            text, _ = stored.get(number, ("", False))
            n_rows += 1
            made.update(line_of(number, text))
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


def _how(table: str, kept: Mapping[str, Any], parts: Parts) -> str:
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
    newest = newest_digests(connection)
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


_SET_BY = {
    **dict.fromkeys((UserEvent.ADD, UserEvent.ROLE), "role"),
    **dict.fromkeys((UserEvent.DISABLE, UserEvent.ENABLE), "disabled"),
    **dict.fromkeys((UserEvent.LOCK, UserEvent.UNLOCK), "locked"),
}
"""Columns of an account, by the events that set them."""


def _accounts(connection: sa.Connection) -> Iterator[Tampering]:
    """Compare accounts with their last events: an older version of a sealed row has a right seal."""
    events = sa.select(user_event).where(user_event.c.event.in_([event.value for event in _SET_BY]))
    expected: dict[tuple[int, str], Any] = {}
    for row in connection.execute(events.order_by(user_event.c.id)):
        begins = row.at if row.event in {UserEvent.DISABLE, UserEvent.LOCK} else None
        name = _SET_BY[UserEvent(row.event)]
        expected[row.user_id, name] = row.value if name == "role" else begins
    found = {row.id: row for row in connection.execute(sa.select(user_account))}
    for (number, name), value in expected.items():
        if number in found and getattr(found[number], name) != value:
            yield Tampering("user_account", number, f"{name} is not what its last event in the log says")


_LOOKS: Mapping[str, Callable[[sa.Connection], Iterable[Tampering]]] = {
    "audit_head": _head,
    "schema": lambda connection: (Tampering(name, None, what) for name, what in problems(connection)),
    "seal": _seals,
    "scan": _scans,
    "file": _files,
    "user_account": _accounts,
    "work_item": lambda connection: (Tampering("work_item", *at) for at in work_rows.differences(connection)),
}
"""The parts of the verification in their order, by what each is about."""


def verify_to(connection: sa.Connection, *, head: str = "") -> AuditCheck:
    """Verify, and check that the log contains a hash that was noted earlier ("" = none)."""
    check = verify(connection)
    if not head or audit.contains(connection, head):
        return check
    problem = "the noted hash is not in the log: it was rewritten or cut off"
    return replace(check, found=(Tampering("audit_log", check.n_rows + 1, problem), *check.found))
