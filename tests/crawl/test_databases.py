"""Tables as files, against real PostgreSQL and MariaDB servers on loopback."""

import io
import os
import socket
import sqlite3
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import docx
import psycopg
import pytest
from PIL import Image

from phiscan.config import Config, Limits
from phiscan.crawl import check_roots, databases, is_same_file
from phiscan.crawl.databases import DatabaseShare
from phiscan.crawl.settings import load_settings
from phiscan.crawl.share import PhiscanError
from phiscan.errors import ExtractError, InputError
from phiscan.extract import extract_bytes
from phiscan.model import FailReason, SkipReason, SourceFile
from phiscan.pipeline.workers.delivery import fetch
from tests.crawl.fetched import found_at, opened_share, reason_of, refusal_of
from tests.servers.certificate import make_certificate
from tests.servers.databases import READER, Database, running_mariadb, running_postgresql
from tests.waiting import wait_until

KINDS = "text, oid, oid, xid, numeric, bigint, bigint, bigint, timestamptz, pg_lsn"
SERVERS = {"postgresql": running_postgresql, "mariadb": running_mariadb}


@pytest.fixture(scope="module", params=sorted(SERVERS))
def server(request: pytest.FixtureRequest) -> Iterator[Database]:
    with SERVERS[request.param]() as running:
        yield running


@pytest.fixture
def database(server: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    """Return the server with an empty database, and the environment that signs in."""
    server.empty()
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return server


def _fetched(database: Database, source: SourceFile) -> tuple[SourceFile, bytes]:
    with opened_share(database.url) as share:
        described, held = fetch(source, share, 2**30)
        with closing(held):
            return described, os.pread(held.descriptor, held.size, 0)


def _rows(data: bytes, columns: str = "*") -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.deserialize(data)
        ((name,),) = opened.execute("SELECT name FROM sqlite_master").fetchall()
        quoted = str(name).replace('"', '""')
        return opened.execute(f'SELECT {columns} FROM "{quoted}"').fetchall()  # noqa: S608 (quoted)


def _numbers(database: Database, name: str, n_rows: int) -> None:
    database.run(f"CREATE TABLE {name} (id int PRIMARY KEY, word varchar(50))")
    rows = [(number, f"word {number}") for number in range(n_rows)]
    database.insert(f"INSERT INTO {name} VALUES (%s, %s)", rows)  # noqa: S608 (a plain name)
    if not database.is_mariadb:
        database.run(f"ANALYZE {name}")


def test_yields_tables_by_name_whatever_it_is(database: Database) -> None:
    names = ["b", "a/b", 'q"uote', "back`tick", "100% of :all", "Été", "sqlite_x", "..", "A"]
    for name in names:
        table = database.quoted(name)
        database.run(f"CREATE TABLE {table} (x int, {database.quoted('%s:y')} int)")
        database.run(f"INSERT INTO {table} VALUES (7, 8)")  # noqa: S608 (quoted)
    database.run("CREATE VIEW seen AS SELECT 1 AS x")
    found = found_at(database.url + ("" if database.is_mariadb else "/public"), "A.sqlite")
    shown = ["%2E%2E" if name == ".." else name.replace("%", "%25").replace("/", "%2F") for name in names]
    assert [one.source.path.decode() for one in found] == sorted(f"{name}.sqlite" for name in shown)
    assert [one.source.path for one in found if one.skip is SkipReason.IGNORED] == [b"A.sqlite"]
    for one in found_at(database.url):
        assert _rows(_fetched(database, one.source)[1]) == [(7, 8)]


def test_reads_cells_of_every_kind_and_files_in_them(database: Database) -> None:
    letter, scan = io.BytesIO(), io.BytesIO()
    document = docx.Document()
    document.add_paragraph("Re: Ngozi Okafor, who has diabetes")
    document.save(letter)
    Image.new("RGB", (40, 40)).save(scan, "JPEG")
    blob = "longblob" if database.is_mariadb else "bytea"
    database.run(
        "CREATE TABLE patients (id bigint, name text, weight numeric(30, 4), born date, "
        f"seen timestamp(6) NULL, letter {blob}, scan {blob}, nothing int, "
        f"{database.quoted('rowid')} int, is_new boolean)"
    )
    row = (2**62, "Zoë\n🦓", "12345678901234567890.5", "1950-01-02", "2026-03-04 05:06:07", letter.getvalue())
    database.insert(
        "INSERT INTO patients VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [(*row, scan.getvalue(), None, 5, True)],
    )
    (crawled,) = found_at(database.url)
    described, data = _fetched(database, crawled.source)
    assert described.sampled_rows is None
    (read,) = _rows(data)
    assert (read[0], read[1], read[3]) == (2**62, "Zoë\n🦓", "1950-01-02")
    assert read[2].startswith("12345678901234567890.5")
    assert read[4].startswith("2026-03-04 05:06:07")
    assert (read[5], read[7:9]) == (letter.getvalue(), (None, 5))
    text = extract_bytes(data, "patients.sqlite", Limits())
    place = text.locate(text.text.index("who has diabetes"))
    assert place == "table1-row1-6#body"
    assert "table1-row1-7" in text.members


def test_a_large_table_is_read_by_a_random_sample_of_its_rows(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHISCAN_SHARES_TABLE_ROWS", "400")
    for name in ("one", "two"):
        _numbers(database, name, 5000)
    _numbers(database, "few", 400)
    few, one, two = found_at(database.url)
    assert _fetched(database, few.source)[0].sampled_rows is None
    described, data = _fetched(database, one.source)
    rows = _rows(data, "id")
    assert described.sampled_rows == (len(rows), 5000)
    assert 250 < len(set(rows)) == len(rows) <= 400
    numbers = [number for (number,) in rows]
    spread = 5000 / (12 * len(rows)) ** 0.5
    assert abs(sum(numbers) / len(numbers) - 2500) < 6 * spread  # from the whole table,
    assert abs(sum(numbers[:100]) / 100 - 2500) < 6 * 5000 / 1200**0.5  # in a random order
    assert _fetched(database, one.source)[1] == data
    assert set(_rows(_fetched(database, two.source)[1], "id")) != set(rows)


def test_a_sample_of_long_rows_is_smaller(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "MOST_BYTES", 400_000)
    database.run("CREATE TABLE letters (id int PRIMARY KEY, letter text)")
    letters = [(number, os.urandom(5_000).hex()) for number in range(200)]
    database.insert("INSERT INTO letters VALUES (%s, %s)", letters)
    if database.is_mariadb:
        database.run("ANALYZE TABLE letters")
    (crawled,) = found_at(database.url)
    described, data = _fetched(database, crawled.source)
    rows = _rows(data)
    assert described.sampled_rows == (len(rows), 200)
    assert 5 <= len(rows) <= 81
    assert set(rows) <= set(letters)


def test_tells_a_changed_table_from_an_unchanged_one(database: Database) -> None:
    changes = {
        "added": "INSERT INTO added VALUES (9, 'nine')",
        "altered": "ALTER TABLE altered ADD COLUMN more int DEFAULT 4",
        "changed": "UPDATE changed SET word = 'six' WHERE id = 3",
        "emptied": "TRUNCATE TABLE emptied",
        "removed": "DELETE FROM removed WHERE id = 3",
    }
    for name in (*changes, "same"):
        _numbers(database, name, 5)
    database.count()

    def sources() -> list[SourceFile]:
        return [one.source for one in found_at(database.url)]

    # Times have seconds: what was changed in this one may be changed again, and is read again.
    wait_until(lambda: all(one.mtime_ns % 10 == 0 for one in sources()), "the second is over")
    before = sources()
    assert all(map(is_same_file, sources(), before))
    database.run(*changes.values())
    database.count()
    assert [is_same_file(*pair) for pair in zip(sources(), before, strict=True)] == [*[False] * 5, True]


def test_says_whose_a_table_is_and_who_may_read_it(database: Database) -> None:
    _numbers(database, "notes", 5)
    database.run(
        "DROP ROLE IF EXISTS ward_staff", "CREATE ROLE ward_staff", "GRANT SELECT ON notes TO ward_staff"
    )
    if database.is_mariadb:
        database.run("CREATE OR REPLACE USER clerk@'%'", "GRANT SELECT (word) ON notes TO clerk@'%'")
    else:
        database.run(
            "DROP ROLE IF EXISTS clerk", "CREATE ROLE clerk LOGIN", "GRANT SELECT (word) ON notes TO clerk"
        )
        database.run("GRANT SELECT ON notes TO PUBLIC", "ALTER TABLE notes OWNER TO phiscan_owner")
    (crawled,) = found_at(database.url)
    described, _ = _fetched(database, crawled.source)
    assert {"group ward_staff", "user clerk"} < set(described.readers)
    if database.is_mariadb:
        assert f"user {READER}@127.0.0.1" in described.readers
    else:
        assert described.owner == "phiscan_owner"
        assert set(described.readers) == {"everyone", "group ward_staff", "user clerk", "user phiscan_owner"}


def test_only_reads(database: Database) -> None:
    _numbers(database, "notes", 5)
    database.run(*database.all_rights)
    with (
        opened_share(database.url) as share,
        pytest.raises(PhiscanError, match="refused by the server"),
        share._connected() as connection,  # type: ignore[attr-defined]
    ):
        connection.exec_driver_sql(f"DELETE FROM {'ward' if database.is_mariadb else 'public'}.notes")  # noqa: S608
    assert len(_rows(_fetched(database, found_at(database.url)[0].source)[1])) == 5


def test_what_vanished_or_is_hidden_is_recorded(database: Database) -> None:
    _numbers(database, "notes", 5)
    (crawled,) = found_at(database.url)
    database.run("DROP TABLE notes")
    assert reason_of(crawled.source) is FailReason.CHANGED
    if not database.is_mariadb:  # a policy would hide rows without a word
        _numbers(database, "notes", 5)
        database.run("ALTER TABLE notes ENABLE ROW LEVEL SECURITY")
        (crawled,) = found_at(database.url)
        assert reason_of(crawled.source) is FailReason.NO_PERMISSION


def test_a_locked_table_is_not_waited_for_and_closing_ends_the_wait(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    _numbers(database, "notes", 5)
    (crawled,) = found_at(database.url)
    if database.is_mariadb:
        database.run("LOCK TABLES notes WRITE")
    else:
        database.run("BEGIN", "LOCK TABLE notes IN ACCESS EXCLUSIVE MODE")
    try:
        monkeypatch.setenv("PHISCAN_SHARES_TIMEOUT_S", "1")
        monkeypatch.setenv("PHISCAN_SHARES_ATTEMPTS", "1")
        assert reason_of(crawled.source) is FailReason.IO_ERROR
        monkeypatch.setenv("PHISCAN_SHARES_TIMEOUT_S", "300")
        share = DatabaseShare(database.url.encode(), load_settings(Config()))
        reasons: list[FailReason] = []

        def read() -> None:
            with pytest.raises(ExtractError) as caught:
                fetch(crawled.source, share, 2**30)
            reasons.append(caught.value.reason)

        thread = threading.Thread(target=read)
        thread.start()
        wait_until(lambda: bool(database.waiting()), "the reader waits for the lock")
        share.close()
        thread.join(timeout=60)
        assert reasons == [FailReason.IO_ERROR]
    finally:
        database.run("UNLOCK TABLES" if database.is_mariadb else "ROLLBACK")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PASSWORD", "Wrong-canary-418"),
        ("USERNAME", "nobody"),
        ("CA_FILE", "certificate.pem"),
        ("URL", "/none"),
    ],
)
def test_refuses_in_one_line_that_names_the_source(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    """A server without TLS is refused where certificates are to be verified."""
    make_certificate(tmp_path)
    kind = "MARIADB" if database.is_mariadb else "POSTGRESQL"
    monkeypatch.setenv(
        f"PHISCAN_{kind}_{name}", str(tmp_path / "certificate.pem") if name == "CA_FILE" else value
    )
    assert refusal_of(database.url.replace("/ward", value) if name == "URL" else database.url)


def test_a_server_that_does_not_answer_is_given_up(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHISCAN_SHARES_TIMEOUT_S", "1")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = database.url.replace(str(database.port), str(silent.getsockname()[1]))
        with pytest.raises(InputError, match="no answer from the server"):
            check_roots([url])
    with pytest.raises(InputError, match="no answer from the server"):
        check_roots([url])


@pytest.mark.parametrize("url", ["postgresql://127.0.0.1", "postgresql://h/a/b/c", "mariadb://h/a/b"])
def test_refuses_a_url_without_a_database_or_with_more(url: str) -> None:
    with pytest.raises(InputError, match="expected postgresql://SERVER/DATABASE"):
        check_roots([url])


@pytest.mark.parametrize("server", ["postgresql"], indirect=True)
def test_yields_the_tables_of_each_schema_and_materialized_views(database: Database) -> None:
    database.run(
        "CREATE SCHEMA other",
        "CREATE TABLE other.parts (day date) PARTITION BY RANGE (day)",
        "CREATE TABLE other.part1 PARTITION OF other.parts DEFAULT",
        "INSERT INTO other.parts VALUES ('2026-01-02')",
        "CREATE TABLE parent (x int)",
        "CREATE TABLE child () INHERITS (parent)",
        "INSERT INTO parent VALUES (1)",
        "INSERT INTO child VALUES (2)",
        "CREATE MATERIALIZED VIEW sums AS SELECT sum(x) AS total FROM parent",
        "CREATE TABLE empty (x int)",
        # Of whoever owns a table, and not to be run with the rights of the account.
        "CREATE TYPE mood AS ENUM ('low')",
        "CREATE FUNCTION code(mood) RETURNS text LANGUAGE sql AS 'SELECT current_user::text'",
        "CREATE CAST (mood AS text) WITH FUNCTION code(mood)",
        f"CREATE FUNCTION concat_ws({KINDS}) RETURNS text LANGUAGE sql AS 'SELECT (1 / 0)::text'",
        "CREATE TABLE moods (x mood, n mood)",
        "INSERT INTO moods VALUES ('low', NULL)",
    )
    found = found_at(database.url)
    rows = {one.source.path: _rows(_fetched(database, one.source)[1]) for one in found if one.skip is None}
    assert rows == {
        b"other/part1.sqlite": [("2026-01-02",)],
        b"public/child.sqlite": [(2,)],
        b"public/moods.sqlite": [("low", None)],
        b"public/parent.sqlite": [(1,)],
        b"public/sums.sqlite": [(3,)],
    }
    assert [one.source.path for one in found if one.skip is SkipReason.EMPTY] == [b"public/empty.sqlite"]


@pytest.mark.parametrize("server", ["postgresql"], indirect=True)
def test_holds_one_row_more_than_it_keeps(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that compress well are far longer than the size of their table says."""
    monkeypatch.setattr(databases, "MOST_BYTES", 2 * 2**20)
    database.run(
        "CREATE TABLE notes AS SELECT repeat('x', CASE WHEN n < 300 THEN 9 ELSE 1048576 END)"
        " FROM generate_series(1, 600) AS n"
    )
    (crawled,) = found_at(database.url)
    tracemalloc.start()
    try:
        described, data = _fetched(database, crawled.source)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert described.sampled_rows == (len(_rows(data)), 600)
    assert most < 5 * len(data)


@pytest.mark.parametrize("server", ["postgresql"], indirect=True)
def test_reads_a_database_that_does_not_say_its_encoding(database: Database) -> None:
    database.run("CREATE DATABASE old TEMPLATE template0 ENCODING SQL_ASCII LOCALE_PROVIDER libc LOCALE 'C'")
    where = {**database.connection.info.get_parameters(), "dbname": "old", "client_encoding": "LATIN1"}
    with psycopg.connect(**where) as old:
        old.execute("CREATE TABLE caf\xe9 AS SELECT * FROM (VALUES ('Andr\xe9'), ('Zo\xc3\xab')) AS t")
    named = replace(database, url=database.url.replace("/ward", "/old"))
    (crawled,) = found_at(named.url)
    assert crawled.source.path.decode() == "public/café.sqlite"
    assert set(_rows(_fetched(named, crawled.source)[1])) == {("André",), ("Zoë",)}
