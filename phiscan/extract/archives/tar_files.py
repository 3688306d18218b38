"""TAR archives: every member, and what is left of an archive after a damaged header."""

from __future__ import annotations

import io
import re
import struct
import tarfile
from collections.abc import Iterator
from typing import Literal

from phiscan.errors import ExtractError
from phiscan.extract.core.content import ByteStream, Content, Sink, mishap
from phiscan.extract.databases.named import strings
from phiscan.extract.residue.prose import MIN_WORDS, words_of
from phiscan.model import FailReason

_BLOCK = tarfile.BLOCKSIZE
_CHECKSUM_AT, _OLD_CHECKSUM = 148, re.compile(rb"[ 0-7]{4,6}[0-7 ]?[\0 ]")
_MAGIC_AT = 257  # of "ustar" within a header
_MACHINE_HEADERS = ("GNU.sparse", "SCHILY.", "LIBARCHIVE.", "atime", "ctime", "hdrcharset", "charset")
_LINKS_AND_DEVICES = frozenset(tarfile.SUPPORTED_TYPES) - frozenset(tarfile.REGULAR_TYPES)


class TarExtractor:
    """Read the members of a TAR file; links and devices have no content of their own."""

    media_types = frozenset({"application/x-tar"})

    def extract(self, content: Content, sink: Sink) -> None:
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
                try:
                    data = sink.unpack(archive.extractfile(info) or io.BytesIO(), max(info.size, 1))
                except ExtractError as error:
                    sink.fail(member.locator, FailReason(error.reason), error.detail)
                else:
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
