"""Opening: what is refused and how it is said, who may read the files, who waits for whom."""

import os
import sqlite3
import stat
from pathlib import Path

import pytest
import sqlalchemy as sa

from phiscan.errors import StoreError
from phiscan.model import Verdict
from phiscan.review.store import Store
from phiscan.store.database import BUSY_TIMEOUT_S, open_database
from phiscan.store.tables import SCHEMA_VERSION
from tests.review.results import NOW, scan, url_of


def refused(url: str, *, create: bool = False) -> str:
    with pytest.raises(StoreError) as caught, Store.open(url, create=create) as store:
        store.scans()
    message = str(caught.value)
    assert "\n" not in message
    assert "hunter2" not in message  # a password in the URL
    return message


def test_refuses_a_foreign_database(database: Path) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE patients (name TEXT)")
    for create in (False, True):
        assert "not a phiscan database" in refused(url_of(database), create=create)
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (1,)


@pytest.mark.parametrize(
    "content",
    [b"Dear Dr. Who, this is a letter and no database. " * 50, b"SQLite format 3\0" + b"\xff" * 5000],
)
def test_refuses_a_corrupt_database(database: Path, content: bytes) -> None:
    database.write_bytes(content)
    for create in (False, True):
        assert refused(url_of(database), create=create).startswith(f"sqlite:///{database}: ")
    assert database.read_bytes() == content


def test_refuses_an_empty_file_unless_asked_to_create(database: Path) -> None:
    database.touch()
    assert "is empty, without any table of phiscan; restore a backup" in refused(url_of(database))
    Store.open(url_of(database), create=True).close()


def test_says_what_helps_against_a_damaged_database_or_a_full_disk(store: Store, database: Path) -> None:
    scan(store)

    def fill(connection: sa.Connection) -> None:
        connection.exec_driver_sql("PRAGMA max_page_count = 1")  # as many as it has
        connection.exec_driver_sql("CREATE TABLE more AS SELECT randomblob(4000000) AS noise")

    with pytest.raises(StoreError, match=r"^sqlite:[^\n]*database or disk is full: free some space[^\n]*$"):
        store.database.write(fill)
    assert store.queue_size() == 2
    store.close()
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    database.write_bytes(database.read_bytes()[: 4096 * 3])
    assert "malformed: the file is damaged; move it away and restore a backup" in refused(url_of(database))


def test_refuses_to_write_a_read_only_database_in_one_line(store: Store, database: Path) -> None:
    scan(store)
    store.close()
    with Store.open(f"sqlite:///file:{database}?mode=ro&uri=true") as readable:
        assert readable.queue_size() == 2
        with pytest.raises(
            StoreError, match=r"^sqlite:[^\n]*attempt to write a readonly database: phiscan[^\n]*$"
        ):
            readable.decide_all([(1, Verdict.PHI)], reviewer="ada", now=NOW)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("no url", "expected a URL such as"),
        ("sqlite://", "expected the path of a database file"),
        ("nosuchkind://host/db", "no driver for this kind of database"),
        ("sqlite:////proc/nowhere/x.db", "cannot be created"),
        ("sqlite:////", "expected a file"),
    ],
)
def test_refuses_an_unusable_url(url: str, words: str) -> None:
    assert words in refused(url, create=True)


def test_only_the_owner_may_read_the_files(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Store.open(url_of(tmp_path / "new" / "phiscan.db"), create=True) as store:
            scan(store)
            files = list((tmp_path / "new").iterdir())
            assert {path.name for path in files} == {"phiscan.db", "phiscan.db-shm", "phiscan.db-wal"}
            assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
            assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    finally:
        os.umask(before)


def test_uses_a_write_ahead_log_and_foreign_keys(store: Store, database: Path) -> None:
    with store.database.read() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "busy_timeout", "synchronous", "temp_store")
        }
    assert pragmas == {
        "journal_mode": "wal",
        "foreign_keys": 1,
        "busy_timeout": BUSY_TIMEOUT_S * 1000,
        "synchronous": 1,
        "temp_store": 2,
    }
    assert database.exists()


def test_decisions_are_synced_to_the_disk(store: Store, backend: str) -> None:
    level = "PRAGMA synchronous" if backend == "sqlite" else "SHOW synchronous_commit"
    durable = store.database.write(lambda c: c.exec_driver_sql(level).scalar(), durable=True)
    swift = store.database.write(lambda c: c.exec_driver_sql(level).scalar())
    assert (durable, swift) == ((2, 1) if backend == "sqlite" else ("on", "off"))


def test_reads_one_state_while_another_connection_writes(store: Store, url: str) -> None:
    scan(store)
    rows = store.rows()
    first = next(rows)
    with Store.open(url) as other:
        other.decide_all([(other.find("c/referral.txt"), Verdict.PHI)], reviewer="ada", now=NOW)
        assert [row.verdict for row in [first, *rows]].count(Verdict.PHI) == 0
        assert other.queue_size(verdicts=[Verdict.PHI]) == 1


def test_nothing_is_left_of_a_transaction_that_failed(store: Store) -> None:
    def fail(connection: object) -> None:
        connection.exec_driver_sql("DELETE FROM alembic_version")  # type: ignore[attr-defined]
        message = "x"
        raise RuntimeError(message)

    with pytest.raises(RuntimeError):
        store.database.write(fail)
    assert store.scans() == []
    with store.database.read() as connection:
        assert (
            connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == SCHEMA_VERSION
        )


def test_tries_again_while_the_database_is_locked(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phiscan.store.database.BUSY_TIMEOUT_S", 0.01)
    opened = open_database(url_of(database), create=True)
    holder = sqlite3.connect(database, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    waits = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            holder.execute("COMMIT")

    monkeypatch.setattr("phiscan.store.database.time.sleep", wait)
    assert opened.write(lambda _connection: "done") == "done"
    assert len(waits) == 3
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="database is locked"):
        opened.write(lambda _connection: "never")
    holder.close()
    opened.close()
