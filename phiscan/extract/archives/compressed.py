"""Compressed files: gzip, bzip2, xz and Zstandard, unpacked as far as they go."""

from __future__ import annotations

import bz2
import io
import lzma
import sys
import zlib
from dataclasses import dataclass
from typing import Any, BinaryIO

from phiscan.errors import ExtractError
from phiscan.extract.archives.tar_files import read_tape
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import CHUNK_BYTES, Content, Sink
from phiscan.extract.databases.named import strings
from phiscan.extract.residue.prose import words_of
from phiscan.model import FailReason

_MAGICS = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")
# What a piece unpacks to is lost when the data is damaged within it.
_PIECE_BYTES = 64
_HEAD_BYTES = 1024
_TAR_MAGIC_AT = 257
_LARGE_BYTES = 16 * 1024**2  # an archive within more than this is read as it passes by
_MAX_REST = 64 * 1024**2
_GZIP_BYTES, _MOST_HEADER_BYTES = 10, 64 * 1024
_CHECKED, _EXTRA, _NAME, _COMMENT = 2, 4, 8, 16
_GZIP_WINDOW = 31  # zlib's word for the largest window, with gzip's header and checksum


class CompressedExtractor:
    """Read gzip, bzip2, xz and Zstandard: one member, named as the file without its ending."""

    media_types = frozenset(
        {"application/gzip", "application/x-bzip2", "application/x-xz", "application/zstd"}
    )

    def extract(self, content: Content, sink: Sink) -> None:
        """Unpack the stream; what is unpacked before damage, and what follows the stream, is read as well."""
        sink.take_member()
        stream = _Stream(content.open())
        header = gzip_header(content.data)
        name = header.name or _inner_name(content.name)
        sink.add("\n".join(header.remarks), content.place("header"))
        head = stream.read(_HEAD_BYTES)
        if content.n_bytes > _LARGE_BYTES and head[_TAR_MAGIC_AT:].startswith(b"ustar"):
            inner = content.member(name, b"")
            read_tape(_Rejoined(head, stream), inner, sink, mode="r|")
            _record(stream, inner, sink)
            return
        meter = sink.meter(content.n_bytes)
        cut: ExtractError | None = None
        try:
            meter.take(head)
            while chunk := stream.read(CHUNK_BYTES):
                meter.take(chunk)
        except ExtractError as error:
            cut = error
        data = meter.data()
        if stream.damage and not data and header.n_bytes:  # less than a piece, whose checksum is wrong
            data = _inflated(content.data[header.n_bytes : header.n_bytes + _PIECE_BYTES * 2])
        if stream.damage and not data:
            raise ExtractError(FailReason.CORRUPT, stream.damage)
        _record(stream, content, sink)
        if cut is not None:
            sink.fail(content.locator, FailReason(cut.reason), f"cut at {len(data)} bytes: {cut.detail}")
        if data:
            sink.read_member(content.member(name, data))
        rest = stream.rest() if cut is None else b""
        if rest and not stream.damage:
            trailing = content.member("trailing", rest)
            sink.fail(trailing.locator, FailReason.CORRUPT, "bytes after the compressed data")
            sink.take_member()
            sink.read_member(trailing)


@dataclass(frozen=True, slots=True)
class GzipHeader:
    """The head of a gzip file: its size, the name of the file in it, comments and texts of extra fields."""

    n_bytes: int = 0
    name: str = ""
    remarks: tuple[str, ...] = ()


def gzip_header(data: bytes) -> GzipHeader:
    r"""Read the head of a gzip file; of anything else nothing.

    >>> gzip_header(b"\x1f\x8b\x08\x10" + bytes(6) + b"for Dr. Roy\0").remarks
    ('for Dr. Roy',)
    """
    if not data.startswith(_MAGICS[0]) or len(data) < _GZIP_BYTES:
        return GzipHeader()
    flags, at = data[3], _GZIP_BYTES
    remarks = []
    if flags & _EXTRA:
        end = at + 2 + int.from_bytes(data[at : at + 2], "little")
        remarks += [text for text in strings(data[at + 2 : end]) if len(words_of(text)) > 1]
        at = end
    texts = []
    for flag in (_NAME, _COMMENT):
        end = data.find(b"\0", at, at + _MOST_HEADER_BYTES) if flags & flag else -1
        texts.append(decode(data[at:end])[0] if end > at else "")
        at = end + 1 if end >= 0 else at
    name = texts[0].replace("\\", "/").rpartition("/")[2]
    return GzipHeader(
        at + 2 * bool(flags & _CHECKED), name, tuple(text for text in [*remarks, texts[1]] if text)
    )


def _inflated(data: bytes) -> bytes:
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, _MOST_HEADER_BYTES)
    except zlib.error:
        return b""


def _record(stream: _Stream, content: Content, sink: Sink) -> None:
    if stream.damage:
        sink.fail(content.locator, FailReason.CORRUPT, stream.damage)


class _Rejoined:
    """A stream whose beginning was read already."""

    def __init__(self, head: bytes, stream: _Stream) -> None:
        self._head = head
        self._stream = stream

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes, none at the end."""
        out, self._head = self._head[:size], self._head[size:]
        return out + self._stream.read(size - len(out)) if len(out) < size else out


class _Stream:
    """A compressed stream that is unpacked as it is read, and remembers what is wrong with it."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self.damage = ""
        self._engine = _engine(self._peek())

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
        """Return what follows the last stream, without padding."""
        return self._source.read(_MAX_REST).strip(b"\0")

    def _peek(self) -> bytes:
        """Return the next bytes without taking them."""
        at = self._source.tell()
        head = self._source.read(len(_MAGICS[2]))
        self._source.seek(at)
        return head

    def _step(self, size: int) -> bytes:
        engine = self._engine
        if engine.eof:
            self._source.seek(-len(engine.unused_data), io.SEEK_CUR)
            self._next_stream()
            return b""
        feed = getattr(engine, "unconsumed_tail", b"")  # zlib gives input back, the others keep it
        if not feed and getattr(engine, "needs_input", True):
            feed = self._source.read(_PIECE_BYTES)
        out: bytes = engine.decompress(feed, size)
        if not (feed or out or engine.eof):
            self.damage, self._engine = "the compressed data is cut short", None
        return out

    def _next_stream(self) -> None:
        """Go on with the stream that follows, after its padding: several make one file."""
        while (byte := self._source.read(1)) == b"\0":
            pass
        if byte:
            self._source.seek(-1, io.SEEK_CUR)
        head = self._peek()
        self._engine = _engine(head) if head.startswith(_MAGICS) else None


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
