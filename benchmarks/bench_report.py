"""Time the audit pack of a scan of 50,000 files, step by step.

.venv/bin/python -m pytest -m bench -s benchmarks/bench_report.py
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from phiscan.report.gather import N_TOP, gather
from phiscan.report.pack import files_csv, report_json, table_csv
from phiscan.report.rendering.html import render
from phiscan.report.rendering.pdf import render_pdf
from phiscan.report.rendering.tables import tables
from phiscan.report.scan_rows import read_scan
from tests.report.synthetic import NOW, decide_referred, fill, share

N_FILES = 50_000


@contextmanager
def lap(name: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    print(f"{name:<44}{time.perf_counter() - started:7.2f} s")


@pytest.mark.bench
def test_report_of_fifty_thousand_files(tmp_path: Path) -> None:
    made = fill(tmp_path, share(N_FILES))
    decide_referred(made)
    print(f"\n{N_FILES:,} files")
    with lap("read the database"):
        read_scan(made.database, None, n_top=N_TOP, now=NOW, conceal=False)
    with lap("read again and compute"):
        report = gather(made.database, now=NOW)
    print(f"{len(report.data.decisions):,} decisions")
    with lap("report.html"):
        page = render(report.data)
    with lap("report.pdf"):
        pdf = render_pdf(page)
    with lap("report.json"):
        text = report_json(report.data)
    with lap("files.csv"):
        files_csv(report.files, report.names)
    with lap("tables/*.csv"):
        for table in tables(report.data).values():
            table_csv(table)
    print(f"page {len(page) / 1e3:.0f} kB, pdf {len(pdf) / 1e3:.0f} kB, json {len(text) / 1e6:.1f} MB")
