"""Compressed files: gzip, bzip2, xz, Zstandard and LZ4, unpacked as far as they go."""

from __future__ import annotations

import bz2
import io
import lzma
import re
import struct
import sys
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import CHUNK_BYTES, ByteStream, Content, Sink, mishap
from phiscan.extract.core.encoded_documents import is_document
from phiscan.extract.core.prose import MIN_WORDS, words_of
from phiscan.extract.core.unsupported import strings
from phiscan.model import FailReason

# TAR archives: every member, and what is left of an archive after a damaged header.

_BLOCK = tarfile.BLOCKSIZE
_CHECKSUM_AT, _OLD_CHECKSUM = 148, re.compile(rb"[ 0-7]{4,6}[0-7 ]?[\0 ]")
_MAGIC_AT = 257  # of "ustar" within a header
_MACHINE_HEADERS = ("GNU.sparse", "SCHILY.", "LIBARCHIVE.", "atime", "ctime", "hdrcharset", "charset")
_LINKS_AND_DEVICES = frozenset(tarfile.SUPPORTED_TYPES) - frozenset(tarfile.REGULAR_TYPES)


def read_tar(content: Content, sink: Sink) -> None:
    """Read every member with content.

    Where the archive is damaged, cut, or continues after its end mark, that is recorded; what lies up
    to the next whole header is read as a member called ``damaged1``, then the members go on.
    """
    if content.stream is not None:
        read_tape(content.open(), content, sink, mode="r:")
        return
    at = number = 0
    while True:
        stop = _read_members(content, at, sink)
        rest = content.data[stop : stop + 2 * _BLOCK]
        if not rest:
            sink.fail(content.locator, FailReason.CORRUPT, "no end mark; the archive may be cut")
            return
        follows = _next_header(content.data, stop)
        lost = content.data[stop:follows].strip(b"\0")
        if not lost and follows == len(content.data):
            return
        number += 1
        damaged = content.member(f"damaged{number}", _body(lost))
        sink.fail(damaged.locator, FailReason.CORRUPT, _what(rest))
        sink.take_member()
        if damaged.data:
            sink.read_member(damaged)
        if follows == len(content.data):
            return
        at = follows


def read_tape(stream: ByteStream, content: Content, sink: Sink, *, mode: Literal["r:", "r|"]) -> None:
    """Read the members of an archive as they pass by; nothing is held but the member that is read.

    Raises:
        ExtractError: corrupt, and no member was read; too_large.
    """
    n_read = 0
    try:
        with tarfile.open(fileobj=stream, mode=mode) as archive:  # type: ignore[call-overload]
            for info in archive:
                if info.type in _LINKS_AND_DEVICES:
                    continue
                sink.take_member()
                member = content.member(_clean_name(info.name), b"")
                with sink.part(member.locator):
                    data = sink.unpack(archive.extractfile(info) or io.BytesIO(), max(info.size, 1))
                    sink.read_member(content.member(member.name, data))
                n_read += 1
                archive.members = []  # it keeps what it saw
    except (tarfile.TarError, OSError, ValueError, LookupError, struct.error, EOFError) as error:
        if not n_read:
            raise ExtractError(FailReason.CORRUPT, mishap(error)) from None
        sink.fail(content.locator, FailReason.CORRUPT, mishap(error))


def is_old_tar(data: bytes) -> bool:
    """Tell an archive of the seventh edition of Unix, which has no mark, by the checksum of its first header.

    >>> is_old_tar(bytes(1024))
    False
    """
    # The checksum is in octal digits; most other data is refused by this alone.
    return (
        _OLD_CHECKSUM.match(data, _CHECKSUM_AT) is not None
        and data[0] > ord(" ")
        and _is_header(data[:_BLOCK])
    )


def _what(rest: bytes) -> str:
    if not rest[:_BLOCK].strip(b"\0"):
        return "the archive continues after its end mark"
    return "the archive is cut within a header" if len(rest) < _BLOCK else "damaged header of a member"


def _body(lost: bytes) -> bytes:
    """Leave out a damaged header, so that the type of what follows is classified by its content."""
    if b"ustar" not in lost[:_BLOCK]:
        return lost
    return lost[_BLOCK:].strip(b"\0") or lost.replace(b"ustar", b"")


def _next_header(data: bytes, at: int) -> int:
    """Return where the next header with a right checksum after ``at`` begins, or the end of the data."""
    found = data.find(b"ustar", at + _MAGIC_AT + 1)  # not the one at which tarfile stopped
    while found >= 0:
        start = found - _MAGIC_AT
        if start % _BLOCK == 0 and _is_header(data[start : start + _BLOCK]):
            return start
        found = data.find(b"ustar", found + 1)
    return len(data)


def _is_header(block: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        return False
    return True


def _read_members(content: Content, at: int, sink: Sink) -> int:
    """Read the members from ``at`` on; return where tarfile found no further header."""
    stream = io.BytesIO(content.data)
    stream.seek(at)
    try:
        archive = tarfile.TarFile(fileobj=stream)
    except tarfile.TarError:
        return at
    stop = archive.offset
    try:
        for info in archive:
            if info.type not in _LINKS_AND_DEVICES:
                _read_member(content, archive, info, sink)
            sink.add("\n".join(_remarks(info)), content.place("remarks"))
            if archive.offset <= info.offset:  # a negative size would lead back for ever
                return info.offset
            stop = archive.offset
    except (tarfile.TarError, OSError, ValueError, LookupError, struct.error):
        return min(stop, len(content.data))
    return min(archive.offset, len(content.data))


def _read_member(content: Content, archive: tarfile.TarFile, info: tarfile.TarInfo, sink: Sink) -> None:
    sink.take_member()
    member = content.member(_clean_name(info.name), b"")
    # A sparse member is put together by extractfile; of any other that is cut, extractfile gives nothing.
    stream = archive.extractfile(info) if info.issparse() else None
    if stream is None:
        stream = io.BytesIO(content.data[info.offset_data : info.offset_data + max(info.size, 0)])
    try:
        data = sink.unpack(stream, len(content.data))
    except ExtractError as error:
        sink.fail(member.locator, FailReason(error.reason), error.detail)
        return
    if len(data) < info.size:
        sink.fail(member.locator, FailReason.CORRUPT, "the archive is cut within this member")
    sink.read_member(content.member(member.name, data))
    end = info.offset_data + max(info.size, 0)
    slack = b"" if info.issparse() else content.data[end : end + -end % _BLOCK]
    found = (
        [text for text in strings(slack) if len(words_of(text)) >= MIN_WORDS] if slack.strip(b"\0") else []
    )
    sink.add("\n".join(found), f"{member.locator}#slack")


def _remarks(info: tarfile.TarInfo) -> Iterator[str]:
    """Yield names that no member's locator shows, of folders and links, and comments."""
    if info.type in _LINKS_AND_DEVICES:
        yield info.name
        yield info.linkname
    for key, value in info.pax_headers.items():
        if key not in tarfile.PAX_FIELDS and not key.startswith(_MACHINE_HEADERS):
            yield str(value)


def _clean_name(name: str) -> str:
    """A member's name as a locator shows it; nothing is ever written under it, so ``..`` does no harm."""
    return name.replace("\\", "/").replace("\0", "")


_MAGICS = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18")
# What a piece unpacks to is lost when the data is damaged within it.
_PIECE_BYTES = 64
_HEAD_BYTES = 1024
_TAR_MAGIC_AT = 257
_SKIPPABLE, _SKIPPABLE_FIRST, _SKIPPABLE_HEAD = b"\x2a\x4d\x18", 0x50, 8
_LARGE_BYTES = 16 * 1024**2  # an archive within more than this is read as it passes by
_MAX_REST = 64 * 1024**2
_GZIP_BYTES, _MOST_HEADER_BYTES = 10, 64 * 1024
_CHECKED, _EXTRA, _NAME, _COMMENT = 2, 4, 8, 16
_GZIP_WINDOW = 31  # zlib's word for the largest window, with gzip's header and checksum


def read_compressed(content: Content, sink: Sink) -> None:
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
    rest = stream.rest() if cut is None and not stream.damage else b""
    _read_beside(stream.skipped, rest, content, sink, name="trailing" if data else name)


def _read_beside(skipped: list[bytes], rest: bytes, content: Content, sink: Sink, *, name: str) -> None:
    """Read what a file holds beside its streams: documents in skippable frames, and what follows them."""
    for place, user_data in enumerate(skipped, 1):
        if is_document(user_data) or any(len(words_of(run)) > 1 for run in strings(user_data)):
            sink.read_member(content.member(f"skippable{place}", user_data))
    if rest:
        trailing = content.member(name, rest)
        if name == "trailing":
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
        self.skipped: list[bytes] = []  # user data of skippable frames: tables of positions, sizes, notes
        self._engine: Any = None
        self._next_stream()

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes; none at the end or at the first damage."""
        out = bytearray()
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
            self.skipped.append(self._source.read(min(n_bytes, _MAX_REST)))
            if len(self.skipped[-1]) == n_bytes:
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
