"""The pictures within legacy office files (DOC, XLS, PPT): the BLIP records of OfficeArt.

They are found by their record header, wherever the stream keeps them. Source: [MS-ODRAW] 2.2.23.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Inflating, Sink
from phiscan.model import FailReason

_RECORD = re.compile(rb"[\x00-\xff]{2}[\x1a-\x1f\x29\x2a]\xf0", re.DOTALL)
_EMF, _WMF, _DIB = 0xF01A, 0xF01B, 0xF01F
_BITMAPS = {0xF01D, 0xF01E, 0xF029, 0xF02A}  # JPEG, PNG, TIFF, JPEG in CMYK
_STARTS = (b"\x89PNG", b"\xff\xd8\xff", b"II*\0", b"MM\0*")
_HEADER_BYTES, _MAX_PREFIX = 8, 40
_METAFILE_HEADER = 34  # sizes and the way of compression, after one or two identifiers of 16 bytes
_BITMAP_HEADER = b"\x28\0\0\0"
_DRAWING_GROUP, _CONTINUE = 0x00EB, 0x003C
_DRAWING_GROUP_MARK = struct.pack("<H", _DRAWING_GROUP)
_STREAMS = ("Pictures", "Data", "WordDocument")

Inflate = Callable[[bytes], bytes]


def picture_members(ole: Any, content: Content, sink: Sink) -> Iterator[Content]:
    """Yield the pictures of an opened legacy file as members, ``picture1``; damage is recorded."""

    def inflate(data: bytes) -> bytes:
        return sink.unpack(Inflating(data), len(data))

    number = 0
    try:
        for stream in _picture_streams(ole):
            for picture in blips(stream, inflate):
                number += 1
                sink.take_member()
                yield content.member(f"picture{number}", picture)
    except ExtractError as error:
        sink.fail(content.place("pictures"), FailReason(error.reason), error.detail)
    except (OSError, ValueError, struct.error, zlib.error) as error:
        sink.fail(content.place("pictures"), FailReason.CORRUPT, type(error).__name__)


def _picture_streams(ole: Any) -> Iterator[bytes]:
    for name in _STREAMS:
        if ole.exists(name):
            yield ole.openstream(name).read()
    for name in ("Workbook", "Book"):
        if ole.exists(name):
            yield _drawing_group(ole.openstream(name).read())


def _drawing_group(stream: bytes) -> bytes:
    """Join the pieces of a workbook's pictures: a record holds no more than 8,224 bytes."""
    pieces = []
    inside = False
    at = 0
    if _DRAWING_GROUP_MARK not in stream:
        return b""
    while at + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, at)
        inside = kind == _DRAWING_GROUP or (inside and kind == _CONTINUE)
        if inside:
            pieces.append(stream[at + 4 : at + 4 + size])
        at += 4 + size
    return b"".join(pieces)


def blips(stream: bytes, inflate: Inflate) -> Iterator[bytes]:
    """Yield each picture of a stream as a file of its own."""
    at = 0
    while match := _RECORD.search(stream, at):
        start = match.start()
        at = start + 1
        if start + _HEADER_BYTES > len(stream):
            return
        _, kind, size = struct.unpack_from("<HHI", stream, start)
        body = stream[start + _HEADER_BYTES : start + _HEADER_BYTES + size]
        if len(body) < size:  # no record, or one that is cut
            continue
        picture = _picture(kind, body, inflate)
        if picture:
            at = start + _HEADER_BYTES + size
            yield picture


def _picture(kind: int, body: bytes, inflate: Inflate) -> bytes:
    if kind in _BITMAPS:
        starts = [found for magic in _STARTS if (found := body.find(magic, 0, _MAX_PREFIX)) >= 0]
        return body[min(starts) :] if starts else b""
    if kind == _DIB:
        found = body.find(_BITMAP_HEADER, 0, _MAX_PREFIX)
        if found < 0:
            return b""
        from phiscan.extract.ocr.metafiles import bitmap_file  # noqa: PLC0415 (rarely needed)

        return bitmap_file(body[found:])
    if kind not in (_EMF, _WMF):
        return b""
    for n_identifiers in (1, 2):
        packed_at = 16 * n_identifiers + _METAFILE_HEADER
        if body[packed_at : packed_at + 1] == b"\x78":
            return inflate(body[packed_at:])
    return b""
