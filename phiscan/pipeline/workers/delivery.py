"""Fetching the files of remote shares ahead of the workers, several at a time, in the order of the crawl.

The workers have no network; this process has. What is fetched and not yet examined is bounded in bytes and
in number; a file over the size limit is not fetched at all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import Self, TypeVar

from phiscan.config import Config, SharesTable
from phiscan.crawl.location import is_url
from phiscan.crawl.posix_access import with_access
from phiscan.crawl.remote import ServerShare
from phiscan.crawl.settings import load_settings
from phiscan.crawl.share import RefusedError, UnansweredError
from phiscan.crawl.shares import open_remote
from phiscan.errors import ExtractError, origin
from phiscan.model import FailReason, SourceFile
from phiscan.pipeline.workers.file_handoff import FileHandoff, MemoryFile
from phiscan.sandbox.answers import Fault
from phiscan.sandbox.delivered_files import key_of
from phiscan.sandbox.pool import PAUSE, Pause, Sandbox

R = TypeVar("R")

CHUNK_BYTES = 1024**2
MOST_HELD = 256  # files fetched and not yet examined; each takes a descriptor


class Delivery:
    """Provides the files of all shares to the workers of a sandbox, remote ones fetched ahead."""

    def __init__(self, config: Config, handoff: FileHandoff) -> None:
        self._config = config
        self._limit = config.limits.file_bytes
        self._handoff = handoff
        self._shares: dict[bytes, ServerShare] = {}
        self._pool: ThreadPoolExecutor | None = None
        # Bytes of each file that is fetched, being fetched (by its listing, which may be wrong) or examined.
        self._held: dict[bytes, int] = {}
        self._n_out = 0  # files that the sandbox has taken and has no result of

    def __enter__(self) -> Self:
        """Return itself: connections are made when the first remote file comes."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections and end the fetching."""
        for share in self._shares.values():
            share.close()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def run(
        self, sandbox: Sandbox, function: Callable[[SourceFile], R], sources: Iterable[SourceFile]
    ) -> Iterator[tuple[SourceFile, R | Fault]]:
        """Yield each file, with owner and readers, and its worker's answer, in the order of the sandbox."""
        for source, answer in sandbox.run(function, self._arriving(iter(sources))):
            self._n_out -= 1
            self._handoff.take_back(source)
            if _is_fetched(source):
                del self._held[key_of(source)]
            yield source, answer

    def _arriving(self, sources: Iterator[SourceFile]) -> Iterator[SourceFile | Pause]:
        """Yield files that are ready to be read; PAUSE while the next one is fetched and workers are busy.

        In line are files of this machine, which are opened when their workers request them, and futures of
        others, each with owner and readers.
        """
        line: deque[SourceFile | Future[SourceFile]] = deque()
        upcoming = next(sources, None)
        while line or upcoming is not None:
            while upcoming is not None and len(line) < self._ahead(upcoming) and self._has_room(upcoming):
                line.append(self._begin(upcoming))
                upcoming = next(sources, None)
            if self._n_out and (not line or (isinstance(line[0], Future) and not line[0].done())):
                yield PAUSE
                continue
            one = line.popleft()
            self._n_out += 1
            yield one.result() if isinstance(one, Future) else one

    def _ahead(self, source: SourceFile) -> int:
        """Return how many files are begun ahead of the workers; one where nothing has to be fetched."""
        return 2 * self._settings.connections if _is_fetched(source) else 1

    def _cost(self, source: SourceFile) -> int:
        return source.size if source.size <= self._limit else 0

    def _has_room(self, source: SourceFile) -> bool:
        if not _is_fetched(source) or not self._held:
            return True  # one file is always fetched, however large
        within = sum(self._held.values()) + self._cost(source) <= self._settings.ahead_bytes
        return within and len(self._held) < MOST_HELD

    def _begin(self, source: SourceFile) -> SourceFile | Future[SourceFile]:
        if not is_url(source.root):
            self._handoff.put_local(source)
            return with_access(source)
        if source.unopened:
            return source
        share = self._share(source.root)  # may be refused: nothing is held yet
        self._held[key_of(source)] = self._cost(source)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._settings.connections, thread_name_prefix="fetch")
        return self._pool.submit(self._bring, source, share)

    def _bring(self, source: SourceFile, share: ServerShare) -> SourceFile:
        """Fetch one file and register it, or the reason why it could not be fetched, for its worker."""
        held: MemoryFile | ExtractError
        try:
            source, held = fetch(source, share, self._limit)
            self._held[key_of(source)] = held.size
        except ExtractError as error:
            held = error
        except Exception as error:  # noqa: BLE001 (the per-file fault boundary of fetching)
            held = ExtractError(FailReason.IO_ERROR, origin(error))
        self._handoff.put(source, held)
        return source

    def _share(self, root: bytes) -> ServerShare:
        if root not in self._shares:
            self._shares[root] = open_remote(root, self._settings)
        return self._shares[root]

    @cached_property
    def _settings(self) -> SharesTable:
        return load_settings(self._config)


def _is_fetched(source: SourceFile) -> bool:
    return is_url(source.root) and not source.unopened


def fetch(source: SourceFile, share: ServerShare, max_bytes: int) -> tuple[SourceFile, MemoryFile]:
    """Fetch a file into sealed memory; return it with its owner and its readers.

    An answer that fails on the way is asked for again from where it broke off.

    Raises:
        ExtractError: too_large, changed, no_permission, io_error or out_of_memory.
    """
    if source.size > max_bytes:
        raise ExtractError(FailReason.TOO_LARGE, f"{source.size} bytes, limit {max_bytes}")
    held = MemoryFile()
    try:
        described = share.retry_policy.run(lambda: _copy(source, share, held, max_bytes))
        held.seal()
    except BaseException as error:
        held.close()
        if isinstance(error, RefusedError | UnansweredError):
            raise ExtractError(error.reason, error.detail) from None
        raise
    return described, held


def _copy(source: SourceFile, share: ServerShare, held: MemoryFile, max_bytes: int) -> SourceFile:
    with share.open(source, held.size) as opened:
        # A source that only estimates the size in its listing may know it first at the end.
        while opened.n_bytes <= max_bytes and (chunk := opened.read(CHUNK_BYTES)):
            held.write(chunk)
            if held.size > opened.n_bytes:
                break
        if opened.n_bytes > max_bytes:
            raise RefusedError(FailReason.TOO_LARGE, f"{opened.n_bytes} bytes, limit {max_bytes}")
        if held.size != opened.n_bytes:
            raise RefusedError(FailReason.CHANGED, "changed while it was read")
        opened.verify()
        return opened.source
