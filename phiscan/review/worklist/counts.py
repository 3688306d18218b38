"""Counts of the review list, updated in the transactions that change it: no page counts 200,000 rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from phiscan.review.decisions.second_verdicts import SECOND
from phiscan.store.column_types import canonical_json
from phiscan.store.sql_batches import listed
from phiscan.store.tables import work_item, work_tally

STATUS = ("awaits", "state", "reviewer", "assignee", "hidden_until", "referred")
"""The columns that are counted in combination."""
SINGLE = ("root_id", "media_type", "owner")
"""The columns that are counted separately."""
COLUMNS = (*STATUS, *SINGLE)

DUPLICATE = "twin"
"""How a hidden item is counted that awaits no verdict itself: see ``worklist.row_sources``."""

_AWAITS = sa.case(
    ((work_item.c.awaits == SECOND) & work_item.c.is_open.is_(False), DUPLICATE), else_=work_item.c.awaits
).label("awaits")
_COUNTED = sa.select(*(_AWAITS if name == "awaits" else work_item.c[name] for name in COLUMNS))
_OF_FILES = _COUNTED.where(work_item.c.file_id.in_(listed("files")))
_ADD = (
    work_tally.update()
    .where(work_tally.c.kind == sa.bindparam("its_kind"), work_tally.c.value == sa.bindparam("its_value"))
    .values(n=work_tally.c.n + sa.bindparam("more"))
)
_START = work_tally.insert()
_TALLIES = (
    sa.select(work_tally.c.value, work_tally.c.n)
    .where(work_tally.c.kind == sa.bindparam("its_kind"), work_tally.c.n > 0)
    .order_by(work_tally.c.value)
)


def note(
    connection: sa.Connection, removed: Iterable[Mapping[str, Any]], added: Iterable[Mapping[str, Any]]
) -> None:
    """Update the counts by removed and added rows of ``work_item``."""
    change: Counter[tuple[str, Any]] = Counter()
    for row in added:
        change.update(_counted_of_new(row))
    for row in removed:
        change.subtract(_counted(row))
    for (kind, counted), n in change.items():
        if n:
            value = _value(counted)
            changed = connection.execute(_ADD, {"its_kind": kind, "its_value": value, "more": n})
            if not changed.rowcount:
                connection.execute(_START, {"kind": kind, "value": value, "n": n})


def count(counts: Counter[tuple[str, str]], row: Mapping[str, Any]) -> None:
    """Add a row of the list to counts by kind and value."""
    counts.update((kind, _value(counted)) for kind, counted in _counted_of_new(row))


def agree(connection: sa.Connection, counts: Counter[tuple[str, str]]) -> bool:
    """Return whether the stored counts equal these."""
    query = sa.select(work_tally.c.kind, work_tally.c.value, work_tally.c.n).where(work_tally.c.n != 0)
    return {(row.kind, row.value): row.n for row in connection.execute(query)} == dict(counts)


def rows_of(connection: sa.Connection, file_ids: Sequence[int]) -> list[Mapping[str, Any]]:
    """Return the counts of the rows of these files."""
    return [dict(row) for row in connection.execute(_OF_FILES, {"files": file_ids}).mappings()]


def rows_where(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> list[Mapping[str, Any]]:
    """Return the counts of some rows of the list."""
    return [dict(row) for row in connection.execute(_COUNTED.where(condition)).mappings()]


def clear(connection: sa.Connection) -> None:
    """Delete all counts, before the list is rebuilt."""
    connection.execute(work_tally.delete())


def statuses(connection: sa.Connection) -> Iterator[tuple[str, str, str, str, str, bool, int]]:
    """Yield awaits (or ``DUPLICATE``), state, reviewer, assignee, hidden_until, referred, and the count."""
    for value, n in _tallies(connection, "status"):
        awaits, state, reviewer, assignee, hidden_until, referred = json.loads(value)
        yield awaits, state, reviewer, assignee, hidden_until, referred, n


def values(connection: sa.Connection, kind: str) -> list[tuple[str, int]]:
    """Return the values of one of ``SINGLE`` with their counts, most frequent first."""
    return sorted(_tallies(connection, kind), key=lambda one: (-one[1], one[0]))


def _tallies(connection: sa.Connection, kind: str) -> list[tuple[str, int]]:
    return [(row.value, row.n) for row in connection.execute(_TALLIES, {"its_kind": kind})]


def _value(counted: Any) -> str:
    return canonical_json(counted) if isinstance(counted, tuple) else str(counted)


def _counted_of_new(row: Mapping[str, Any]) -> list[tuple[str, Any]]:
    is_twin = row["awaits"] == SECOND and row.get("is_open") is False
    return _counted({**row, "awaits": DUPLICATE} if is_twin else row)


def _counted(row: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the kinds and values that one row is counted under; values of one kind are of one type."""
    return [*((name, row[name]) for name in SINGLE), ("status", tuple(row[name] for name in STATUS))]
