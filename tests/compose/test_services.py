"""The services of docker-compose.yml as real processes, and one scheduled scan through all of them."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.needs import needs
from tests.pipeline.harness import write_share

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_scan_goes_through_every_service() -> None:
    needs("pg_ctl", "initdb", folders=tuple(map(str, Path("/usr/lib/postgresql").glob("*/bin"))))
    # Not below pytest's own folder: PostgreSQL runs as a user of its own, who may not enter there.
    with tempfile.TemporaryDirectory(prefix="phiscan-services-") as name:
        Path(name).chmod(0o755)
        _scan_through_all(Path(name))


def _scan_through_all(folder: Path) -> None:
    share = write_share(folder / "share", 60)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    done = subprocess.run(
        [ROOT / "scripts/run-services.sh", folder / "run", share, "1"],
        env={**os.environ, "PYTHON": sys.executable, "WEB_PORT": str(port)},
        capture_output=True,
        text=True,
        timeout=840,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])
    assert (summary["crawled"], summary["referred"]) == (60, 6)
    left = subprocess.run(["pgrep", "-f", str(folder)], capture_output=True, text=True, check=False)
    assert left.stdout == ""
