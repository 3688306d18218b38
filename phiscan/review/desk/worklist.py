"""Reading the review list: parts of it, one item, counts and choices."""

from __future__ import annotations

from datetime import datetime

from phiscan.review.decisions import history
from phiscan.review.worklist import folder_totals, list_place
from phiscan.review.worklist import reading as work_list
from phiscan.review.worklist.finding_cache import FindingCache
from phiscan.review.worklist.folder_totals import FolderLevel
from phiscan.review.worklist.list_place import ListPlace
from phiscan.review.worklist.model import (
    Choices,
    Progress,
    WorkCounts,
    WorkDetail,
    WorkFilter,
    WorkItem,
    WorkOrder,
    WorkPage,
)
from phiscan.store.database import Database


class ListDesk:
    """The review list, as the one who looks may see it."""

    _database: Database
    _floors: dict[str, tuple[datetime, int]]  # see ``history.progress``
    _findings: FindingCache

    def items(
        self,
        wanted: WorkFilter | None = None,
        *,
        viewer: str,
        now: datetime,
        order: WorkOrder = WorkOrder.RISK,
        limit: int = 50,
        cursor: str = "",
    ) -> WorkPage:
        """Return a part of the list as ``viewer`` may see it, from a cursor that a page before gave.

        Raises:
            InputError: the cursor is none of this order.
        """
        with self._database.read() as connection:
            return work_list.page(
                connection,
                wanted or WorkFilter(),
                viewer=viewer,
                now=now,
                order=order,
                limit=limit,
                cursor=cursor,
            )

    def size(self, wanted: WorkFilter | None = None, *, viewer: str, now: datetime) -> int:
        """Count what ``items`` returns over all its pages."""
        with self._database.read() as connection:
            return work_list.size(connection, wanted or WorkFilter(), viewer=viewer, now=now)

    def numbers(self, wanted: WorkFilter, *, viewer: str, now: datetime, limit: int) -> list[int]:
        """Return the numbers of the files that pass a filter, at most ``limit``."""
        with self._database.read() as connection:
            return work_list.numbers(connection, wanted, viewer=viewer, now=now, limit=limit)

    def item(self, file_id: int, *, viewer: str, now: datetime) -> WorkItem:
        """Return one line of the list.

        Raises:
            InputError: the file is not in the list (any more).
        """
        with self._database.read() as connection:
            return work_list.item(connection, file_id, viewer=viewer, now=now)

    def detail(self, file_id: int, *, viewer: str, now: datetime) -> WorkDetail:
        """Return one item with what explains it, as far as ``viewer`` may see it.

        Raises:
            InputError: the file is not in the list (any more).
        """
        with self._database.read() as connection:
            return work_list.detail(connection, file_id, viewer=viewer, now=now, read=self._findings.read)

    def next_after(
        self,
        file_id: int,
        wanted: WorkFilter | None = None,
        *,
        viewer: str,
        now: datetime,
        order: WorkOrder = WorkOrder.RISK,
    ) -> int | None:
        """Return the item that follows ``file_id`` in a list, whether that is still in it or not.

        None = it was the last; the list may have items before it all the same.
        """
        with self._database.read() as connection:
            return work_list.next_after(
                connection, file_id, wanted or WorkFilter(), viewer=viewer, now=now, order=order
            )

    def before(
        self,
        file_id: int,
        wanted: WorkFilter | None = None,
        *,
        viewer: str,
        now: datetime,
        order: WorkOrder = WorkOrder.RISK,
    ) -> int | None:
        """Return the item before ``file_id`` in a list; None = it was the first, or has no place there."""
        with self._database.read() as connection:
            return work_list.next_after(
                connection,
                file_id,
                wanted or WorkFilter(),
                viewer=viewer,
                now=now,
                order=order,
                backward=True,
            )

    def place(
        self,
        file_id: int,
        wanted: WorkFilter | None = None,
        *,
        viewer: str,
        now: datetime,
        order: WorkOrder = WorkOrder.RISK,
        n_before: int = 4,
        n_after: int = 8,
    ) -> ListPlace:
        """Return where a file is in a list ("12 of 43"), with its neighbours there."""
        with self._database.read() as connection:
            return list_place.place(
                connection,
                file_id,
                wanted or WorkFilter(),
                viewer=viewer,
                now=now,
                order=order,
                n_before=n_before,
                n_after=n_after,
            )

    def counts(self, *, viewer: str, now: datetime) -> WorkCounts:
        """Count the items by state."""
        with self._database.read() as connection:
            return work_list.counts(connection, viewer=viewer, now=now)

    def folder(self, root_id: int | None, folder: str = "", *, viewer: str, now: datetime) -> FolderLevel:
        """Return what the list holds of a folder and of each one below it; without a root, of all roots."""
        with self._database.read() as connection:
            return folder_totals.level(connection, root_id, folder, viewer=viewer, now=now)

    def progress(self, *, since: datetime) -> Progress:
        """Count what was decided since a moment, by whom; blind second verdicts are among them."""
        with self._database.read() as connection:
            return history.progress(connection, since=since, floors=self._floors)

    def choices(self) -> Choices:
        """Return the values that filters can be set to."""
        with self._database.read() as connection:
            return work_list.choices(connection)
