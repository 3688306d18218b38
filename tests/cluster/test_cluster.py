"""A real scheduler and real workers, killed at will: the database is that of an undisturbed local scan."""

import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest

from phiscan.store.identity import create_key
from tests.cluster.harness import cluster_of, kill_group
from tests.pipeline.harness import PACED, Tool, ToolHere, n_recorded, write_share
from tests.pipeline.rows import database_rows
from tests.servers.certificate import make_certificate
from tests.waiting import wait_until

ODD = Path(__file__).parent / "odd_worker.py"


def _share(folder: Path, n_files: int) -> Path:
    """Write a share without copies: which of two copies is read first depends on what was interrupted."""
    write_share(folder, n_files)
    for path in folder.rglob("*.txt"):
        path.write_text(f"{path.read_text()}\nPage {path.stem[4:]}\n")
    return folder


def homes(tmp_path: Path, share: str | Path) -> tuple[Tool, Tool]:
    """Scan undisturbed with one home; give another one the same key."""
    undisturbed, other = ToolHere(tmp_path / "home"), Tool(tmp_path / "home2")
    assert undisturbed.run("scan", share).returncode == 1
    other.same_key(undisturbed)
    return undisturbed, other


def _keyed(tmp_path: Path) -> Tool:
    """Return a home with a key."""
    tool = Tool(tmp_path / "home")
    create_key(tool.home / "key")
    return tool


def _recorded(tool: Tool) -> int:
    return n_recorded(tool.database)


def _start_scan(tool: Tool, share: Path, address: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        tool.command("scan", share, "--cluster", address, *PACED),
        env=tool.environment(),
        cwd=tool.home.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.slow
def test_killed_workers_and_a_killed_client_change_nothing(tmp_path: Path) -> None:
    share = _share(tmp_path / "share", 1_500)
    undisturbed, other = homes(tmp_path, share)
    with cluster_of(other, tmp_path / "cluster") as cluster:
        first, second = cluster.worker(), cluster.worker()
        scan = _start_scan(other, share, cluster.address)
        wait_until(lambda: _recorded(other) >= 100 or scan.poll() is not None, "the scan has begun")
        assert scan.poll() is None
        kill_group(first)
        cluster.worker()
        seen = _recorded(other)
        wait_until(lambda: _recorded(other) > seen + 100 or scan.poll() is not None, "the scan goes on")
        assert scan.poll() is None, "the scan was over before its client could be killed"
        scan.send_signal(signal.SIGKILL)
        scan.wait()
        assert _recorded(other) < 1_500
        scan = _start_scan(other, share, cluster.address)
        seen = _recorded(other)
        wait_until(lambda: _recorded(other) > seen or scan.poll() is not None, "the scan was resumed")
        kill_group(second)
        assert scan.wait(timeout=240) == 1
        said = cluster.logs()
    assert database_rows(other.database) == database_rows(undisturbed.database)
    for value in ("Karrowick", "Torvald", "1234 567 897", "file0"):
        assert value not in said


@pytest.mark.slow
def test_file_that_kills_workers_is_quarantined_alone(tmp_path: Path) -> None:
    share = _share(tmp_path / "share", 200)
    other = _keyed(tmp_path)
    with cluster_of(other, tmp_path / "cluster") as cluster:
        for _ in range(2):
            cluster.worker(ODD, PHISCAN_TEST_FAULT="poison")
        done = other.run("scan", share, "--cluster", cluster.address)
    assert done.returncode == 3, done.stderr
    with sqlite3.connect(other.database) as connection:
        rows = connection.execute(
            "SELECT file.path, outcome, reason, detail FROM examination JOIN file ON file.id = file_id "
            "WHERE outcome = 'failed'"
        ).fetchall()
    assert rows == [(b"4/file0123.txt", "failed", "crashed", "the cluster's workers died while reading it")]
    assert _recorded(other) == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        ("blind", "cannot see {share}; a share must be mounted at the same path everywhere"),
        ("other_rules", "not the same phiscan, rules as here"),
    ],
)
def test_unfit_worker_is_refused_by_name(tmp_path: Path, fault: str, complaint: str) -> None:
    share = _share(tmp_path / "share", 20)
    other = _keyed(tmp_path)
    with cluster_of(other, tmp_path / "cluster") as cluster:
        cluster.worker(ODD, PHISCAN_TEST_FAULT=fault)
        done = other.run("scan", share, "--cluster", cluster.address)
    assert done.returncode == 2
    assert "worker tcp://127.0.0.1:" in done.stderr
    assert complaint.format(share=share) in done.stderr
    assert _recorded(other) == 0


@pytest.mark.slow
def test_share_under_another_device_number_is_read(tmp_path: Path) -> None:
    share = _share(tmp_path / "share", 60)
    undisturbed, other = homes(tmp_path, share)
    with cluster_of(other, tmp_path / "cluster") as cluster:
        cluster.worker(ODD, PHISCAN_TEST_FAULT="other_machine")
        assert other.run("scan", share, "--cluster", cluster.address).returncode == 1
    assert database_rows(other.database) == database_rows(undisturbed.database)


@pytest.mark.slow
def test_scan_stops_resumably_when_the_scheduler_is_gone(tmp_path: Path) -> None:
    share = _share(tmp_path / "share", 1_000)
    undisturbed, other = homes(tmp_path, share)
    with cluster_of(other, tmp_path / "cluster") as cluster:
        cluster.worker()
        scan = _start_scan(other, share, cluster.address)
        wait_until(lambda: _recorded(other) >= 50 or scan.poll() is not None, "the scan has begun")
        kill_group(cluster.processes[0])
        assert scan.wait(timeout=240) == 4
    assert 50 <= _recorded(other) < 1_000
    assert other.run("scan", share).returncode == 1  # this machine alone goes on
    assert database_rows(other.database) == database_rows(undisturbed.database)


def test_cluster_that_is_not_there_is_said_before_anything_begins(tmp_path: Path) -> None:
    share = _share(tmp_path / "share", 1)
    tool = Tool(tmp_path / "home")
    (tmp_path / "phiscan.toml").write_text('home = "home"\n[cluster]\nca_file = "none.pem"\n')
    done = tool.run("scan", share, "--cluster", "tls://127.0.0.1:1")
    assert done.returncode == 2
    assert "cluster: tls:// needs ca_file, cert_file and key_file" in done.stderr
    assert _recorded(tool) == 0


@pytest.mark.slow
def test_tls_asks_for_a_certificate(tmp_path: Path) -> None:
    share = _share(tmp_path / "share", 30)
    other = _keyed(tmp_path)
    make_certificate(tmp_path)
    (tmp_path / "phiscan.toml").write_text(
        f'home = "home"\n[cluster]\nca_file = "{tmp_path}/certificate.pem"\n'
        f'cert_file = "{tmp_path}/certificate.pem"\nkey_file = "{tmp_path}/key.pem"\n'
    )
    with cluster_of(other, tmp_path / "cluster", "--tls") as cluster:
        assert cluster.address.startswith("tls://")
        cluster.worker()
        checked = other.run("cluster", "check", cluster.address, share)
        assert checked.stdout == "1 workers, all fit for this scan\n", checked.stderr
        done = other.run("scan", share, "--cluster", cluster.address)
        assert done.returncode == 1, done.stderr
        plain = cluster.address.replace("tls://", "tcp://")
        refused = other.run("scan", share, "--cluster", plain)
        assert refused.returncode == 2
        make_certificate(tmp_path)  # another authority's certificate
        assert other.run("scan", share, "--cluster", cluster.address).returncode == 2
