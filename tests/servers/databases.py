"""Real database servers on loopback, each with a folder and a password of its own."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pymysql

from tests.needs import needs
from tests.postgresql import running_server
from tests.servers.process import free_port, new_server

PASSWORD = "Zebra-canary-417"
READER = "phiscan_reader"
_LIMITS = {"PHISCAN_SHARES_ATTEMPTS": "2", "PHISCAN_SHARES_RETRY_S": "0.05"}


@dataclass
class Database:
    """A server with a database ``ward``, which the account ``READER`` may read."""

    url: str
    port: int
    environment: dict[str, str] = field(default_factory=dict)
    connection: Any = None  # of its superuser

    @property
    def is_mariadb(self) -> bool:
        return self.url.startswith("mariadb")

    @property
    def all_rights(self) -> tuple[str, ...]:
        """Return what lets the reader write as well."""
        if self.is_mariadb:
            return (f"GRANT ALL ON ward.* TO {READER}@'127.0.0.1'",)
        return (
            f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {READER}",
            f"GRANT ALL ON SCHEMA public TO {READER}",
        )

    def quoted(self, name: str) -> str:
        mark = "`" if self.is_mariadb else '"'
        return mark + name.replace(mark, mark * 2) + mark

    def empty(self) -> None:
        """Drop what tests made in the database."""
        if self.is_mariadb:
            self.run("DROP DATABASE ward", "CREATE DATABASE ward", "USE ward")
        else:
            self.run(
                "DROP SCHEMA public CASCADE", "DROP SCHEMA IF EXISTS other CASCADE", "CREATE SCHEMA public"
            )

    def count(self) -> None:
        """Let the server count what was written now, as it does within ten seconds by itself."""
        if not self.is_mariadb:
            self.run("SELECT pg_stat_force_next_flush()")

    def waiting(self) -> list[Any]:
        """Return the sessions that wait for a lock."""
        with self.connection.cursor() as cursor:
            if self.is_mariadb:
                cursor.execute(
                    "SELECT id FROM information_schema.processlist WHERE state LIKE 'Waiting for%'"
                )
            else:
                cursor.execute("SELECT pid FROM pg_locks WHERE NOT granted")
            return list(cursor.fetchall())

    def run(self, *statements: str) -> None:
        """Run statements as the superuser."""
        with self.connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def insert(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        with self.connection.cursor() as cursor:
            cursor.executemany(statement, rows)


@contextmanager
def running_postgresql() -> Iterator[Database]:
    """Start PostgreSQL on a port; skip without it."""
    port = free_port()
    with running_server(str(port)) as server:
        login = f"CREATE ROLE {READER} LOGIN PASSWORD '{PASSWORD}' IN ROLE pg_read_all_data"
        server.run("CREATE DATABASE ward", login)
        environment = {"PHISCAN_POSTGRESQL_USERNAME": READER, "PHISCAN_POSTGRESQL_PASSWORD": PASSWORD}
        with psycopg.connect(server.url("ward"), autocommit=True) as connection:
            url = f"postgresql://127.0.0.1:{port}/ward"
            yield Database(url, port, environment | _LIMITS, connection)


@contextmanager
def running_mariadb() -> Iterator[Database]:
    """Start MariaDB on a port; skip without it."""
    programs = needs("mariadbd", "mariadb-install-db", folders=("/usr/sbin",))
    user = "mysql" if os.geteuid() == 0 else ""
    as_user = [f"--user={user}"] if user else []
    with new_server("mariadb") as server:
        data, socket = server.folder / "data", server.folder / "socket"
        if user:
            subprocess.run(["chown", f"{user}:", server.folder], check=True)
        install = [programs["mariadb-install-db"], "--no-defaults", f"--datadir={data}", *as_user]
        subprocess.run(
            [*install, "--auth-root-authentication-method=normal"], check=True, capture_output=True
        )
        options = (
            "--bind-address=127.0.0.1 --skip-name-resolve --plugin-maturity=gamma "
            "--innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=64M --character-set-server=utf8mb4"
        )
        where = [f"--datadir={data}", f"--socket={socket}", f"--port={server.port}", *as_user]
        server.command = [programs["mariadbd"], "--no-defaults", *where, *options.split()]
        server.start()
        connection = pymysql.connect(unix_socket=str(socket), user="root", autocommit=True)
        environment = {"PHISCAN_MARIADB_USERNAME": READER, "PHISCAN_MARIADB_PASSWORD": PASSWORD}
        database = Database(
            f"mariadb://127.0.0.1:{server.port}/ward", server.port, environment | _LIMITS, connection
        )
        database.run(
            "CREATE DATABASE ward",
            "USE ward",
            f"CREATE USER {READER}@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'",
            f"GRANT SELECT ON *.* TO {READER}@'127.0.0.1'",
        )
        yield database
        connection.close()
