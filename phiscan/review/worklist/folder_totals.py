"""The review list by folder: totals of the folders directly below a folder, two levels deep.

One query groups the list by the next two parts of each path and by state and exposure; the sums are made
here, by the same functions as for a single item, so that a folder never reveals more than its items.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.review.records.file_records import people_at_risk
from phiscan.review.worklist.model import Exposure, WorkState, exposure_of
from phiscan.review.worklist.reading import in_folder, is_small_folder, state_seen
from phiscan.store.column_types import iso
from phiscan.store.tables import access, examination, file, root, work_item

_POSITION = {"sqlite": sa.func.instr, "postgresql": sa.func.strpos}
"""SQL function for the position of a text in a text, by database: from 1, 0 = not found."""


_is_listed = work_item.c.examination_id == examination.c.id


@dataclass(slots=True)
class FolderTotal:
    """The items of one folder and everything below it, as the viewer may see them."""

    root_id: int
    folder: str = ""  # below the root, display form; "" = the root itself
    name: str = ""  # "" = the files directly in the parent folder
    n_files: int = 0
    n_open: int = 0  # without a verdict for the viewer
    by_state: dict[WorkState, int] = field(default_factory=lambda: defaultdict(int))
    by_exposure: dict[Exposure, int] = field(default_factory=lambda: defaultdict(int))
    people: int = 0  # at risk, as in the report; without those of blind and hidden items
    people_apart: int = 0  # of the whole share, whose people are all counted: those of such items
    below: tuple[FolderTotal, ...] = ()


@dataclass(frozen=True, slots=True)
class FolderLevel:
    """One folder, and the totals of its subfolders, most people first."""

    total: FolderTotal
    children: tuple[FolderTotal, ...]


def level(
    connection: sa.Connection, root_id: int | None, folder: str = "", *, viewer: str, now: datetime
) -> FolderLevel:
    """Return the totals of a folder; of all roots without a root number.

    Suppressed items are excluded, as in the list.
    """
    names: Mapping[int, str] = {
        row.id: row.display for row in connection.execute(sa.select(root.c.id, root.c.display))
    }
    query, people = _query(connection, root_id, folder, now), _people(connection, root_id, folder, now)
    depth = len([part for part in folder.split("/") if part])
    whole = FolderTotal(root_id or 0, folder, people=people.get((), 0))
    if root_id is None:
        everything = people_at_risk(connection, sa.select().where(_is_listed)).get((), 0)
        whole.people, whole.people_apart = everything, everything - whole.people
    tops: dict[Any, FolderTotal] = {}
    inner: dict[tuple[Any, Any], FolderTotal] = {}
    for row in connection.execute(query):
        parts = row.display.split("/")[:-1]
        if root_id is None:
            key: tuple[Any, ...] = (row.root_id,)
            top = FolderTotal(row.root_id, "", names.get(row.root_id, ""))
            at = 0
        else:
            name = "" if not row.first else parts[depth] if depth < len(parts) else row.first
            path = "/".join(parts[: depth + 1]) if name else folder
            key = (row.root_id, row.first)
            top = FolderTotal(root_id, path, name)
            at = depth + 1
        top = tops.setdefault(key, replace(top, people=people.get(key, 0)))
        second = row.first if root_id is None else row.second
        name = "" if not second else parts[at] if at < len(parts) else second
        path = "/".join(parts[: at + 1]) if name else top.folder
        below = inner.setdefault(
            (key, second), FolderTotal(row.root_id, path, name, people=people.get((*key, second), 0))
        )
        for total in (whole, top, below):
            _add(total, row, viewer)
    for (key, _), below in inner.items():
        tops[key].below = (*tops[key].below, below)
    for total in tops.values():
        total.below = _ordered(total.below)
    return FolderLevel(whole, _ordered(tuple(tops.values())))


def _parts(connection: sa.Connection, folder: str) -> tuple[sa.ColumnElement[str], sa.ColumnElement[str]]:
    """Return the next two parts of the paths below a folder."""
    place = _POSITION[connection.dialect.name]
    inside = folder.strip("/").casefold()
    inside += "/" if inside else ""
    first, after = _parted(place, sa.func.substr(work_item.c.path_folded, len(inside) + 1))
    return first, _parted(place, after)[0]


def _people(
    connection: sa.Connection, root_id: int | None, folder: str, now: datetime
) -> dict[tuple[Any, ...], int]:
    """Return the people at risk in a folder, (), and in those two levels below it, by root and parts."""
    by_index = is_small_folder(connection, root_id, folder)
    shown = sa.select().where(
        _is_listed,
        *in_folder(root_id, folder, by_index=by_index),
        work_item.c.blind.is_(False),
        work_item.c.hidden_until <= iso(now),
    )
    levels = [work_item.c.root_id, *_parts(connection, folder)]
    depths = (0, 1, 2) if root_id is None else (0, 2, 3)
    found: dict[tuple[Any, ...], int] = {}
    for depth in depths:
        found |= people_at_risk(connection, shown, levels[:depth])
    return found


def _query(connection: sa.Connection, root_id: int | None, folder: str, now: datetime) -> sa.Select[Any]:
    first, second = _parts(connection, folder)
    # Not the bare column: SQLite would read all rows in the order of the folder's index, to group by it.
    root_number = sa.func.coalesce(work_item.c.root_id, work_item.c.root_id).label("root_id")
    found = (
        sa.select(
            *(root_number, first.label("first"), second.label("second")),
            *(work_item.c.awaits, work_item.c.state, work_item.c.reviewer, work_item.c.is_open),
            *(examination.c.mode, access.c.readers),
            sa.func.count().label("n"),
            sa.func.min(work_item.c.file_id).label("file_id"),
        )
        .select_from(work_item)
        .join(examination, examination.c.id == work_item.c.examination_id)
        .outerjoin(access, access.c.examination_id == examination.c.id)
        .where(work_item.c.hidden_until <= iso(now))
    )
    by_index = is_small_folder(connection, root_id, folder)
    found = found.where(*in_folder(root_id, folder, by_index=by_index))
    n_keys = 9
    groups = found.group_by(*list(found.selected_columns)[:n_keys]).subquery()
    return sa.select(groups, file.c.display).join(file, file.c.id == groups.c.file_id)


def _parted(place: Any, text: sa.ColumnElement[str]) -> tuple[sa.ColumnElement[str], sa.ColumnElement[str]]:
    """Return the first part of a path and the rest; two empty texts for a file name."""
    at = place(text, "/")
    is_file = at == 0
    return (
        sa.case((is_file, ""), else_=sa.func.substr(text, 1, at - 1)),
        sa.case((is_file, ""), else_=sa.func.substr(text, at + 1)),
    )


def _add(total: FolderTotal, row: sa.Row[Any], viewer: str) -> None:
    state = state_seen(row.awaits, row.state, row.reviewer, viewer)
    total.n_files += row.n
    total.n_open += row.n if state is WorkState.UNDECIDED and row.is_open else 0
    total.by_state[state] += row.n
    total.by_exposure[exposure_of(row.mode, row.readers or ())] += row.n


def _ordered(totals: tuple[FolderTotal, ...]) -> tuple[FolderTotal, ...]:
    return tuple(sorted(totals, key=lambda one: (-one.people, -one.n_files, one.name)))
