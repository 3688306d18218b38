"""Helpers of the desk's tests: a share of referred files, and the list as the tables say it should be."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import sqlalchemy as sa

from phiscan.model import EntityType, FileResult
from phiscan.review.store import Store
from phiscan.review.worklist.model import FileRecord, WorkFilter, WorkOrder, WorkState
from phiscan.review.worklist.reading import UNDECIDED
from phiscan.store.tables.desk import work_item, work_tally
from tests.review.results import NOW, finding, referred, scan

ANY = WorkFilter(state=WorkState.ANY)


def share(n: int, *, folder: str = "letters") -> list[FileResult]:
    return [
        replace(
            referred(f"{folder}/{number:03}.txt", n_people=1 + number % 5),
            health_score=0.5 + number % 10 / 20,
            findings=(finding(f"613-555-{number:04}"), finding("Ann Ex", start=40, kind=EntityType.PERSON)),
        )
        for number in range(n)
    ]


def scanned(store: Store, n: int = 12) -> list[int]:
    """Scan a share of n referred files and return their numbers."""
    scan(store, share(n))
    return [
        item.file_id for item in store.desk.items(viewer="", now=NOW, order=WorkOrder.OLDEST, limit=500).items
    ]


def listed(
    store: Store, wanted: WorkFilter = UNDECIDED, *, viewer: str = "ana", now: datetime = NOW
) -> list[int]:
    """Return the numbers of the items in a list, by number."""
    return sorted(item.file_id for item in store.desk.items(wanted, viewer=viewer, now=now, limit=500).items)


def line(store: Store, file_id: int, *, viewer: str = "ana", now: datetime = NOW) -> FileRecord:
    return store.desk.item(file_id, viewer=viewer, now=now)


def rows(store: Store) -> Sequence[sa.Row[tuple[object, ...]]]:
    with store.database.read() as connection:
        return connection.execute(sa.select(work_item).order_by(work_item.c.file_id)).all()


def tallies(store: Store) -> Sequence[sa.Row[tuple[object, ...]]]:
    with store.database.read() as connection:
        query = sa.select(work_tally).where(work_tally.c.n != 0)
        return connection.execute(query.order_by(work_tally.c.kind, work_tally.c.value)).all()


def agrees_with_the_truth(store: Store) -> bool:
    """Tell whether list and counts as they were kept are what would be made now from all other tables."""
    kept, counted = rows(store), tallies(store)
    assert store.desk.rebuild() == len(kept)
    return (rows(store), tallies(store)) == (kept, counted)
