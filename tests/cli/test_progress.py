"""What a person sees while a scan runs."""

import os
import pty
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from phiscan.cli.scan.command import describe, show_progress
from phiscan.config import Config
from phiscan.crawl import check_roots, load_ignore
from phiscan.model import FileResult, Outcome, SourceFile
from phiscan.pipeline.result_recorder import Progress, _bytes_read
from phiscan.pipeline.scan import scan
from phiscan.pipeline.workers.worker import ReadCounter
from phiscan.review.store import Store
from phiscan.store.identity import create_key
from tests.pipeline.harness import write_share
from tests.waiting import wait_until


def test_names_rate_and_time_left_once_the_total_is_known() -> None:
    progress = Progress(n_crawled=50, n_read=40, n_unchanged=10, n_bytes=4_000_000, n_referred=3, n_failed=1)
    line = describe(progress, 10.0, 200, total_known=True)
    assert line == "50 of 200 files · 5 files/s · 0.4 MB/s · 30 s left · 3 referred · 1 not read"


def test_promises_no_time_before_the_total_is_known() -> None:
    line = describe(Progress(n_read=5), 1.0, 80)
    assert line.startswith("5 of 80+ files")
    assert "left" not in line


@pytest.mark.slow
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
    assert text.index("loading models") < text.index(" of 400 files")
    assert "files/s" in text
    assert " left" in text
    assert b"files/s" not in done.stdout


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr("phiscan.cli.scan.command.print_message", lines.append)
    return lines


def test_says_that_models_are_loaded_until_the_first_file_is_answered(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phiscan.cli.scan.command.PLAIN_EVERY_S", 0.01)
    with show_progress(lambda: iter(())) as on_progress:
        on_progress(Progress(is_loading=True))
        wait_until(lambda: len(said) > 1, "it was said twice")
        on_progress(Progress(n_unchanged=7, is_loading=True))
        assert set(said) == {"loading models"}
        on_progress(Progress(n_read=1, n_unchanged=7, started=0.0))
        wait_until(lambda: _told(on_progress, said), "a file was told")
    assert "loading" not in said[-1]


def _told(on_progress: Callable[[Progress], None], said: list[str]) -> bool:
    on_progress(Progress(n_read=1, n_unchanged=7, started=0.0))
    return said[-1].startswith("8 files · ")


def test_says_nothing_of_a_scan_that_ends_before_it_could_be_wondered_at(said: list[str]) -> None:
    with show_progress(lambda: iter(())) as on_progress:
        on_progress(Progress(is_loading=True))
        on_progress(Progress(n_read=1))
    assert said == []


@pytest.mark.usefixtures("warm")
def test_counts_the_bytes_that_were_read_and_not_the_size_of_sparse_files(tmp_path: Path) -> None:
    share = write_share(tmp_path / "share", 10)
    read = sum(path.stat().st_size for path in share.rglob("*.txt"))
    for name in ("disk.img", "notes.txt", "letters.zip"):
        with (share / name).open("wb") as stream:
            stream.truncate(5 * 1024**3)
    seen: list[Progress] = []
    config = Config(home=tmp_path / "home", workers=1)
    create_key(config.key_file)
    with Store.open(config.database_url, create=True) as store:
        folders = check_roots([str(share)], config)
        run = scan(config, folders, store, ignore=load_ignore(config, folders), on_progress=seen.append)
    assert run.summary.failed == {"too_large": 3}
    # With the beginnings of the others, and the end of one, where an archive has its directory.
    assert read + 3 * 1024**2 <= run.summary.bytes <= read + 4 * 1024**2
    # Beside the ten files: the beginnings of the others, and modules of Python that were loaded meanwhile.
    assert read <= seen[-1].n_bytes < 100_000_000


def test_a_file_that_is_read_whole_counts_its_size(tmp_path: Path) -> None:
    path = tmp_path / "read"
    path.write_bytes(bytes(300_000))
    counter = ReadCounter()
    before = counter.n_bytes()
    path.read_bytes()
    after = counter.n_bytes()
    again = counter.n_bytes()
    if before is None or after is None:
        pytest.skip("this kernel does not count")
    assert (after - before, again) == (300_000, after)


def test_what_is_not_measured_counts_as_read_only_if_it_was_screened() -> None:
    source = SourceFile(b"/", b"a", 5_000_000_000, 0, 0, 0, 0)
    assert _bytes_read(FileResult(source, Outcome.FAILED, reason="too_large")) == 0
    assert _bytes_read(FileResult(source, Outcome.FAILED, reason="too_large", bytes_read=10)) == 10
    assert _bytes_read(FileResult(source, Outcome.SCREENED)) == 5_000_000_000
