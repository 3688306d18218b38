"""Blocks of a picture file beside its pixels: chunks of PNG and RIFF, segments of JPEG, extensions, boxes.

Every block is given, several of one kind too, in the order of the file; blocks that only describe pixels and
colours are left out.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from phiscan.extract.pictures.values import MOST_INFLATED

COMMENT, EXIF, XMP, IPTC, OTHER = "comment", "exif", "xmp", "iptc", "other"
_MOST_BLOCKS = 20_000
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
_PIXELS_PNG = frozenset(
    (
        *b"IHDR PLTE IDAT IEND acTL fcTL fdAT tRNS gAMA cHRM sRGB".split(),
        *b"iCCP sBIT pHYs tIME bKGD hIST sPLT cICP mDCV cLLI".split(),
    )
)
_PIXELS_RIFF = frozenset((b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"))
_PROFILES = {"exif": EXIF, "app1": EXIF, "xmp": XMP, "iptc": IPTC, "8bim": IPTC}
_RAW_PROFILE = "raw profile type "
_XMP_PNG = "xml:com.adobe.xmp"
_HEX = re.compile(rb"[0-9a-fA-F\s]{40,}")
_EXIF_MARK, _XAP = b"Exif\0", b"http://ns.adobe.com/xap/1.0/\0"
_XMP_MORE, _IRB = b"http://ns.adobe.com/xmp/extension/\0", b"Photoshop 3.0\0"
_PIXELS_JPEG = (b"JFIF", b"JFXX", b"ICC_PROFILE", b"MPF\0", b"Adobe\0", b"Ducky")
_PIXELS_RESOURCES = frozenset(
    (0x03ED, 0x0409, 0x040C, 0x040F, 0x0425)
)  # resolution, previews, colours, digest
_GUID_BYTES = 32
_ALONE = frozenset((0x01, 0xD8, *range(0xD0, 0xD8)))  # markers without a length
_COMMENT, _SCAN, _END = 0xFE, 0xDA, 0xD9
_JP2_FOLDERS = frozenset((b"jp2h", b"asoc", b"res ", b"uinf", b"jumb"))
_XMP_UUID = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")
_EXIF_UUID = b"JpgTiffExif->JP2"
_IPTC_UUID = bytes.fromhex("33c7a4d2b81d4723a0baf1a3e097ad38")
_PIXELS_JP2 = frozenset(b"ftyp ihdr bpcc colr pclr cmap cdef resc resd jP\x20\x20 jumd".split()) | {b"jP  "}
_MOST_LEVELS = 4


@dataclass(frozen=True, slots=True)
class Block:
    """A block: its kind, the name that the file gives it, its content."""

    kind: str
    name: str
    data: bytes = field(repr=False)


def blocks(data: bytes) -> Iterator[Block]:
    """Yield the blocks of a picture; nothing of a format that has none."""
    walk: Callable[[bytes], Iterator[Block]] | None = None
    if data.startswith(_PNG):
        walk = _png
    elif data.startswith(_JPEG):
        walk = _jpeg
    elif data.startswith((b"GIF87a", b"GIF89a")):
        walk = _gif
    elif data.startswith(b"RIFF"):
        walk = _riff
    elif data[4:8] == b"jP  ":
        walk = _jp2
    elif data.startswith(b"\xff\x4f\xff\x51"):
        walk = _codestream
    elif data.startswith((b"II*\0", b"MM\0*")):
        walk = _tiff
    for number, block in enumerate(walk(data) if walk else ()):
        if number >= _MOST_BLOCKS:
            return
        yield block


def _tiff(data: bytes) -> Iterator[Block]:
    yield Block(EXIF, "", data)


def _png(data: bytes) -> Iterator[Block]:
    at = len(_PNG)
    while at + 8 <= len(data):
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        at += 12 + length
        if kind == b"IEND":
            return
        if kind in (b"tEXt", b"zTXt", b"iTXt"):
            yield from _png_text(kind, body)
        elif kind == b"eXIf":
            yield Block(EXIF, "", body)
        elif kind not in _PIXELS_PNG:
            yield Block(OTHER, kind.decode("latin-1"), body)


def _png_text(kind: bytes, body: bytes) -> Iterator[Block]:
    raw, _, text = body.partition(b"\0")
    name = raw.decode("latin-1", "replace")
    is_packed = kind == b"zTXt"
    if is_packed:
        text = text[1:]
    elif kind == b"iTXt":
        is_packed = text[:1] == b"\1"
        text = text[2:].partition(b"\0")[2].partition(b"\0")[2]  # without language and translated name
    if is_packed:
        try:
            text = zlib.decompressobj().decompress(text, MOST_INFLATED)
        except zlib.error:
            return
    lowered = name.lower()
    if lowered == _XMP_PNG:
        yield Block(XMP, "", text)
    elif lowered.startswith(_RAW_PROFILE):
        digits = b"".join(b"".join(_HEX.findall(text)).split())
        with suppress(ValueError):
            raw = bytes.fromhex(digits[len(digits) % 2 :].decode("ascii"))
            yield from _profile(_PROFILES.get(lowered.removeprefix(_RAW_PROFILE), OTHER), name, raw)
    else:
        yield Block(COMMENT, name, text)


def _profile(kind: str, name: str, raw: bytes) -> Iterator[Block]:
    if raw.startswith(_EXIF_MARK):
        yield Block(EXIF, "", raw[6:])
    elif raw.startswith(b"8BIM"):
        yield from resources(raw)
    elif b"<" in raw[:64] and b"xmp" in raw[:400]:
        yield Block(XMP, "", raw)
    else:
        yield Block(kind, name, raw)


def _jpeg(data: bytes) -> Iterator[Block]:
    more: defaultdict[bytes, dict[int, bytes]] = defaultdict(dict)
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:  # noqa: PLR2004 (the mark of a segment)
            return
        marker = data[at + 1]
        if marker == 0xFF or marker in _ALONE:  # noqa: PLR2004 (filling)
            at += 1 if marker == 0xFF else 2  # noqa: PLR2004
            continue
        if marker in (_SCAN, _END):
            break
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        body = data[at + 4 : at + 2 + length]
        at += 2 + max(length, 2)
        if marker == _COMMENT:
            yield Block(COMMENT, "comment", body)
        elif 0xE0 <= marker <= 0xEF:  # noqa: PLR2004 (of programs)
            if body.startswith(_XMP_MORE):
                head = body[len(_XMP_MORE) :]
                guid, place = (
                    head[:_GUID_BYTES],
                    int.from_bytes(head[_GUID_BYTES + 4 : _GUID_BYTES + 8], "big"),
                )
                more[guid][place] = head[_GUID_BYTES + 8 :]
            else:
                yield from _application(marker, body)
    for pieces in more.values():
        yield Block(XMP, "", b"".join(piece for _, piece in sorted(pieces.items())))


def _application(marker: int, body: bytes) -> Iterator[Block]:
    if body.startswith(_EXIF_MARK):
        yield Block(EXIF, "", body[6:])
    elif body.startswith(_XAP):
        yield Block(XMP, "", body[len(_XAP) :])
    elif body.startswith(_IRB):
        yield from resources(body[len(_IRB) :])
    elif not body.startswith(_PIXELS_JPEG):
        yield Block(OTHER, f"APP{marker - 0xE0}", body)


def resources(data: bytes) -> Iterator[Block]:
    """Yield Photoshop's resources: number, name, length, content, each at an even place."""
    at = 0
    while data[at : at + 4] == b"8BIM" and at + 12 <= len(data):
        number = int.from_bytes(data[at + 4 : at + 6], "big")
        name_end = at + 6 + (data[at + 6] + 2) // 2 * 2
        length = int.from_bytes(data[name_end : name_end + 4], "big")
        body = data[name_end + 4 : name_end + 4 + length]
        at = name_end + 4 + length + length % 2
        kind = {0x0404: IPTC, 0x0422: EXIF, 0x0424: XMP, 0x03F0: COMMENT}.get(number, "")
        if kind == COMMENT:
            body = body[1 : 1 + body[0]] if body else b""
        if kind:
            yield Block(kind, "caption" if kind == COMMENT else "", body)
        elif number not in (
            0x040C,
            0x0409,
            0x040F,
            0x03ED,
            0x0425,
        ):  # thumbnails, colours, resolution, digest
            yield Block(OTHER, f"resource {number}", body)


def _gif(data: bytes) -> Iterator[Block]:
    if len(data) < 13:  # noqa: PLR2004 (the header)
        return
    at = 13 + (3 << (data[10] & 7) + 1 if data[10] & 0x80 else 0)
    while at + 2 < len(data):
        if data[at] == 0x2C:  # noqa: PLR2004 (a frame)
            flags = data[at + 9] if at + 9 < len(data) else 0
            at, _ = _sub_blocks(data, at + 11 + (3 << (flags & 7) + 1 if flags & 0x80 else 0), keep=False)
        elif data[at] == 0x21:  # noqa: PLR2004 (an extension)
            label = data[at + 1]
            at, pieces = _sub_blocks(data, at + 2, keep=label != 0xF9)  # noqa: PLR2004 (times of frames)
            if label == 0xFE:  # noqa: PLR2004
                yield Block(COMMENT, "comment", b"".join(pieces))
            elif pieces and label != 0xF9:  # noqa: PLR2004
                first = "" if label == 1 else pieces[0].decode("latin-1")
                if not first.startswith(("NETSCAPE", "ANIMEXTS", "XMP Data", "ICCRGBG1")):
                    yield Block(OTHER, first.strip("\0 ") or "text", b"".join(pieces[1:]))
        else:
            return


def _sub_blocks(data: bytes, at: int, *, keep: bool) -> tuple[int, list[bytes]]:
    pieces = []
    while at < len(data) and data[at]:
        if keep:
            pieces.append(data[at + 1 : at + 1 + data[at]])
        at += 1 + data[at]
    return at + 1, pieces


def _riff(data: bytes) -> Iterator[Block]:
    at = 12
    while at + 8 <= len(data):
        kind, length = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        body = data[at + 8 : at + 8 + length]
        at += 8 + length + length % 2
        if kind == b"EXIF":
            yield Block(EXIF, "", body[6:] if body.startswith(_EXIF_MARK) else body)
        elif kind == b"XMP ":
            yield Block(XMP, "", body)
        elif kind not in _PIXELS_RIFF:
            yield Block(OTHER, kind.decode("latin-1").strip(), body)


def _jp2(data: bytes, level: int = 0) -> Iterator[Block]:
    at = 0
    while at + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        start = at + 8
        if length == 1 and at + 16 <= len(data):
            length, start = int.from_bytes(data[at + 8 : at + 16], "big"), at + 16
        end = at + length if length else len(data)
        if end < start:
            return
        body, at = data[start:end], end
        if kind == b"jp2c":
            yield from _codestream(body)
        elif kind in _JP2_FOLDERS and level < _MOST_LEVELS:
            yield from _jp2(body, level + 1)
        elif kind == b"uuid":
            uuid, body = body[:16], body[16:]
            named = {_XMP_UUID: XMP, _EXIF_UUID: EXIF, _IPTC_UUID: IPTC}.get(uuid, OTHER)
            yield Block(named, "uuid", body)
        elif kind not in _PIXELS_JP2:
            yield Block(
                COMMENT if kind in (b"xml ", b"lbl ") else OTHER, kind.decode("latin-1").strip(), body
            )


def _codestream(data: bytes) -> Iterator[Block]:
    """Yield the comments in the main header of a JPEG 2000 codestream."""
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF and data[at + 1] not in (0x90, 0x93, _END):  # noqa: PLR2004
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        if data[at + 1] == 0x64 and length > 4:  # noqa: PLR2004 (a comment)
            yield Block(COMMENT, "comment", data[at + 6 : at + 2 + length])
        at += 2 + max(length, 2)
