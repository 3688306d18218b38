"""Real database servers on loopback, each with a folder and a password of its own."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pymysql

from tests.leftovers import cleared_up
from tests.needs import needs
from tests.postgresql import SCRIPT
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
    needs("initdb", folders=tuple(map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin")))))
    parent = Path(tempfile.mkdtemp(prefix="phiscan-pg-"))
    folder, port = parent / "server", free_port()
    with cleared_up(parent, SCRIPT, "--stop", folder):
        parent.chmod(0o711)  # its server runs as another user
        subprocess.run([SCRIPT, folder, str(port)], check=True, capture_output=True)
        where = {"host": str(folder), "port": port, "user": "phiscan_owner", "autocommit": True}
        with psycopg.connect(dbname="postgres", **where) as connection:
            connection.execute("CREATE DATABASE ward")
            connection.execute(f"CREATE ROLE {READER} LOGIN PASSWORD '{PASSWORD}' IN ROLE pg_read_all_data")
        environment = {"PHISCAN_POSTGRESQL_USERNAME": READER, "PHISCAN_POSTGRESQL_PASSWORD": PASSWORD}
        with psycopg.connect(dbname="ward", **where) as connection:
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
        server.command = [
            *(programs["mariadbd"], "--no-defaults", f"--datadir={data}", f"--socket={socket}", *as_user),
            *(
                f"--port={server.port}",
                "--bind-address=127.0.0.1",
                "--skip-name-resolve",
                "--plugin-maturity=gamma",
            ),
            *(
                "--innodb-flush-log-at-trx-commit=0",
                "--innodb-buffer-pool-size=64M",
                "--character-set-server=utf8mb4",
            ),
        ]
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
