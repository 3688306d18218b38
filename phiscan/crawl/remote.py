"""What shares on servers have in common: root, credentials, retries, walk, reading range by range.

Retries have exponential backoff and jitter, and a circuit breaker for servers that do not answer.
"""

from __future__ import annotations

import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cached_property
from typing import TypeVar

from phiscan.config import SharesTable
from phiscan.crawl.credentials import Credentials, credentials_of
from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.location import parse_url
from phiscan.crawl.share import Crawled, UnansweredError, known_error
from phiscan.crawl.walk import walk
from phiscan.errors import InputError
from phiscan.model import FailReason, SourceFile

T = TypeVar("T")

LONGEST_PAUSE_S = 30.0
LONGEST_RETRY_AFTER_S = 600.0  # of those that a server asks for
PROBE_S = 15.0  # interval of probes of an unreachable server


class RetryPolicy:
    """Retries actions that may fail temporarily; shared by all clients of one server.

    When one action has used all its attempts because the server cannot be reached, the others stop waiting
    too, since a million files must not each wait for the full backoff. From then on one action every
    ``PROBE_S`` seconds makes a single attempt; its success ends this state.
    """

    def __init__(self, settings: SharesTable) -> None:
        self._attempts = settings.attempts
        self._retry_s = settings.retry_s
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._gone = False
        self._next_probe = 0.0

    def stop(self) -> None:
        """End all pauses and make no more attempts."""
        self._stopped.set()

    def run(self, action: Callable[[], T]) -> T:
        """Return the result of the action, with as many attempts as the settings allow.

        Raises:
            UnansweredError: the last one of the action, or at once if the server is unreachable.
            RefusedError: of the action, which is not retried.
        """
        attempts = self._allowed()
        for attempt in range(1, attempts + 1):
            try:
                result = action()
            except UnansweredError as error:
                if attempt >= attempts or (self._gone and error.is_gone) or self._stopped.is_set():
                    with self._lock:
                        if error.is_gone and not self._gone:
                            self._gone, self._next_probe = True, time.monotonic() + PROBE_S
                    raise
                self._stopped.wait(max(self._pause(attempt), min(error.pause_s, LONGEST_RETRY_AFTER_S)))
            else:
                self._gone = False
                return result
        message = "the server did not answer before"
        raise UnansweredError(message, is_gone=True)

    def _allowed(self) -> int:
        with self._lock:
            if self._stopped.is_set():
                return 0
            if not self._gone:
                return self._attempts
            if time.monotonic() < self._next_probe:
                return 0
            self._next_probe = time.monotonic() + PROBE_S
            return 1

    def _pause(self, attempt: int) -> float:
        """Return a random part of a doubling pause, so that clients do not retry at the same time."""
        longest = min(self._retry_s * 2.0 ** (attempt - 1), LONGEST_PAUSE_S)
        return random.uniform(longest / 2, longest)  # noqa: S311 (jitter, no secret)


class ServerShare(ABC):
    """One root on a server; its files are read by a process with network access."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        self.location = parse_url(root.decode("utf-8", "surrogateescape"))
        self.root = self.location.root
        self.settings = settings
        self.retry_policy = RetryPolicy(settings)

    @property
    def shown(self) -> str:
        """The URL for messages."""
        return self.root.decode("utf-8", "backslashreplace")

    @cached_property
    def credentials(self) -> Credentials:
        """The credentials of the root."""
        return credentials_of(self.root, self.settings)

    @abstractmethod
    def check(self) -> None:
        """Sign in and find the root.

        Raises:
            RefusedError, UnansweredError: that fails.
        """

    @abstractmethod
    def crawl(self, ignore: IgnoreRules, seen_inodes: set[tuple[int, int]]) -> Iterator[Crawled]:
        """Yield every entry below the root that is not a folder, always in the same order.

        Folders that cannot be listed are yielded once as failed, ignored folders once as skipped.
        """

    @abstractmethod
    def open(self, source: SourceFile, offset: int = 0) -> AbstractContextManager[RangeFile]:
        """Open a crawled file at a position.

        Raises:
            RefusedError: not the file that was crawled (changed), or no permission.
            UnansweredError: may be retried.
        """

    def connect(self) -> None:
        """Check the root, so that a wrong name or password is reported before the scan begins.

        Raises:
            InputError: names the root and what is wrong with it.
        """
        try:
            self.check()
        except Exception as error:  # noqa: BLE001 (the answer may be damaged)
            found = known_error(error)
            what = "no such folder" if found.reason is FailReason.CHANGED else found.detail
            raise InputError(self.shown, f"cannot be opened: {what}") from None
        finally:
            self.close()

    def close(self) -> None:
        """Make no more attempts; a source with connections closes all, also those that threads wait on."""
        self.retry_policy.stop()


class FolderShare(ServerShare):
    """One root on a server that lists folder by folder."""

    @abstractmethod
    def list_folder(self, folder: bytes) -> list[Crawled]:
        """Return the entries of a folder, by its path relative to the root.

        Raises:
            RefusedError, UnansweredError: it cannot be listed.
        """

    def check(self) -> None:
        """List the root; see ``ServerShare``."""
        self.list_folder(b"")

    def crawl(self, ignore: IgnoreRules, seen_inodes: set[tuple[int, int]]) -> Iterator[Crawled]:  # noqa: ARG002 (listings of servers do not tell hard links)
        """Yield every entry below the root that is not a folder; see ``ServerShare``."""
        try:
            yield from walk(
                self.root, lambda path: self.retry_policy.run(lambda: self.list_folder(path)), ignore
            )
        finally:
            self.close()


class RangeFile:
    """A crawled file, opened read-only and read range by range.

    ``source``: with its owner and its readers; ``fetch`` returns the bytes from a position on; ``n_bytes``:
    how many it has, exact at its end (that of the crawl is an estimate for some); ``first``: those at
    ``offset``, fetched already; ``verify`` raises RefusedError if it is not the file that was crawled any
    more, where the ranges do not show it.
    """

    def __init__(
        self,
        source: SourceFile,
        fetch: Callable[[int], bytes],
        offset: int,
        *,
        n_bytes: int | None = None,
        first: bytes = b"",
        verify: Callable[[], object] = lambda: None,
    ) -> None:
        self.source = source
        self.n_bytes = source.size if n_bytes is None else n_bytes
        self.verify = verify
        self._fetch = fetch
        self._data = first
        self._next = offset + len(first)

    def read(self, n_bytes: int) -> bytes:
        """Return at most ``n_bytes`` next bytes; none at the end.

        Raises:
            RefusedError, UnansweredError: see there.
        """
        if not self._data and self._next < self.n_bytes:
            self._data = self._fetch(self._next)
            self._next += len(self._data)
        data, self._data = self._data[:n_bytes], self._data[n_bytes:]
        return data
