"""Compressed files: gzip, bzip2, xz, Zstandard and LZ4, unpacked as far as they go."""

from __future__ import annotations

import bz2
import io
import lzma
import struct
import sys
import tarfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, Literal

from phiscan.errors import ExtractError
from phiscan.extract.core.content import CHUNK_BYTES, ByteStream, Content, Meter, Sink, clean_name, mishap
from phiscan.model import FailReason

# TAR archives: every member, and what is left of an archive after a damaged header.

_BLOCK = tarfile.BLOCKSIZE
_TYPE_AT = 156
_MACHINE_HEADERS = ("GNU.sparse", "SCHILY.", "LIBARCHIVE.", "atime", "ctime", "hdrcharset", "charset")
_LINKS_AND_DEVICES = frozenset(tarfile.SUPPORTED_TYPES) - frozenset(tarfile.REGULAR_TYPES)


def read_tar(content: Content, sink: Sink) -> None:
    """Read every member with content.

    Where the archive is damaged, cut, or continues after its end mark, that is recorded; what lies up
    to the next whole header is read as a member called ``damaged1``, then the members go on.
    """
    data = b"" if content.stream is not None else content.data
    end = read_tape(content.open(), content, sink, mode="r:", data=data)
    if data and end == len(data):
        sink.fail(content.locator, FailReason.CORRUPT, "no end mark; the archive may be cut")


def read_tape(
    stream: ByteStream, content: Content, sink: Sink, *, mode: Literal["r:", "r|"], data: bytes = b""
) -> int:
    """Read the members of an archive as they pass by; return where the last one ends.

    Of an archive in memory, ``data``, what lies between the members is read, too.

    Raises:
        ExtractError: corrupt, and no member was read; too_large.
    """
    end = n_read = 0
    damage = ""
    try:
        with tarfile.open(fileobj=stream, mode=mode, ignore_zeros=True) as archive:  # type: ignore[call-overload]
            for info in archive:
                _read_lost(data[end : info.offset], end, content, sink)
                if info.size < 0:  # which would lead back for ever
                    break
                end, n_read = archive.offset, n_read + 1
                sink.add("\n".join(_remarks(info)), content.place("remarks"))
                if info.type not in _LINKS_AND_DEVICES:
                    with sink.part(content.member(clean_name(info.name), b"").locator):
                        _read_member(content, archive, info, sink, data)
                archive.members = []  # it keeps what it saw
    except (tarfile.TarError, OSError, ValueError, LookupError, struct.error, EOFError) as error:
        damage = mishap(error)
    if damage and not n_read and not data:
        raise ExtractError(FailReason.CORRUPT, damage)
    if damage:
        sink.fail(content.locator, FailReason.CORRUPT, damage)
    _read_lost(data[end:], end, content, sink)
    return end


def _read_lost(lost: bytes, at: int, content: Content, sink: Sink) -> None:
    """Read what lies where a header should be, without the header that is damaged."""
    if not lost.strip(b"\0") or lost[_TYPE_AT : _TYPE_AT + 1] == tarfile.XGLTYPE:
        return
    damaged = content.member(f"damaged{at}", lost[_BLOCK if b"ustar" in lost[:_BLOCK] else 0 :].strip(b"\0"))
    sink.fail(damaged.locator, FailReason.CORRUPT, "damaged header of a member")
    with sink.part(damaged.locator):
        sink.take_member()
        sink.read_member(damaged)


def _read_member(
    content: Content, archive: tarfile.TarFile, info: tarfile.TarInfo, sink: Sink, data: bytes
) -> None:
    sink.take_member()
    # Of a member that is cut, extractfile gives nothing; a sparse one is put together by it.
    if data and not info.issparse():
        found = sink.unpack(io.BytesIO(data[info.offset_data : info.offset_data + info.size]), len(data))
    else:
        found = sink.unpack(archive.extractfile(info) or io.BytesIO(), max(info.size, 1))
    member = content.member(clean_name(info.name), found)
    if len(found) < info.size:
        sink.fail(member.locator, FailReason.CORRUPT, "the archive is cut within this member")
    sink.read_member(member)


def _remarks(info: tarfile.TarInfo) -> Iterator[str]:
    """Yield names that no member's locator shows, of folders and links, and comments."""
    if info.type in _LINKS_AND_DEVICES:
        yield info.name
        yield info.linkname
    for key, value in info.pax_headers.items():
        if key not in tarfile.PAX_FIELDS and not key.startswith(_MACHINE_HEADERS):
            yield str(value)


_MAGICS = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18")
# What a piece unpacks to is lost when the data is damaged within it.
_PIECE_BYTES = 64
_HEAD_BYTES = 1024
_TAR_MAGIC_AT = 257
_SKIPPABLE, _SKIPPABLE_FIRST, _SKIPPABLE_HEAD = b"\x2a\x4d\x18", 0x50, 8
_LARGE_BYTES = 16 * 1024**2  # an archive within more than this is read as it passes by
_MAX_REST = 64 * 1024**2
_GZIP_WINDOW = 31  # zlib's word for the largest window, with gzip's header and checksum


def read_compressed(content: Content, sink: Sink) -> None:
    """Unpack the stream; what is unpacked before damage, and what follows the stream, is read as well."""
    sink.take_member()
    stream = _Stream(content.open())
    name = _inner_name(content.name)
    head = stream.read(_HEAD_BYTES)
    if content.n_bytes > _LARGE_BYTES and head[_TAR_MAGIC_AT:].startswith(b"ustar"):
        inner = content.member(name, b"")
        stream.head = head
        read_tape(stream, inner, sink, mode="r|")
        _record(stream, inner, sink)
        return
    meter = Meter(sink, content.n_bytes)
    cut: ExtractError | None = None
    try:
        meter.take(head)
        while chunk := stream.read(CHUNK_BYTES):
            meter.take(chunk)
    except ExtractError as error:
        cut = error
    data = meter.data()
    if stream.damage and not data:
        raise ExtractError(FailReason.CORRUPT, stream.damage)
    _record(stream, content, sink)
    if cut is not None:
        sink.fail(content.locator, FailReason(cut.reason), f"cut at {len(data)} bytes: {cut.detail}")
    if data:
        sink.read_member(content.member(name, data))
    rest = stream.rest() if cut is None and not stream.damage else b""
    if rest:
        trailing = content.member("trailing" if data else name, rest)
        if data:
            sink.fail(trailing.locator, FailReason.CORRUPT, "bytes after the compressed data")
        sink.take_member()
        sink.read_member(trailing)


def _record(stream: _Stream, content: Content, sink: Sink) -> None:
    if stream.damage:
        sink.fail(content.locator, FailReason.CORRUPT, stream.damage)


class _Stream:
    """A compressed stream that is unpacked as it is read, and remembers what is wrong with it."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self.head = b""  # what was read before, and is to be read once more
        self.damage = ""
        self._engine: Any = None
        self._next_stream()

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes; none at the end or at the first damage."""
        out, self.head = bytearray(self.head[:size]), self.head[size:]
        try:
            while len(out) < size and self._engine is not None:
                out += self._step(size - len(out))
        except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, RuntimeError):
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
            self._source.seek(-len(engine.unused_data or b""), io.SEEK_CUR)
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
        """Go on with the stream that follows, after padding and skippable frames: several make one file.

        Source: RFC 8878, 3.1.2; the LZ4 frame format has the same skippable frames.
        """
        while (byte := self._source.read(1)) == b"\0":
            pass
        if byte:
            self._source.seek(-1, io.SEEK_CUR)
        head = self._peek()
        if head[1:4] == _SKIPPABLE and head[0] & 0xF0 == _SKIPPABLE_FIRST:
            n_bytes = int.from_bytes(self._source.read(_SKIPPABLE_HEAD)[4:], "little")
            if len(self._source.read(min(n_bytes, _MAX_REST))) == n_bytes:
                self._next_stream()
            else:
                self.damage, self._engine = "the compressed data is cut short", None
            return
        self._engine = _engine(head) if head.startswith(_MAGICS) else None


def _engine(head: bytes) -> Any:
    if head.startswith(_MAGICS[0]):
        return zlib.decompressobj(_GZIP_WINDOW)
    if head.startswith(_MAGICS[1]):
        return bz2.BZ2Decompressor()
    if head.startswith(_MAGICS[3]):
        return zstandard().ZstdDecompressor()
    if head.startswith(_MAGICS[4]):
        from lz4.frame import LZ4FrameDecompressor  # noqa: PLC0415 (rarely needed)

        return LZ4FrameDecompressor()
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
