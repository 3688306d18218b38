"""Opening the crawled file: read-only, once, and only when it still is the file that was crawled.

A worker is handed the open file by the process that scans; others open it by its path.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from phiscan.errors import ExtractError
from phiscan.long_paths import open_path
from phiscan.model import FailReason, SourceFile, within_64_bits
from phiscan.sandbox.delivered_files import is_delivered, is_handed_over, receive, take, take_segment

# Names of the segments of a file that was cut: ``a.7z.001``, ``a.z01``.
_NUMBERED = re.compile(rb"(?s)(.+\.)(0{1,3}[01]|\d{3})")
_SPLIT_ZIP = re.compile(rb"(?s)(.+\.)([zZ])(?:([iI][pP])|(\d\d))")
MOST_SEGMENTS = 60  # as many descriptors fit in one message


@dataclass(frozen=True, slots=True)
class SegmentName:
    """The place of one name in a series; number 1 is the segment with which reading begins.

    The last part of a split ZIP, ``a.zip``, has number 0: its directory says how many come before it.
    """

    stem: bytes
    style: str
    number: int

    def name(self, number: int) -> bytes:
        """Return the name of another segment of the series."""
        if self.style == "zip":
            return self.stem + (b"zip" if number == 0 else b"z%02d" % number)
        if self.style == "ZIP":
            return self.stem + (b"ZIP" if number == 0 else b"Z%02d" % number)
        return self.stem + b"%0*d" % (int(self.style), number)

    @property
    def first(self) -> bytes:
        """The name of the file with which the series is read; of a split ZIP that is ``a.zip``."""
        return self.name(0 if self.style in {"zip", "ZIP"} else 1)


def segment_of(name: bytes) -> SegmentName | None:
    """Return the place of a name in a series of segments, from its ending alone; None where it has none.

    >>> segment_of(b"a.7z.002").name(1), segment_of(b"a.7z.001").number, segment_of(b"letter.docx")
    (b'a.7z.001', 1, None)
    """
    if match := _SPLIT_ZIP.fullmatch(name):
        style = "ZIP" if match[2] == b"Z" else "zip"
        return SegmentName(match[1], style, int(match[4] or 0))
    if (match := _NUMBERED.fullmatch(name)) and int(match[2]):
        return SegmentName(match[1], str(len(match[2])), int(match[2]))
    return None


_READ_ONLY = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_GONE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ESTALE, errno.ENXIO}
_FORBIDDEN = {errno.EACCES, errno.EPERM}


def read_source(source: SourceFile, max_bytes: int) -> bytes:
    """Return the bytes of a crawled file; those of a share that is not mounted were fetched for us.

    Raises:
        ExtractError: changed, no_permission, too_large, io_error or (fetched) out_of_memory.
    """
    if is_delivered(source):
        return receive(source)
    with open_source(source) as (stream, size):
        if size > max_bytes:
            raise ExtractError(FailReason.TOO_LARGE, f"{size} bytes, limit {max_bytes}")
        data = stream.read(size + 1)  # one byte more, to see one that grows
    if len(data) != size:
        raise ExtractError(FailReason.CHANGED, "changed while it was read")
    return data


@contextmanager
def open_source(source: SourceFile) -> Iterator[tuple[BinaryIO, int]]:
    """Give a crawled file that is too large to be read at once, open for reading, and its size.

    Raises:
        ExtractError: changed, also while it was open; no_permission or io_error.
    """
    with _open(source) as descriptor:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode) or _signature(before) != _crawled(source):
            raise ExtractError(FailReason.CHANGED, "not the file that was crawled")
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            yield stream, before.st_size
        if _signature(os.fstat(descriptor)) != _signature(before):
            raise ExtractError(FailReason.CHANGED, "changed while it was read")


@contextmanager
def _open(source: SourceFile) -> Iterator[int]:
    descriptor = take(source)[0] if is_handed_over() else open_read_only(source)
    try:
        yield descriptor
    except OSError as error:
        raise refusal(error) from None
    finally:
        os.close(descriptor)


def open_read_only(source: SourceFile) -> int:
    """Open a crawled file by its path and return its descriptor, if it still is that file.

    Whoever may write to the share may put a link to another folder in place of one of the path: what lies
    there must not be handed to a worker, which may have been taken over and check nothing.

    Raises:
        ExtractError: changed, no_permission or io_error.
    """
    try:
        try:
            descriptor = open_path(source.absolute, _READ_ONLY | os.O_NOATIME)
        except PermissionError:
            # Only the owner may keep the access time; others read all the same.
            descriptor = open_path(source.absolute, _READ_ONLY)
        status = os.fstat(descriptor)
    except OSError as error:
        raise refusal(error) from None
    if not stat.S_ISREG(status.st_mode) or _signature(status) != _crawled(source):
        os.close(descriptor)
        raise ExtractError(FailReason.CHANGED, "not the file that was crawled")
    return descriptor


def open_segment(source: SourceFile, number: int) -> int:
    """Return the descriptor of another segment of the file that a crawled file begins.

    Raises:
        ExtractError: there is none, or it may not be opened.
    """
    if is_delivered(source):
        raise ExtractError(FailReason.UNSUPPORTED, "segments of a fetched file")
    return take_segment(source, number) if is_handed_over() else open_sibling(source, number)


def open_sibling(source: SourceFile, number: int) -> int:
    """Open another segment by its name in the folder in which a crawled file still lies.

    No link is followed, nothing of another file system is opened, and only names of the file's own series.

    Raises:
        ExtractError: changed (there is none, or the folder is another one), no_permission or io_error.
    """
    folder_path, _, own = source.absolute.rpartition(b"/")
    name = segment_of(own)
    if name is None or number >= MOST_SEGMENTS or name.name(number) == own:
        raise ExtractError(FailReason.CHANGED, "not a name of its series")
    folder = -1
    try:
        folder = open_path(folder_path or b"/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        if _signature(os.stat(own, dir_fd=folder, follow_symlinks=False)) != _crawled(source):
            raise ExtractError(FailReason.CHANGED, "not the file that was crawled")
        descriptor = os.open(name.name(number), _READ_ONLY, dir_fd=folder)
        status = os.fstat(descriptor)
    except OSError as error:
        raise refusal(error) from None
    finally:
        if folder >= 0:
            os.close(folder)
    if not stat.S_ISREG(status.st_mode) or status.st_dev != source.device:
        os.close(descriptor)
        raise ExtractError(FailReason.CHANGED, "no regular file of the same file system")
    return descriptor


def refusal(error: OSError) -> ExtractError:
    """Return the outcome of a file that cannot be opened or read."""
    code = error.errno or 0
    if code in _GONE:
        return ExtractError(FailReason.CHANGED, "vanished before it was read")
    if code in _FORBIDDEN:
        return ExtractError(FailReason.NO_PERMISSION)
    return ExtractError(FailReason.IO_ERROR, errno.errorcode.get(code, ""))


def _signature(status: os.stat_result) -> tuple[int, int, int, int, int]:
    # Whoever may write a file may set its time of modification, but not that of its last change.
    modified = within_64_bits(status.st_mtime_ns)
    return (status.st_ino, status.st_dev, status.st_size, modified, status.st_ctime_ns)


def _crawled(source: SourceFile) -> tuple[int, int, int, int, int]:
    return (source.inode, source.device, source.size, source.mtime_ns, source.ctime_ns)
