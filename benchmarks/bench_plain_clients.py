"""Listing of mailboxes, tables, SMB shares and buckets beside the plain client, on one server in one run.

    pytest -m bench -s benchmarks/bench_plain_clients.py

Times are of the machine it runs on; read the ratios.
"""

import ssl
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import imapclient
import pathspec
import psycopg
import pymysql
import pytest
import smbclient

from phiscan.config import Config
from phiscan.crawl import IgnoreRules
from phiscan.crawl.remote import ServerShare
from phiscan.crawl.settings import load_settings
from phiscan.crawl.shares import open_remote
from tests.bucket import client_of, environment
from tests.samba import running_samba
from tests.servers.databases import PASSWORD as DATABASE_PASSWORD
from tests.servers.databases import READER, running_mariadb, running_postgresql
from tests.servers.dovecot import PASSWORD, USER, running_dovecot
from tests.servers.process import Server, new_server

pytestmark = pytest.mark.bench
NOTHING = IgnoreRules(pathspec.GitIgnoreSpec.from_lines([]))
N_ITEMS, N_TABLES, N_RUNS = 20_000, 1_000, 2
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


def _compare(name: str, n_items: int, plain: Callable[[], int], share: Callable[[], ServerShare]) -> None:
    """Print the shortest times of both, and their ratio."""
    times: dict[str, list[float]] = {"plain client": [], "crawl": []}
    ways: dict[str, Callable[[], int]] = {
        "plain client": plain,
        "crawl": lambda: sum(1 for _ in share().crawl(NOTHING, set())),
    }
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
        for number in range(N_ITEMS):
            body = b"Subject: %d\r\nFrom: a@example.org\r\n\r\nhello\r\n" % number
            dovecot.add("", f"{number:06d}.a", body)

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
            *("messages", N_ITEMS, plain),
            lambda: open_remote(dovecot.server.url.encode(), load_settings(Config())),
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
            lambda: open_remote(database.url.encode(), load_settings(Config())),
        )


def test_files_over_smb(monkeypatch: pytest.MonkeyPatch) -> None:
    with running_samba() as samba:
        for name, value in samba.environment.items():
            monkeypatch.setenv(name, value)
        for number in range(N_ITEMS):
            path = samba.share / f"{number // 100:04d}/{number % 100:02d}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"abc")
        who = (samba.environment["PHISCAN_SMB_USERNAME"], samba.environment["PHISCAN_SMB_PASSWORD"])
        smbclient.register_session("127.0.0.1", *who, port=samba.port)

        def plain(folder: str = r"\\127.0.0.1\share") -> int:
            n_found = 0
            for entry in smbclient.scandir(folder, port=samba.port):
                if entry.is_dir():
                    n_found += plain(f"{folder}\\{entry.name}")
                else:
                    n_found += entry.smb_info.end_of_file == 3
            return n_found

        _compare(
            *("files over SMB", N_ITEMS, plain),
            lambda: open_remote(samba.url.encode(), load_settings(Config())),
        )


@contextmanager
def _bucket() -> Iterator[Server]:
    """Run moto's S3 server in a process of its own, with the objects in it."""
    with new_server("moto") as server:
        endpoint = f"http://127.0.0.1:{server.port}"
        server.command = [sys.executable, "-m", "moto.server", "-p", str(server.port)]
        server.url, server.environment = "s3://research", environment(endpoint)
        server.start()
        client = client_of(endpoint)
        client.create_bucket(Bucket="research")

        def put(number: int) -> None:
            key = f"{number // 10_000}/{number // 100 % 100:02d}/letter {number % 100:02d}.txt"
            client.put_object(Bucket="research", Key=key, Body=b"abc")

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(put, range(N_ITEMS)))
        yield server


def test_objects_of_a_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    with _bucket() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        pages = client_of(server.environment["PHISCAN_S3_ENDPOINT"]).get_paginator("list_objects_v2")
        _compare(
            *("objects of a bucket", N_ITEMS),
            lambda: sum(len(page["Contents"]) for page in pages.paginate(Bucket="research")),
            lambda: open_remote(server.url.encode(), load_settings(Config())),
        )
