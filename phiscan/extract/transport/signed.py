"""Cryptographic messages (S/MIME, .p7m): what is signed is read; what is encrypted is recorded as such.

Only the outer structure is walked, by tag and length, definite or not.
Source: RFC 5652 (CMS), X.690 (BER), RFC 3274 (compressed data).
"""

from __future__ import annotations

import bz2
import io
import struct
import zlib
from collections.abc import Iterator

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.unsupported import strings
from phiscan.model import FailReason

_PREFIX = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07"  # 1.2.840.113549.1.7
_SIGNED, _ENVELOPED, _ENCRYPTED = b"\x02", b"\x03", b"\x06"
_COMPRESSED = b"\x06\x0b\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x09"
_AUTH_ENVELOPED = b"\x06\x0b\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x17"
_OCTETS, _OCTETS_IN_PARTS = 0x04, 0x24
_MOST_ITEMS = 200_000
_MOST_NESTED = 16


def read_cms(content: Content, sink: Sink) -> None:
    """Read what is signed or compressed as a member.

    Raises:
        ExtractError: encrypted, or corrupt.
    """
    data = content.data
    head = data[:64]
    if _AUTH_ENVELOPED in head or _PREFIX + _ENVELOPED in head or _PREFIX + _ENCRYPTED in head:
        raise ExtractError(FailReason.ENCRYPTED, "S/MIME")
    signed = b"".join(_octets(data))
    if not signed:
        if _PREFIX + _SIGNED in head:
            return  # a signature apart from its text holds certificates only
        raise ExtractError(FailReason.CORRUPT, "no content in a cryptographic message")
    if _COMPRESSED in head:
        signed = sink.inflate(signed)
    sink.add_member(content, "signed.eml", signed)


def is_cms(head: bytes) -> bool:
    """Tell a cryptographic message by the object identifier that it begins with."""
    if head[:1] != b"\x30" or len(head) < 16:  # noqa: PLR2004 (the shortest head)
        return False
    start = 2 + (head[1] & 0x7F if head[1] > 0x80 else 0)  # noqa: PLR2004 (a length of several bytes)
    rest = head[start:]
    return rest.startswith((_PREFIX, _COMPRESSED, _AUTH_ENVELOPED))


def _octets(data: bytes) -> Iterator[bytes]:
    """Yield the octet strings of the first content, without those of digests and signatures after it."""
    found = False
    for depth, tag, start, end in _items(data):
        if depth > _MOST_NESTED:
            raise ExtractError(FailReason.NESTED_TOO_DEEP)
        if tag == _OCTETS:
            found = True
            yield data[start:end]
        elif found and tag not in (_OCTETS_IN_PARTS, 0):
            return


def _items(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield depth, tag, start and end of the items of a BER structure, in the order of the bytes."""
    at, depth = 0, 0
    ends: list[int | None] = []
    for _ in range(_MOST_ITEMS):
        while ends and ends[-1] is not None and at >= ends[-1]:
            ends.pop()
        if at + 2 > len(data):
            return
        tag, length = data[at], data[at + 1]
        at += 2
        if tag == 0 and length == 0:  # the end of an item without a length
            while ends and ends.pop() is not None:
                pass
            yield len(ends), 0, at, at
            continue
        size: int | None = length
        if length == 0x80:  # noqa: PLR2004 (indefinite)
            size = None
        elif length > 0x80:  # noqa: PLR2004 (the length of the length)
            size = int.from_bytes(data[at : at + (length & 0x7F)])
            at += length & 0x7F
        depth = len(ends)
        if tag & 0x20:
            yield depth, tag, at, at
            ends.append(None if size is None else at + size)
        else:
            end = min(at + (size or 0), len(data))
            yield depth, tag, at, end
            at = end
    raise ExtractError(FailReason.TOO_LARGE, f"more than {_MOST_ITEMS} items in a cryptographic message")


# OpenPGP messages: what is signed or compressed only is read; what is encrypted is recorded as such.
# Source: RFC 9580, sections 4 and 5.

_ENCRYPTED_PACKETS = frozenset({1, 3, 9, 18, 20})  # session keys, and data in a cipher
_COMPRESSED_PACKET, _LITERAL = 8, 11
_OPEN_ENDED = frozenset({_COMPRESSED_PACKET, 9, _LITERAL, 18})
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
_MOST_PACKETS_NESTED = 8


def read_openpgp(content: Content, sink: Sink) -> None:
    """Read each literal as a member.

    Raises:
        ExtractError: encrypted, or corrupt.
    """
    _read(content.data, content, sink, 0)


def _read(data: bytes, content: Content, sink: Sink, within: int) -> None:
    if within > _MOST_PACKETS_NESTED:
        raise ExtractError(FailReason.NESTED_TOO_DEEP, "packets within packets")
    found = False
    for number, (tag, body) in enumerate(_packets(data), 1):
        found = True
        if number == _MOST_PACKETS:
            said = f"packets after the first {_MOST_PACKETS} are not read"
            sink.fail(content.locator, FailReason.TOO_LARGE, said)
        if tag in _ENCRYPTED_PACKETS:
            raise ExtractError(FailReason.ENCRYPTED, "OpenPGP")
        if tag == _COMPRESSED_PACKET and body:
            _read(_unpacked(body, sink), content, sink, within + 1)
        elif tag == _LITERAL and len(body) > 6:  # noqa: PLR2004 (format, name length, date)
            n_name = body[1]
            name = body[2 : 2 + n_name].decode("utf-8", "replace") or "literal"
            sink.add_member(content, name, body[2 + n_name + 4 :])
    if not found:
        raise ExtractError(FailReason.CORRUPT, "no OpenPGP packet")


def is_openpgp(data: bytes) -> bool:
    r"""Tell an OpenPGP message: packets of known tags to the end, the first one a session key or data.

    >>> is_openpgp(bytes([0xCB, 9]) + b"b\x00\x00\x00\x00\x00Roy")
    True
    """
    # What is compressed by nothing, without a length, has too little to go by.
    if not data[0] & 0x80 or data[:2] == b"\xa3\0":
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
    if kind in (_ZIP, _ZLIB):
        return sink.inflate(packed, -zlib.MAX_WBITS if kind == _ZIP else zlib.MAX_WBITS)
    try:
        if kind == _BZIP2:
            return sink.unpack(bz2.BZ2File(io.BytesIO(packed)), len(packed))
    except (OSError, EOFError):
        raise ExtractError(FailReason.CORRUPT, "damaged compressed data") from None
    return packed


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


# Files wrapped for other systems by Macintosh programs: AppleSingle, AppleDouble.
# Shares that Macs use are full of them, named with a dot and an underscore; mail holds them too. Source:
# RFC 1740, appendices A and B.

_HEAD_BYTES, _ENTRY_BYTES = 26, 12
_DATA, _NAME, _COMMENT = 1, 3, 4
_NAMED_TEXTS = {_NAME: "Name", _COMMENT: "Comment"}
_MOST_ENTRIES = 64
_MOST_BYTES = 16 * 1024**2  # of a resource fork or attributes that are looked through for text


def read_apple_file(content: Content, sink: Sink) -> None:
    """Add name, comment and the text in resources and attributes; read the file itself as a member."""
    lines: list[str] = []
    member = b""
    data = content.data
    n_entries = struct.unpack_from(">H", data, _HEAD_BYTES - 2)[0] if len(data) >= _HEAD_BYTES else 0
    for index in range(min(n_entries, _MOST_ENTRIES)):
        at = _HEAD_BYTES + index * _ENTRY_BYTES
        if at + _ENTRY_BYTES > len(data):
            sink.fail(content.locator, FailReason.CORRUPT, "cut short")
            break
        kind, start, size = struct.unpack_from(">III", data, at)
        body = data[start : start + size]
        if len(body) < size:
            sink.fail(content.locator, FailReason.CORRUPT, "cut short")
        if kind == _DATA:
            member = body
        elif kind in _NAMED_TEXTS and body:
            lines.append(f"{_NAMED_TEXTS[kind]}: {body.decode('mac_roman')}")
        else:
            lines += strings(body[:_MOST_BYTES])
    sink.add("\n".join(dict.fromkeys(lines)), content.place("strings"))
    if member:
        sink.add_member(content, "data", member)
