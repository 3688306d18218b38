"""What the isolation of workers costs: 10,000 small files, isolated and not, in one run.

    .venv/bin/python -m pytest -m bench -s tests/bench/bench_isolation.py

Isolated: as a scan does it, with open files handed over, hashes by another process, namespaces, Landlock and
seccomp. Not isolated: the same pool of processes, which open files by their path and hold the key. Both take
turns with the same files, so that a busy machine troubles both alike. Printed, not asserted: the limit is 5 %
of the time.
"""

import os
import time
from pathlib import Path

import pathspec
import pytest

from phiscan.config import Config
from phiscan.crawl import IgnoreRules, crawl
from phiscan.extract.sandbox import Sandbox
from phiscan.pipeline import worker
from phiscan.pipeline.engine import Processed, build_engine
from phiscan.pipeline.workers import local_workers
from phiscan.review.identity import create_key
from tests.corpus.bench_share import make_share

N_FILES = int(os.environ.get("BENCH_FILES", "10000"))
N_TURNS = 10
_PRELOAD = ("phiscan.pipeline.warm",)


def start_unhindered(config: Config) -> None:
    """Build an engine that holds the key and opens files by their path."""
    worker._Worker.engine = build_engine(config)


@pytest.mark.bench
def test_measure_what_isolation_costs(tmp_path: Path) -> None:
    share = tmp_path / "share"
    make_share(share, N_FILES, seed=1)
    config = Config(home=tmp_path / "home")
    create_key(config.key_file)
    ignore = IgnoreRules(pathspec.GitIgnoreSpec.from_lines([]))
    sources = [found.source for found in crawl([os.fsencode(share)], ignore) if found.skip is None]
    seconds = {"isolated": 0.0, "not isolated": 0.0}
    with (
        local_workers(config) as isolated,
        Sandbox(
            config.n_workers, config.limits, start_unhindered, (config,), preload=_PRELOAD, isolation=None
        ) as unhindered,
    ):
        list(isolated.run(iter(sources[:50])))
        list(unhindered.run(worker.work, iter(sources[:50])))
        size = -(-len(sources) // N_TURNS)
        for number in range(N_TURNS):
            turn = sources[number * size : (number + 1) * size]
            order = list(seconds) if number % 2 else list(reversed(seconds))
            for name in order:
                started = time.perf_counter()
                run = (
                    isolated.run(iter(turn))
                    if name == "isolated"
                    else unhindered.run(worker.work, iter(turn))
                )
                answers = [answer for _, answer in run]
                seconds[name] += time.perf_counter() - started
                assert all(isinstance(answer, Processed) for answer in answers)
        print(f"\nlayers missing: {isolated.missing_isolation}")
    for name, total in seconds.items():
        print(f"{name:<14}{total:8.1f} s {len(sources) / total:8.0f} files/s")
    print(f"cost of isolation: {seconds['isolated'] / seconds['not isolated'] - 1:+.1%}")
