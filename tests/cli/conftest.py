"""A home for phiscan of the test's own, empty or with one scan in it."""

import shutil
from pathlib import Path

import pytest

from tests.empty_database import new_store
from tests.review.results import scan


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
