"""What shares on servers have in common: root, credentials, retries, walk, reading range by range."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cached_property

from phiscan.config import SharesTable
from phiscan.crawl.credentials import Credentials, credentials_of
from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.location import parse_url
from phiscan.crawl.retries import RetryPolicy
from phiscan.crawl.share import Crawled, known_error
from phiscan.crawl.walk import walk
from phiscan.errors import InputError
from phiscan.model import FailReason, SourceFile


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
