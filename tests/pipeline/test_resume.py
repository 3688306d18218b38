"""A scan that is killed or stopped goes on without repeating or losing a file."""

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from phiscan.cli.scan.lock import keep_scans_out
from tests.pipeline.harness import PACED, ToolHere, n_recorded, processes_of, write_share
from tests.pipeline.rows import database_rows
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("warm")]


def _start(tool: ToolHere, share: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        tool.command("scan", share, *PACED),
        env=tool.environment(),
        cwd=tool.home.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _wait_for_rows(tool: ToolHere, process: subprocess.Popen[bytes], n_rows: int) -> bool:
    """Wait until that many rows are recorded; False when the scan was over before."""
    wait_until(lambda: n_recorded(tool.database) >= n_rows or process.poll() is not None, "a row, or the end")
    return process.poll() is None


def test_killed_scan_gives_the_same_rows_as_an_undisturbed_one(tmp_path: Path) -> None:
    share = write_share(tmp_path / "share", 400, distinct=True)
    undisturbed, disturbed = ToolHere(tmp_path / "home"), ToolHere(tmp_path / "home2")
    assert undisturbed.run("scan", share).returncode == 1
    disturbed.home.mkdir(mode=0o700)
    shutil.copy2(undisturbed.home / "key", disturbed.home / "key")  # keyed hashes can be compared
    for n_rows in (80, 200):
        process = _start(disturbed, share)
        assert _wait_for_rows(disturbed, process, n_rows)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert n_recorded(disturbed.database) < 400
    assert disturbed.run("scan", share).returncode == 1
    assert database_rows(disturbed.database) == database_rows(undisturbed.database)


def test_stops_cleanly_at_a_signal_and_goes_on(tmp_path: Path) -> None:
    share = write_share(tmp_path / "share", 400)
    tool = ToolHere(tmp_path / "home")
    process = _start(tool, share)
    assert _wait_for_rows(tool, process, 100)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 4
    before = n_recorded(tool.database)
    assert before < 400
    done = tool.run("scan", share)
    assert done.returncode == 1
    assert "(resumed)" in done.stdout
    assert n_recorded(tool.database) == 400  # nothing twice, nothing lost


def test_leaves_no_process_and_no_temporary_file_after_a_kill(tmp_path: Path) -> None:
    share = write_share(tmp_path / "share", 400)
    tool = ToolHere(tmp_path / "home")
    process = _start(tool, share)
    assert _wait_for_rows(tool, process, 100)
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_until(lambda: processes_of(tool) == [], "no process is left")
    tool.run("scan", share)
    assert [p for p in tool.temp.rglob("*") if p.is_file()] == []


def test_a_purge_and_a_scan_do_not_run_beside_each_other(tmp_path: Path) -> None:
    share = write_share(tmp_path / "share", 200)
    tool = ToolHere(tmp_path / "home")
    process = _start(tool, share)
    assert _wait_for_rows(tool, process, 1)
    process.send_signal(signal.SIGSTOP)  # in its middle, for as long as we look
    for command in (["purge", "--yes"], ["purge", "--dry-run"], ["rotate-key", "--destroy"]):
        done = tool.run("db", *command)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"scan 1 of {share} is running; wait for its end" in done.stderr
        assert done.stderr.count("\n") == 1
    process.send_signal(signal.SIGCONT)
    assert process.wait() == 1
    assert tool.run("db", "purge", "--yes").returncode == 0
    with keep_scans_out(tool.home, f"sqlite:///{tool.database}"):
        waiting = subprocess.Popen(
            tool.command("scan", share),
            env=tool.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waiting.stderr is not None
        assert "waits for a purge" in waiting.stderr.readline()
        assert waiting.poll() is None
    assert "unchanged" in waiting.communicate()[0]
    assert waiting.returncode == 1
