"""Protocols that every kind of share implements, and the entries that a crawl yields."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from blake3 import blake3

from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.retries import RetryPolicy
from phiscan.model import FailReason, SkipReason, SourceFile


@dataclass(frozen=True, slots=True)
class Crawled:
    """One entry of the share: to be read, skipped by a rule, or already known to be unreadable."""

    source: SourceFile
    skip: SkipReason | None = None
    fail: FailReason | None = None
    detail: str = ""


class Folders(Protocol):
    """Store of folder states of an earlier crawl, so that unchanged folders are not yielded."""

    def passes(self, root: bytes, folder: bytes, facts: bytes) -> bool:
        """Return whether a folder (its raw path, relative to the root) is unchanged and may be skipped.

        Then its entries are not yielded, except those in subfolders. ``facts``: the state of its entries in
        the file system, the same bytes as long as nothing changed.
        """

    def subfolders(self, root: bytes, folder: bytes) -> list[bytes] | None:
        """Return the names of the subfolders, sorted, of a folder that is known to be unchanged unlisted."""

    def listed(self, root: bytes, folder: bytes, n_entries: int) -> None:
        """Store the number of entries yielded of a folder that was not skipped."""


class OpenFile(Protocol):
    """A file of a share, opened read-only."""

    @property
    def source(self) -> SourceFile:
        """The file as it was crawled, with its owner and its readers."""

    @property
    def n_bytes(self) -> int:
        """The number of bytes that it has, exact at its end; that of the crawl is an estimate for some."""

    def read(self, n_bytes: int) -> bytes:
        """Return at most ``n_bytes`` next bytes; none at the end.

        Raises:
            RefusedError, UnansweredError: see there.
        """

    def verify(self) -> None:
        """Check that it is still the file that was crawled.

        Raises:
            RefusedError: changed.
        """


class Share(Protocol):
    """One root that can be listed."""

    def connect(self) -> None:
        """List the root once, so that a wrong name or password is reported before the scan begins.

        Raises:
            InputError: names the root and what is wrong with it.
        """

    def crawl(self, ignore: IgnoreRules, seen_inodes: set[tuple[int, int]]) -> Iterator[Crawled]:
        """Yield every entry below the root that is not a folder, always in the same order.

        Folders that cannot be listed are yielded once as failed, ignored folders once as skipped.
        """


class RemoteShare(Share, Protocol):
    """A share that is not mounted; its files are read by a process with network access."""

    @property
    def retry_policy(self) -> RetryPolicy:
        """The retry policy of its server."""

    def close(self) -> None:
        """Close all connections, also those that threads wait on; it cannot be used any more."""

    def open(self, source: SourceFile, offset: int = 0) -> AbstractContextManager[OpenFile]:
        """Open a crawled file at a position.

        Raises:
            RefusedError: not the file that was crawled (changed), or no permission.
            UnansweredError: may be retried.
        """


def unlisted(root: bytes, path: bytes, reason: FailReason, detail: str) -> Crawled:
    """Return the record of a folder that cannot be listed; an empty path is the root itself."""
    return Crawled(SourceFile(root, path or b".", 0, 0, 0, 0, 0), fail=reason, detail=detail)


def identity_number(*marks: str) -> int:
    """Return a number from the content marks of a store (ETag, generation), used as the inode."""
    return int.from_bytes(blake3("\0".join(marks).encode()).digest(8), "big") >> 1


def nanoseconds_of(moment: Any) -> int:
    """Return nanoseconds since 1970 of a time as a date, in ISO 8601 or in seconds; 0 for other values.

    >>> nanoseconds_of("2026-01-01T00:00:00Z"), nanoseconds_of(1.5), nanoseconds_of("yesterday")
    (1767225600000000000, 1500000000, 0)
    """
    try:
        if isinstance(moment, str):
            moment = datetime.fromisoformat(moment)
        if isinstance(moment, datetime):
            moment = moment.timestamp()
    except (ValueError, OverflowError):
        return 0
    # Some stores return the same time as a number or as a date; both have at least microseconds.
    return round(moment * 1_000_000) * 1_000 if isinstance(moment, int | float) else 0
