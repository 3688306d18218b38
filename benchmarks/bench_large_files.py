"""Examine very large files of patients and print the table of docs/reference/large-files.md.

Run: PYTHONPATH=. .venv/bin/python benchmarks/bench_large_files.py [FOLDER] > docs/reference/large-files.md
Each file is examined in a process of its own, in one thread, as a worker does. The files (3 GB) are made in
FOLDER, else in a temporary one; those that are there are taken as they are.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.large.made_files import N_PATIENTS, WRITERS, repeat_pages, write_inventory, write_prose

ROW = "Jean Tremblay,chart 4431298,diagnosed with type 2 diabetes,born 1961-05-03,613-555-0142"
SENTENCE = (
    "Jean Tremblay (MRN 4431298) was admitted with chest pain and treated for heart failure with furosemide."
)
LIMIT_S, LIMIT_MB = 20, 600

PAGE = """# Large files

How files with much text are examined in part, and the measured time and memory of large files.

A document of more than 200,000 characters is examined in windows of 16,000: the beginning; then, unless
that is referred, the lines, passages and windows that a cheap pass over its whole text ranks highest (rare
health terms of the file, and identifiers among them); then windows in a random order derived from the key.
Examination ends when the file is referred and 12 windows of the random order were examined, or after
`limits.screen_chars`. The findings of all windows count; the referral is that of the strongest one. What was
not examined is listed as an unread part (`#rest`) with its share, so that a file of which only a
part was examined counts as such everywhere.

`phiscan screen` reads a long text in the same way; `unread` in its output lists what was not examined.

The number of people is then an estimate (a ratio estimator over the random windows); its 95 % interval
is in the file's detail, as `people_interval` in the JSON of `queue export`, `list`, `show` and `screen`,
and on the page of the file. It does not cover people whom the screener misses in the examined windows: of
the rows of the PDF below, which have no labels, it recognizes about 70 % as people.

Of records, text, sheets and PDF with more text than `limits.text_chars` keeps, parts spread evenly over the
file are read; of a PDF of more than 3,000 pages the first 500 and 2,500 others. The rest is listed
as unread.

All these limits are counted in characters, pages and windows, so that the outcome is the same on a busy
machine. `limits.processor_s` is a safety net: it is processor time, and even when it is spent the
beginning, the highest ranked passages and two windows are examined. `limits.time_s`, after which a worker
is killed, is processor time, too.

Measured by `benchmarks/bench_large_files.py`, one thread of a shared machine, times with nothing loaded
before but the engine ({load_s:.1f} s, {load_mb} MB). Required: referred within {limit_s} s and {limit_mb} MB.

| file | MB | processor s | peak MB | outcome | people |
| --- | --- | --- | --- | --- | --- |
"""


def main(folder: Path) -> None:
    """Make the files that are not there, examine each, print the page."""
    rows = []
    for path in _files(folder):
        done = subprocess.run(
            [sys.executable, __file__, "--one", str(path)],
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            check=True,
        )
        rows.append((path, json.loads(done.stdout)))
        print(path, done.stdout.decode().strip(), file=sys.stderr)
    first = rows[0][1]
    print(
        PAGE.format(load_s=first["load_s"], load_mb=first["load_mb"], limit_s=LIMIT_S, limit_mb=LIMIT_MB),
        end="",
    )
    for path, one in rows:
        times = path.parent.name if path.parent != folder else "1"
        name = f"{path.name} × {times}" if path.name.startswith("patients") else path.name  # noqa: RUF001 (times)
        size = path.stat().st_size / 1e6
        print(
            f"| {name} | {size:,.1f} | {one['s']:.1f} | {one['mb']} | {one['outcome']} | {one['people']:,} |"
        )


def _files(folder: Path) -> list[Path]:
    paths = []
    for times in (1, 5, 50):
        inner = folder if times == 1 else folder / str(times)
        inner.mkdir(parents=True, exist_ok=True)
        for name, write in WRITERS.items():
            path = inner / name
            if not path.exists() and name.endswith(".pdf") and times > 1:
                repeat_pages(path, folder / name, times)
            elif not path.exists():
                write(path, N_PATIENTS * times)
            paths.append(path)
    for name, write_one, line in (
        ("stock-one-row.csv", write_inventory, ROW),
        ("minutes-one-sentence.txt", write_prose, SENTENCE),
        ("stock-none.csv", write_inventory, ""),
        ("minutes-none.txt", write_prose, ""),
    ):
        path = folder / name
        write_one(path, 5_000_000, line)
        paths.append(path)
    return paths


def examine_one(path: Path) -> None:
    """Print what examining one file cost, and what came out."""
    from phiscan.config import Config  # noqa: PLC0415 (only in the process that examines)
    from phiscan.model import SourceFile  # noqa: PLC0415
    from phiscan.pipeline.engine import build_engine  # noqa: PLC0415
    from phiscan.pipeline.process import process  # noqa: PLC0415
    from phiscan.store.identity import create_key  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as home:
        create_key(Path(home) / "key")
        engine = build_engine(Config(home=Path(home)))
    load_s, load_mb = time.process_time(), _peak_mb()
    source = SourceFile.of(os.fsencode(path.parent), os.fsencode(path.name), path.lstat())
    result = process(source, engine)
    print(
        json.dumps(
            {
                "load_s": load_s,
                "load_mb": load_mb,
                "s": time.process_time() - load_s,
                "mb": _peak_mb(),
                "outcome": result.referral or f"{result.outcome}: {result.reason}",
                "people": result.n_people,
            }
        )
    )


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        examine_one(Path(sys.argv[2]))
    elif sys.argv[1:]:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(made))
