"""The place of an item in a list: how many come before it, and its neighbours, for the page of the item."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from phiscan.review.worklist import reading as work_list
from phiscan.review.worklist.model import WorkFilter, WorkItem, WorkOrder
from phiscan.review.worklist.paging import order_key
from phiscan.store.tables import work_item


@dataclass(frozen=True, slots=True)
class ListPlace:
    """An item among the items of a list."""

    position: int | None  # from 1; None = it is not in the list, or not any more
    is_exact: bool  # False: at least so many items come before it; the others were not counted
    total: int
    items: tuple[WorkItem, ...]  # neighbours in the order of the list; the item among them if it is in it
    following: tuple[int, ...]  # numbers of the next items of the list


def place(
    connection: sa.Connection,
    file_id: int,
    wanted: WorkFilter,
    *,
    viewer: str,
    now: datetime,
    order: WorkOrder,
    n_before: int,
    n_after: int,
) -> ListPlace:
    """Return where a file is in a list, with up to so many items before and after it."""
    key = connection.execute(sa.select(order_key(order)).where(work_item.c.file_id == file_id)).scalar()
    start = None if key is None else (float(key), file_id)
    total, n_before_it = work_list.n_with_before(connection, wanted, order, start, viewer=viewer, now=now)
    after = work_list.neighbours(
        connection, wanted, order, start, viewer=viewer, now=now, n=n_after, backward=False
    )
    before = (
        []
        if start is None
        else work_list.neighbours(
            connection, wanted, order, start, viewer=viewer, now=now, n=n_before, backward=True
        )
    )
    in_list = start is not None and work_list.is_in(connection, file_id, wanted, viewer=viewer, now=now)
    position = 1 + n_before_it if in_list else None
    numbers = [*reversed(before), *([file_id] if in_list else []), *after]
    items = work_list.lines(connection, numbers, viewer=viewer, now=now)
    is_exact = (
        position is None or position <= work_list.MAX_COUNTED or wanted != WorkFilter(state=wanted.state)
    )
    if position is not None and not is_exact:
        position = work_list.MAX_COUNTED + 1
    return ListPlace(position, is_exact, total, items, tuple(after))
