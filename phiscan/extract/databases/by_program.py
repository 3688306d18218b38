"""Access databases, WordPerfect, Works and Write documents through a program, where it is installed.

mdb-tables and mdb-export give tables as CSV, wpd2text and wps2text the text of a document. Each runs in a
sandbox of its own on a file in memory; its output is bounded.
"""

from __future__ import annotations

import csv
import os
import subprocess
import time

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.databases.named import read_strings
from phiscan.extract.spreadsheets.rows import lay_out
from phiscan.model import FailReason
from phiscan.sandbox import programs
from phiscan.sandbox.channel import in_memory

_ACCESS = "application/x-msaccess"
_DOCUMENTS = {
    "application/vnd.wordperfect": "wpd2text",
    "application/vnd.ms-works": "wps2text",
    "application/x-mswrite": "wps2text",
}
_MOST_TABLES = 1_000


class ByProgramExtractor:
    """Read what a program of the system takes apart."""

    media_types = frozenset({_ACCESS, *_DOCUMENTS})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the rows of tables, ``#table1/row2``, or the text of a document.

        Raises:
            ExtractError: unsupported, where not even a run of text is found; timed_out.
        """
        from phiscan.extract.core.file_type import sniff  # noqa: PLC0415 (imports the tables of kinds)

        media_type = sniff(content.data, content.name)
        job = _DOCUMENTS.get(media_type, "mdb-tables")
        if not programs.is_installed(job) or (
            job == "mdb-tables" and not programs.is_installed("mdb-export")
        ):
            program = "mdbtools" if job == "mdb-tables" else job
            read_strings(content, media_type, sink, f"needs {program}, which is not installed")
            return
        descriptor = in_memory(content.data)
        try:
            runs = _Runs(descriptor, sink.limits.time_s)
            is_read = _tables(runs, content, sink) if job == "mdb-tables" else _text(runs, job, content, sink)
        finally:
            os.close(descriptor)
        if not is_read:
            read_strings(content, media_type, sink, f"damaged or of a version that {job} does not know")


class _Runs:
    """A file in memory, and the time that all programs share."""

    def __init__(self, descriptor: int, seconds: float) -> None:
        self._descriptor = descriptor
        self._ends = time.monotonic() + seconds

    def run(self, job: str, **values: str) -> programs.Finished:
        """Run a program on the file.

        Raises:
            ExtractError: timed_out.
        """
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        try:
            return programs.run(job, self._descriptor, max(self._ends - time.monotonic(), 0.01), **values)
        except subprocess.TimeoutExpired:
            raise ExtractError(FailReason.TIMED_OUT, job) from None


def _text(runs: _Runs, job: str, content: Content, sink: Sink) -> bool:
    done = runs.run(job)
    text = done.output.decode("utf-8", "replace").strip()
    if not text:
        return False
    sink.add(text, content.locator)
    if done.status:
        sink.fail(content.locator, FailReason.CORRUPT, f"{job} read a part of it")
    return True


def _tables(runs: _Runs, content: Content, sink: Sink) -> bool:
    """Add the rows of every table; tell whether there was one."""
    names = runs.run("mdb-tables").output.decode("utf-8", "replace").split("\n")
    names = [name for name in names if name.strip()][:_MOST_TABLES]
    csv.field_size_limit(2**31 - 1)
    for number, name in enumerate(names, 1):
        place = f"table{number}"
        sink.add(f"Table: {name}", content.place(place))
        try:
            done = runs.run("mdb-export", table_hex=name.encode().hex())
        except ExtractError as error:
            sink.fail(content.place(place), FailReason(error.reason), error.detail)
            break
        rows = csv.reader(done.output.decode("utf-8", "replace").replace("\0", " ").splitlines(keepends=True))
        for row, line in lay_out(enumerate(rows, 1)):
            sink.add(line, content.place(f"{place}/row{row}"))
        if done.status:
            sink.fail(content.place(place), FailReason.CORRUPT, "mdb-export read a part of it")
    return bool(names)
