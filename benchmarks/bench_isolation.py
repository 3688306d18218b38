"""Cost of the isolation of workers: 10,000 small files, or a sample of a share, isolated and not, in one run.

    .venv/bin/python -m pytest -m bench -s benchmarks/bench_isolation.py
    BENCH_SHARE=FOLDER BENCH_FILES=3000 .venv/bin/python -m pytest -m bench -s benchmarks/bench_isolation.py

Isolated: as a scan does it, with open files handed over, hashes by another process, namespaces, Landlock
and seccomp. Not isolated: the same pool of processes, which open files by their path and hold the key. Both
take turns with the same files, so that a busy machine troubles both alike. Printed, not asserted: the limit
is 5 %. Where others use the machine, the processor time says more than the time.
"""

import os
import random
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pathspec
import pytest

from phiscan.config import Config
from phiscan.crawl import IgnoreRules, crawl
from phiscan.model import FileResult
from phiscan.pipeline.engine import build_engine
from phiscan.pipeline.workers import worker
from phiscan.pipeline.workers.pools import local_workers
from phiscan.sandbox.pool import Sandbox
from phiscan.store.identity import create_key
from tests.corpus.bench_share import make_share

N_FILES = int(os.environ.get("BENCH_FILES", "10000"))
SHARE = os.environ.get("BENCH_SHARE")  # a folder; its files are read without OCR
N_TURNS = 10
_PRELOAD = ("phiscan.pipeline.workers.preload",)


def start_without_isolation(config: Config) -> None:
    """Build an engine that has the key and opens files by their path."""
    worker._Worker.engine = build_engine(config)


@pytest.mark.bench
@pytest.mark.timeout(0)
def test_measure_what_isolation_costs(tmp_path: Path) -> None:
    share = Path(SHARE).resolve() if SHARE else tmp_path / "share"
    if not SHARE:
        make_share(share, N_FILES, seed=1)
    config = Config(home=tmp_path / "home")
    create_key(config.key_file)
    ignore = IgnoreRules(pathspec.GitIgnoreSpec.from_lines([]))
    sources = [found.source for found in crawl([os.fsencode(share)], ignore) if found.skip is None]
    if SHARE:
        sources = [replace(one, without_ocr=True) for one in random.Random(1).sample(sources, N_FILES)]
    seconds = {"isolated": 0.0, "not isolated": 0.0}
    processor = dict(seconds)
    with (
        local_workers(config) as isolated,
        Sandbox(
            config.n_workers,
            config.limits,
            start_without_isolation,
            (config,),
            preload=_PRELOAD,
            is_isolated=False,
        ) as without_isolation,
    ):
        without_isolation.in_order = False  # as a scan has it: else one slow file holds up the other worker
        list(isolated.run(iter(sources[:50])))
        list(without_isolation.run(worker.work, iter(sources[:50])))
        size = -(-len(sources) // N_TURNS)
        for number in range(N_TURNS):
            turn = sources[number * size : (number + 1) * size]
            order = list(seconds) if number % 2 else list(reversed(seconds))
            for name in order:
                started, spent = time.perf_counter(), processor_seconds()
                run = (
                    isolated.run(iter(turn))
                    if name == "isolated"
                    else without_isolation.run(worker.work, iter(turn))
                )
                answers = [answer for _, answer in run]
                seconds[name] += time.perf_counter() - started
                processor[name] += processor_seconds() - spent
                print(f"{number} {name}: {processor[name]:.1f} s", flush=True)
                assert SHARE or all(isinstance(answer, FileResult) for answer in answers)
        print(f"\nlayers missing: {isolated.missing_isolation}")
    for name, total in seconds.items():
        print(f"{name:<14}{total:8.1f} s {len(sources) / total:6.0f} files/s {processor[name]:7.1f} s busy")
    for what, spent_by in (("time", seconds), ("processor time", processor)):
        print(f"cost of isolation in {what}: {spent_by['isolated'] / spent_by['not isolated'] - 1:+.1%}")


def processor_seconds() -> float:
    """Return the processor time that this process and all below it have taken so far."""
    times: dict[int, tuple[int, float]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            fields = entry.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            ticks = sum(map(int, fields[11:15]))
            times[int(entry.parent.name)] = (int(fields[1]), ticks / os.sysconf("SC_CLK_TCK"))
    processes = {os.getpid()}
    while more := {pid for pid, (parent, _) in times.items() if parent in processes} - processes:
        processes |= more
    return sum(times[pid][1] for pid in processes if pid in times)
