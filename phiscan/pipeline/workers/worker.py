"""One worker process of a scan: it builds its engine, then examines one file after another."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from phiscan.config import Config
from phiscan.model import FailReason, FileResult, Outcome, SourceFile
from phiscan.sandbox import hashing
from phiscan.sandbox.delivered_files import ask_at
from phiscan.sandbox.worker_process import is_first_item

if TYPE_CHECKING:
    from phiscan.pipeline.engine import Engine

_PLACE = "/proc/self/io"
_ANSWER_BYTES = 4096
_LARGE = 1 << 20  # bytes, or characters of text: after such a file freed memory is given back


class ReadCounter:
    """Counts the bytes that this process reads with system calls, holes of sparse files included.

    Reads of Python's own modules count too; whoever asks about one file caps the number at its size. Where
    the kernel does not count, the number is None. Each process needs a counter of its own.
    """

    def __init__(self) -> None:
        self._descriptor: int | None = None
        with suppress(OSError):
            self._descriptor = os.open(_PLACE, os.O_RDONLY | os.O_CLOEXEC)
        self._n_asked = 0  # bytes of answers so far: the kernel counts these as well

    def n_bytes(self) -> int | None:
        """Return the bytes read since the process began; None = not known."""
        if self._descriptor is None:
            return None
        try:
            answer = os.pread(self._descriptor, _ANSWER_BYTES, 0)
        except OSError:
            return None
        before, self._n_asked = self._n_asked, self._n_asked + len(answer)
        label, _, count = answer.partition(b"\n")[0].partition(b":")
        return int(count) - before if label == b"rchar" else None


class _Worker:
    """The engine of this process; empty in the one that scans."""

    engine: Engine | None = None
    counter: ReadCounter | None = None


def start(config: Config, handoff: str) -> None:
    """Build the engine of this process.

    ``handoff``: the socket for files; those for keyed hashes and programs are in the same folder. The key of
    the hashes itself is not available here.

    Raises:
        ConfigError, RuleError, DictionaryError, ModelError: the installation or configuration is unusable.
    """
    from phiscan.pipeline.engine import build_engine  # noqa: PLC0415 (the scanning process never calls this)
    from phiscan.text.languages import load_identifier  # noqa: PLC0415 (the same)

    load_identifier()  # a confined process cannot read it any more
    ask_at(handoff)
    _Worker.engine = build_engine(config, hashing.ask_at(handoff.rpartition("/")[0]))
    _Worker.counter = ReadCounter()  # what it reads cannot be opened later


def work(source: SourceFile) -> FileResult:
    """Examine one file and return its result.

    Raises:
        MemoryError: the limit of this process was reached; the pool decides whether another is tried.
    """
    from phiscan.pipeline.process import process  # noqa: PLC0415 (as in start)

    if _Worker.engine is None:
        message = "the worker was not started with start()"
        raise RuntimeError(message)
    counter = _Worker.counter = _Worker.counter or ReadCounter()
    before = counter.n_bytes()
    result = process(source, _Worker.engine)
    if lacked_memory(result):
        raise MemoryError
    if max(source.size, result.n_chars) >= _LARGE:
        _give_back()
    after = counter.n_bytes()
    if before is None or after is None:
        return result
    read = min(after - before, source.size)  # an archive is read several times; modules are loaded meanwhile
    return replace(result, bytes_read=read)


def lacked_memory(result: FileResult) -> bool:
    """Tell whether a file has to be examined in a process of its own for want of memory.

    A file without any result always is. Unread parts (members of an archive) are recorded as such where the
    process had all its memory for them.
    """
    if result.outcome is Outcome.FAILED:
        return _is_own_lack(result.reason, result.detail)
    return not is_first_item() and any(_is_own_lack(part.reason, part.detail) for part in result.unread)


def _is_own_lack(reason: str | None, detail: str) -> bool:
    """Tell a MemoryError of this process, which has no detail, from memory that others lacked."""
    return reason == FailReason.OUT_OF_MEMORY and not detail


def _give_back() -> None:
    """Give freed memory back to the system: milliseconds, so after large documents, not after each file.

    What a document was made of lies between what stays, and the allocator of glibc gives back by itself only
    what is at the end: a worker would keep the memory of the largest file that it ever read.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # None where the C library has none
    if trim is not None:
        trim(0)
