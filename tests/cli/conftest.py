"""A home for phiscan of the test's own, empty or with one scan in it."""

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


@pytest.fixture
def scanned(home: Path) -> Path:
    with new_store(home / "phiscan.db") as store:
        scan(store)
    return home
