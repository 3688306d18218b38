"""Reading of the review list: filters as conditions of queries, pages, rows, counts, totals by folder.

The totals of folders are made by the same functions as for an item, so that a folder never reveals more.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext
from phiscan.model import EntityType, Verdict
from phiscan.review.decisions.discussion import tagged, tags_of
from phiscan.review.records.file_records import COLUMNS, COUNT, people_at_risk, record_of, with_evidence
from phiscan.review.records.openings import NEVER, openings_of, openings_together
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.model import (
    FIRST,
    LEAD,
    SECOND,
    Choices,
    Exposure,
    FileRecord,
    WorkCounts,
    WorkFilter,
    WorkOrder,
    WorkPage,
    WorkState,
    blinded,
    exposure_of,
)
from phiscan.review.worklist.near_duplicates import IS_BLIND
from phiscan.review.worklist.rows import types_mask
from phiscan.store.column_types import canonical_json, iso
from phiscan.store.sql_batches import count, listed
from phiscan.store.tables.desk import near_group, skip, work_item
from phiscan.store.tables.scans import access, examination, file, root

_CURSOR = re.compile(r"([ab]):(risk|informative|oldest):([0-9a-fx.p+-]+):(\d{1,18})", re.ASCII)


ORDER_KEYS: Mapping[WorkOrder, sa.ColumnElement[Any]] = {
    WorkOrder.RISK: work_item.c.risk,
    WorkOrder.INFORMATIVE: work_item.c.doubt,
    WorkOrder.OLDEST: work_item.c.file_id,
}
"""The sort column of each order; the file number is the second key."""


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
        columns = (ORDER_KEYS[self.order], work_item.c.file_id)
        query = query if self.start is None else query.where(self.beyond())
        return query.order_by(*(column.desc() if self.falling else column for column in columns))

    def beyond(self) -> sa.ColumnElement[bool]:
        """Return the condition of rows beyond this position; true for all rows without one."""
        if self.start is None:
            return sa.true()
        place = sa.tuple_(ORDER_KEYS[self.order], work_item.c.file_id)
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
    raise InputError(gettext("cursor: expected one that a page of this order gave"))


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
    return count(connection, rows.limit(MAX_FOLDER_ROWS + 1).subquery()) <= MAX_FOLDER_ROWS


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
    connection: sa.Connection,
    query: sa.Select[Any],
    wanted: WorkFilter,
    viewer: str,
    now: datetime,
    *,
    scanned: bool = False,
) -> sa.Select[Any]:
    """Restrict a query of the review list to a filter, as a viewer sees it: without hidden items.

    ``scanned``: prevent the use of an index of the state, which most items share: reading every row once
    is six times as fast as fetching most of them in the order of an index. The rows of a folder that
    ``is_small_folder`` are found by its index.
    """
    by_folder = is_small_folder(connection, wanted.root_id, wanted.folder)
    query = query.where(*in_state(wanted.state, viewer, now, scanned=scanned or by_folder))
    hidden = work_item.c.hidden_until > iso(now)
    return query.where(
        hidden if wanted.suppressed else ~hidden, *conditions_of(wanted, by_folder=by_folder, viewer=viewer)
    )


def conditions_of(
    wanted: WorkFilter, *, by_folder: bool = False, viewer: str = ""
) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of a filter on the rows of the list; but for tags, whoever looks."""
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
    if wanted.label:
        written = sa.type_coerce(examination.c.labels, sa.Text)  # by the whole name or id
        carry = sa.select(examination.c.id).where(
            written.contains(canonical_json(wanted.label), autoescape=True)
        )
        conditions.append(~work_item.c.blind & work_item.c.examination_id.in_(carry))
    if wanted.tag:
        conditions.append(work_item.c.file_id.in_(tagged(wanted.tag, viewer)))
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
    undecided = (is_open.is_(True), sa.or_(work_item.c.awaits == FIRST, work_item.c.reviewer != viewer))
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


MAX_PAGE = 500
UNDECIDED = WorkFilter()
N_TRIED = 2000  # items of the list that are searched for a text before all paths are

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
    .outerjoin(*COUNT)
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
    scanned = wanted.state is not WorkState.SKIPPED
    query = narrowed(connection, _COUNT, wanted, viewer, now, scanned=scanned)
    return int(connection.execute(query).scalar_one())


def numbers(
    connection: sa.Connection, wanted: WorkFilter, *, viewer: str, now: datetime, limit: int
) -> list[int]:
    """Return the numbers of the files that pass a filter, at most ``limit``."""
    query = narrowed(connection, sa.select(work_item.c.file_id), wanted, viewer, now)
    return list(connection.execute(query.order_by(work_item.c.file_id).limit(limit)).scalars())


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


def detail(connection: sa.Connection, file_id: int, *, viewer: str, now: datetime) -> FileRecord:
    """Return one item with its evidence, as far as the viewer may see it.

    Raises:
        InputError: the file is not in the list.
    """
    found = item(connection, file_id, viewer=viewer, now=now)
    if found.blind:
        return found
    openings = openings_together(connection, [file_id])
    return replace(with_evidence(connection, found), openings=openings)


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
    key = connection.execute(sa.select(ORDER_KEYS[order]).where(work_item.c.file_id == file_id)).scalar()
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
        if awaits == work_rows.DUPLICATE and reviewer != viewer:  # hidden from them, with nothing to decide
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
    columns: tuple[sa.ColumnElement[Any], ...] = (work_item.c.file_id, ORDER_KEYS[place.order].label("key"))
    if wanted.text:
        # A frequent text is soon found in the order of the list; a rare one requires a scan of all paths.
        with_path = sa.select(*columns, work_item.c.path_folded)
        every = narrowed(connection, with_path, replace(wanted, text=""), viewer, now)
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
    all_paths = narrowed(connection, sa.select(*columns), wanted, viewer, now)
    return [*connection.execute(place.ordered(all_paths).limit(n))]


def lines(
    connection: sa.Connection, file_ids: Sequence[int], *, viewer: str, now: datetime
) -> tuple[FileRecord, ...]:
    """Return the rows of these files, in this order."""
    rows = {row.file_id: row for row in connection.execute(_LINES, {"files": file_ids})}
    groups = sorted({row.group_id for row in rows.values() if row.group_id is not None})
    of_groups = sa.select(near_group.c.group_id, sa.func.count()).group_by(near_group.c.group_id)
    of_groups = of_groups.where(near_group.c.group_id.in_(groups), ~IS_BLIND)
    sizes = {row[0]: row[1] for row in connection.execute(of_groups)} if groups else {}
    passed_over = skipped_by(viewer, now).where(skip.c.file_id.in_(file_ids))
    skipped: set[int] = set(connection.execute(passed_over).scalars())
    tags = tags_of(connection, file_ids, viewer=viewer)
    opened = openings_of(connection, [number for number, row in rows.items() if not row.blind])
    return tuple(
        replace(
            _item(rows[number], viewer, now, sizes, skipped=number in skipped),
            tags=tags.get(number, ()),
            openings=opened.get(number, NEVER),
        )
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
    key = connection.execute(sa.select(ORDER_KEYS[order]).where(work_item.c.file_id == file_id)).scalar()
    start = None if key is None else (float(key), file_id)
    total, n_before_it = _n_with_before(connection, wanted, order, start, viewer=viewer, now=now)
    after = rows_from(connection, wanted, Place(order, start), viewer=viewer, now=now, n=n_after)
    previous: Sequence[sa.Row[Any]] = ()
    if start is not None:
        backward = Place(order, start, backward=True)
        previous = rows_from(connection, wanted, backward, viewer=viewer, now=now, n=n_before)
    itself = sa.select(work_item.c.file_id).where(work_item.c.file_id == file_id)
    in_list = connection.execute(narrowed(connection, itself, wanted, viewer, now)).first() is not None
    position = 1 + n_before_it if in_list else None
    following = tuple(row.file_id for row in after)
    numbers = [*(row.file_id for row in reversed(previous)), *([file_id] if in_list else []), *following]
    items = lines(connection, numbers, viewer=viewer, now=now)
    is_exact = position is None or position <= MAX_COUNTED or wanted != WorkFilter(state=wanted.state)
    if position is not None and not is_exact:
        position = MAX_COUNTED + 1
    return ListPlace(position, is_exact, total, items, following)


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
        near = place.ordered(narrowed(connection, sa.select(work_item.c.file_id), wanted, viewer, now))
        before = 0 if start is None else count(connection, near.limit(MAX_COUNTED + 1).subquery())
        return size(connection, wanted, viewer=viewer, now=now), before
    columns: tuple[Any, ...] = (sa.func.count(), sa.func.sum(sa.case((place.beyond(), 1), else_=0)))
    both: sa.Select[Any] = sa.select(*columns).select_from(work_item)
    counted = narrowed(connection, both, wanted, viewer, now, scanned=True)
    total, n_before = connection.execute(counted).one()
    return total, 0 if start is None else n_before or 0


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
    inside = in_folder(root_id, folder, by_index=is_small_folder(connection, root_id, folder))
    inside.append(work_item.c.hidden_until <= iso(now))
    parts = _parts(connection, folder)
    shown = sa.select().where(_is_listed, *inside, work_item.c.blind.is_(False))
    people: dict[tuple[Any, ...], int] = {}  # in the folder, (), and two levels below, by root and parts
    for n_keys in (0, 1, 2) if root_id is None else (0, 2, 3):
        people |= people_at_risk(connection, shown, [work_item.c.root_id, *parts][:n_keys])
    depth = len([part for part in folder.split("/") if part])
    whole = FolderTotal(root_id or 0, folder, people=people.get((), 0))
    if root_id is None:
        everything = people_at_risk(connection, sa.select().where(_is_listed)).get((), 0)
        whole.people, whole.people_apart = everything, everything - whole.people
    tops: dict[Any, FolderTotal] = {}
    inner: dict[tuple[Any, Any], FolderTotal] = {}
    for row in connection.execute(_query(inside, parts)):
        if root_id is None:
            key: tuple[Any, ...] = (row.root_id,)
            top, second, at = FolderTotal(row.root_id, "", names.get(row.root_id, "")), row.first, 0
        else:
            key = (row.root_id, row.first)
            top, second, at = _placed(row, row.first, depth, folder), row.second, depth + 1
        top = tops.setdefault(key, replace(top, people=people.get(key, 0)))
        below = _placed(row, second, at, top.folder)
        below = inner.setdefault((key, second), replace(below, people=people.get((*key, second), 0)))
        for total in (whole, top, below):
            _add(total, row, viewer)
    for (key, _), below in inner.items():
        tops[key].below = (*tops[key].below, below)
    for total in tops.values():
        total.below = _ordered(total.below)
    return FolderLevel(whole, _ordered(tuple(tops.values())))


def _placed(row: sa.Row[Any], part: str, depth: int, parent: str) -> FolderTotal:
    """Return the folder of a part of a path, as it is written; "" = the files directly in the parent."""
    parts = row.display.split("/")[:-1]
    name = part and (parts[depth] if depth < len(parts) else part)
    return FolderTotal(row.root_id, "/".join(parts[: depth + 1]) if name else parent, name)


def _parts(connection: sa.Connection, folder: str) -> tuple[sa.ColumnElement[str], sa.ColumnElement[str]]:
    """Return the next two parts of the paths below a folder."""
    place = _POSITION[connection.dialect.name]
    inside = folder.strip("/").casefold()
    inside += "/" if inside else ""
    first, after = _parted(place, sa.func.substr(work_item.c.path_folded, len(inside) + 1))
    return first, _parted(place, after)[0]


def _query(
    inside: Sequence[sa.ColumnElement[bool]], parts: Sequence[sa.ColumnElement[str]]
) -> sa.Select[Any]:
    # Not the bare column: SQLite would read all rows in the order of the folder's index, to group by it.
    root_number = sa.func.coalesce(work_item.c.root_id, work_item.c.root_id).label("root_id")
    keys = (
        *(root_number, parts[0].label("first"), parts[1].label("second")),
        *(work_item.c.awaits, work_item.c.state, work_item.c.reviewer, work_item.c.is_open),
        *(examination.c.mode, access.c.readers),
    )
    groups = (
        sa.select(*keys, sa.func.count().label("n"), sa.func.min(work_item.c.file_id).label("file_id"))
        .select_from(work_item)
        .join(examination, examination.c.id == work_item.c.examination_id)
        .outerjoin(access, access.c.examination_id == examination.c.id)
        .where(*inside)
        .group_by(*keys)
        .subquery()
    )
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
