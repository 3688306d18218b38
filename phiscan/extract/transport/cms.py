"""Cryptographic messages (S/MIME, .p7m): what is signed is read; what is encrypted is recorded as such.

Only the outer structure is walked, by tag and length, definite or not.
Source: RFC 5652 (CMS), X.690 (BER), RFC 3274 (compressed data).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Inflating, Sink
from phiscan.model import FailReason

_PREFIX = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07"  # 1.2.840.113549.1.7
_SIGNED, _ENVELOPED, _DIGESTED, _ENCRYPTED = b"\x02", b"\x03", b"\x05", b"\x06"
_COMPRESSED = b"\x06\x0b\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x09"
_AUTH_ENVELOPED = b"\x06\x0b\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x17"
_OCTETS, _OCTETS_IN_PARTS = 0x04, 0x24
_EXPLICIT = 0xA0
_MOST_ITEMS = 200_000
_MOST_NESTED = 16


class CmsExtractor:
    """Read S/MIME messages and .p7m files."""

    media_types = frozenset({"application/pkcs7-mime"})

    def extract(self, content: Content, sink: Sink) -> None:
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
            try:
                signed = sink.unpack(Inflating(signed, zlib.MAX_WBITS), len(signed))
            except zlib.error:
                raise ExtractError(FailReason.CORRUPT, "damaged compressed data") from None
        sink.take_member()
        sink.read_member(content.member("signed.eml", signed))


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
