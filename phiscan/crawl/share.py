"""What a crawl yields, errors of shares, and small parts that the kinds of share have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, Protocol

from blake3 import blake3

from phiscan.errors import InputError, PhiscanError, origin
from phiscan.model import FailReason, SkipReason, SourceFile

_IDENTITY = attrgetter("size", "mtime_ns", "ctime_ns", "inode")


@dataclass(frozen=True, slots=True)
class Crawled:
    """One entry of the share: to be read, skipped by a rule, or already known to be unreadable."""

    source: SourceFile
    skip: SkipReason | None = None
    fail: FailReason | None = None
    detail: str = ""
    is_folder: bool = False  # in the listing of a folder; a crawl yields none


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


class RefusedError(PhiscanError):
    """The share refuses permanently; ``reason`` as in ``FailReason``."""

    def __init__(self, reason: FailReason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else str(reason))
        self.reason = reason
        self.detail = detail


class UnansweredError(PhiscanError):
    """The share did not respond, or with a temporary error; another attempt may succeed.

    ``is_gone``: it could not be reached at all, so that other files cannot be read now either. ``pause_s``:
    seconds for which the server wants no request.
    """

    reason = FailReason.IO_ERROR

    def __init__(self, detail: str, *, is_gone: bool, pause_s: float = 0.0) -> None:
        super().__init__(detail)
        self.detail = detail
        self.is_gone = is_gone
        self.pause_s = pause_s


def known_error(error: Exception) -> RefusedError | UnansweredError:
    """Return an error of a share; of a damaged answer, a refusal; another one of phiscan's is raised."""
    if isinstance(error, RefusedError | UnansweredError):
        return error
    if isinstance(error, PhiscanError):
        raise error
    return RefusedError(FailReason.IO_ERROR, origin(error))


@contextmanager
def optional(where: str, package: str, extra: str) -> Iterator[None]:
    """Import an optional package inside: if it is missing, say what needs it and how to install it.

    Raises:
        InputError: it is missing.
    """
    try:
        yield
    except ImportError:
        needed = f"needs the package {package}; expected phiscan installed with [{extra}]"
        raise InputError(where, needed) from None


def is_same_file(source: SourceFile, before: Any) -> bool:
    """Return whether the file is unchanged since ``before``, which has the same four numbers, was recorded.

    The change time (ctime) is compared because a program can reset the modification time after writing, but
    not the change time. The device number is not compared: network mounts get a new one at each mount, so
    that all their files would seem changed.
    """
    return bool(_IDENTITY(source) == _IDENTITY(before))


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
