"""A real PostgreSQL server for the tests, and a fresh database in it for each."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tests.leftovers import cleared_up
from tests.needs import needs

N_ROOMY_BYTES = 2 * 1024**3
SCRIPT = Path(__file__).parents[1] / "scripts" / "start-postgresql.sh"


@dataclass(frozen=True)
class Server:
    """A running server; its folder holds socket, data and log."""

    folder: Path
    port: str = ""  # "" = a socket in the folder alone

    def url(self, database: str, *, user: str = "phiscan_owner") -> str:
        where = f"host={self.folder}" + (f"&port={self.port}" if self.port else "")
        return f"postgresql://{user}@/{database}?{where}"

    def run(self, *statements: str, database: str = "postgres") -> None:
        """Run statements as the server's superuser."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def make(self, name: str, *, template: str = "template0") -> str:
        """Make a database, a copy of a template, and return its URL."""
        self.run(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        return self.url(name)

    def drop(self, name: str) -> None:
        self.run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def stop(self) -> None:
        subprocess.run([SCRIPT, "--stop", self.folder], check=True, capture_output=True)

    def start(self) -> None:
        subprocess.run([SCRIPT, self.folder, *filter(None, [self.port])], check=True, capture_output=True)


@contextmanager
def running_server(port: str = "") -> Iterator[Server]:
    """Start a server and stop it in the end; without PostgreSQL skip, or fail where it is required."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    needs("initdb", folders=tuple(map(str, folders)))
    # The name of a socket is short: not in pytest's own folder. The server's user must be able to go in.
    # Where there is room in memory, a database is copied three times as fast.
    memory = Path("/dev/shm")  # noqa: S108 (mkdtemp makes an unguessable folder in it)
    roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > N_ROOMY_BYTES
    parent = Path(tempfile.mkdtemp(prefix="phiscan-pg-", dir=memory if roomy else None))
    server = Server(parent / "server", port)
    with cleared_up(parent, SCRIPT, "--stop", server.folder):
        parent.chmod(0o711)  # its server runs as another user; the server's own folder is private
        server.start()
        yield server


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.fixture
def fresh_postgresql(postgresql_server: Server) -> Iterator[Callable[[], str]]:
    """Give the URLs of empty databases, dropped when the test ends."""
    made: list[str] = []

    def make() -> str:
        made.append(f"fresh_{len(made)}")
        return postgresql_server.make(made[-1])

    yield make
    for name in made:
        postgresql_server.drop(name)
