"""Texts in the file of a picture outside of its pixels, plain or compressed, in whatever part they are."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from phiscan.extract.residue.byte_runs import byte_runs
from phiscan.extract.residue.prose import MIN_WORDS

# What programs write: profiles of colours, XMP (which is read as such), marks of encoders.
_MACHINE = re.compile(
    r"<\??x(?:packet|:xmpmeta)|<rdf:|rdf:RDF|xmlns:|IEC ?61966|Viewing Condition|Hewlett-Packard|Copyright"
    r"|ICC|CREATOR:|Adobe|JFIF|sRGB|ns\.adobe\.com|colou?r profile|Lavc|x264|Software|\{\\?\"|8BIM",
    re.IGNORECASE,
)
_PNG = b"\x89PNG\r\n\x1a\n"
_PIXELS = frozenset({b"IDAT", b"fdAT", b"PLTE", b"iCCP", b"IHDR", b"tRNS"})
_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]|\x1f\x8b\x08")
_HEX = re.compile(rb"[0-9a-fA-F\s]{40,}")
_MOST_STREAMS = 64
_MOST_UNPACKED = 1024**2  # of one of them
_MOST_CHUNKS = 20_000
_JPEG_END, _FILLING = b"\xff\xd9", b"\0\r\n\t \xff"
_JPEG, _SCAN = b"\xff\xd8\xff", 0xDA


def picture_values(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield place and text of the runs of printable characters outside of the pixels, packed ones unpacked.

    What programs write is left out.
    """
    yield from ((f"bytes {at}", text) for at, text in _runs(data))
    starts = ((at, part, match.start()) for at, part in _parts(data) for match in _ZLIB.finditer(part))
    for at, part, start in islice(starts, _MOST_STREAMS):
        for text in _packed_texts(memoryview(part)[start:]):
            yield f"bytes {at + start}", text


def _runs(data: bytes) -> Iterator[tuple[int, str]]:
    for at, text in byte_runs(data):
        if len(text.split(None, MIN_WORDS)) >= MIN_WORDS and not _MACHINE.search(text):
            yield at, text


def _packed_texts(data: memoryview) -> Iterator[str]:
    """Yield the texts of a zlib or gzip stream, also of one that holds hexadecimal digits."""
    with suppress(zlib.error, ValueError):
        plain = zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(data, _MOST_UNPACKED)
        yield from (text for _, text in _runs(plain))
        digits = b"".join(b"".join(_HEX.findall(plain)).split())
        if digits:
            raw = bytes.fromhex(digits[len(digits) % 2 :].decode("ascii"))
            yield from (text for _, text in _runs(raw))


def _parts(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield place and bytes of the chunks of a PNG and the segments of a JPEG that are no pixels."""
    if data.startswith(_PNG):
        yield from _chunks(data)
    elif data.startswith(_JPEG):
        yield from _segments(data)


def after_end(data: bytes) -> tuple[int, bytes]:
    """Return place and bytes of what follows the end of a PNG or JPEG picture."""
    at = len(data)
    if data.startswith(_PNG):
        at = next((at for at, part in _chunks(data) if at + len(part) == len(data)), at)
    elif data.startswith(_JPEG) and (end := data.rfind(_JPEG_END)) >= 0:
        at = end + len(_JPEG_END)
    rest = data[at:].lstrip(_FILLING)
    return len(data) - len(rest), rest.rstrip(_FILLING)


def _chunks(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = len(_PNG)
    for _ in range(_MOST_CHUNKS):
        if at + 8 > len(data):
            return
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        if kind not in _PIXELS:
            yield at + 8, data[at + 8 : at + 8 + length]
        at += 12 + length
        if kind == b"IEND":
            yield at, data[at:]
            return


def _segments(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF and data[at + 1] != _SCAN:  # noqa: PLR2004 (a marker)
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        yield at + 4, data[at + 4 : at + 2 + length]
        at += 2 + max(length, 2)
