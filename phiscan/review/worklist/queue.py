"""Reading of the queue: its order, one item with its evidence (long ones cached), every file of a scan."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.model import Outcome, Referral, Verdict
from phiscan.review.decisions.discussion import tags_of
from phiscan.review.records.file_records import (
    LISTED_RISK,
    current_results,
    decision_of,
    last_seen,
    sighted_record,
    unread_parts,
    with_evidence,
)
from phiscan.review.records.openings import openings_together
from phiscan.review.records.scans import chosen_scan
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.model import SECOND, FileRecord, WorkFilter, WorkState, blinded
from phiscan.review.worklist.reading import conditions_of
from phiscan.store.sql_batches import count
from phiscan.store.tables.desk import decision, work_item
from phiscan.store.tables.scans import examination, file, root

N_ROWS_AT_ONCE = 500
_N_SUGGESTED = 3


def queue(
    connection: sa.Connection,
    scan_id: int | None = None,
    *,
    verdicts: Collection[Verdict | None] | None = None,
    limit: int | None = None,
    offset: int = 0,
    wanted: WorkFilter | None = None,
    conceal: bool = False,
    second_look: bool = False,
    by_probability: bool = False,
) -> list[FileRecord]:
    """Return referred files, undecided ones first, highest risk first, then by root and path.

    ``scan_id`` None = the files present now on every root ever scanned, so that a scan of one share does not
    hide undecided files of another. ``verdicts`` selects items with one of these verdicts; None stands for
    undecided. ``wanted`` selects files that pass a filter now, in any state, for any viewer, suppressed and
    skipped ones too. ``second_look``: the second list instead: not referred, but marked by a
    detector. ``by_probability``: most probable first. ``conceal``: items that await a blind second
    verdict count as undecided.

    Raises:
        StoreError: there is no such scan.
    """
    query = _selected(connection, scan_id, verdicts, wanted, conceal=conceal, second_look=second_look)
    first = sa.func.coalesce(examination.c.probability, 0.0) if by_probability else LISTED_RISK
    is_decided = sa.case((query.selected_columns["verdict"].is_(None), 0), else_=1)
    ordered = query.order_by(is_decided, first.desc(), root.c.path, file.c.path)
    found = [sighted_record(row) for row in connection.execute(ordered.limit(limit).offset(offset))]
    tags = tags_of(connection, [one.file_id for one in found], viewer="")
    return [replace(one, tags=tags.get(one.file_id, ())) for one in found]


def _selected(
    connection: sa.Connection,
    scan_id: int | None,
    verdicts: Collection[Verdict | None] | None,
    wanted: WorkFilter | None,
    *,
    conceal: bool,
    second_look: bool,
) -> sa.Select[Any]:
    number = None if scan_id is None else chosen_scan(connection, scan_id)
    is_referred = examination.c.referral == Referral.REFERRED.value
    is_listed = examination.c.second_look == sa.true() if second_look else is_referred
    query = current_results(scan_id=number, conceal=conceal).where(is_listed)
    if verdicts is not None:
        given = decision.c.verdict.in_([verdict.value for verdict in verdicts if verdict is not None])
        query = query.where(given | decision.c.verdict.is_(None) if None in verdicts else given)
    if wanted is not None:
        passing = sa.select(work_item.c.file_id).where(work_item.c.referred, *conditions_of(wanted))
        query = query.where(file.c.id.in_(passing))
    return query


def size(
    connection: sa.Connection,
    scan_id: int | None = None,
    *,
    verdicts: Collection[Verdict | None] | None = None,
    wanted: WorkFilter | None = None,
    conceal: bool = False,
    second_look: bool = False,
) -> int:
    """Count the items that ``queue`` returns without a limit."""
    if scan_id is not None or wanted is not None or second_look:
        query = _selected(connection, scan_id, verdicts, wanted, conceal=conceal, second_look=second_look)
        return count(connection, query.with_only_columns(file.c.id).subquery())
    undecided = WorkState.UNDECIDED.value
    secret = {SECOND, work_rows.DUPLICATE} if conceal else set()
    chosen = {verdict.value if verdict else undecided for verdict in verdicts or ()}
    return sum(
        n
        for awaits, state, _, _, _, referred, n in work_rows.statuses(connection)
        if referred and (verdicts is None or (undecided if awaits in secret else state) in chosen)
    )


def item(connection: sa.Connection, file_id: int, *, conceal: bool = False) -> FileRecord:
    """Return one file with findings, terms, unread parts and decisions.

    ``conceal``: without what a blind reviewer must not see. For an item of the random sample that is all
    that the machine found; for one that awaits a second verdict, the decisions about this content.

    Raises:
        InputError: there is no such file.
    """
    row = last_seen(connection, file_id)
    same = (decision.c.content_hash == row.content_hash) & (decision.c.content_hash != "")
    about = sa.select(decision).where((decision.c.file_id == file_id) | same).order_by(decision.c.id)
    found = replace(
        with_evidence(connection, sighted_record(row)),
        outcome=Outcome(row.outcome),
        decisions=tuple(decision_of(made) for made in connection.execute(about)),
        tags=tags_of(connection, [file_id], viewer="").get(file_id, ()),
        openings=openings_together(connection, [file_id]),
    )
    return _concealed(connection, found) if conceal else found


def _concealed(connection: sa.Connection, record: FileRecord) -> FileRecord:
    here = sa.select(work_item.c.blind, work_item.c.awaits).where(
        work_item.c.file_id == record.file_id, work_item.c.content_hash == record.content_hash
    )
    row = connection.execute(here).first()
    if row is not None and row.awaits == SECOND:
        earlier = tuple(one for one in record.decisions if one.content_hash != record.content_hash)
        record = replace(record, verdict=None, reviewer="", decisions=earlier)
    return blinded(record) if row is not None and row.blind else record


def find(connection: sa.Connection, path: str) -> int:
    """Return the number of the file with a path, relative to its root or absolute, or with a number.

    The path may be the display form or the raw name, as a shell passes it.

    Raises:
        InputError: no file or more than one has this path.
    """
    any_root = file.c.root_id.in_(sa.select(root.c.id))  # allows the index on root and path
    found = _matching(connection, (file.c.display == path) | (any_root & (file.c.path == os.fsencode(path))))
    if not found and (path.startswith("/") or "://" in path):
        found = _find_absolute(connection, path)
    if not found and path.isdecimal() and path.isascii() and len(path) < 19:  # noqa: PLR2004 (digits of 2**63)
        found = _matching(connection, file.c.id == int(path))
    if not found:
        message = _(
            "{path}: no such file; expected a path or number that `phiscan queue list` shows", path=path
        )
        ending = file.c.display.endswith(f"/{path}", autoescape=True)
        like = sa.select(file.c.display).where(ending).order_by(file.c.display).limit(_N_SUGGESTED)
        if path and (named := [*connection.execute(like).scalars()]):
            message += _("; did you mean {paths}?", paths=", ".join(named))
        raise InputError(message)
    if len(found) > 1:
        roots = ", ".join(sorted({row.display for row in found}))
        message = _(
            "{path}: {found} files have this path; expected an absolute path, under one of {roots}",
            path=path,
            found=len(found),
            roots=roots,
        )
        raise InputError(message)
    return int(found[0].id)


def rows(connection: sa.Connection, scan_id: int | None, *, conceal: bool = False) -> Iterator[FileRecord]:
    """Yield the files of a scan (None: all present now) by root and path; with constant memory.

    ``conceal``: items that await a blind second verdict count as undecided.
    """
    query = current_results(scan_id=scan_id, conceal=conceal).order_by(root.c.path, file.c.path)
    result = connection.execute(query.execution_options(yield_per=N_ROWS_AT_ONCE))
    for batch in result.partitions():
        unread = unread_parts(connection, [row.id for row in batch])
        for row in batch:
            yield sighted_record(row, unread=tuple(unread[row.id]))


def sampled(connection: sa.Connection) -> list[FileRecord]:
    """Return the files of the random sample that are present and were not referred."""
    drawn = sa.select(work_item.c.file_id).where(~work_item.c.referred)
    query = current_results(scan_id=None).where(file.c.id.in_(drawn))
    return [sighted_record(row) for row in connection.execute(query)]


def blind(connection: sa.Connection) -> frozenset[int]:
    """Return the numbers of the files that are to be judged blind: opened, or by their names."""
    return frozenset(connection.execute(sa.select(work_item.c.file_id).where(work_item.c.blind)).scalars())


def _matching(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> list[sa.Row[Any]]:
    query = sa.select(file.c.id, root.c.display, file.c.seen_scan_id).join(root, root.c.id == file.c.root_id)
    return [*connection.execute(query.where(condition))]


def _find_absolute(connection: sa.Connection, path: str) -> list[sa.Row[Any]]:
    """Find a file by root and path joined; of nested roots, the file that was seen last."""
    raw = os.fsencode(path)
    found: list[sa.Row[Any]] = []
    for row in connection.execute(sa.select(root.c.id, root.c.display, root.c.path)):
        shown, bare = row.display.rstrip("/") + "/", row.path.rstrip(b"/") + b"/"
        names = []
        if path.startswith(shown):
            names.append(file.c.display == path[len(shown) :])
        if raw.startswith(bare):
            names.append(file.c.path == raw[len(bare) :])
        if names:
            found += _matching(connection, (file.c.root_id == row.id) & sa.or_(*names))
    newest = max((row.seen_scan_id for row in found), default=0)
    return [row for row in found if row.seen_scan_id == newest]
