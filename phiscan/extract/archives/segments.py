"""Files cut into segments (archives, compressed files, disc images): all are read as one open file.

The first segment is crawled as any file; the others lie in its folder under names of one series, without a
gap, and are opened by whoever opens the first. A later segment is a part of the first, without a text.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import BinaryIO

from blake3 import blake3

from phiscan.errors import ExtractError
from phiscan.extract.core.file_type import sniff
from phiscan.extract.core.opening import MOST_SEGMENTS, SegmentName, open_segment, segment_of
from phiscan.model import FailReason, SourceFile


class JoinedFiles(io.RawIOBase):
    """Open files read as one after the other; nothing is copied."""

    def __init__(self, descriptors: Sequence[int]) -> None:
        super().__init__()
        self._descriptors = tuple(descriptors)
        self._sizes = [os.fstat(descriptor).st_size for descriptor in descriptors]
        self._at = 0

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def seekable(self) -> bool:
        """Tell that it can be read anywhere."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move to an offset; return it from the beginning."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: sum(self._sizes)}[whence]
        self._at = max(start + offset, 0)
        return self._at

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        """Read up to the end of the file at hand."""
        start = 0
        for descriptor, size in zip(self._descriptors, self._sizes, strict=True):
            if self._at < start + size:
                left = min(len(buffer), start + size - self._at)
                n_bytes = os.preadv(descriptor, [memoryview(buffer)[:left]], self._at - start)
                self._at += n_bytes
                return n_bytes
            start += size
        return 0


def joined(series: Sequence[int]) -> BinaryIO:
    """Return the segments as one file, open for reading."""
    return io.BufferedReader(JoinedFiles(series), buffer_size=1024**2)


PART = "application/x-file-segment"
_SEVEN_ZIP = "application/x-7z-compressed"
_JOINED_KINDS = frozenset(
    {_SEVEN_ZIP, "application/zip", "application/x-iso9660-image"}
    | {"application/gzip", "application/x-bzip2", "application/x-xz", "application/zstd", "application/x-tar"}
)
_SPLIT_ZIP = b"PK\x07\x08"
_LOCAL_HEADER = b"PK\x03\x04"
_HEAD_BYTES = 64 * 1024


@contextmanager
def opened_segments(source: SourceFile, first: int) -> Iterator[tuple[list[int], bool]]:
    """Give the open descriptors of all segments in order where a file begins a series, else none.

    ``first`` is the open file itself. The second value tells that the file is a later segment of a series.

    Raises:
        ExtractError: changed; a segment was changed while it was read.
    """
    name = segment_of(source.path.rpartition(b"/")[2])
    opened: list[int] = []
    try:
        if name is None:
            yield [], False
        else:
            series = _series(source, name, first, opened)
            before = [_state(descriptor) for descriptor in opened]
            is_later = name.number > (0 if _is_split_zip(name) else 1)
            yield ([], bool(series)) if is_later else (series, False)
            if [_state(descriptor) for descriptor in opened] != before:
                raise ExtractError(FailReason.CHANGED, "a segment changed while it was read")
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _state(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_size, status.st_mtime_ns


def _is_split_zip(name: SegmentName) -> bool:
    """Tell a series whose last segment has no number, and begins no archive of its own."""
    return name.style in ("zip", "ZIP")


def _series(source: SourceFile, name: SegmentName, own: int, opened: list[int]) -> list[int]:
    """Return the open segments of the series that a file is one of, in order; none where it is of none."""
    series: list[int] = []
    with suppress(ExtractError):
        for number in range(1, MOST_SEGMENTS):
            if number != name.number:
                opened.append(open_segment(source, number))
            series.append(own if number == name.number else opened[-1])
    if not series or (name.number and own not in series):
        return []
    head = os.pread(series[0], _HEAD_BYTES, 0)
    if not _is_split_zip(name):
        kind = sniff(head)
        return series if len(series) > 1 and kind in _JOINED_KINDS and _is_series(series, kind) else []
    if not head.startswith((_SPLIT_ZIP, _LOCAL_HEADER)):
        return []
    with suppress(ExtractError):
        if name.number:
            opened.append(open_segment(source, 0))
        return [*series, opened[-1] if name.number else own]
    return []


def _is_series(series: list[int], kind: str) -> bool:
    """Tell whether files belong together: all are of one size but for the last."""
    sizes = [os.fstat(descriptor).st_size for descriptor in series]
    are_equal = len(set(sizes[:-1])) == 1 and 0 < sizes[-1] <= sizes[0]
    return are_equal and not any(sniff(os.pread(later, _HEAD_BYTES, 0)) == kind for later in series[1:])


def joined_hash(content_hash: str, series: Sequence[int]) -> str:
    """Return a hash that changes with any segment: of the first one's bytes, and sizes and times of all."""
    states = repr([_state(descriptor) for descriptor in series]).encode("ascii")
    return str(blake3(content_hash.encode("ascii") + states).hexdigest())
