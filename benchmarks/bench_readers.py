"""Read the same documents with phiscan and with other readers, in the same run.

Run: .venv/bin/python benchmarks/bench_readers.py FOLDER > docs/reference/readers-measured.md
Each reader runs in a process of its own, which imports nothing of the others: one file after the other, then
all of them once more, when what is loaded at the first use is there. phiscan is measured twice: in one
process, as the others, and in its sandbox. Pictures are left out of the race (no OCR on either side): the
others have none.
"""

from __future__ import annotations

import io
import json
import logging
import os
import re
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phiscan.model import SourceFile

NO_OCR_S = 0.001  # no time for OCR: a scan is recorded as unread at once
FAMILIES: dict[str, tuple[str, ...]] = {
    "pdf": (".pdf",),
    "Word": (".docx", ".docm", ".dotx"),
    "workbooks": (".xlsx", ".xlsm"),
    "all": (),
}
PLAIN = {"pdf": "pdfminer.six", "Word": "python-docx", "workbooks": "openpyxl"}


@dataclass(frozen=True)
class Run:
    """What one reader did with one family in one process."""

    reader: str
    seconds: float
    cpu_s: float
    failures: int
    empty: int
    peak_mib: float
    again_s: dict[str, float]  # CPU seconds of each file that it read, the second time; {} in the sandbox


def source_of(path: Path) -> SourceFile:
    """Return the file as a crawl would."""
    from phiscan.model import SourceFile  # noqa: PLC0415 (its import is measured)

    return SourceFile.of(os.fsencode(path.parent), os.fsencode(path.name), path.lstat())


def by_phiscan() -> Callable[[Path], str]:
    """Return our readers, in this process."""
    from phiscan.config import Limits  # noqa: PLC0415 (its import is measured)
    from phiscan.extract import extract  # noqa: PLC0415 (its import is measured)

    limits = Limits(ocr_s=NO_OCR_S)
    return lambda path: extract(source_of(path), limits).text


def by_markitdown() -> Callable[[Path], str]:
    """Return markitdown's reader, with its converters loaded once."""
    from markitdown import MarkItDown  # noqa: PLC0415 (its import is measured)

    reader = MarkItDown(enable_plugins=False)
    return lambda path: reader.convert(str(path)).text_content


def by_plain(path: Path) -> str:
    """Read with the best known library of the format, used as its manual says."""
    ending = path.suffix.lower()
    if ending == ".pdf":
        from pdfminer.high_level import extract_text  # noqa: PLC0415 (its import is measured)

        return extract_text(str(path))
    if ending in FAMILIES["Word"]:
        import docx  # noqa: PLC0415 (its import is measured)

        document = docx.Document(str(path))
        cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
        return "\n".join([*(paragraph.text for paragraph in document.paragraphs), *cells])
    import openpyxl  # noqa: PLC0415 (its import is measured)

    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    return "\n".join(
        "\t".join("" if value is None else str(value) for value in row)
        for sheet in book
        for row in sheet.iter_rows(values_only=True)
    )


def sandboxed(files: list[Path]) -> tuple[int, int]:
    """Read in two worker processes, confined as in a scan; return failures and files without text."""
    from phiscan.config import Limits  # noqa: PLC0415 (its import is measured)
    from phiscan.sandbox.answers import Fault  # noqa: PLC0415 (its import is measured)
    from tests.handed_over import handed_over  # noqa: PLC0415 (its import is measured)

    sources = [source_of(path) for path in files]
    with handed_over(2, Limits(ocr_s=NO_OCR_S), sources) as sandbox:
        answers = [answer for _, answer in sandbox.run(_text_length, sources)]
    return sum(isinstance(a, Fault) for a in answers), sum(a == 0 for a in answers)


def _text_length(source: SourceFile) -> int:
    from phiscan.config import Limits  # noqa: PLC0415 (its import is measured)
    from phiscan.extract import extract  # noqa: PLC0415 (its import is measured)

    return len(extract(source, Limits(ocr_s=NO_OCR_S)).text)


def read_all(read: Callable[[Path], str], files: list[Path]) -> tuple[dict[str, float], int]:
    """Return the CPU seconds of each file that could be read, and how many of them gave no text."""
    used, empty = {}, 0
    for path in files:
        before = time.process_time()
        try:
            text = read(path)
        except Exception:  # noqa: BLE001, S112 (a failure of the reader, whatever it is, is counted)
            continue
        used[path.name] = time.process_time() - before
        empty += not text.strip()
    return used, empty


def measure(reader: str, files: list[Path]) -> Run:
    """Read every file in this process."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    started = time.perf_counter()
    read: Callable[[Path], str] | None = None
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        if reader == "phiscan, sandboxed":
            failures, empty = sandboxed(files)
        else:
            read = {"phiscan": by_phiscan, "markitdown": by_markitdown}.get(reader, lambda: by_plain)()
            done, empty = read_all(read, files)
            failures = len(files) - len(done)
        seconds = time.perf_counter() - started
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        cpu_s = sum(usage.ru_utime + usage.ru_stime for usage in used)
        again_s = read_all(read, files)[0] if read else {}
    peak = max(usage.ru_maxrss for usage in used) / 1024
    return Run(reader, seconds, cpu_s, failures, empty, peak, again_s)


def in_a_process(reader: str, family: str, folder: Path) -> Run:
    """Measure in a fresh process."""
    done = subprocess.run(
        [sys.executable, __file__, str(folder), reader, family], capture_output=True, text=True, check=True
    )
    return Run(**json.loads(done.stdout.splitlines()[-1]))


def files_of(folder: Path, family: str) -> list[Path]:
    """Return the files of a family; of all those that hold more than pictures."""
    endings = FAMILIES[family]
    pictures = (".png", ".jpg", ".jpeg", ".tif", ".tiff")
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return [
        path
        for path in files
        if (path.suffix.lower() in endings if endings else path.suffix.lower() not in pictures)
    ]


def n_pages(files: list[Path]) -> int:
    """Count the pages of the PDF files that open."""
    import pypdfium2  # noqa: PLC0415 (no reader's process loads it here)

    total = 0
    for path in files:
        try:
            with pypdfium2.PdfDocument(path) as document:
                total += len(document)
        except pypdfium2.PdfiumError:
            continue
    return total


def both_read(run: Run, ours: Run) -> str:
    """Return how many times our CPU time a reader needs for the files that it and we read."""
    both = run.again_s.keys() & ours.again_s.keys()
    theirs, our = (sum(one.again_s[name] for name in both) for one in (run, ours))
    return f"{theirs / our:.1f} ({len(both)} files)" if both else ""


HEAD = """# Extraction compared with other libraries

Processor time and outcomes of phiscan's extractors and of other libraries on the same files. Made by
`benchmarks/bench_readers.py FOLDER` on the test documents of Apache Tika, Apache POI, unstructured, docling
and mikel/mail, including corrupt, encrypted and unusual ones. Every library runs in a fresh process, imports
included, and reads the same files one after the other. "CPU s" is the processor time of the process and its
children, which does not depend on the load of the machine; the rates and "times" are computed from it, with 1
for phiscan in one process. "Times, both read" is the same ratio for the files that phiscan and the other
library both read, measured when each reads them a second time: without startup and loading at first use, and
without the files that one of them rejects (an encrypted document costs phiscan a hundred thousand hashes,
because it tries the empty password; others fail at once). OCR is off for all. "Sandboxed" is how a scan
reads: two workers without network, with limits, with their start and stop included. A failure is an
exception; "no text" is a file that was read and contained none. Encrypted and corrupt files are failures of
every library that reports them. A scanned page, which needs OCR, is a failure of phiscan here, because
phiscan reports it as not read, and a file without text for the others.
"""


def main() -> None:
    """Print the page, or measure one reader where this process was started for it."""
    folder = Path(sys.argv[1])
    if len(sys.argv) > 2:
        run = measure(sys.argv[2], files_of(folder, sys.argv[3]))
        print(json.dumps(run.__dict__))
        return
    print(HEAD)
    for family in FAMILIES:
        files = files_of(folder, family)
        n_bytes = sum(path.stat().st_size for path in files)
        pages = n_pages(files) if family == "pdf" else 0
        print(f"\n## {family[0].upper()}{family[1:]}: {len(files)} files, {n_bytes / 1e6:.1f} MB\n")
        paged = " pages/s |" if pages else ""
        print(
            "| reader | seconds | CPU s | files/s | MB/s |"
            f"{paged} failures | no text | peak memory, MiB | times | times, both read |"
        )
        print("| --- |" + " --: |" * (9 + bool(pages)))
        readers = [
            "phiscan",
            "phiscan, sandboxed",
            "markitdown",
            *([PLAIN[family]] if family in PLAIN else []),
        ]
        ours: Run | None = None
        for reader in readers:
            run = in_a_process(reader, family, folder)
            ours = ours or run
            paged = f" {pages / run.cpu_s:.0f} |" if pages else ""
            print(
                f"| {reader} | {run.seconds:.2f} | {run.cpu_s:.2f} | {len(files) / run.cpu_s:.1f} "
                f"| {n_bytes / 1e6 / run.cpu_s:.2f} |{paged} {run.failures} | {run.empty} "
                f"| {run.peak_mib:.0f} | {run.cpu_s / ours.cpu_s:.1f} | {both_read(run, ours)} |",
                flush=True,
            )
    print(f"\nPython {re.sub(r' .*', '', sys.version)}, {os.cpu_count()} cores.")


if __name__ == "__main__":
    main()
