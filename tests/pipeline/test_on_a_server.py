"""A scan writes the same rows into PostgreSQL as into SQLite, disturbed or not."""

import shutil
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from phiscan.review.maintenance import backup
from tests.pipeline.harness import PACED, ToolHere, write_share
from tests.pipeline.rows import database_rows
from tests.waiting import wait_until

N_FILES = 450


@dataclass(frozen=True)
class ServerTool(ToolHere):
    """The program with its database on a server."""

    url: str

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "PHISCAN_DATABASE": self.url}

    def rows(self) -> dict[str, list[dict[str, object]]]:
        """Return every row, by way of a copy in SQLite."""
        backup.back_up(self.url, self.home / "backup", now=datetime.now(UTC))
        backup.restore(self.home / "backup", f"sqlite:///{self.home / 'copy.db'}")
        return database_rows(self.home / "copy.db")


def _tables(rows: dict[str, list[dict[str, object]]]) -> dict[str, list[dict[str, object]]]:
    """Leave out what only SQLite has."""
    return {name: found for name, found in rows.items() if name != "sqlite_sequence"}


@pytest.mark.slow
def test_a_scan_on_a_server_writes_the_rows_of_one_in_a_file(
    tool_here: ToolHere, tmp_path: Path, fresh_postgresql: Callable[[], str]
) -> None:
    share = write_share(tmp_path / "share", N_FILES, distinct=True)
    assert tool_here.run("scan", share).returncode == 1
    on_server = ServerTool(tmp_path / "home2", fresh_postgresql())
    killed = ServerTool(tmp_path / "home3", fresh_postgresql())
    for tool in (on_server, killed):
        tool.home.mkdir(mode=0o700)
        shutil.copy2(tool_here.home / "key", tool.home / "key")
    assert on_server.run("scan", share).returncode == 1
    expected = _tables(database_rows(tool_here.database))
    assert _tables(on_server.rows()) == expected

    process = subprocess.Popen(
        killed.command("scan", share, *PACED),
        env=killed.environment(),
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
    )
    _wait_for_a_batch(killed.url)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert killed.run("scan", share).returncode == 1
    assert _tables(killed.rows()) == expected


def _wait_for_a_batch(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:

        def has_a_batch() -> bool:
            found = connection.execute("SELECT to_regclass('examination')").fetchone()
            if not (found and found[0]):
                return False
            counted = connection.execute("SELECT count(*) FROM examination").fetchone()
            return bool(counted and counted[0] >= 200)

        wait_until(has_a_batch, "a batch was recorded", ceiling_s=600)
