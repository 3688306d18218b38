"""A scan of a server that is killed at random moments records the same rows as an undisturbed one."""

import random
import shutil
import signal
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.pipeline.harness import Tool, n_recorded, write_share
from tests.pipeline.rows import database_rows
from tests.servers.apache import running_apache
from tests.servers.process import Server
from tests.servers.sshd import PASSWORD, running_sshd
from tests.waiting import wait_until

N_FILES = 900
N_KILLS = 3


@pytest.mark.slow
@pytest.mark.parametrize("start", [running_sshd, running_apache])
def test_killed_scan_of_a_server_gives_the_same_rows(
    tmp_path: Path, start: Callable[[], AbstractContextManager[Server]], monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed, disturbed = Tool(tmp_path / "home"), Tool(tmp_path / "home2")
    with start() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        write_share(server.share, N_FILES, distinct=True)
        assert undisturbed.run("scan", server.url).returncode == 1
        disturbed.home.mkdir(mode=0o700)
        shutil.copy2(undisturbed.home / "key", disturbed.home / "key")
        n_kills = 0
        for n_rows in sorted(random.sample(range(N_FILES - 100), N_KILLS)):
            process = subprocess.Popen(
                disturbed.command("scan", server.url),
                env=disturbed.environment(),
                cwd=tmp_path,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            _wait_for_rows(disturbed, process, n_rows)
            n_kills += process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert n_kills > 0, "the scan was too fast to be killed in its middle"
        assert disturbed.run("scan", server.url).returncode == 1
    assert n_recorded(undisturbed.database) == N_FILES
    assert database_rows(disturbed.database) == database_rows(undisturbed.database)
    for tool in (undisturbed, disturbed):  # no secret is kept
        for path in tool.home.rglob("*"):
            assert path.is_dir() or PASSWORD.encode() not in path.read_bytes()


def _wait_for_rows(tool: Tool, process: subprocess.Popen[bytes], n_rows: int) -> None:
    wait_until(lambda: n_recorded(tool.database) >= n_rows or process.poll() is not None, "rows, or the end")
