"""A rescan of 100,000 unchanged files against a bare walk of the same share.

    .venv/bin/python -m pytest -m bench -s benchmarks/bench_rescan.py

The bare walk asks the file system for the same as we do, and nothing else: scandir, and lstat of each entry.
"""

import os
import time
from pathlib import Path

import pytest

from tests.pipeline.harness import Tool

N_FILES = 100_000
N_IN_FOLDER = 500
N_RUNS = 3


@pytest.mark.bench
def test_rescan_against_a_bare_walk(tmp_path: Path) -> None:
    share, tool = tmp_path / "share", Tool(tmp_path / "home")
    _write(share)
    first = _seconds(tool, share)
    walks, scans, starts = [], [], []
    for _ in range(N_RUNS):
        walks.append(_walk(os.fsencode(share)))
        scans.append(_seconds(tool, share))
        starts.append(_seconds(tool, share / "empty"))
    walk, scan, start = min(walks), min(scans), min(starts)
    print(f"\n{'':<44}{'seconds':>9}{'files/s':>11}")
    _row("bare walk: scandir and lstat", walk)
    _row("first scan: seven contents, the rest copies", first)
    _row("rescan, nothing changed", scan)
    _row("the same without the start of the program", scan - start)
    print(f"rescan / bare walk: {walk / scan:.3f}; without the start: {walk / (scan - start):.3f}")


def _write(share: Path) -> None:
    for number in range(N_FILES):
        folder, place = divmod(number, N_IN_FOLDER)
        path = share / f"{folder // 20:02}" / f"{folder:03}" / f"note{place:04}.txt"
        if not place:
            path.parent.mkdir(parents=True)
        path.write_text(f"Minutes of the parking committee, level {number % 7}: nothing is new.\n")
    (share / "empty").mkdir()
    (share / "empty/one.txt").write_text("Nothing to see.\n")


def _walk(folder: bytes) -> float:
    started = time.perf_counter()
    folders, n_files = [folder], 0
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                info = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    n_files += info.st_size > 0
    assert n_files == N_FILES + 1
    return time.perf_counter() - started


def _seconds(tool: Tool, share: Path) -> float:
    started = time.perf_counter()
    done = tool.run("scan", share, "--json", "--exit-zero")
    assert done.returncode == 0, done.stderr
    return time.perf_counter() - started


def _row(name: str, seconds: float) -> None:
    print(f"{name:<44}{seconds:>9.2f}{N_FILES / seconds:>11,.0f}")
