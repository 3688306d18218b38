"""A cluster that reads a share that is not mounted."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pipeline.harness import Tool, write_share
from tests.pipeline.rows import results_by_path
from tests.samba import PASSWORD, Samba, running_samba


@pytest.fixture
def samba(monkeypatch: pytest.MonkeyPatch) -> Iterator[Samba]:
    with running_samba() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


def _scan_both(tmp_path: Path, root: str | Path) -> tuple[Tool, Tool]:
    """Scan with this machine's processes, and with another home but the same key on a cluster."""
    alone, cluster = Tool(tmp_path / "home"), Tool(tmp_path / "home2")
    done = alone.run("scan", root)
    assert done.returncode == 1, done.stderr
    cluster.home.mkdir(mode=0o700)
    (cluster.home / "key").write_bytes((alone.home / "key").read_bytes())
    (cluster.home / "key").chmod(0o600)
    done = cluster.run("scan", root, "--cluster", "local:2")
    assert done.returncode == 1, done.stderr
    assert PASSWORD not in done.stdout + done.stderr
    return alone, cluster


def _count(tool: Tool, query: str) -> int:
    with sqlite3.connect(tool.database) as connection:
        return int(connection.execute(query).fetchone()[0])


@pytest.mark.slow
def test_share_that_is_not_mounted_is_read_by_a_cluster(tmp_path: Path, samba: Samba) -> None:
    write_share(samba.share, 40)
    alone, cluster = _scan_both(tmp_path, samba.url)
    results = results_by_path(cluster.database)
    assert len(results) == 40
    assert results == results_by_path(alone.database)
    assert _count(cluster, "SELECT count(*) FROM access WHERE owner <> ''") == 40
