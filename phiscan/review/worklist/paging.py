"""Pages of the review list: the order of its rows, positions in it, and their cursors."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.review.worklist.model import (
    WorkOrder,
)
from phiscan.store.tables import work_item

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
    message = _("cursor: expected one that a page of this order gave")
    raise InputError(message)
