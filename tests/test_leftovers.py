"""What a killed test run leaves is ended and removed by somebody who outlives it."""

import signal
import subprocess
import sys
from pathlib import Path

from tests.leftovers import cleared_up
from tests.waiting import wait_until

_CHILD = """
import os, signal, sys
from pathlib import Path
from tests.leftovers import cleared_up
from tests.waiting import wait_until
folder = Path(sys.argv[1])
folder.mkdir()
with cleared_up(folder, "touch", sys.argv[2]):
    os.killpg(0, signal.SIGKILL)
"""


def test_a_killed_run_leaves_no_server_and_no_folder(tmp_path: Path) -> None:
    folder, stopped = tmp_path / "folder", tmp_path / "stopped"
    killed = subprocess.run(
        [sys.executable, "-c", _CHILD, folder, stopped],
        check=False,
        cwd=Path(__file__).parents[1],
        start_new_session=True,
    )
    assert killed.returncode == -signal.SIGKILL
    wait_until(lambda: not folder.exists(), "the folder is gone")
    assert (folder.exists(), stopped.exists()) == (False, True)


def test_a_run_that_ends_waits_until_all_is_gone(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with cleared_up(tmp_path / "folder", "touch", tmp_path / "stopped"):
        assert not (tmp_path / "stopped").exists()
    assert [entry.name for entry in tmp_path.iterdir()] == ["stopped"]
