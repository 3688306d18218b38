"""One worker process of a scan: it builds its engine, then examines one file after another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from phiscan.config import Config
from phiscan.model import FailReason, FileResult, Outcome, SourceFile
from phiscan.pipeline.processed import Processed
from phiscan.pipeline.workers.read_bytes import ReadCounter
from phiscan.sandbox import hashing
from phiscan.sandbox.delivered_files import ask_at
from phiscan.sandbox.memory import give_back
from phiscan.sandbox.worker_process import is_first_item

if TYPE_CHECKING:
    from phiscan.pipeline.engine import Engine

_LARGE = 1 << 20  # bytes, or characters of text: after such a file freed memory is given back


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

    ask_at(handoff)
    _Worker.engine = build_engine(config, hashing.ask_at(handoff.rpartition("/")[0]))
    _Worker.counter = ReadCounter()  # what it reads cannot be opened later


def work(source: SourceFile) -> Processed:
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
    processed = process(source, _Worker.engine)
    if lacked_memory(processed.result):
        raise MemoryError
    if max(source.size, processed.result.n_chars) >= _LARGE:
        give_back()
    after = counter.n_bytes()
    if before is None or after is None:
        return processed
    read = min(after - before, source.size)  # an archive is read several times; modules are loaded meanwhile
    return replace(processed, result=replace(processed.result, bytes_read=read))


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
