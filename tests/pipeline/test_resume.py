"""A scan that is killed or stopped goes on without repeating or losing a file."""

import signal
import subprocess
from pathlib import Path

import pytest

from phiscan.cli.scan.lock import keep_scans_out
from tests.pipeline.harness import PACED, ToolHere, n_recorded, processes_of, write_share
from tests.pipeline.rows import database_rows
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("warm")]


def _wait_for_rows(tool: ToolHere, process: subprocess.Popen[str], n_rows: int) -> bool:
    """Wait until that many rows are recorded; False when the scan was over before."""
    wait_until(lambda: n_recorded(tool.database) >= n_rows or process.poll() is not None, "a row, or the end")
    return process.poll() is None


def test_killed_scan_gives_the_same_rows_as_an_undisturbed_one(tmp_path: Path) -> None:
    share = write_share(tmp_path / "share", 400, distinct=True)
    undisturbed, disturbed = ToolHere(tmp_path / "home"), ToolHere(tmp_path / "home2")
    assert undisturbed.run("scan", share).returncode == 1
    disturbed.same_key(undisturbed)
    for n_rows in (80, 200):
        disturbed.start_and_kill(
            "scan", share, *PACED, when=lambda n_rows=n_rows: n_recorded(disturbed.database) >= n_rows
        )
    assert n_recorded(disturbed.database) < 400
    assert disturbed.run("scan", share).returncode == 1
    assert database_rows(disturbed.database) == database_rows(undisturbed.database)


def test_stops_cleanly_at_a_signal_and_goes_on(tmp_path: Path) -> None:
    share = write_share(tmp_path / "share", 400)
    tool = ToolHere(tmp_path / "home")
    process = tool.start("scan", share, *PACED)
    assert _wait_for_rows(tool, process, 100)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 4
    before = n_recorded(tool.database)
    assert before < 400
    done = tool.run("scan", share)
    assert done.returncode == 1
    assert "(resumed)" in done.stdout
    assert n_recorded(tool.database) == 400  # nothing twice, nothing lost


def test_leaves_no_process_and_no_temporary_file_after_a_kill(tmp_path: Path) -> None:
    share = write_share(tmp_path / "share", 400)
    tool = ToolHere(tmp_path / "home")
    tool.start_and_kill("scan", share, *PACED, when=lambda: n_recorded(tool.database) >= 100)
    wait_until(lambda: processes_of(tool) == [], "no process is left")
    tool.run("scan", share)
    assert [p for p in tool.temp.rglob("*") if p.is_file()] == []


def test_a_purge_and_a_scan_do_not_run_beside_each_other(tmp_path: Path) -> None:
    share = write_share(tmp_path / "share", 200)
    tool = ToolHere(tmp_path / "home")
    process = tool.start("scan", share, *PACED)
    assert _wait_for_rows(tool, process, 1)
    process.send_signal(signal.SIGSTOP)  # in its middle, for as long as we look
    for command in (["purge", "--yes"], ["purge", "--dry-run"], ["rotate-key", "--destroy"]):
        done = tool.run("db", *command)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"scan 1 of {share} is running; wait for its end" in done.stderr
        assert done.stderr.count("\n") == 1
    process.send_signal(signal.SIGCONT)
    process.communicate()
    assert process.returncode == 1
    assert tool.run("db", "purge", "--yes").returncode == 0
    with keep_scans_out(tool.home, f"sqlite:///{tool.database}"):
        waiting = tool.start("scan", share)
        assert waiting.stderr is not None
        assert "waits for a purge" in waiting.stderr.readline()
        assert waiting.poll() is None
    assert "unchanged" in waiting.communicate()[0]
    assert waiting.returncode == 1
