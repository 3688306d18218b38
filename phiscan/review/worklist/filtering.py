"""Filters of the review list: a ``WorkFilter`` to conditions of a query, for a viewer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.model import EntityType
from phiscan.review.decisions.second_verdicts import FIRST, LEAD, SECOND
from phiscan.review.worklist.model import (
    WorkFilter,
    WorkOrder,
    WorkState,
)
from phiscan.review.worklist.rows import types_mask
from phiscan.store.column_types import iso
from phiscan.store.tables import root, skip, work_item

_CURSOR = re.compile(r"([ab]):(risk|informative|oldest):([0-9a-fx.p+-]+):(\d{1,18})", re.ASCII)


def order_key(order: WorkOrder) -> sa.ColumnElement[Any]:
    """Return the sort column of an order; the file number is the second key."""
    columns: dict[WorkOrder, sa.ColumnElement[Any]] = {
        WorkOrder.RISK: work_item.c.risk,
        WorkOrder.INFORMATIVE: work_item.c.doubt,
        WorkOrder.OLDEST: work_item.c.file_id,
    }
    return columns[order]


@dataclass(frozen=True, slots=True)
class Place:
    """A position in an order, to read on from; None = the beginning."""

    order: WorkOrder
    start: tuple[float, int] | None = None
    backward: bool = False

    @property
    def falling(self) -> bool:
        """Whether keys descend from row to row."""
        return (self.order is WorkOrder.RISK) is not self.backward

    def ordered(self, query: sa.Select[Any]) -> sa.Select[Any]:
        """Sort a query, beginning after this position; both columns run one way, so that an index serves."""
        columns = (order_key(self.order), work_item.c.file_id)
        query = self.bounded(query)
        return query.order_by(*(column.desc() if self.falling else column for column in columns))

    def bounded(self, query: sa.Select[Any]) -> sa.Select[Any]:
        """Restrict a query to the rows beyond this position."""
        return query if self.start is None else query.where(self.beyond())

    def beyond(self) -> sa.ColumnElement[bool]:
        """Return the condition of rows beyond this position; true for all rows without one."""
        if self.start is None:
            return sa.true()
        place = sa.tuple_(order_key(self.order), work_item.c.file_id)
        bound = sa.tuple_(sa.literal(self.start[0]), sa.literal(self.start[1]))
        return place < bound if self.falling else place > bound


def cursor_of(direction: str, order: WorkOrder, row: sa.Row[Any]) -> str:
    """Return the cursor of a row: direction, order, key and file."""
    file_id, key = tuple(row)
    return f"{direction}:{order.value}:{float(key).hex()}:{file_id}"


def read_cursor(cursor: str, order: WorkOrder) -> tuple[bool, tuple[float, int] | None]:
    """Return whether to go backward, and the key to begin after.

    Raises:
        InputError: the cursor is invalid for this order.
    """
    if not cursor:
        return False, None
    found = _CURSOR.fullmatch(cursor)
    try:
        if found and found[2] == order.value:
            return found[1] == "b", (float.fromhex(found[3]), int(found[4]))
    except (ValueError, OverflowError):
        pass
    raise InputError(_("cursor: expected one that a page of this order gave"))


MAX_FOLDER_ROWS = 10_000  # rows of a folder that are fetched one by one; for more, a full scan is faster

_VERDICTS = {WorkState.PHI, WorkState.NOT_PHI, WorkState.UNSURE}
_OTHER = work_item.alias()
_STILL = sa.select(skip.c.file_id).join(
    _OTHER, (_OTHER.c.file_id == skip.c.file_id) & (_OTHER.c.content_hash == skip.c.content_hash)
)


def is_small_folder(connection: sa.Connection, root_id: int | None, folder: str) -> bool:
    """Return whether a folder has at most ``MAX_FOLDER_ROWS`` rows of the list, counted in its index."""
    if root_id is None or not folder.strip("/"):
        return False
    rows = sa.select(work_item.c.file_id).where(*in_folder(root_id, folder, by_index=True))
    counted = sa.select(sa.func.count()).select_from(rows.limit(MAX_FOLDER_ROWS + 1).subquery())
    return int(connection.execute(counted).scalar_one()) <= MAX_FOLDER_ROWS


def in_folder(root_id: int | None, folder: str, *, by_index: bool) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of the rows below a folder of a root; without a folder, of the root.

    ``by_index``: as a range of ``ix_work_item_folder``. Otherwise in a form that no index serves: a query
    then reads the rows in the order of the list, or all of them, which is faster for many rows.
    """
    conditions: list[sa.ColumnElement[bool]] = []
    if root_id is not None:
        column: sa.ColumnElement[int] = work_item.c.root_id
        conditions.append((column if by_index else sa.func.coalesce(column, column)) == root_id)
    name = folder.strip("/").casefold()
    if name and by_index:
        first, end = f"{name}/", f"{name}{chr(ord('/') + 1)}"
        conditions += [work_item.c.path_folded >= first, work_item.c.path_folded < end]
    elif name:
        conditions.append(sa.func.substr(work_item.c.path_folded, 1, len(name) + 1) == f"{name}/")
    return conditions


def narrowed(
    query: sa.Select[Any],
    wanted: WorkFilter,
    viewer: str,
    now: datetime,
    *,
    scanned: bool = False,
    by_folder: bool = False,
) -> sa.Select[Any]:
    """Restrict a query of the review list to a filter, as a viewer sees it: without hidden items.

    ``scanned``: prevent the use of an index of the state, which most items share: reading every row once
    is six times as fast as fetching most of them in the order of an index. ``by_folder``: find the rows by
    the index of the folder, for a folder that ``is_small_folder``.
    """
    query = query.where(*in_state(wanted.state, viewer, now, scanned=scanned or by_folder))
    hidden = work_item.c.hidden_until > iso(now)
    return query.where(hidden if wanted.suppressed else ~hidden, *conditions_of(wanted, by_folder=by_folder))


def conditions_of(wanted: WorkFilter, *, by_folder: bool = False) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of a filter on the rows of the list, whoever looks."""
    equal = {
        work_item.c.media_type: wanted.media_type or None,
        work_item.c.owner: wanted.owner or None,
        work_item.c.assignee: wanted.assignee,
        work_item.c.group_id: wanted.group_id,
    }
    conditions = in_folder(wanted.root_id, wanted.folder, by_index=by_folder)
    conditions += [column == value for column, value in equal.items() if value is not None]
    if wanted.group_id is not None:
        conditions.append(~work_item.c.blind)
    if wanted.entity_type is not None:
        conditions.append(work_item.c.types.bitwise_and(types_mask([EntityType(wanted.entity_type)])) != 0)
    if wanted.min_score is not None:
        conditions.append(work_item.c.score >= wanted.min_score)
    if wanted.max_score is not None:
        conditions.append(work_item.c.score <= wanted.max_score)
    if wanted.new:
        newest = sa.select(root.c.complete_scan_id).where(root.c.id == work_item.c.root_id).scalar_subquery()
        conditions.append(work_item.c.arrived >= sa.func.coalesce(newest, 0))
    if wanted.text:
        # In a subquery: SQLite scans the table sequentially, where it would otherwise fetch every row in the
        # order of an index. Five times as fast.
        named = _OTHER.c.path_folded.contains(wanted.text.casefold(), autoescape=True)
        conditions.append(work_item.c.file_id.in_(sa.select(_OTHER.c.file_id).where(named)))
    return conditions


def in_state(
    state: WorkState, viewer: str, now: datetime, *, scanned: bool = False
) -> tuple[sa.ColumnElement[bool], ...]:
    """Return the conditions of a state for this viewer; ``scanned`` as in ``narrowed``."""
    is_open: sa.ColumnElement[Any] = work_item.c.is_open
    its_state: sa.ColumnElement[Any] = work_item.c.state
    if scanned:
        is_open, its_state = sa.func.coalesce(is_open, is_open), sa.func.coalesce(its_state, its_state)
    undecided = (
        is_open.is_(True),
        sa.or_(work_item.c.awaits == FIRST, work_item.c.reviewer != viewer),
    )
    if state is WorkState.UNDECIDED:
        return (*undecided, work_item.c.file_id.not_in(skipped_by(viewer, now)))
    if state is WorkState.SKIPPED:
        # By `awaits`, which has no index: the few skips are looked up, not all open items.
        still_open = work_item.c.awaits.in_([FIRST, SECOND]) & ~work_item.c.is_open.is_(False)
        return (still_open, undecided[1], work_item.c.file_id.in_(skipped_by(viewer, now)))
    if state in _VERDICTS:
        known = sa.or_(work_item.c.awaits != SECOND, work_item.c.reviewer == viewer)
        return (its_state == state.value, known)
    if state is WorkState.DISAGREED:
        return (work_item.c.awaits == LEAD,)
    return ()


def skipped_by(viewer: str, now: datetime) -> sa.Select[Any]:
    """Select the files that a reviewer skipped and whose content is unchanged."""
    return _STILL.where(skip.c.reviewer == viewer, skip.c.until > now)
