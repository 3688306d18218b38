"""ZIP archives: streamed within the budget, never unpacked to disk."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import IO

from phiscan.errors import ExtractError
from phiscan.extract.archives import libarchive
from phiscan.extract.archives.zip_gaps import gaps, remarks
from phiscan.extract.archives.zip_salvage import salvage
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink, mishap
from phiscan.model import FailReason

_STREAM_ERRORS = (
    OSError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    ValueError,
    RuntimeError,
    NotImplementedError,
)
_IS_UTF8 = 0x800
_UNICODE_PATH = 0x7075  # an extra field: version, checksum of the other name, name
_ASTRAY = "not where the directory of the archive says"
# What a piece unpacks to is lost when the data is damaged within it.
_PIECE_BYTES = 4096


class ZipExtractor:
    """Read the members of a ZIP file."""

    media_types = frozenset({"application/zip"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Read every member; an encrypted one is tried with the operator's passwords."""
        try:
            archive = zipfile.ZipFile(content.open())
        except (zipfile.BadZipFile, *_STREAM_ERRORS) as error:
            if _read_salvaged(content, sink, ()):
                sink.fail(content.locator, FailReason.CORRUPT, "damaged ZIP archive, read member by member")
                return
            raise ExtractError(FailReason.CORRUPT, mishap(error)) from None
        sink.add("\n".join(remarks(archive)), content.place("comment"))
        refused: dict[str, _RefusedError] = {}
        found: set[int] = set()  # where members were read
        astray = False  # whether others do not lie where the directory says
        for info in archive.infolist():
            if info.is_dir() and not info.file_size:
                continue
            sink.take_member()
            member = content.member(_member_name(info), b"")
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
        sink.add("\n".join(_empty_names(archive)), content.place("names"))
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
        except (zipfile.BadZipFile, *_STREAM_ERRORS) as error:
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
        name = _clean_name(found.name)
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
                data = sink.unpack(entry.stream, len(content.data))
                if not entry.stream.damaged:
                    del refused[entry.name]
                    sink.read_member(content.member(_clean_name(entry.name), data))
    for name, error in refused.items():
        locator = content.member(_clean_name(name), b"").locator
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
        except (zipfile.BadZipFile, *_STREAM_ERRORS) as error:
            self.damage = mishap(error)
            return b""


def _empty_names(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the names of folders and files with nothing in them, which no member's locator shows."""
    full = {_member_name(info) for info in archive.infolist() if info.file_size}
    folders = {name[: at + 1] for name in full for at, char in enumerate(name) if char == "/"}
    for info in archive.infolist():
        name = _member_name(info)
        if not info.file_size and name not in folders:
            yield name.strip("/")


def _member_name(info: zipfile.ZipInfo) -> str:
    """Return a member's name in Unicode, decoded from the code page of the system that packed it."""
    if info.flag_bits & _IS_UTF8 or info.filename.isascii():
        return _clean_name(info.filename)
    try:
        raw = info.filename.encode("cp437")  # as zipfile decodes it
    except UnicodeEncodeError:
        return _clean_name(info.filename)
    at = 0
    while at + 9 <= len(info.extra):
        kind, size = struct.unpack_from("<HH", info.extra, at)
        if kind == _UNICODE_PATH and info.extra[at + 5 : at + 9] == struct.pack("<I", zlib.crc32(raw)):
            return _clean_name(info.extra[at + 9 : at + 4 + size].decode("utf-8", "replace"))
        at += 4 + size
    return _clean_name(decode(raw)[0])


def _clean_name(name: str) -> str:
    """A member's name as a locator shows it; nothing is ever written under it, so ``..`` does no harm."""
    return name.replace("\\", "/").replace("\0", "")
