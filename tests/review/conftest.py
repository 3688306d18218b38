"""A fresh store for each test, and results to record in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from phiscan.review.store import Store
from tests.review.results import url_of


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "phiscan.db"


@pytest.fixture
def store(database: Path) -> Iterator[Store]:
    with Store.open(url_of(database), create=True) as opened:
        yield opened
