"""The whole verification: log, signed head, schema, digests of results, accounts, derived tables.

Every difference is reported: table, row, kind of change, and when it was last verified.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from phiscan.review.audit import checkpoint
from phiscan.review.audit import log as audit
from phiscan.review.integrity import account_states, digests, scan_digests, schema
from phiscan.review.records.items import AuditCheck, Tampering
from phiscan.review.worklist import rows as work_rows
from phiscan.store import signed_head
from phiscan.store.column_types import iso
from phiscan.store.tables import (
    audit_log,
    examination,
    examination_digest,
    file,
    root,
    scan,
    scan_root,
    sighting,
)

N_NAMED = 100  # differences reported; the check stops after them


def verify(connection: sa.Connection, *, with_list: bool = True) -> AuditCheck:
    """Check everything that can be checked from the database itself and the signing key.

    ``with_list``: also the review list, which can be rebuilt from the other tables.
    """
    check = audit.verify(connection)
    found: list[Tampering] = []
    if not check.ok:
        found.append(Tampering("audit_log", check.first_bad, check.problem))
    start = checkpoint.read(connection)
    at_head = signed_head.problem(connection, first_entry=start.through + 1, start_hash=start.log_hash)
    if at_head is not None:
        found.append(Tampering("audit_log", *at_head))
    for look in (_schema, _scans, _files, _decided_upon, _accounts, *((_list,) if with_list else ())):
        for one in look(connection):
            found.append(one)
            if len(found) >= N_NAMED:
                break
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


def _schema(connection: sa.Connection) -> Iterator[Tampering]:
    for name, what in schema.problems(connection):
        yield Tampering(name, None, what)


def _scans(connection: sa.Connection) -> Iterator[Tampering]:
    start = checkpoint.read(connection)
    existing = {row.id: row for row in connection.execute(sa.select(scan))}
    for scan_id, expected in scan_digests.newest(connection).items():
        since = iso(expected.made)
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
    connection: sa.Connection, scan_id: int, expected: sa.Row[Any], since: str
) -> Iterator[Tampering]:
    made, n_rows, is_whole = sha256(), 0, True
    for found in digests.of_scan(connection, scan_id):
        query = sa.select(examination_digest).where(examination_digest.c.examination_id.in_(list(found)))
        stored = {row.examination_id: row.parts for row in connection.execute(query)}
        for number, parts in found.items():
            kept = stored.get(number)
            n_rows += 1
            made.update(digests.line_of(number, kept or {}))
            if kept is None:
                is_whole = False
                yield Tampering("examination", number, "was added, or its digest was removed", since)
            elif kept != parts:
                is_whole = False
                for table in sorted(kept.keys() | parts.keys()):
                    if kept.get(table) != parts.get(table):
                        yield Tampering(table, number, _how(table, kept, parts), since, by="examination")
    if is_whole and (n_rows, made.hexdigest()) != (expected.n_examinations, expected.examinations):
        what = (
            f"results were added or removed, or their digests changed: {n_rows} of {expected.n_examinations}"
        )
        yield Tampering("scan", scan_id, what, since)


def _how(table: str, kept: digests.Parts, parts: digests.Parts) -> str:
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
    newest = scan_digests.newest(connection)
    for row in connection.execute(sa.select(root)):
        of_root = sa.select(scan_root.c.scan_id).where(scan_root.c.root_id == row.id)
        whole = [n for n in connection.execute(of_root).scalars() if n in newest and newest[n].whole]
        if whole and row.complete_scan_id != max(whole) and (row.complete_scan_id or 0) in {0, *newest}:
            what = f"its newest complete scan is {max(whole)}, its row says {row.complete_scan_id}"
            yield Tampering("root", row.id, what, iso(newest[max(whole)].made))


def _decided_upon(connection: sa.Connection) -> Iterator[Tampering]:
    """Check that decided results are unchanged, where no digest of their scan shows it."""
    with_digest = set(scan_digests.newest(connection))
    query = sa.select(audit_log.c.details, audit_log.c.at).where(audit_log.c.action == "decide")
    known: dict[int, tuple[str, str]] = {}
    for row in connection.execute(query.order_by(audit_log.c.id)):
        examined = row.details.get("examined")
        if examined:
            known[int(examined[0])] = (str(examined[1]), iso(row.at))
    complete = set(connection.execute(sa.select(scan.c.id).where(scan.c.status == "complete")).scalars())
    numbers = sorted(known)
    for first in range(0, len(numbers), digests.N_AT_ONCE):
        batch = numbers[first : first + digests.N_AT_ONCE]
        rows = connection.execute(
            sa.select(examination.c.id, examination.c.scan_id).where(examination.c.id.in_(batch))
        ).all()
        wanted = [row.id for row in rows if row.scan_id in complete - with_digest]
        for number, parts in digests.parts_of(connection, wanted).items():
            digest, since = known[number]
            if digests.combined(parts) != digest:
                what = "is not any more what was decided upon"
                yield Tampering("examination", number, what, since)


def _accounts(connection: sa.Connection) -> Iterator[Tampering]:
    start = checkpoint.read(connection)
    known = account_states.from_carried(start.carried)
    since: dict[tuple[str, int], str] = {}
    query = sa.select(audit_log.c.details, audit_log.c.at).order_by(audit_log.c.id)
    for row in connection.execute(query.execution_options(yield_per=1000)):
        account_states.add(known, row.details)
        for name, numbers in row.details.get("states", {}).items():
            since.update({(name, int(number)): iso(row.at) for number in numbers})
    for table in account_states.COLUMNS:
        expected = known.get(table.name, {})
        found = account_states.states(connection, table)
        for number, state in found.items():
            kept = expected.get(number, {})
            changed = [name for name, digest in kept.items() if state[name] != digest]
            moment = since.get((table.name, number), "")
            if changed:
                yield Tampering(table.name, number, f"{', '.join(changed)} changed", moment)
            elif not {"token_hash", "name"} & kept.keys() and not start.through:
                problem = account_states.legacy_problem(connection, table, number)
                if problem:
                    yield Tampering(table.name, number, problem, moment)
        if table.name == "user_account":
            for number in sorted(expected.keys() - found.keys()):
                yield Tampering(table.name, number, "was removed", since.get((table.name, number), ""))


def _list(connection: sa.Connection) -> Iterator[Tampering]:
    for number, what in work_rows.differences(connection):
        yield Tampering("work_item", number, what)


def verify_to(connection: sa.Connection, *, head: str = "") -> AuditCheck:
    """Verify, and check that the log contains a hash that was noted earlier ("" = none)."""
    check = verify(connection)
    if not head or audit.contains(connection, head):
        return check
    problem = "the noted hash is not in the log: it was rewritten or cut off"
    return AuditCheck(
        ok=False, n_rows=check.n_rows, first_bad=check.n_rows + 1, problem=problem, head=check.head
    )
