"""Crawl an SFTP server, through paramiko: ``sftp://server[:port]/folder``."""

from __future__ import annotations

import re
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache

from phiscan.config import SharesTable
from phiscan.crawl.credentials import credentials_of
from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.location import parse_url
from phiscan.crawl.retries import RetryPolicy
from phiscan.crawl.sftp.connections import Connections
from phiscan.crawl.sftp.requests import Attributes, Listed, SftpRequests
from phiscan.crawl.share import Crawled, OpenFile, identity_number
from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.crawl.walk import Entry, walk
from phiscan.errors import InputError
from phiscan.model import FailReason, SkipReason, SourceFile

_PART_BYTES = 32_768  # what every server returns at once
_MOST_PARTS = 64  # requested and not yet received
_SECOND = 10**9  # nanoseconds
_LINE = re.compile(rb"[-a-z][-a-zA-Z]{9}\S?\s+\S+\s+(\S+)\s+(\S+)\s")  # rights, links, owner, group
_N_NAMES = 65_536


class SftpShare:
    """One root on an SFTP server."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        location = parse_url(root.decode("utf-8", "surrogateescape"))
        self.root = location.root
        self._folder = "/".join(("", *location.path)).encode("utf-8", "surrogateescape")
        self._connections = Connections(settings, credentials_of(self.root, settings), location)
        self._patience = RetryPolicy(settings)
        self._names: dict[tuple[int, int], tuple[str, str]] = {}

    @property
    def retry_policy(self) -> RetryPolicy:
        """The retry policy of this server."""
        return self._patience

    def connect(self) -> None:
        """Sign in and open the root folder; see ``Share``."""
        try:
            with self._connections.requests() as requests:
                requests.check_folder(self._path(b""))
        except (RefusedError, UnansweredError) as error:
            what = "no such folder" if error.reason == FailReason.CHANGED else error.detail
            shown = self.root.decode("utf-8", "backslashreplace")
            message = f"{shown}: cannot be opened: {what}"
            raise InputError(message) from None
        finally:
            self.close()

    def close(self) -> None:
        """Close all connections; threads that still wait get no response."""
        self._patience.stop()
        self._connections.close()

    def crawl(self, ignore: IgnoreRules, seen_inodes: set[tuple[int, int]]) -> Iterator[Crawled]:  # noqa: ARG002 (a listing does not tell hard links)
        """Yield every entry below the root that is not a folder; see ``Share``."""
        try:
            yield from walk(self.root, lambda path: self._patience.run(lambda: self._list(path)), ignore)
        finally:
            self.close()

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[OpenFile]:
        """Open a crawled file at a position; see ``RemoteShare``."""
        path = self._path(source.path)
        with self._connections.requests() as requests:
            # A link would be followed, and a named pipe would wait.
            _compare(requests.attributes(path), source)
            opened = _SftpFile(requests, requests.open(path), offset)
            try:
                now = requests.attributes_of(opened.handle)
                _compare(now, source)
                opened.source = self._with_access(source, requests, now)
                yield opened
            finally:
                with suppress(Exception):  # a connection that broke has closed it
                    opened.close()

    def _list(self, folder: bytes) -> list[Entry]:
        with self._connections.requests() as requests:
            listed = requests.entries(self._path(folder))
            base = folder + b"/" if folder else b""
            return [self._entry(base, one, has_names=requests.knows_names) for one in listed]

    def _entry(self, base: bytes, listed: Listed, *, has_names: bool) -> Entry:
        name, line, (size, uid, gid, mode, mtime) = listed
        number, bits, is_folder, skip = _kind(uid, gid, mode)
        time_ns = mtime * _SECOND
        owner, readers = ("", ()) if has_names else _access_of_line(line, uid, gid, mode)
        source = SourceFile(
            self.root, base + name, size, time_ns, time_ns, number, 0, bits, uid, owner, readers
        )
        return Entry(source, is_folder, skip)

    def _with_access(self, source: SourceFile, requests: SftpRequests, now: Attributes) -> SourceFile:
        """Return the file with owner and readers, by name where the server or its listing gives names."""
        if not requests.knows_names and source.owner:
            return source
        key = now.uid, now.gid
        if key not in self._names:
            self._names[key] = requests.names(*key) if requests.knows_names else ("", "")
        owner, readers = _access(*self._names[key], *key, now.mode)
        return replace(source, owner=owner, readers=readers)

    def _path(self, path: bytes) -> bytes:
        return b"/".join((self._folder.rstrip(b"/"), path)) if path else self._folder or b"/"


class _SftpFile:
    """An open file, of which several parts are requested ahead."""

    source: SourceFile

    def __init__(self, requests: SftpRequests, handle: bytes, offset: int) -> None:
        self._requests = requests
        self.handle = handle
        self._next = offset  # of what is returned next
        self._asked = offset  # up to here
        self._parts: deque[tuple[int, int]] = deque()  # number of the request, bytes

    @property
    def n_bytes(self) -> int:
        """Its size when it was crawled."""
        return self.source.size

    def read(self, n_bytes: int) -> bytes:
        """Return the next bytes; see ``OpenFile``."""
        while len(self._parts) < _MOST_PARTS and self._asked < self.source.size:
            n_part = min(_PART_BYTES, self.source.size - self._asked)
            self._parts.append((self._requests.ask_bytes(self.handle, self._asked, n_part), n_part))
            self._asked += n_part
        if not self._parts:
            return b""
        request, n_part = self._parts.popleft()
        data = self._requests.bytes_of(request)[:n_bytes]
        self._next += len(data)
        if len(data) < n_part:  # fewer than requested, which a server may return: the rest is requested again
            self._requests.drop([number for number, _ in self._parts])
            self._parts.clear()
            self._asked = self._next
        return data

    def verify(self) -> None:
        """Compare the open file with what was crawled."""
        _compare(self._requests.attributes_of(self.handle), self.source)

    def close(self) -> None:
        """Close it, without waiting for what was requested."""
        self._requests.close(self.handle, [number for number, _ in self._parts])


def _compare(now: Attributes, source: SourceFile) -> None:
    state = (now.size, now.mtime * _SECOND, _kind(now.uid, now.gid, now.mode)[0])
    if state != (source.size, source.mtime_ns, source.inode) or not stat.S_ISREG(now.mode):
        raise RefusedError(FailReason.CHANGED, "not the file that was crawled")


@lru_cache(_N_NAMES)
def _kind(uid: int, gid: int, mode: int) -> tuple[int, int, bool, SkipReason | None]:
    """Return the inode, the mode bits, whether it is a folder, and why it is skipped.

    SFTP has no inodes: a number of owner and rights takes its place, so that new ones are a change.
    """
    skip = None if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else SkipReason.NOT_REGULAR
    if stat.S_ISLNK(mode):
        skip = SkipReason.SYMLINK
    number = identity_number(str(uid), str(gid), str(mode))
    return number, stat.S_IMODE(mode), stat.S_ISDIR(mode), skip


@lru_cache(_N_NAMES)
def _access(user: str, group: str, uid: int, gid: int, mode: int) -> tuple[str, tuple[str, ...]]:
    """Return the owner, and who may read by the mode bits.

    >>> _access("ann", "", 1000, 50, 0o640)
    ('ann', ('group gid 50', 'user ann'))
    """
    owner, group = user or f"uid {uid}", group or f"gid {gid}"
    rights = ((stat.S_IROTH, "everyone"), (stat.S_IRGRP, f"group {group}"), (stat.S_IRUSR, f"user {owner}"))
    return owner, tuple(name for bit, name in rights if mode & bit)


def _access_of_line(line: bytes, uid: int, gid: int, mode: int) -> tuple[str, tuple[str, ...]]:
    """Return owner and readers, with the names in a listing's line for people, where it has them.

    >>> _access_of_line(b"-rw-r----- 1 ann ward 12 Nov 1 10:00 a.txt", 1000, 50, 0o640)
    ('ann', ('group ward', 'user ann'))
    >>> _access_of_line(b"a.txt", 1000, 50, 0o600)
    ('uid 1000', ('user uid 1000',))
    """
    found = _LINE.match(line)
    names = [part.decode("utf-8", "replace") for part in found.groups()] if found else ["", ""]
    user, group = ("" if name in {"?", "-"} or name.isdecimal() else name for name in names)
    return _access(user, group, uid, gid, mode)
