"""Segments of a file, read as one open file."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import BinaryIO


class JoinedFiles(io.RawIOBase):
    """Open files read as one after the other; nothing is copied."""

    def __init__(self, descriptors: Sequence[int]) -> None:
        super().__init__()
        self.descriptors = tuple(descriptors)
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
        for descriptor, size in zip(self.descriptors, self._sizes, strict=True):
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


def descriptors_of(stream: BinaryIO) -> tuple[int, ...]:
    """Return the descriptors of an open file: one, or those of its segments."""
    raw = getattr(stream, "raw", None)
    return raw.descriptors if isinstance(raw, JoinedFiles) else (stream.fileno(),)
