"""The findings of long files in memory: the same as in the database, bounded, and never of deleted rows."""

from dataclasses import replace

import sqlalchemy as sa

from phiscan.model import FileResult
from phiscan.review.records.file_records import MIN_FINDINGS, FindingCache, stored_findings
from phiscan.review.store import Store
from phiscan.store.tables import examination, finding
from tests.review.results import finding as found
from tests.review.results import referred, scan


def long_file(name: str, n: int = MIN_FINDINGS) -> FileResult:
    values = tuple(found(f"613-555-{number:04}", start=20 * number) for number in range(n))
    return replace(referred(name), findings=values)


def test_findings_come_from_memory_as_they_are_stored(store: Store) -> None:
    scan(store, [long_file("a.csv"), referred("b.txt")])
    cache = FindingCache()
    with store.database.read() as connection:
        rows = connection.execute(sa.select(examination.c.id, examination.c.content_hash)).all()
        for row in rows:
            stored = stored_findings(connection, row.id)
            first = cache.read(connection, row.id, row.content_hash)
            again = cache.read(connection, row.id, row.content_hash)
            assert first == again == stored
            assert (again is first) == (len(stored) >= MIN_FINDINGS)
        cache.clear()
        assert cache.read(connection, rows[0].id, rows[0].content_hash) is not first


def test_what_was_deleted_or_belongs_to_another_content_is_read_again(store: Store) -> None:
    scan(store, [long_file("a.csv")])
    cache = FindingCache()

    def act(connection: sa.Connection) -> None:
        row = connection.execute(sa.select(examination.c.id, examination.c.content_hash)).one()
        first = cache.read(connection, row.id, row.content_hash)
        assert cache.read(connection, row.id, "another digest") is not first
        connection.execute(sa.delete(finding).where(finding.c.examination_id == row.id))
        assert cache.read(connection, row.id, row.content_hash) == ()

    store.database.write(act)


def test_the_files_used_last_stay_within_the_limit(store: Store) -> None:
    scan(store, [long_file(f"{name}.csv") for name in "abc"])
    cache = FindingCache(max_findings=2 * MIN_FINDINGS)
    with store.database.read() as connection:
        rows = connection.execute(sa.select(examination.c.id, examination.c.content_hash)).all()
        first, second, third = (cache.read(connection, *row) for row in rows)
        assert cache.read(connection, *rows[2]) is third
        assert cache.read(connection, *rows[1]) is second
        assert cache.read(connection, *rows[0]) is not first
