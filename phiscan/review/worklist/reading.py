"""Reading of the review list: a page of it, one row, its counts and filter values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext
from phiscan.model import Verdict
from phiscan.review.decisions.second_verdicts import LEAD, SECOND
from phiscan.review.records.file_records import COLUMNS, record_of
from phiscan.review.worklist import queue
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.filtering import (
    Place,
    cursor_of,
    is_small_folder,
    narrowed,
    order_key,
    read_cursor,
    skipped_by,
)
from phiscan.review.worklist.model import (
    Choices,
    FileRecord,
    WorkCounts,
    WorkFilter,
    WorkOrder,
    WorkPage,
    WorkState,
    blinded,
)
from phiscan.review.worklist.near_duplicates import IS_BLIND
from phiscan.store.column_types import iso
from phiscan.store.sql_batches import listed
from phiscan.store.tables import access, examination, file, near_group, root, skip, work_item

MAX_PAGE = 500
UNDECIDED = WorkFilter()
N_TRIED = 2000  # items of the list that are searched for a text before all paths are

_OTHER = work_item.alias()
_COUNT = sa.select(sa.func.count()).select_from(work_item)
_LINES = (
    sa.select(
        *COLUMNS,
        *(column for column in work_item.c if column.name not in {column.name for column in COLUMNS}),
        work_item.c.risk.label("place"),
        root.c.complete_scan_id,
    )
    .select_from(work_item)
    .join(file, file.c.id == work_item.c.file_id)
    .join(root, root.c.id == work_item.c.root_id)
    .join(examination, examination.c.id == work_item.c.examination_id)
    .outerjoin(access, access.c.examination_id == examination.c.id)
    .where(work_item.c.file_id.in_(listed("files")))
)


def page(
    connection: sa.Connection,
    wanted: WorkFilter = UNDECIDED,
    *,
    viewer: str,
    now: datetime,
    order: WorkOrder = WorkOrder.RISK,
    limit: int = 50,
    cursor: str = "",
) -> WorkPage:
    """Return a page of the list as ``viewer`` may see it, from the cursor of another page on.

    Raises:
        InputError: the cursor is invalid for this order.
    """
    backward, start = read_cursor(cursor, order)
    limit = max(1, min(limit, MAX_PAGE))
    place = Place(order, start, backward=backward)
    found = rows_from(connection, wanted, place, viewer=viewer, now=now, n=limit + 1)
    more, found = len(found) > limit, found[:limit]
    if backward:
        found = found[::-1]
    items = lines(connection, [row[0] for row in found], viewer=viewer, now=now)
    if not found:
        return WorkPage((), "", "")
    first, last = found[0], found[-1]
    return WorkPage(
        items,
        after=cursor_of("a", order, last) if more or backward else "",
        before=cursor_of("b", order, first) if (more if backward else cursor) else "",
    )


def size(connection: sa.Connection, wanted: WorkFilter = UNDECIDED, *, viewer: str, now: datetime) -> int:
    """Count the items that pass a filter; for a whole state, from the stored counts."""
    if wanted == WorkFilter(state=wanted.state):
        return counts(connection, viewer=viewer, now=now).by_state[wanted.state]
    return _size(connection, wanted, viewer=viewer, now=now)


def _size(connection: sa.Connection, wanted: WorkFilter, *, viewer: str, now: datetime) -> int:
    # Skipped items are few and looked up by their index.
    scanned, by_folder = wanted.state is not WorkState.SKIPPED, by_folder_index(connection, wanted)
    query = narrowed(_COUNT, wanted, viewer, now, scanned=scanned, by_folder=by_folder)
    return int(connection.execute(query).scalar_one())


def numbers(
    connection: sa.Connection, wanted: WorkFilter, *, viewer: str, now: datetime, limit: int
) -> list[int]:
    """Return the numbers of the files that pass a filter, at most ``limit``."""
    query = narrowed(
        sa.select(work_item.c.file_id), wanted, viewer, now, by_folder=by_folder_index(connection, wanted)
    ).order_by(work_item.c.file_id)
    return list(connection.execute(query.limit(limit)).scalars())


def is_listed(connection: sa.Connection, file_id: int) -> bool:
    """Return whether a file is in the review list, in any state."""
    query = sa.select(work_item.c.file_id).where(work_item.c.file_id == file_id)
    return connection.execute(query).first() is not None


def item(connection: sa.Connection, file_id: int, *, viewer: str, now: datetime) -> FileRecord:
    """Return one row.

    Raises:
        InputError: the file is not in the list.
    """
    found = lines(connection, [file_id], viewer=viewer, now=now)
    if not found:
        raise InputError(gettext("file {file_id}: not in the review list (any more)", file_id=file_id))
    return found[0]


def detail(
    connection: sa.Connection,
    file_id: int,
    *,
    viewer: str,
    now: datetime,
    read: queue.FindingReader | None = None,
) -> FileRecord:
    """Return one item with its evidence, as far as the viewer may see it.

    ``read``: source of the findings, instead of the database.

    Raises:
        InputError: the file is not in the list.
    """
    found = item(connection, file_id, viewer=viewer, now=now)
    return found if found.blind else queue.with_evidence(connection, found, read=read)


def adjacent(
    connection: sa.Connection,
    file_id: int,
    wanted: WorkFilter = UNDECIDED,
    *,
    viewer: str,
    now: datetime,
    order: WorkOrder = WorkOrder.RISK,
    backward: bool = False,
) -> int | None:
    """Return the item after a file in a list, which the file may have left, or the one before it.

    None = it was the last or first, or (backward) has no position in the list.
    """
    key = connection.execute(sa.select(order_key(order)).where(work_item.c.file_id == file_id)).scalar()
    if key is None and backward:
        return None
    start = None if key is None else (key, file_id)
    # Two rows: without a key the list begins at its first item, which may be this one.
    found = rows_from(connection, wanted, Place(order, start, backward=backward), viewer=viewer, now=now, n=2)
    return next((row[0] for row in found if row[0] != file_id), None)


def counts(connection: sa.Connection, *, viewer: str, now: datetime) -> WorkCounts:
    """Count the items by state, as the viewer sees them; suppressed ones separately."""
    by_state: Counter[WorkState] = Counter(dict.fromkeys(WorkState, 0))
    hidden = mine = 0
    moment = iso(now)
    for awaits, state, reviewer, assignee, hidden_until, _, n in work_rows.statuses(connection):
        seen = state_seen(awaits, state, reviewer, viewer)
        if (
            awaits == work_rows.DUPLICATE and reviewer != viewer
        ):  # hidden from this viewer, with nothing to decide
            by_state[WorkState.ANY] += n if hidden_until <= moment else 0
            continue
        if hidden_until > moment:
            hidden += n if seen is WorkState.UNDECIDED else 0
            continue
        by_state[seen] += n
        by_state[WorkState.ANY] += n
        by_state[WorkState.DISAGREED] += n if awaits == LEAD else 0
        mine += n if seen is WorkState.UNDECIDED and assignee == viewer else 0
    passed_over = _size(connection, WorkFilter(state=WorkState.SKIPPED), viewer=viewer, now=now)
    by_state[WorkState.SKIPPED] = passed_over
    by_state[WorkState.UNDECIDED] -= passed_over
    return WorkCounts(dict(by_state), hidden, mine)


def choices(connection: sa.Connection) -> Choices:
    """Return the values of the filters that occur in the list, most frequent first."""
    names = {str(row.id): row for row in connection.execute(sa.select(root.c.id, root.c.display))}
    assignees: Counter[str] = Counter()
    for _, _, _, assignee, _, _, n in work_rows.statuses(connection):
        assignees[assignee] += n
    return Choices(
        roots=tuple(
            (names[number].id, names[number].display, n)
            for number, n in work_rows.counted_values(connection, "root_id")
        ),
        media_types=tuple(work_rows.counted_values(connection, "media_type")),
        owners=tuple(work_rows.counted_values(connection, "owner")),
        assignees=tuple((name, n) for name, n in assignees.most_common() if name),
    )


def state_seen(awaits: str, state: str, reviewer: str, viewer: str) -> WorkState:
    """Return an item's state for the viewer: a blind second reviewer does not see the first verdict."""
    return WorkState.UNDECIDED if awaits == SECOND and reviewer != viewer else WorkState(state)


def rows_from(
    connection: sa.Connection, wanted: WorkFilter, place: Place, *, viewer: str, now: datetime, n: int
) -> Sequence[sa.Row[Any]]:
    """Return file number and sort key of the next items, at most ``n``."""
    columns: tuple[sa.ColumnElement[Any], ...] = (work_item.c.file_id, order_key(place.order).label("key"))
    by_folder = by_folder_index(connection, wanted)
    if wanted.text:
        # A frequent text is soon found in the order of the list; a rare one requires a scan of all paths.
        with_path = sa.select(*columns, work_item.c.path_folded)
        every = narrowed(with_path, replace(wanted, text=""), viewer, now, by_folder=by_folder)
        near = place.ordered(every).limit(N_TRIED).subquery()
        keys = (near.c.key, near.c.file_id)
        query = (
            sa.select(near.c.file_id, near.c.key)
            .where(near.c.path_folded.contains(wanted.text.casefold(), autoescape=True))
            .order_by(*(key.desc() if place.falling else key for key in keys))
        )
        found = [*connection.execute(query.limit(n))]
        if len(found) == n:
            return found
    all_paths = narrowed(sa.select(*columns), wanted, viewer, now, by_folder=by_folder)
    return [*connection.execute(place.ordered(all_paths).limit(n))]


def by_folder_index(connection: sa.Connection, wanted: WorkFilter) -> bool:
    """Return whether the rows of a filter are best found by the index of its folder."""
    return is_small_folder(connection, wanted.root_id, wanted.folder)


def lines(
    connection: sa.Connection, file_ids: Sequence[int], *, viewer: str, now: datetime
) -> tuple[FileRecord, ...]:
    """Return the rows of these files, in this order."""
    rows = {row.file_id: row for row in connection.execute(_LINES, {"files": file_ids})}
    groups = {row.group_id for row in rows.values() if row.group_id is not None}
    sizes = _group_sizes(connection, sorted(groups))
    passed_over = skipped_by(viewer, now).where(skip.c.file_id.in_(file_ids))
    skipped: set[int] = set(connection.execute(passed_over).scalars())
    return tuple(
        _item(rows[number], viewer, now, sizes, skipped=number in skipped)
        for number in file_ids
        if number in rows
    )


def _item(row: Any, viewer: str, now: datetime, sizes: dict[int, int], *, skipped: bool) -> FileRecord:
    state = state_seen(row.awaits, row.state, row.reviewer, viewer)
    known = state is not WorkState.UNDECIDED
    record = record_of(
        row,
        risk=row.place,
        state=state,
        verdict=Verdict(state) if known else None,
        reviewer=row.reviewer if known else "",
        decided=row.decided if known else None,
        assignee=row.assignee,
        skipped=skipped,
        new=not known and row.arrived >= (row.complete_scan_id or 0),
        group_id=row.group_id,
        n_group=sizes.get(row.group_id, 1),
        suppressed=row.hidden_until > iso(now),
    )
    return blinded(record) if row.blind else record


def _group_sizes(connection: sa.Connection, groups: Sequence[int]) -> dict[int, int]:
    if not groups:
        return {}
    query: sa.Select[Any] = (
        sa.select(near_group.c.group_id, sa.func.count())
        .where(near_group.c.group_id.in_(groups), ~IS_BLIND)
        .group_by(near_group.c.group_id)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


MAX_COUNTED = 2000  # items that are counted before an item for its position in the list of a whole state


@dataclass(frozen=True, slots=True)
class ListPlace:
    """The position of an item in a list, with the items around it."""

    position: int | None  # from 1; None = it is not in the list
    is_exact: bool  # False: at least so many items precede it; the others were not counted
    total: int
    items: tuple[FileRecord, ...]  # in the order of the list; including the item itself if it is in it
    following: tuple[int, ...]  # numbers of the next items of the list


def place(
    connection: sa.Connection,
    file_id: int,
    wanted: WorkFilter = UNDECIDED,
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
    after = rows_from(connection, wanted, Place(order, start), viewer=viewer, now=now, n=n_after)
    previous: Sequence[sa.Row[Any]] = ()
    if start is not None:
        backward = Place(order, start, backward=True)
        previous = rows_from(connection, wanted, backward, viewer=viewer, now=now, n=n_before)
    in_list = start is not None and _is_in(connection, file_id, wanted, viewer=viewer, now=now)
    position = 1 + n_before_it if in_list else None
    following = tuple(row.file_id for row in after)
    numbers = [*(row.file_id for row in reversed(previous)), *([file_id] if in_list else []), *following]
    items = lines(connection, numbers, viewer=viewer, now=now)
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
        return size(connection, wanted, viewer=viewer, now=now), before
    columns: tuple[Any, ...] = (sa.func.count(), sa.func.sum(sa.case((place.beyond(), 1), else_=0)))
    both: sa.Select[Any] = sa.select(*columns).select_from(work_item)
    by_folder = by_folder_index(connection, wanted)
    counted = narrowed(both, wanted, viewer, now, scanned=True, by_folder=by_folder)
    total, n_before = connection.execute(counted).one()
    return total, 0 if start is None else n_before or 0
