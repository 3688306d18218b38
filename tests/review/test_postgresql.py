"""What is special about a server: roles, lost connections, waiting writers, odd texts, passwords."""

import contextlib
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from phiscan.errors import InputError, StoreError
from phiscan.model import Verdict
from phiscan.report.gather import gather
from phiscan.review import retention
from phiscan.review.decisions.learning import reviewed_files
from phiscan.review.retention import Retention
from phiscan.review.store import Store
from phiscan.store import identity, postgresql
from phiscan.store.database import open_database, parse, shown
from phiscan.store.postgresql import grants
from phiscan.store.tables.schema import APPEND_ONLY
from tests.empty_database import new_database
from tests.postgresql import Server, running_server
from tests.report.desk_day import DAY, day_at_the_desk, scanned_twice
from tests.review.results import KEY, NOW, clear, later, referred, scan
from tests.review.test_database import refused
from tests.review.test_purging import years


def test_postgresql_urls_mean_psycopg_3() -> None:
    for url in ("postgresql://a@b/c", "postgres://a@b/c", "postgresql+psycopg://a@b/c"):
        assert parse(url).drivername == "postgresql+psycopg"
        assert shown(parse(url)) == "postgresql://a@b/c"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hunter2@127.0.0.1:1/db",
        "postgresql://me@127.0.0.1:1/db?password=hunter2",
        "postgresql://me@127.0.0.1:1/db?sslpassword=hunter2&sslkey=x",
        "postgresql://me:hunter2@127.0.0.1:one/db",
        "postgresql://me:hunter2@/db?host=/nowhere/at/all",
        "postgresql://me:hunter2@127.0.0.1:1/db?hunter2=hunter2x",
        "postgresql+nosuchdriver://me:hunter2@h/db",
        "nosuchkind://me:hunter2@h/db",
    ],
)
def test_no_message_shows_a_password(url: str) -> None:
    with pytest.raises(StoreError) as caught:
        Store.open(url)
    assert "hunter2@" not in str(caught.value)
    assert "=hunter2&" not in str(caught.value)
    assert not str(caught.value).endswith("hunter2")


def test_says_in_our_words_why_there_is_no_connection(server: Server, url: str, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead, contextlib.chdir(tmp_path):
        dead.bind(".s.PGSQL.5432")  # its file stays when the server was killed
    assert "no server answers there" in refused(f"postgresql://me:hunter2@/db?host={tmp_path}")
    assert "no server answers there" in refused("postgresql://me:hunter2@127.0.0.1:1/db")
    assert "no server answers there" in refused("postgresql://me:hunter2@/db?host=/nowhere")
    assert "no such database on the server" in refused(server.url("nosuch"))
    assert "refused this user" in refused(server.url("postgres", user="nobody_there"))
    assert "is empty, without any table of phiscan" in refused(server.url("postgres"))
    assert url


def test_texts_that_no_server_takes_are_made_visible(store: Store) -> None:
    odd = "a\x00b\udcffc\U0001f600"
    scan(store, [replace(referred("x.txt"), media_type=odd)])
    store.decide_all([(1, Verdict.PHI)], reviewer=odd, note=odd, now=NOW)
    store.assign_all([1], odd, by=odd, now=NOW)
    item = store.item(1)
    assert item.media_type == item.decisions[0].note == "a\\x00b\\udcffc\U0001f600"
    with pytest.raises(InputError):
        store.find(odd)
    assert store.verify_audit().ok


@pytest.mark.usefixtures("server")
def test_a_day_at_the_desk_is_reported_alike_on_a_server(url: str, tmp_path: Path) -> None:
    """What modules of SQLite alone say in SQL is run here on a server too."""
    found, now = [], DAY + timedelta(hours=3)
    for database in (open_database(url, create=False), new_database(tmp_path / "phiscan.db")):
        made = scanned_twice(database)
        database.give_key(identity.OPTION, KEY)
        day_at_the_desk(made)
        desk = Store(database).desk
        desk.draw_sample(n_queued=0, n_unreferred=1, by="lena", now=now, seed="s")
        number = desk.write_incident(None, {"title": "t"}, add=[1], by="ana", now=now)
        desk.write_incident(number, {"happened": "a call of Ann Ex"}, by="ana", now=now)
        data = gather(database, now=now, conceal=False).data
        of_report = data.change, data.decisions, data.oversight.suppressions, data.span_scores, data.people
        of_desk = desk.tasks(now=now, cleaned=True), desk.left(), desk.incident(number).files, desk.ratings()
        of_desk += [*reviewed_files(database)], [*desk.gold()], [*desk.topic_gold()], desk.corrections(1)
        items = desk.items(viewer="zoe", now=now).items
        found.append((of_report, of_desk, [desk.detail(one.file_id, viewer="zoe", now=now) for one in items]))
        database.close()
    assert found[0] == found[1]


@pytest.fixture
def app_url(server: Server, url: str) -> str:
    """The store as a role sees it that has only what `phiscan db grants` gives."""
    server.run("DROP ROLE IF EXISTS phiscan_app", "CREATE ROLE phiscan_app LOGIN")
    server.run(*grants("phiscan_app"), database="phiscan_test")
    return url.replace("phiscan_owner@", "phiscan_app@")


def test_a_role_with_the_least_rights_can_scan_and_review(app_url: str) -> None:
    with Store.open(app_url) as store:
        scan(store)
        scan(store, [clear("new.txt")], unchanged=["a/letter.txt"], minutes=5)
        store.decide_all([(1, Verdict.PHI)], reviewer="ada", now=NOW)
        store.assign_all([1], "bea", by="ada", now=later(1))
        assert store.verify_audit().ok
        assert store.queue_size() == 1


def test_a_role_with_the_least_rights_cannot_undo_the_record(app_url: str, store: Store) -> None:
    scan(store)
    store.decide_all([(1, Verdict.PHI)], reviewer="ada", now=NOW)
    with psycopg.connect(app_url, autocommit=True) as connection:
        for table in APPEND_ONLY:
            for statement in (
                f"UPDATE {table} SET id = id",  # noqa: S608 (names of ours)
                f"DELETE FROM {table}",  # noqa: S608 (names of ours)
                f"TRUNCATE {table} CASCADE",
                f"ALTER TABLE {table} DISABLE TRIGGER {table}_no_change",
                f"DROP TRIGGER {table}_no_change ON {table}",
                f"DROP TABLE {table}",
                f"ALTER FUNCTION {table}_refuse() RENAME TO harmless",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement.encode())
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SET session_replication_role = replica")
    database = open_database(app_url, create=False)
    with pytest.raises(StoreError, match="this role lacks a right that is needed"):
        retention.run(database, Retention(), by="eve", now=years(50), dry_run=False)
    database.close()
    assert store.verify_audit().ok


def test_refuses_a_role_name_that_is_not_plain() -> None:
    with pytest.raises(InputError, match="expected a role's name"):
        grants('x"; DROP TABLE decision; --')


def test_refuses_a_database_that_cannot_hold_every_language(
    server: Server, fresh_postgresql: Callable[[], str]
) -> None:
    server.run(
        "DROP DATABASE IF EXISTS latin",
        "CREATE DATABASE latin TEMPLATE template0 ENCODING LATIN1 LOCALE_PROVIDER libc LOCALE 'C'",
    )
    with pytest.raises(StoreError, match="its encoding is LATIN1, expected UTF8"):
        Store.open(server.url("latin"), create=True)
    server.drop("latin")
    assert fresh_postgresql()


def test_a_lost_connection_is_one_line_and_the_scan_goes_on_later(store: Store, server: Server) -> None:
    state = store.begin_scan([b"/share"], versions={}, options={}, now=NOW)
    store.record(state.id, "v1", [referred("a.txt")])
    killed = []

    def lose(connection: sa.Connection) -> None:
        pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
        server.run(f"SELECT pg_terminate_backend({pid}, 5000)")
        killed.append(pid)
        connection.exec_driver_sql("SELECT 1")

    with pytest.raises(StoreError, match=r"^postgresql://[^\n]*: the connection was lost[^\n]*$"):
        store.database.write(lose)
    assert len(killed) == 1  # whether it was written is not known: not tried again behind our back
    store.record(state.id, "v1", [referred("b.txt")])
    store.finish_scan(state.id, status="complete", seconds=1.0, now=later(1))
    assert store.summary().crawled == 2


@pytest.mark.slow
def test_a_server_that_is_restarted_is_found_again() -> None:
    with running_server() as server, Store.open(server.url("postgres"), create=True) as store:
        scan(store)
        server.stop()
        with pytest.raises(StoreError, match=r"no server answers there|the connection was lost"):
            store.summary()
        with pytest.raises(StoreError, match=r"no server answers there|the connection was lost"):
            store.record(1, "v1", [referred("b.txt")])
        server.start()
        assert store.summary().crawled == 6


def test_nothing_is_recorded_while_a_purge_is_at_work(
    store: Store, url: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "LOCK_TIMEOUT_S", 1)
    monkeypatch.setattr("phiscan.store.database.N_TRIES", 1)
    state = store.begin_scan([b"/share"], versions={}, options={}, now=later(5))
    inside, leave = threading.Event(), threading.Event()

    def stay(_connection: sa.Connection) -> None:
        inside.set()
        leave.wait(100)

    with Store.open(url) as other:
        thread = threading.Thread(target=other.database.write, args=(stay,), kwargs={"lock": "exclusive"})
        thread.start()
        assert inside.wait(100)
        with pytest.raises(StoreError, match="stayed locked"):
            store.record(state.id, "v1", [referred("during.txt")])
        leave.set()
        thread.join(100)
    store.record(state.id, "v1", [referred("after.txt")])
    assert [row.path for row in store.rows(state.id)] == ["after.txt"]
    assert server.folder.is_dir()


@pytest.mark.slow
def test_two_recorders_of_the_same_files_end_with_one_row_each(store: Store, url: str) -> None:
    state = store.begin_scan([b"/share"], versions={}, options={}, now=NOW)
    names = [f"{n:03}.txt" for n in range(60)]
    failures: list[BaseException] = []

    def record() -> None:
        try:
            with Store.open(url) as own:
                for name in names:
                    own.record(state.id, "v1", [referred(name)])
        except BaseException as error:  # noqa: BLE001 (shown below)
            failures.append(error)

    threads = [threading.Thread(target=record) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failures == []
    store.finish_scan(state.id, status="complete", seconds=1.0, now=later(1))
    assert [row.path for row in store.rows()] == names
    assert store.summary().crawled == 60
