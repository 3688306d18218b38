"""What the processes that read documents are given: nothing with which they could sign in elsewhere."""

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from phiscan.config import Config, NotifyTable
from phiscan.pipeline.workers import pools as workers
from phiscan.pipeline.workers.pools import local_workers

PASSWORD = "Zebra-canary-417"


class _StartedError(Exception):
    """Raised in place of starting processes."""


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What a worker process would have got."""
    found: list[bytes] = []

    def start(*arguments: Any, **_options: Any) -> NoReturn:
        found.append(pickle.dumps(arguments))
        raise _StartedError

    monkeypatch.setattr(workers, "Sandbox", start)
    return found


def _config(home: Path) -> Config:
    return Config(
        home=home,
        database=f"postgresql://phiscan:{PASSWORD}@host/db",
        database_file=f"/run/{PASSWORD}",
        k=5,
        notify=NotifyTable(smtp_user=PASSWORD),
    )


def test_workers_of_a_scan_get_no_password(given: list[bytes], tmp_path: Path) -> None:
    with pytest.raises(_StartedError), local_workers(_config(tmp_path)):
        pass
    assert PASSWORD.encode() not in given[0]
    assert tmp_path.name.encode() in given[0]


def test_what_results_depend_on_is_kept(tmp_path: Path) -> None:
    config = _config(tmp_path)
    assert (
        replace(
            config.for_workers(),
            database=config.database,
            database_file=config.database_file,
            notify=config.notify,
        )
        == config
    )
