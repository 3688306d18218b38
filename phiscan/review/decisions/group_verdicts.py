"""One verdict for several files: a group of near-duplicates, or files of a folder; undone as a whole."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Required, TypedDict, Unpack

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.model import Verdict
from phiscan.review.decisions import second_verdicts
from phiscan.review.decisions.verdicts import answered, decide
from phiscan.review.worklist.model import Decided, GroupDecision, WorkState
from phiscan.store.column_types import iso
from phiscan.store.tables import work_item

MAX_AT_ONCE = 200  # files of a folder that one verdict may cover


class Given(TypedDict, total=False):
    """What is recorded with each verdict; see ``verdicts.decide``."""

    reviewer: Required[str]
    now: Required[datetime]
    token: str
    reason: str
    note: str


def decide_group(
    connection: sa.Connection,
    group_id: int,
    verdict: Verdict,
    *,
    exceptions: Collection[int] = (),
    **given: Unpack[Given],
) -> GroupDecision:
    """Record one verdict for the undecided files of a near-duplicate group, without the exceptions.

    Blind items are excluded: each must be judged individually.

    Raises:
        InputError: there is no such group; see ``verdicts.decide``.
    """
    rows = _not_blind(connection, work_item.c.group_id == group_id)
    if not rows:
        message = _(
            "group {group_id}: there is no such group of near-duplicates in the list", group_id=group_id
        )
        raise InputError(message)
    return _decide_rows(connection, rows, verdict, exceptions, **given)


def decide_chosen(
    connection: sa.Connection, file_ids: Collection[int], verdict: Verdict, **given: Unpack[Given]
) -> GroupDecision:
    """Record one verdict for the undecided ones of chosen files; one action, undone as a whole.

    Blind items are excluded: each must be judged individually.

    Raises:
        InputError: more than ``MAX_AT_ONCE`` files, none is in the list; see ``verdicts.decide``.
    """
    if len(file_ids) > MAX_AT_ONCE:
        message = _(
            "files: expected at most {most} to be decided at once, got {n}",
            most=MAX_AT_ONCE,
            n=len(file_ids),
        )
        raise InputError(message)
    rows = _not_blind(connection, work_item.c.file_id.in_(file_ids))
    if not rows:
        message = _("files: none of them is in the list, or each is reviewed blind, by itself")
        raise InputError(message)
    return _decide_rows(connection, rows, verdict, (), **given)


def _not_blind(connection: sa.Connection, chosen: sa.ColumnElement[bool]) -> Sequence[sa.Row[Any]]:
    """Return the chosen items that are not reviewed blind, in the order of their files."""
    query = sa.select(work_item).where(chosen, ~work_item.c.blind).order_by(work_item.c.file_id)
    return connection.execute(query).all()


def _decide_rows(
    connection: sa.Connection,
    rows: Sequence[sa.Row[Any]],
    verdict: Verdict,
    exceptions: Collection[int],
    **given: Unpack[Given],
) -> GroupDecision:
    """Record one verdict for the rows that are undecided for this reviewer."""
    decided, left_out = [], []
    reviewer, now = given["reviewer"].strip(), given["now"]
    contents: set[str] = set()  # decided here: their other files are decided with them
    # Of identical files, either all are exceptions or none.
    chosen = {row.content_hash for row in rows if row.file_id not in exceptions}
    exceptions = {row.file_id for row in rows if row.content_hash not in chosen}
    for row in rows:
        token = f"{given['token']}:{row.file_id}" if given.get("token") else ""
        before = answered(connection, token, row.file_id, reviewer)
        why = "" if before else _why_left_out(row, exceptions, reviewer, iso(now))
        if why:
            left_out.append((row.file_id, why))
            continue
        if row.content_hash in contents:
            (as_now,) = _not_blind(connection, work_item.c.file_id == row.file_id)
            if _why_left_out(as_now, (), reviewer, iso(now)):
                decided.append(Decided(row.file_id, verdict, reviewer, now, repeated=False))
                continue
        contents.add(row.content_hash)
        recorded: Given = {**given, "token": token}
        decided.append(decide(connection, row.file_id, verdict, seen=row.examination_id, **recorded))
    return GroupDecision(tuple(decided), tuple(left_out))


def _why_left_out(row: sa.Row[Any], exceptions: Collection[int], reviewer: str, moment: str) -> str:
    if row.file_id in exceptions:
        return "excepted"
    if row.hidden_until > moment:
        return "suppressed"
    awaits_them = row.awaits == second_verdicts.SECOND and row.is_open and row.reviewer != reviewer
    if row.state != WorkState.UNDECIDED.value and not awaits_them:
        return "decided before"
    return ""
