"""A scan writes the same rows into PostgreSQL as into SQLite, disturbed or not."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from phiscan.review.maintenance import backup
from tests.pipeline.harness import PACED, ToolHere, write_share
from tests.pipeline.rows import database_rows

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
        tool.same_key(tool_here)
    assert on_server.run("scan", share).returncode == 1
    expected = _tables(database_rows(tool_here.database))
    assert _tables(on_server.rows()) == expected

    killed.start_and_kill("scan", share, *PACED, when=lambda: _has_a_batch(killed.url))
    assert killed.run("scan", share).returncode == 1
    assert _tables(killed.rows()) == expected


def _has_a_batch(url: str) -> bool:
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute("SELECT to_regclass('examination')").fetchone()
        if not (found and found[0]):
            return False
        counted = connection.execute("SELECT count(*) FROM examination").fetchone()
        return bool(counted and counted[0] >= 200)
