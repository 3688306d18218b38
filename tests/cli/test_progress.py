"""What a person sees while a scan runs."""

import os
import pty
import subprocess
import sys
import threading
from pathlib import Path

from phiscan.cli.progress import describe
from phiscan.pipeline.ledger import Progress
from tests.pipeline.harness import write_share


def test_names_rate_and_time_left_once_the_total_is_known() -> None:
    progress = Progress(n_crawled=50, n_read=40, n_unchanged=10, n_bytes=4_000_000, n_referred=3, n_failed=1)
    line = describe(progress, 10.0, 200, total_known=True)
    assert line == "50 of 200 files · 5 files/s · 0.4 MB/s · 30 s left · 3 referred · 1 not read"


def test_promises_no_time_before_the_total_is_known() -> None:
    line = describe(Progress(n_read=5), 1.0, 80)
    assert line.startswith("5 of 80+ files")
    assert "left" not in line


def test_shows_a_live_line_on_a_terminal_and_nothing_of_it_on_standard_output(tmp_path: Path) -> None:
    share = write_share(tmp_path / "share", 400)
    master, slave = pty.openpty()
    shown = bytearray()

    def drain() -> None:
        while True:
            try:
                chunk = os.read(master, 4096)
            except OSError:  # the other end was closed
                return
            if not chunk:
                return
            shown.extend(chunk)

    reader = threading.Thread(target=drain)
    reader.start()
    done = subprocess.run(
        [sys.executable, "-m", "phiscan", "scan", str(share), "--json", "--exit-zero"],
        env={**os.environ, "PHISCAN_HOME": str(tmp_path / "home"), "TERM": "xterm", "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=slave,
        check=False,
    )
    os.close(slave)
    reader.join(timeout=10)
    os.close(master)
    assert done.returncode == 0
    text = shown.decode("utf-8", "replace")
    assert " of 400 files" in text
    assert "files/s" in text
    assert " left" in text
    assert b"files/s" not in done.stdout
