"""The position of an item in a list, and the items around it, for the page of the item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.review.worklist import reading as work_list
from phiscan.review.worklist.filtering import narrowed
from phiscan.review.worklist.model import WorkFilter, WorkItem, WorkOrder
from phiscan.review.worklist.paging import Place, order_key
from phiscan.store.tables import work_item

MAX_COUNTED = 2000  # items that are counted before an item for its position in the list of a whole state


@dataclass(frozen=True, slots=True)
class ListPlace:
    """The position of an item in a list, with the items around it."""

    position: int | None  # from 1; None = it is not in the list
    is_exact: bool  # False: at least so many items precede it; the others were not counted
    total: int
    items: tuple[WorkItem, ...]  # in the order of the list; including the item itself if it is in it
    following: tuple[int, ...]  # numbers of the next items of the list


def place(
    connection: sa.Connection,
    file_id: int,
    wanted: WorkFilter = work_list.UNDECIDED,
    *,
    viewer: str,
    now: datetime,
    order: WorkOrder = WorkOrder.RISK,
    n_before: int = 4,
    n_after: int = 8,
) -> ListPlace:
    """Return the position of a file in a list ("12 of 43"), with the items around it."""
    key = connection.execute(sa.select(order_key(order)).where(work_item.c.file_id == file_id)).scalar()
    start = None if key is None else (float(key), file_id)
    total, n_before_it = _n_with_before(connection, wanted, order, start, viewer=viewer, now=now)
    after = work_list.rows_from(connection, wanted, Place(order, start), viewer=viewer, now=now, n=n_after)
    previous: Sequence[sa.Row[Any]] = ()
    if start is not None:
        backward = Place(order, start, backward=True)
        previous = work_list.rows_from(connection, wanted, backward, viewer=viewer, now=now, n=n_before)
    in_list = start is not None and _is_in(connection, file_id, wanted, viewer=viewer, now=now)
    position = 1 + n_before_it if in_list else None
    following = tuple(row.file_id for row in after)
    numbers = [*(row.file_id for row in reversed(previous)), *([file_id] if in_list else []), *following]
    items = work_list.lines(connection, numbers, viewer=viewer, now=now)
    is_exact = position is None or position <= MAX_COUNTED or wanted != WorkFilter(state=wanted.state)
    if position is not None and not is_exact:
        position = MAX_COUNTED + 1
    return ListPlace(position, is_exact, total, items, following)


def _is_in(
    connection: sa.Connection, file_id: int, wanted: WorkFilter, *, viewer: str, now: datetime
) -> bool:
    query = sa.select(work_item.c.file_id).where(work_item.c.file_id == file_id)
    return connection.execute(narrowed(query, wanted, viewer, now)).first() is not None


def _n_with_before(
    connection: sa.Connection,
    wanted: WorkFilter,
    order: WorkOrder,
    start: tuple[float, int] | None,
    *,
    viewer: str,
    now: datetime,
) -> tuple[int, int]:
    """Count the items of a list, and those before a key: of a whole state at most ``MAX_COUNTED + 1``.

    A whole state is counted along its index, which ends early; of a small folder its own rows are read, and
    for any other filter every row once.
    """
    place = Place(order, start, backward=True)
    if wanted == WorkFilter(state=wanted.state):
        near = place.ordered(narrowed(sa.select(work_item.c.file_id), wanted, viewer, now))
        query = sa.select(sa.func.count()).select_from(near.limit(MAX_COUNTED + 1).subquery())
        before = 0 if start is None else int(connection.execute(query).scalar_one())
        return work_list.size(connection, wanted, viewer=viewer, now=now), before
    columns: tuple[Any, ...] = (sa.func.count(), sa.func.sum(sa.case((place.beyond(), 1), else_=0)))
    both: sa.Select[Any] = sa.select(*columns).select_from(work_item)
    by_folder = work_list.by_folder_index(connection, wanted)
    counted = narrowed(both, wanted, viewer, now, scanned=True, by_folder=by_folder)
    total, n_before = connection.execute(counted).one()
    return total, 0 if start is None else n_before or 0
