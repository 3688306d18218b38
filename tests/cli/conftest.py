"""A home for phiscan of the test's own, empty or with one scan in it."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from phiscan.model import FileResult
from phiscan.review.store import Store
from tests.empty_database import new_store
from tests.review.results import scan, url_of


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHISCAN_HOME", str(folder))
    for name in ("PHISCAN_DATABASE", "PHISCAN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture(scope="session")
def scanned_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scanned")
    with new_store(folder / "phiscan.db") as store:
        scan(store)
    return folder


@pytest.fixture
def scanned(home: Path, scanned_once: Path) -> Path:
    shutil.copytree(scanned_once, home)
    return home


@pytest.fixture
def store(scanned: Path) -> Iterator[Store]:
    """Open the database of the scan."""
    with Store.open(url_of(scanned / "phiscan.db")) as opened:
        yield opened


@pytest.fixture
def record(home: Path) -> Callable[..., None]:
    """Return what makes a database with one scan of these results."""

    def make(*results: FileResult) -> None:
        with new_store(home / "phiscan.db") as store:
            scan(store, results)

    return make
