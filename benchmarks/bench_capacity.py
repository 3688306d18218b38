"""Scalability of a scan: 10,000, 100,000 and 1,000,000 files; one worker and two; cost of a GB.

    nice .venv/bin/python -m pytest -m bench -s benchmarks/bench_capacity.py
    PHISCAN_BENCH_FILES=3000,10000,30000 ...     # other sizes, where there is less time

The growing share is made lazily through the crawl seam, and its files are answered by workers that do not
read: what is left is the scan's own process (crawl, plan, copies, ledger, database), which is what could
grow. Each size runs in a process of its own, so that its peak memory is its own. Processor seconds stand
beside the clock's, for machines that others use too. What reading costs is measured on files of a disk.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pathspec
import pytest
from blake3 import blake3

from phiscan.config import Config
from phiscan.crawl import Crawled, IgnoreRules, crawl
from phiscan.model import (
    EntityType,
    FileResult,
    Outcome,
    PiiBit,
    PiiVector,
    Reason,
    Referral,
    SourceFile,
    Span,
    StoredFinding,
)
from phiscan.pipeline.engine import build_engine
from phiscan.pipeline.process import process
from phiscan.pipeline.scan import scan
from phiscan.review.store import Store
from phiscan.store.identity import create_key
from tests.corpus.bench_share import make_share
from tests.pipeline.harness import Tool

SIZES = (10_000, 100_000, 1_000_000)
N_FINDINGS = 12  # in each referred file, one in a hundred
N_READ = 2_000  # files that are really read
MEASURE = "import sys; from benchmarks.bench_capacity import measure; measure(*sys.argv[1:])"


@pytest.mark.bench
def test_grow_the_share(tmp_path: Path) -> None:
    wanted = os.environ.get("PHISCAN_BENCH_FILES", "")
    sizes = [int(size) for size in wanted.split(",")] if wanted else list(SIZES)
    heads = ("first s", "CPU s", "again s", "CPU s", "peak MB", "DB B/file")
    print(f"\n{'files':>10}" + "".join(f"{head:>10}" for head in heads))
    for size in sizes:
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, str(tmp_path / str(size)), str(size)],
            capture_output=True,
            text=True,
            check=True,
        )
        row = json.loads(done.stdout)
        print(
            f"{size:>10,}{row['first_s']:>10.1f}{row['first_cpu_s']:>10.1f}{row['again_s']:>10.1f}"
            f"{row['again_cpu_s']:>10.1f}{row['peak_mb']:>10.0f}{row['database_bytes'] / size:>10.0f}",
            flush=True,
        )


@pytest.mark.bench
def test_one_worker_and_two(tmp_path: Path) -> None:
    share = tmp_path / "share"
    make_share(share, N_READ, seed=1)
    n_bytes = sum(path.stat().st_size for path in share.rglob("*") if path.is_file())
    load = os.getloadavg()[0]
    print(
        f"\n{N_READ:,} small files, {n_bytes / 1e6:.1f} MB; {os.cpu_count()} cores, load before: {load:.1f}"
    )
    for _ in range(2):
        one = _scan(tmp_path, share, "--workers", "1")
        two = _scan(tmp_path, share, "--workers", "2")
        print(f"one process {one:6.1f} s, two {two:6.1f} s: {one / two:.2f} times the work")


@pytest.mark.bench
def test_cost_of_a_gigabyte(tmp_path: Path) -> None:
    config = Config(home=tmp_path / "home")
    config.home.mkdir()
    create_key(config.key_file)
    engine = build_engine(config)
    make_share(tmp_path / "mixed", 800, seed=1)
    kinds = (("text of 1 KB", 300, 1_000), ("text of 100 KB", 20, 100_000), ("text of 1 MB", 2, 1_000_000))
    for name, n_files, n_bytes in kinds:
        _write_letters(tmp_path / name, n_files, n_bytes)
    print(f"\n{'':<16}{'files':>7}{'MB':>8}{'CPU s':>8}{'ms/file':>9}{'CPU h/GB':>10}")
    for name in ("mixed", *(name for name, _n_files, _n_bytes in kinds)):
        n_files = n_bytes = 0
        started = time.process_time()
        for crawled in crawl([bytes(tmp_path / name)], IgnoreRules(pathspec.GitIgnoreSpec.from_lines([]))):
            if crawled.skip is None and crawled.fail is None:
                process(crawled.source, engine)
                n_files, n_bytes = n_files + 1, n_bytes + crawled.source.size
        seconds = time.process_time() - started
        hours = seconds / n_bytes * 1e9 / 3600
        each = 1e3 * seconds / n_files
        print(
            f"{name:<16}{n_files:>7,}{n_bytes / 1e6:>8.2f}{seconds:>8.2f}{each:>9.2f}{hours:>10.2f}",
            flush=True,
        )


def measure(folder: str, n_files: str) -> None:
    """Scan a share that does not exist twice, and print what it cost as JSON; in a process of its own."""
    home = Path(folder)
    home.mkdir(parents=True)
    config = Config(home=home)
    create_key(config.key_file)
    ignore = IgnoreRules(pathspec.GitIgnoreSpec.from_lines([]))
    seconds, cpu = [], []
    with Store.open(config.database_url, create=True) as store:
        for _ in range(2):
            started, cpu_started = time.perf_counter(), time.process_time()
            run = scan(
                config,
                [b"/share"],
                store,
                ignore=ignore,
                workers=nullcontext(_Answers()),
                crawler=lambda _roots, _ignore: _lazy_share(int(n_files)),
            )
            seconds.append(time.perf_counter() - started)
            cpu.append(time.process_time() - cpu_started)
            assert run.summary.crawled == int(n_files)
    print(
        json.dumps(
            {
                "first_s": seconds[0],
                "again_s": seconds[1],
                "first_cpu_s": cpu[0],
                "again_cpu_s": cpu[1],
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "database_bytes": (home / "phiscan.db").stat().st_size,
            }
        )
    )


class _Answers:
    """Workers that return results without reading."""

    missing_isolation = None

    def run(self, sources: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, FileResult]]:
        for source in sources:
            yield source, _answer(source)


def _lazy_share(n_files: int) -> Iterator[Crawled]:
    for number in range(n_files):
        path = b"dep%03d/%05d/letter-%09d.txt" % (number // 100_000, number // 250, number)
        yield Crawled(SourceFile(b"/share", path, 2_000 + number % 30_011, number, number, number, 1))


def _answer(source: SourceFile) -> FileResult:
    is_referred = source.inode % 100 == 0
    found = [_finding(source, position) for position in range(N_FINDINGS if is_referred else 0)]
    return FileResult(
        source,
        Outcome.SCREENED,
        media_type="text/plain",
        content_hash=blake3(source.path).hexdigest(),
        n_chars=source.size,
        vector=PiiVector(frozenset({PiiBit.FIRST_NAME, PiiBit.LAST_NAME}) if is_referred else frozenset()),
        hamming=0 if is_referred else 3,
        nearest_prototype="name and health card",
        prototype_distance=1,
        n_people=int(is_referred),
        health_score=0.9 if is_referred else 0.1,
        referral=Referral.REFERRED if is_referred else Referral.CLEAR,
        case="near_person" if is_referred else "nothing",
        detectors=(("patterns", is_referred), ("names", is_referred), ("text", False)),
        findings=tuple(found),
    )


def _finding(source: SourceFile, position: int) -> StoredFinding:
    identity = blake3(b"%d %d" % (source.inode, position)).hexdigest()
    span = Span(100 * position + 1, 100 * position + 12)
    reasons = (Reason("rule", "ca.health_card.1", 0.9),)
    rule = "ca.health_card.1"
    return StoredFinding(span, "", EntityType.HEALTH_CARD, rule, 0.9, reasons, "9999 999 999", identity)


def _write_letters(folder: Path, n_files: int, n_bytes: int) -> None:
    """Write plain prose with a name and a number now and then, cut to size; no two files alike."""
    folder.mkdir()
    words = [
        "the",
        "ward",
        "round",
        "was",
        "moved",
        "because",
        "of",
        "a",
        "fire",
        "drill",
        "and",
        "a",
        "lift",
    ]
    for number in range(n_files):
        lines: list[str] = []
        size = 0
        while size < n_bytes:
            lines.append(f"{' '.join(words[(number + len(lines)) % 7 :])} ({number}-{len(lines)}).\n")
            size += len(lines[-1])
        (folder / f"note{number}.txt").write_text("".join(lines)[:n_bytes])


def _scan(folder: Path, share: Path, *options: str) -> float:
    """Return the seconds that the installed program takes for a first scan."""
    tool = Tool(folder / f"home{time.monotonic_ns()}")
    started = time.perf_counter()
    done = tool.run("scan", share, "--exit-zero", *options)
    assert done.returncode == 0, done.stderr
    return time.perf_counter() - started
