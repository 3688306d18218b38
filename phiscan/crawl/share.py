"""The seam: what a share is, whatever protocol it speaks; and what a crawl yields."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from blake3 import blake3

from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.retries import RetryPolicy
from phiscan.model import FailReason, SkipReason, SourceFile


@dataclass(frozen=True, slots=True)
class Crawled:
    """One entry of the share: to be read, or passed over by a rule, or already known to be unreadable."""

    source: SourceFile
    skip: SkipReason | None = None
    fail: FailReason | None = None
    detail: str = ""


class Folders(Protocol):
    """Who remembers folders from an earlier crawl, so that what did not change need not be yielded."""

    def passes(self, root: bytes, folder: bytes, facts: bytes) -> bool:
        """Tell whether a folder (its raw path, relative to the root) may be passed over.

        Then nothing in it is yielded but what its subfolders hold. ``facts``: what the file system says of
        its entries, the same bytes as long as nothing changed.
        """

    def listed(self, root: bytes, folder: bytes, n_entries: int) -> None:
        """Take the number of entries that were yielded of a folder that was not passed over."""


class OpenFile(Protocol):
    """A file of a share, opened for reading and for nothing else."""

    @property
    def source(self) -> SourceFile:
        """The file as it was crawled, with its owner and its readers."""

    def read(self, n_bytes: int) -> bytes:
        """Return the next bytes, at most so many; none at the end.

        Raises:
            RefusedError, UnansweredError: see there.
        """

    def verify(self) -> None:
        """Look again whether it still is the file that was crawled.

        Raises:
            RefusedError: changed.
        """


class Share(Protocol):
    """One root that can be listed."""

    def reach(self) -> None:
        """Try to list the root, so that a wrong name or password is said before anything begins.

        Raises:
            InputError: names the root and what is wrong with it.
        """

    def crawl(self, ignore: IgnoreRules, seen_inodes: set[tuple[int, int]]) -> Iterator[Crawled]:
        """Yield every entry below the root that is not a folder, always in the same order.

        What cannot be listed is yielded once as failed, an ignored folder once as skipped.
        """


class RemoteShare(Share, Protocol):
    """A share that is not mounted: its files come over the network, to a process that may use it."""

    @property
    def retry_policy(self) -> RetryPolicy:
        """How often and how long its server is asked again."""

    def close(self) -> None:
        """Hang up, whatever threads are waiting for; it cannot be used any more."""

    def open(self, source: SourceFile, offset: int = 0) -> AbstractContextManager[OpenFile]:
        """Open a crawled file at a position.

        Raises:
            RefusedError: not the file that was crawled (changed), or no permission.
            UnansweredError: worth another try.
        """


def unlisted(root: bytes, path: bytes, reason: FailReason, detail: str) -> Crawled:
    """Return the record of a folder that cannot be listed; an empty path is the root itself."""
    return Crawled(SourceFile(root, path or b".", 0, 0, 0, 0, 0), fail=reason, detail=detail)


def identity_number(*marks: str) -> int:
    """Return one number for what a store says of a content (ETag, generation): it stands for the inode."""
    return int.from_bytes(blake3("\0".join(marks).encode()).digest(8), "big") >> 1
