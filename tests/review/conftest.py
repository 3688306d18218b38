"""A fresh store for each test, on SQLite and on PostgreSQL, and results to record in it.

A test that asks for ``store`` or ``url`` runs on both. One that asks for ``database``, the path of the SQLite
file, runs on SQLite alone; one that asks for ``server``, on PostgreSQL alone. Each database is a copy of one
that was made once, by the baseline.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from phiscan.review.accounts import passwords
from phiscan.review.store import Store
from tests.postgresql import Server
from tests.review.results import url_of

TEMPLATE = "phiscan_template"
QUICK = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1),))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "backend" in metafunc.fixturenames:
        kinds = ["sqlite", "postgresql"]
        kinds = kinds[:1] if "database" in metafunc.fixturenames else kinds
        kinds = kinds[1:] if "server" in metafunc.fixturenames else kinds
        metafunc.parametrize("backend", kinds, scope="session")


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash passwords with the least memory and time that Argon2 takes."""
    monkeypatch.setattr(passwords, "_HASHER", QUICK)
    passwords._unmatched_hash.cache_clear()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "phiscan.db"
    Store.open(url_of(path), create=True).close()
    return path


@pytest.fixture(scope="session")
def postgresql_template(postgresql_server: Server) -> Server:
    postgresql_server.drop(TEMPLATE)  # tests/security has a fixture of its own, on the same server
    Store.open(postgresql_server.make(TEMPLATE), create=True).close()
    return postgresql_server


@pytest.fixture
def server(postgresql_template: Server) -> Server:
    return postgresql_template


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "phiscan.db"


@pytest.fixture
def url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty phiscan database."""
    if backend == "sqlite":
        path = tmp_path / "phiscan.db"
        shutil.copy(request.getfixturevalue("sqlite_template"), path)
        yield url_of(path)
        return
    server: Server = request.getfixturevalue("postgresql_template")
    yield server.make("phiscan_test", template=TEMPLATE)
    server.drop("phiscan_test")


def empty_database(request: pytest.FixtureRequest, name: str, *, on_server: bool) -> str:
    """Return the URL of an empty database on the server, or in a file of this name that is not there yet."""
    if not on_server:
        return url_of(request.getfixturevalue("tmp_path") / name)
    fresh: Callable[[], str] = request.getfixturevalue("fresh_postgresql")
    return fresh()


@pytest.fixture
def empty_url(backend: str, request: pytest.FixtureRequest) -> str:
    """The URL of an empty database of this kind."""
    return empty_database(request, "empty.db", on_server=backend == "postgresql")


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store.open(url) as opened:
        yield opened
