"""Pages of the review list: the order of its rows, places in it, and the cursors that name them."""

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
    """Return the column by which a list is ordered; the number of the file comes after it."""
    columns: dict[WorkOrder, sa.ColumnElement[Any]] = {
        WorkOrder.RISK: work_item.c.risk,
        WorkOrder.INFORMATIVE: work_item.c.doubt,
        WorkOrder.OLDEST: work_item.c.file_id,
    }
    return columns[order]


@dataclass(frozen=True, slots=True)
class Place:
    """A place in an order, to read on from; None = its beginning."""

    order: WorkOrder
    start: tuple[float, int] | None = None
    backward: bool = False

    @property
    def falling(self) -> bool:
        """Whether keys fall from row to row."""
        return (self.order is WorkOrder.RISK) is not self.backward

    def ordered(self, query: sa.Select[Any]) -> sa.Select[Any]:
        """Put a query in order, beginning here; both columns run one way, so that an index serves."""
        columns = (order_key(self.order), work_item.c.file_id)
        query = self.bounded(query)
        return query.order_by(*(column.desc() if self.falling else column for column in columns))

    def bounded(self, query: sa.Select[Any]) -> sa.Select[Any]:
        """Narrow a query to what lies beyond this place."""
        return query if self.start is None else query.where(self.beyond())

    def beyond(self) -> sa.ColumnElement[bool]:
        """Tell whether a row lies beyond this place; every row does without one."""
        if self.start is None:
            return sa.true()
        place = sa.tuple_(order_key(self.order), work_item.c.file_id)
        bound = sa.tuple_(sa.literal(self.start[0]), sa.literal(self.start[1]))
        return place < bound if self.falling else place > bound


def cursor_of(direction: str, order: WorkOrder, row: sa.Row[Any]) -> str:
    """Return the cursor that names a row: direction, order, key and file."""
    file_id, key = tuple(row)
    return f"{direction}:{order.value}:{float(key).hex()}:{file_id}"


def read_cursor(cursor: str, order: WorkOrder) -> tuple[bool, tuple[float, int] | None]:
    """Return whether to go backward, and the key to begin after.

    Raises:
        InputError: it is no cursor of this order.
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
