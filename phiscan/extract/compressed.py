"""Compressed files: gzip, bzip2, xz and Zstandard, unpacked as far as they go."""

from __future__ import annotations

import bz2
import lzma
import re
import sys
import zlib
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.content import Content, Sink
from phiscan.model import FailReason

_MAGICS = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")
# What a piece unpacks to is lost when the data is damaged within it.
_PIECE_BYTES = 64
_PADDING = re.compile(rb"\0*")
_GZIP_WINDOW = 31  # zlib's word for the largest window, with gzip's header and checksum


class CompressedExtractor:
    """Read gzip, bzip2, xz and Zstandard: one member, named as the file without its ending."""

    media_types = frozenset(
        {"application/gzip", "application/x-bzip2", "application/x-xz", "application/zstd"}
    )

    def extract(self, content: Content, sink: Sink) -> None:
        """Unpack the stream; what is unpacked before damage, and what follows the stream, is read as well."""
        sink.take_member()
        stream = _Stream(content.data)
        data = sink.unpack(stream, len(content.data))
        if stream.damage and not data:
            raise ExtractError(FailReason.CORRUPT, stream.damage)
        if stream.damage:
            sink.fail(content.locator, FailReason.CORRUPT, stream.damage)
        if data:
            sink.read_member(content.member(_inner_name(content.name), data))
        rest = stream.rest()
        if rest and not stream.damage:
            trailing = content.member("trailing", rest)
            sink.fail(trailing.locator, FailReason.CORRUPT, "bytes behind the compressed data")
            sink.take_member()
            sink.read_member(trailing)


class _Stream:
    """A compressed stream that is unpacked as it is read, and remembers what is wrong with it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self.damage = ""
        self._engine = _engine(data)

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes; none at the end or at the first damage."""
        out = bytearray()
        try:
            while len(out) < size and self._engine is not None:
                out += self._step(size - len(out))
        except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError):
            self.damage, self._engine = "damaged compressed data", None
        return bytes(out)

    def rest(self) -> bytes:
        """Return what stands behind the last stream, without padding."""
        return self._data[self._at :].strip(b"\0")

    def _step(self, size: int) -> bytes:
        engine = self._engine
        if engine.eof:
            self._at -= len(engine.unused_data)
            self._next_stream()
            return b""
        feed = getattr(engine, "unconsumed_tail", b"")  # zlib gives input back, the others keep it
        if not feed and getattr(engine, "needs_input", True):
            feed = self._data[self._at : self._at + _PIECE_BYTES]
            self._at += len(feed)
        out: bytes = engine.decompress(feed, size)
        if not (feed or out or engine.eof):
            self.damage, self._engine = "the compressed data is cut short", None
        return out

    def _next_stream(self) -> None:
        """Go on with the stream that follows, behind its padding: several make one file."""
        padding = _PADDING.match(self._data, self._at)
        at = padding.end() if padding else self._at
        if self._data.startswith(_MAGICS, at):
            self._at = at
            self._engine = _engine(self._data[at : at + len(_MAGICS[2])])
        else:
            self._engine = None


def _engine(head: bytes) -> Any:
    if head.startswith(_MAGICS[0]):
        return zlib.decompressobj(_GZIP_WINDOW)
    if head.startswith(_MAGICS[1]):
        return bz2.BZ2Decompressor()
    if head.startswith(_MAGICS[3]):
        return zstandard().ZstdDecompressor()
    return lzma.LZMADecompressor(lzma.FORMAT_XZ)


def zstandard() -> Any:
    """Return the standard library's module, or where Python is older than 3.14, its backport."""
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415 (not everywhere)
    else:
        from backports import zstd  # noqa: PLC0415 (see above)
    return zstd


def _inner_name(name: str) -> str:
    """Return the name without the ending of the compression.

    >>> _inner_name("notes.txt.gz"), _inner_name("backup.tgz"), _inner_name("x")
    ('notes.txt', 'backup.tar', 'x')
    """
    base = name.rpartition("/")[2]
    stem, dot, ending = base.rpartition(".")
    if not dot:
        return base
    return stem + (".tar" if ending.lower() in ("tgz", "tbz", "tbz2", "txz", "tzst") else "")
