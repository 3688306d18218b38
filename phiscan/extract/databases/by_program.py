"""WordPerfect, Works and Write documents through wpd2text and wps2text, where they are installed.

Each program runs in a sandbox of its own on a file in memory; its output is bounded.
"""

from __future__ import annotations

import os
import subprocess
import time
from typing import Self

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.databases.named import read_strings
from phiscan.model import FailReason
from phiscan.sandbox import programs
from phiscan.sandbox.channel import in_memory

_DOCUMENTS = {
    "application/vnd.wordperfect": "wpd2text",
    "application/vnd.ms-works": "wps2text",
    "application/x-mswrite": "wps2text",
}


class ByProgramExtractor:
    """Read documents that a program of the system takes apart."""

    media_types = frozenset(_DOCUMENTS)

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the text of a document.

        Raises:
            ExtractError: unsupported, where not even a run of text is found; timed_out.
        """
        from phiscan.extract.core.file_type import sniff  # noqa: PLC0415 (imports the tables of kinds)

        media_type = sniff(content.data, content.name)
        job = _DOCUMENTS[media_type]
        if not programs.is_installed(job):
            read_strings(content, media_type, sink, f"needs {job}, which is not installed")
            return
        with ProgramRuns(content.data, sink.limits.time_s) as runs:
            done = runs.run(job)
        text = done.output.decode("utf-8", "replace").strip()
        if not text:
            read_strings(content, media_type, sink, f"damaged or of a version that {job} does not know")
            return
        sink.add(text, content.locator)
        if done.status:
            sink.fail(content.locator, FailReason.CORRUPT, f"{job} read a part of it")


class ProgramRuns:
    """Data as a file in memory, on which programs run that share one limit of time."""

    def __init__(self, data: bytes, seconds: float) -> None:
        self._descriptor = in_memory(data)
        self._ends = time.monotonic() + seconds

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

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
