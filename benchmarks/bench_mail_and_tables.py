"""Listing of mailboxes and of tables beside the plain client, on the same server in the same run.

    pytest -m bench -s benchmarks/bench_mail_and_tables.py

Times are of the machine it runs on; read the ratios.
"""

import ssl
import time
from collections.abc import Callable
from typing import Any

import imapclient
import pathspec
import psycopg
import pymysql
import pytest

from phiscan.config import Config
from phiscan.crawl import IgnoreRules
from phiscan.crawl.settings import load_settings
from phiscan.crawl.share import Share
from phiscan.crawl.shares import open_share
from tests.servers.databases import PASSWORD as DATABASE_PASSWORD
from tests.servers.databases import READER, running_mariadb, running_postgresql
from tests.servers.dovecot import PASSWORD, USER, running_dovecot

pytestmark = pytest.mark.bench
NOTHING = IgnoreRules(pathspec.GitIgnoreSpec.from_lines([]))
N_MESSAGES, N_TABLES, N_RUNS = 100_000, 1_000, 3
_PLAIN = """
SELECT n.nspname, c.relname, c.oid, c.relfilenode, pg_total_relation_size(c.oid),
  s.n_tup_ins, s.n_tup_upd, s.n_tup_del
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_stat_user_tables AS s ON s.relid = c.oid
WHERE c.relkind IN ('r', 'm') ORDER BY n.nspname, c.relname
"""
_PLAIN_MARIADB = """
SELECT table_name, engine, table_rows, data_length + index_length, create_time, update_time
FROM information_schema.tables WHERE table_schema = 'ward' ORDER BY table_name
"""


def _compare(name: str, n_items: int, plain: Callable[[], int], share: Callable[[], Share]) -> None:
    """Print the shortest times of both, and their ratio."""
    times: dict[str, list[float]] = {"plain client": [], "crawl": []}
    ways = {"plain client": plain, "crawl": lambda: sum(1 for _ in share().crawl(NOTHING, set()))}
    ways["crawl"]()  # the server makes its own index
    for _ in range(N_RUNS):
        for way, count in ways.items():
            began = time.perf_counter()
            assert count() == n_items
            times[way].append(time.perf_counter() - began)
    ratio = min(times["crawl"]) / min(times["plain client"])
    shown = ", ".join(f"{way} {min(taken):.2f} s" for way, taken in times.items())
    print(f"\n{n_items:,} {name}: {shown}; ratio {ratio:.2f}")


def test_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    with running_dovecot() as dovecot:
        for name, value in dovecot.server.environment.items():
            monkeypatch.setenv(name, value)
        dovecot.add("", "first", b"Subject: 0\r\n\r\n0\r\n")
        folder = dovecot.server.share / USER / "cur"
        for number in range(1, N_MESSAGES):
            body = b"Subject: %d\r\nFrom: a@example.org\r\n\r\nhello\r\n" % number
            (folder / f"{number:06d}.a,S={len(body)},W={len(body)}:2,").write_bytes(body)
        dovecot.own()

        def plain() -> int:
            context = ssl.create_default_context(cafile=dovecot.certificate)
            n_found = 0
            with imapclient.IMAPClient("127.0.0.1", dovecot.server.port, ssl_context=context) as client:
                client.login(USER, PASSWORD)
                for _, _, name in client.list_folders():
                    client.select_folder(name, readonly=True)
                    numbers = client.search("ALL")
                    for at in range(0, len(numbers), 5_000):
                        wanted = ["RFC822.SIZE", "INTERNALDATE"]
                        n_found += len(client.fetch(numbers[at : at + 5_000], wanted))
            return n_found

        _compare(
            *("messages", N_MESSAGES, plain),
            lambda: open_share(dovecot.server.url.encode(), load_settings(Config())),
        )


@pytest.mark.parametrize("running", [running_postgresql, running_mariadb])
def test_tables(running: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with running() as database:
        for name, value in database.environment.items():
            monkeypatch.setenv(name, value)
        for number in range(N_TABLES):
            database.run(f"CREATE TABLE t{number} (id int)", f"INSERT INTO t{number} VALUES (1)")  # noqa: S608

        def plain() -> int:
            where = {
                "host": "127.0.0.1",
                "port": database.port,
                "user": READER,
                "password": DATABASE_PASSWORD,
            }
            if running is running_postgresql:
                with psycopg.connect(dbname="ward", **where) as connection:
                    return len(connection.execute(_PLAIN).fetchall())
            with pymysql.connect(database="ward", **where) as other, other.cursor() as cursor:
                return int(cursor.execute(_PLAIN_MARIADB))

        _compare(
            *("tables", N_TABLES, plain),
            lambda: open_share(database.url.encode(), load_settings(Config())),
        )
