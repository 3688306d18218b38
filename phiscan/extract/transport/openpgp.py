"""OpenPGP messages: what is signed or compressed only is read; what is encrypted is recorded as such.

Source: RFC 9580, sections 4 and 5.
"""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Iterator

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Inflating, Sink
from phiscan.model import FailReason

_ENCRYPTED = frozenset({1, 3, 9, 18, 20})  # session keys, and data in a cipher
_COMPRESSED, _LITERAL = 8, 11
_OPEN_ENDED = frozenset({_COMPRESSED, 9, _LITERAL, 18})
_KNOWN = frozenset({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 17, 18, 19, 20, 21})
_FIRST = frozenset({1, 2, 3, 4, 8, 9, 11, 18, 20})  # what a message begins with
_ZIP, _ZLIB, _BZIP2 = 1, 2, 3
# What the body of a packet begins with, by tag: a version, an algorithm of compression or a format of text.
_VERSIONS = {
    1: (b"\3", b"\6"),
    2: (b"\2", b"\3", b"\4", b"\5", b"\6"),
    3: (b"\4", b"\5", b"\6"),
    4: (b"\3", b"\6"),
    8: (b"\0", b"\1", b"\2", b"\3"),
    11: (b"b", b"t", b"u", b"l", b"1", b"m"),
    18: (b"\1", b"\2"),
    20: (b"\1",),
}
_CIPHER = 9
# Of so many random bytes this share is different: 162 of 256 on average, with a standard deviation of 5.
_SAMPLE, _DIFFERENT = 256, 0.5
_MOST_PACKETS = 10_000
_MOST_NESTED = 8


class OpenPgpExtractor:
    """Read OpenPGP messages in binary form; armour is taken off where it is found."""

    media_types = frozenset({"application/pgp-encrypted"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Read each literal as a member.

        Raises:
            ExtractError: encrypted, or corrupt.
        """
        self._read(content.data, content, sink, 0)

    def _read(self, data: bytes, content: Content, sink: Sink, within: int) -> None:
        if within > _MOST_NESTED:
            raise ExtractError(FailReason.NESTED_TOO_DEEP, "packets within packets")
        found = False
        for number, (tag, body) in enumerate(_packets(data), 1):
            found = True
            if number == _MOST_PACKETS:
                said = f"packets after the first {_MOST_PACKETS} are not read"
                sink.fail(content.locator, FailReason.TOO_LARGE, said)
            if tag in _ENCRYPTED:
                raise ExtractError(FailReason.ENCRYPTED, "OpenPGP")
            if tag == _COMPRESSED and body:
                self._read(_unpacked(body, sink), content, sink, within + 1)
            elif tag == _LITERAL and len(body) > 6:  # noqa: PLR2004 (format, name length, date)
                n_name = body[1]
                name = body[2 : 2 + n_name].decode("utf-8", "replace") or "literal"
                sink.take_member()
                sink.read_member(content.member(name, body[2 + n_name + 4 :]))
        if not found:
            raise ExtractError(FailReason.CORRUPT, "no OpenPGP packet")


def is_openpgp(data: bytes) -> bool:
    r"""Tell an OpenPGP message: packets of known tags to the end, the first one a session key or data.

    >>> is_openpgp(bytes([0xCB, 9]) + b"b\x00\x00\x00\x00\x00Roy")
    True
    """
    if data[:2] == b"\xa3\0":  # compressed by nothing, without a length: too little to go by
        return False
    tags = []
    try:
        for tag, body in _packets(data):
            if not _can_be(tag, body):
                return False
            tags.append(tag)
    except ExtractError:
        return False
    return bool(tags) and tags[0] in _FIRST and set(tags) <= _KNOWN


def _can_be(tag: int, body: bytes) -> bool:
    """Return whether the beginning of a packet's body is one that its tag allows."""
    if tag in _VERSIONS:
        return body[:1] in _VERSIONS[tag]
    # Data in a cipher without any header: every byte is about equally frequent.
    return tag != _CIPHER or len(set(body[:_SAMPLE])) > min(len(body), _SAMPLE) * _DIFFERENT


def _unpacked(body: bytes, sink: Sink) -> bytes:
    kind, packed = body[0], body[1:]
    try:
        if kind in (_ZIP, _ZLIB):
            window = -zlib.MAX_WBITS if kind == _ZIP else zlib.MAX_WBITS
            return sink.unpack(Inflating(packed, window), len(packed))
        if kind == _BZIP2:
            return sink.unpack(_Bzip2(packed), len(packed))
    except (zlib.error, OSError, EOFError):
        raise ExtractError(FailReason.CORRUPT, "damaged compressed data") from None
    return packed


class _Bzip2:
    """A bzip2 stream that is unpacked as it is read."""

    def __init__(self, data: bytes) -> None:
        self._engine = bz2.BZ2Decompressor()
        self._left = data

    def read(self, size: int, /) -> bytes:
        if self._engine.eof:
            return b""
        out = self._engine.decompress(self._left, size)
        self._left = b""
        return out


def _packets(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield tag and body of each packet.

    Raises:
        ExtractError: corrupt; a packet that is none, or that reaches beyond the end.
    """
    at = 0
    for _ in range(_MOST_PACKETS):
        if at >= len(data):
            return
        first = data[at]
        if not first & 0x80:
            raise ExtractError(FailReason.CORRUPT, "no OpenPGP packet")
        tag, at, body = _new(data, at) if first & 0x40 else _old(data, at)
        yield tag, body


def _old(data: bytes, at: int) -> tuple[int, int, bytes]:
    tag, kind = data[at] >> 2 & 0x0F, data[at] & 3
    n_bytes = (1, 2, 4, 0)[kind]
    if not n_bytes:  # to the end, as only data may
        if tag not in _OPEN_ENDED:
            raise ExtractError(FailReason.CORRUPT, "no OpenPGP packet")
        return tag, len(data), data[at + 1 :]
    size = int.from_bytes(data[at + 1 : at + 1 + n_bytes])
    start = at + 1 + n_bytes
    if start + size > len(data):
        raise ExtractError(FailReason.CORRUPT, "cut short")
    return tag, start + size, data[start : start + size]


def _new(data: bytes, at: int) -> tuple[int, int, bytes]:
    tag, at = data[at] & 0x3F, at + 1
    pieces = []
    partial = True
    while partial and at < len(data):
        size, start, partial = _new_length(data, at)
        if start + size > len(data):
            raise ExtractError(FailReason.CORRUPT, "cut short")
        pieces.append(data[start : start + size])
        at = start + size
    return tag, at, b"".join(pieces)


def _new_length(data: bytes, at: int) -> tuple[int, int, bool]:
    """Return size, start of the body, and whether more of it follows."""
    first = data[at]
    if first < 192:  # noqa: PLR2004 (one octet)
        return first, at + 1, False
    if first < 224:  # noqa: PLR2004 (two octets)
        return (first - 192 << 8) + int.from_bytes(data[at + 1 : at + 2]) + 192, at + 2, False
    if first == 255:  # noqa: PLR2004 (five octets)
        return int.from_bytes(data[at + 1 : at + 5]), at + 5, False
    return 1 << (first & 0x1F), at + 1, True
