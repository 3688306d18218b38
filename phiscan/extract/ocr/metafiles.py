"""Metafiles (EMF, WMF): the texts that they draw, and the bitmaps within them.

A table or a screen that is pasted from another program lies in a document as one of these.
Source: [MS-EMF] 2.3, [MS-EMFPLUS] 2.3.4, [MS-WMF] 2.3.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from phiscan.extract.core.content import Content, Sink
from phiscan.model import FailReason

_PLACEABLE = b"\xd7\xcd\xc6\x9a"
_EMF_TEXT_W, _EMF_TEXT_A, _EMF_SMALL_TEXT, _EMF_COMMENT = 84, 83, 108, 70
# Where the bitmap's header is named within a record.
_EMF_BITMAPS = {76: 84, 77: 84, 80: 48, 81: 48}
_PLUS_STRING = 0x401C
_WMF_TEXT, _WMF_EXT_TEXT = 0x0521, 0x0A32
_WMF_BITMAPS = {0x0F43: 28, 0x0B41: 26, 0x0940: 22}
_NO_RECTANGLE, _ONE_BYTE = 0x100, 0x200
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")
_MAX_RECORDS = 2_000_000
_CORE_HEADER_BYTES = 12
_MAX_PALETTE_BITS = 8

_Piece = tuple[int, str]  # how far down it stands, and the text


class MetafileExtractor:
    """Read EMF and WMF."""

    media_types = frozenset({"image/emf", "image/wmf"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the drawn texts, those of one line together, and read the bitmaps as members."""
        if not sink.is_new_picture(content.data):
            return
        is_wmf, records = _records(content.data)
        if len(records) >= _MAX_RECORDS:
            said = f"records after the first {_MAX_RECORDS} are not read"
            sink.fail(content.locator, FailReason.TOO_LARGE, said)
        sink.add(_lines(_wmf_texts(records) if is_wmf else _emf_texts(records)), content.locator)
        pictures = _wmf_pictures(records) if is_wmf else _emf_pictures(records)
        for number, picture in enumerate(pictures, 1):
            sink.take_member()
            sink.read_member(content.member(f"bitmap{number}", picture))


def metafile_text(data: bytes) -> str:
    """Return the texts that a metafile draws, those of one line together."""
    is_wmf, records = _records(data)
    return _lines(_wmf_texts(records) if is_wmf else _emf_texts(records))


def _records(data: bytes) -> tuple[bool, list[tuple[int, bytes]]]:
    """Return whether it is a WMF, and the records."""
    is_wmf = data.startswith(_PLACEABLE) or not data.startswith(b"\x01\0\0\0")
    return is_wmf, list(_wmf_records(data) if is_wmf else _emf_records(data))


def _lines(pieces: Iterator[_Piece]) -> str:
    lines: list[list[str]] = []
    last: int | None = None
    for height, text in pieces:
        if height != last or not lines:
            lines.append([])
        last = height
        lines[-1].append(text.strip("\0"))
    return "\n".join(" ".join(line) for line in lines)


def _emf_records(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    for _ in range(_MAX_RECORDS):
        if at + 8 > len(data):
            return
        kind, size = struct.unpack_from("<II", data, at)
        yield kind, data[at : at + max(size, 8)]
        at += max(size, 8)


def _emf_texts(records: list[tuple[int, bytes]]) -> Iterator[_Piece]:
    for kind, record in records:
        if kind in (_EMF_TEXT_W, _EMF_TEXT_A) and len(record) >= 52:  # noqa: PLR2004 (up to the string's offset)
            height, n_chars, at = struct.unpack_from("<iII", record, 40)
            raw = record[at : at + n_chars * (2 if kind == _EMF_TEXT_W else 1)]
            yield height, raw.decode("utf-16-le" if kind == _EMF_TEXT_W else "cp1252", "replace")
        elif kind == _EMF_SMALL_TEXT and len(record) >= 36:  # noqa: PLR2004 (up to the text)
            height, n_chars, options = struct.unpack_from("<iII", record, 12)
            at = 36 if options & _NO_RECTANGLE else 52
            width = 1 if options & _ONE_BYTE else 2
            raw = record[at : at + n_chars * width]
            yield height, raw.decode("cp1252" if width == 1 else "utf-16-le", "replace")
        elif kind == _EMF_COMMENT and record[12:16] == b"EMF+":
            yield from _plus_texts(record[16:])


def _plus_texts(data: bytes) -> Iterator[_Piece]:
    at = 0
    while at + 12 <= len(data):
        kind, _, size, _ = struct.unpack_from("<HHII", data, at)
        if kind == _PLUS_STRING and at + 40 <= len(data):
            n_chars = struct.unpack_from("<I", data, at + 20)[0]
            height = struct.unpack_from("<f", data, at + 28)[0]
            text = data[at + 40 : at + 40 + 2 * n_chars].decode("utf-16-le", "replace")
            yield hash(height), text
        at += max(size, 12)


def _emf_pictures(records: list[tuple[int, bytes]]) -> Iterator[bytes]:
    for kind, record in records:
        if kind in _EMF_BITMAPS and len(record) >= _EMF_BITMAPS[kind] + 16:
            head_at, n_head, bits_at, n_bits = struct.unpack_from("<IIII", record, _EMF_BITMAPS[kind])
            if n_head and n_bits:
                yield bitmap_file(record[head_at : head_at + n_head] + record[bits_at : bits_at + n_bits])
        elif kind == _EMF_COMMENT:
            starts = [at for magic in _PICTURES if (at := record.find(magic)) >= 0]
            if starts:
                yield record[min(starts) :]


def _wmf_records(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = (22 if data.startswith(_PLACEABLE) else 0) + 18
    for _ in range(_MAX_RECORDS):
        if at + 6 > len(data):
            return
        n_words, kind = struct.unpack_from("<IH", data, at)
        size = max(2 * n_words, 6)
        yield kind, data[at : at + size]
        at += size


def _wmf_texts(records: list[tuple[int, bytes]]) -> Iterator[_Piece]:
    for kind, record in records:
        if kind == _WMF_TEXT and len(record) >= 8:  # noqa: PLR2004 (up to the string)
            n_chars = struct.unpack_from("<H", record, 6)[0]
            end = 8 + n_chars + n_chars % 2
            height = struct.unpack_from("<h", record, end)[0] if len(record) >= end + 2 else 0
            yield height, record[8 : 8 + n_chars].decode("cp1252", "replace")
        elif kind == _WMF_EXT_TEXT and len(record) >= 14:  # noqa: PLR2004 (up to the string)
            height, _, n_chars, options = struct.unpack_from("<hhHH", record, 6)
            at = 22 if options & 6 else 14
            yield height, record[at : at + n_chars].decode("cp1252", "replace")


def _wmf_pictures(records: list[tuple[int, bytes]]) -> Iterator[bytes]:
    for kind, record in records:
        if kind in _WMF_BITMAPS and len(record) > _WMF_BITMAPS[kind] + 40:
            yield bitmap_file(record[_WMF_BITMAPS[kind] :])


def bitmap_file(dib: bytes) -> bytes:
    """Put the file header of a BMP before a bitmap that has none."""
    if len(dib) < 40:  # noqa: PLR2004 (the header that all but the oldest have)
        return b""
    n_head = struct.unpack_from("<I", dib)[0]
    n_palette = 0
    if n_head >= 40:  # noqa: PLR2004 (see above)
        n_bits, compression = struct.unpack_from("<HI", dib, 14)
        n_used = struct.unpack_from("<I", dib, 32)[0]
        n_palette = 4 * (n_used or (1 << n_bits if n_bits <= _MAX_PALETTE_BITS else 0))
        if compression == 3 and n_head == 40:  # noqa: PLR2004 (bit fields stand after the header)
            n_palette += 12
    elif n_head == _CORE_HEADER_BYTES:
        n_bits = struct.unpack_from("<H", dib, 10)[0]
        n_palette = 3 << n_bits if n_bits <= _MAX_PALETTE_BITS else 0
    return b"BM" + struct.pack("<IHHI", 14 + len(dib), 0, 0, 14 + n_head + n_palette) + dib
