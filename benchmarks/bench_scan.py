"""Time a scan of 10,000 small files: files/s, MB/s, peak memory, and where the time goes.

    .venv/bin/python -m pytest -m bench -s benchmarks/bench_scan.py

The alternative in the same run is the same work in one plain loop, without worker processes and without
a store: the price (or gain) of isolation, parallelism and recording is the ratio.
"""

import json
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

import pathspec
import pytest

from phiscan.config import Config
from phiscan.crawl import IgnoreRules, crawl
from phiscan.pipeline.engine import build_engine
from phiscan.pipeline.process import process
from phiscan.store.identity import create_key
from tests.corpus.bench_share import make_share
from tests.pipeline.harness import Tool, processes_of

N_FILES = 10_000


@pytest.mark.bench
def test_scan_ten_thousand_files(tmp_path: Path) -> None:
    share = tmp_path / "share"
    make_share(share, N_FILES, seed=1)
    n_bytes = sum(p.stat().st_size for p in share.rglob("*") if p.is_file())
    print(f"\nshare: {N_FILES:,} files, {n_bytes / 1e6:.1f} MB")

    first, peak, summary = _scan(Tool(tmp_path / "home"), share)
    _row("phiscan scan, first time", first, n_bytes)
    print(f"  peak resident memory: parent {peak['parent']} MB, largest worker {peak['worker']} MB")
    total = sum(summary["stage_seconds"].values())
    for stage, seconds in sorted(summary["stage_seconds"].items(), key=lambda item: -item[1]):
        print(f"  {stage:<10}{seconds:8.2f} s of workers' time  {seconds / total:6.1%}")
    again, _peak, _summary = _scan(Tool(tmp_path / "home"), share)
    _row("phiscan scan, nothing changed", again, n_bytes)

    loop, laps = _plain_loop(tmp_path, share)
    _row("plain loop, one process, no store", loop, n_bytes)
    for stage, seconds in laps.most_common():
        print(f"  {stage:<10}{seconds:8.2f} s")
    print(f"ratio plain loop / scan: {loop / first:.2f}")


def _row(name: str, seconds: float, n_bytes: int) -> None:
    print(f"{name:<36}{seconds:7.1f} s {N_FILES / seconds:9,.0f} files/s {n_bytes / 1e6 / seconds:7.2f} MB/s")


def _scan(tool: Tool, share: Path) -> tuple[float, dict[str, int], dict[str, dict[str, float]]]:
    started = time.perf_counter()
    process_ = subprocess.Popen(
        tool.command("scan", share, "--json", "--exit-zero"),
        env=tool.environment(),
        cwd=tool.home.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    peak = {"parent": 0, "worker": 0}
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(tool, process_.pid, peak, done))
    watcher.start()
    output, _ = process_.communicate()
    seconds = time.perf_counter() - started
    done.set()
    watcher.join()
    return seconds, peak, json.loads(output)


def _watch(tool: Tool, parent: int, peak: dict[str, int], done: threading.Event) -> None:
    """Keep the largest peak resident set of the parent and of any other process, in MB."""
    while not done.wait(0.3):
        for pid in processes_of(tool):
            try:
                status = Path(f"/proc/{pid}/status").read_text()
            except OSError:
                continue
            for line in status.splitlines():
                if line.startswith("VmHWM:"):
                    kind = "parent" if pid == parent else "worker"
                    peak[kind] = max(peak[kind], int(line.split()[1]) // 1024)


def _plain_loop(tmp_path: Path, share: Path) -> tuple[float, Counter[str]]:
    config = Config(home=tmp_path / "loop")
    config.home.mkdir()
    create_key(config.key_file)
    ignore = IgnoreRules(pathspec.GitIgnoreSpec.from_lines([]))
    laps: Counter[str] = Counter()
    started = time.perf_counter()
    engine = build_engine(config)
    for crawled in crawl([bytes(share)], ignore):
        if crawled.skip is None and crawled.fail is None:
            laps.update(dict(process(crawled.source, engine).seconds))
    return time.perf_counter() - started, laps
