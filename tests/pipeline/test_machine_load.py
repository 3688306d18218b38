"""What is stored of a long document is the same on an idle and on a busy machine."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from phiscan.review.store import Store
from phiscan.store.identity import create_key
from tests.large.made_files import write_csv, write_inventory
from tests.pipeline.harness import ToolHere
from tests.waiting import wait_until

N_PER_CORE = 1  # busy processes for each core


@contextmanager
def busy_machine(folder: Path) -> Iterator[None]:
    """Keep every core busy with processes of equal right until the block ends."""
    number = N_PER_CORE * len(os.sched_getaffinity(0))
    started = [folder / f"busy-{index}" for index in range(number)]
    code = "import pathlib, sys\npathlib.Path(sys.argv[1]).touch()\nwhile True: pass"
    spinning = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for path in started]
    try:
        wait_until(lambda: all(path.exists() for path in started), "all busy processes have started")
        yield
        assert all(one.poll() is None for one in spinning), "the machine was not busy to the end"
    finally:
        for one in spinning:
            one.kill()
            one.wait()


def stored_of(tool: ToolHere, share: Path) -> list[tuple[dict[str, object], object]]:
    """Scan a share in a new home with a given key, and return all that is stored of its files."""
    assert tool.scan(share)["screened"] == 2
    with Store.open(f"sqlite:///{tool.database}") as store:
        return [
            ({name: getattr(row, name) for name in row.__dataclass_fields__}, store.item(row.file_id))
            for row in store.present_rows()
        ]


@pytest.mark.slow
def test_a_scan_stores_the_same_whatever_else_the_machine_does(
    warm: None,  # noqa: ARG001 (workers are forked from one server)
    tmp_path: Path,
) -> None:
    share = tmp_path / "share"
    share.mkdir()
    write_csv(share / "export.csv", 8_000)
    write_inventory(share / "stock.csv", 1_000_000)  # without a patient
    tools = [ToolHere(tmp_path / name / "home") for name in ("idle", "busy")]
    create_key(tools[0].home / "key")
    tools[1].same_key(tools[0])
    idle = stored_of(tools[0], share)
    with busy_machine(tmp_path):
        busy = stored_of(tools[1], share)
    assert busy == idle
    assert idle[0][0]["people_interval"] is not None
    assert all(row["unread"] for row, _ in idle)
