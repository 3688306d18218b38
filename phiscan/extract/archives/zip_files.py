"""ZIP archives: streamed within the budget, never unpacked to disk."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import IO

from phiscan.errors import ExtractError
from phiscan.extract.archives import libarchive
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import CHUNK_BYTES, ZIP_DAMAGE, Content, Meter, Sink, clean_name, mishap
from phiscan.model import FailReason

# The members of a ZIP file whose directory is cut off or leads astray, found by their own headers.

_LOCAL = b"PK\x03\x04"
_LOCAL_HEADER_BYTES = 30
_STORED, _DEFLATED = 0, 8
_ENCRYPTED, _SIZE_FOLLOWS = 1, 8
_MOST_NAME_BYTES = 4096
_RAW_DEFLATE = -15


@dataclass(frozen=True, slots=True)
class Salvaged:
    """One member: its name, what could be unpacked, and what is wrong with it ("" for nothing)."""

    name: str
    data: bytes
    damage: str
    is_encrypted: bool = False
    offset: int = 0  # of its header


def salvage(data: bytes, sink: Sink) -> Iterator[Salvaged]:
    """Yield each member that begins with a header of its own, as far as it can be unpacked.

    Raises:
        ExtractError: too_large; the budget is used up.
    """
    at = data.find(_LOCAL)
    while at >= 0:
        end = at + 4
        member = _member(data, at, sink)
        if member is not None:
            found, end = member
            if found.data or not found.name.endswith("/"):
                yield replace(found, offset=at)
        at = data.find(_LOCAL, end)


def _member(data: bytes, at: int, sink: Sink) -> tuple[Salvaged, int] | None:
    if at + _LOCAL_HEADER_BYTES > len(data):
        return None
    flags, method = struct.unpack_from("<HH", data, at + 6)
    checksum, packed, _, n_name, n_extra = struct.unpack_from("<IIIHH", data, at + 14)
    if not 0 < n_name <= _MOST_NAME_BYTES:
        return None
    raw = data[at + _LOCAL_HEADER_BYTES : at + _LOCAL_HEADER_BYTES + n_name]
    name = decode(raw)[0]
    start = at + _LOCAL_HEADER_BYTES + n_name + n_extra
    if flags & _ENCRYPTED:
        return Salvaged(name, b"", "", is_encrypted=True), max(start + packed, start)
    if method == _DEFLATED:
        return _inflated(data, start, name, sink)
    if method != _STORED:
        return Salvaged(name, b"", f"ZIP compression method {method}"), start
    stop = start + packed
    if flags & _SIZE_FOLLOWS and not packed:
        following = data.find(b"PK", start)
        stop = following if following >= 0 else len(data)
    body = data[start:stop]
    is_whole = len(body) == packed and zlib.crc32(body) == checksum
    return Salvaged(name, body, "" if is_whole or flags & _SIZE_FOLLOWS else "cut short"), stop


def _inflated(data: bytes, start: int, name: str, sink: Sink) -> tuple[Salvaged, int]:
    engine = zlib.decompressobj(_RAW_DEFLATE)
    meter = Meter(sink, len(data) - start)
    at, damage = start, ""
    try:
        while not engine.eof and at < len(data):
            piece = data[at : at + 4096]
            at += len(piece)
            while piece:
                meter.take(engine.decompress(piece, CHUNK_BYTES))
                piece = engine.unconsumed_tail
    except zlib.error:
        damage = "damaged compressed data"
    if not engine.eof and not damage:
        damage = "cut short"
    return Salvaged(name, meter.data(), damage), max(at - len(engine.unused_data), start + 1)


_IS_UTF8 = 0x800
_UNICODE_PATH = 0x7075  # an extra field: version, checksum of the other name, name
_ASTRAY = "not where the directory of the archive says"
# What a piece unpacks to is lost when the data is damaged within it.
_PIECE_BYTES = 4096


def read_zip(content: Content, sink: Sink) -> None:
    """Read every member; an encrypted one is tried with the operator's passwords."""
    try:
        archive = zipfile.ZipFile(content.open())
    except ZIP_DAMAGE as error:
        if _read_salvaged(content, sink, ()):
            sink.fail(content.locator, FailReason.CORRUPT, "damaged ZIP archive, read member by member")
            return
        raise ExtractError(FailReason.CORRUPT, mishap(error)) from None
    sink.add("\n".join(remarks(archive)), content.place("comment"))
    refused: dict[str, _RefusedError] = {}
    found: set[int] = set()  # where members were read
    astray = False  # whether others do not lie where the directory says
    for info in archive.infolist():
        member = content.member(_member_name(info), b"")
        if info.is_dir() and not info.file_size:
            sink.note_member(member.locator)
            continue
        sink.take_member()
        try:
            data = _read_zip_member(archive, info, member, sink)
        except _RefusedError as error:
            refused[info.filename] = error
        except ExtractError as error:
            sink.fail(member.locator, FailReason(error.reason), error.detail)
            astray = astray or error.detail == _ASTRAY
        else:
            found.add(info.header_offset)
            sink.read_member(content.member(member.name, data))
    if astray:
        _read_salvaged(content, sink, found)
    _read_refused(refused, content, sink)
    _read_outsiders(archive, content, sink)


def _read_outsiders(archive: zipfile.ZipFile, content: Content, sink: Sink) -> None:
    """Read what lies between and after the members."""
    outsiders = gaps(content.data, archive) if content.stream is None else ()
    for number, data in enumerate(outsiders, 1):
        sink.take_member()
        outside = content.member(f"outside{number}", data)
        sink.fail(outside.locator, FailReason.CORRUPT, "bytes outside the members of the archive")
        sink.read_member(outside)


def _read_zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, member: Content, sink: Sink) -> bytes:
    encrypted = bool(info.flag_bits & 1)
    for password in sink.passwords if encrypted else ("",):
        try:
            with archive.open(info, pwd=password.encode() or None) as stream:
                if encrypted:
                    return sink.unpack(stream, info.compress_size)
                # Checked below: zipfile keeps back what it read when the checksum is wrong.
                stream._expected_crc = None  # type: ignore[attr-defined]  # noqa: SLF001 (no other way)
                until_damaged = _UntilDamaged(stream)
                data = sink.unpack(until_damaged, info.compress_size)
        except NotImplementedError:
            raise _RefusedError(
                FailReason.ENCRYPTED if encrypted else FailReason.UNSUPPORTED,
                f"ZIP compression method {info.compress_type}",
            ) from None
        except ZIP_DAMAGE as error:
            if not encrypted:
                is_astray = isinstance(error, zipfile.BadZipFile)
                raise ExtractError(FailReason.CORRUPT, _ASTRAY if is_astray else mishap(error)) from None
        else:
            damage = until_damaged.damage or ("" if zlib.crc32(data) == info.CRC else "wrong checksum")
            if damage and not data:
                raise ExtractError(FailReason.CORRUPT, damage)
            if damage:
                sink.fail(member.locator, FailReason.CORRUPT, damage)
            return data
    raise ExtractError(FailReason.ENCRYPTED)


def _read_salvaged(content: Content, sink: Sink, known: Collection[int]) -> int:
    """Read the members found by their own headers, but those at ``known`` offsets; return how many."""
    n_read = 0
    for found in salvage(content.data, sink) if content.stream is None else ():
        name = clean_name(found.name)
        if found.offset in known:
            continue
        sink.take_member()
        n_read += 1
        member = content.member(name, found.data)
        if found.is_encrypted:
            sink.fail(member.locator, FailReason.ENCRYPTED)
        elif found.damage:
            sink.fail(member.locator, FailReason.CORRUPT, found.damage)
        if found.data:
            sink.read_member(member)
    return n_read


class _RefusedError(ExtractError):
    """The member is packed or encrypted in a way that Python does not know."""


def _read_refused(refused: dict[str, _RefusedError], content: Content, sink: Sink) -> None:
    """Read members that zipfile does not: AES encryption, and rarer ways of packing, through libarchive."""
    if refused and libarchive.library() is not None and content.stream is None:
        with suppress(ExtractError):  # what is not reached is recorded below
            for entry in libarchive.entries(content.data, sink.passwords):
                if entry.name not in refused:
                    continue
                data = sink.unpack(entry, len(content.data))
                if not entry.damaged:
                    del refused[entry.name]
                    sink.read_member(content.member(clean_name(entry.name), data))
    for name, error in refused.items():
        locator = content.member(clean_name(name), b"").locator
        sink.fail(locator, FailReason(error.reason), error.detail)


class _UntilDamaged:
    """A member that ends where it cannot be unpacked any further, and says so."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.damage = ""

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes, none at the end or at the damage."""
        if self.damage:
            return b""
        try:
            return self._stream.read(min(size, _PIECE_BYTES))
        except ZIP_DAMAGE as error:
            self.damage = mishap(error)
            return b""


def _member_name(info: zipfile.ZipInfo) -> str:
    """Return a member's name in Unicode, decoded from the code page of the system that packed it."""
    if info.flag_bits & _IS_UTF8 or info.filename.isascii():
        return clean_name(info.filename)
    try:
        raw = info.filename.encode("cp437")  # as zipfile decodes it
    except UnicodeEncodeError:
        return clean_name(info.filename)
    at = 0
    while at + 9 <= len(info.extra):
        kind, size = struct.unpack_from("<HH", info.extra, at)
        if kind == _UNICODE_PATH and info.extra[at + 5 : at + 9] == struct.pack("<I", zlib.crc32(raw)):
            return clean_name(info.extra[at + 9 : at + 4 + size].decode("utf-8", "replace"))
        at += 4 + size
    return clean_name(decode(raw)[0])


_DESCRIPTOR_BYTES = 24  # what may follow a member: its sizes and checksum
_END, _END_BYTES = b"PK\x05\x06", 22


def gaps(data: bytes, archive: zipfile.ZipFile) -> Iterator[bytes]:
    """Yield each stretch of bytes that belongs to no member and to no directory; NULs alone are padding."""
    end = data.rfind(_END)
    used = [(archive.start_dir, end + _END_BYTES + len(archive.comment))]
    for start, size in ((info.header_offset, info.compress_size) for info in archive.infolist()):
        header = data[start : start + _LOCAL_HEADER_BYTES]
        if len(header) == _LOCAL_HEADER_BYTES:
            used.append((start, start + len(header) + sum(struct.unpack_from("<HH", header, 26)) + size))
    at = 0
    for start, stop in (*sorted(used), (len(data), len(data))):
        lost = data[at:start].strip(b"\0")
        if len(lost) > _DESCRIPTOR_BYTES:
            yield lost
        at = max(at, stop)


def remarks(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the comments of an archive and of its members."""
    yield from (decode(comment)[0] for comment in (archive.comment, *(i.comment for i in archive.infolist())))
