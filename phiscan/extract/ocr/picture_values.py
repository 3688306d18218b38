"""Metadata of a picture file beside its pixels: its blocks in the order of the file, and their bytes to text.

Blocks are chunks of PNG and segments of JPEG; those that only describe pixels and colours are
left out. EXIF 2.x writes UTF-16 of either byte order under the name UNICODE and EXIF 3 writes UTF-8 there;
cameras and programs ignore both. So candidates are compared by the characters that they give.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_plus

import numpy as np
import re2

from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Sink
from phiscan.extract.core.prose import words_of
from phiscan.model import FailReason

MOST_INFLATED = 1024**2  # bytes of one payload
_MARK_BYTES = 8  # the code name before an EXIF comment
_READABLE_SHARE = 0.9
_SAMPLE = 2000  # characters that are judged
_ODD = re.compile(r"[^\w\s.,;:!?'\"()\[\]{}/\\&%@+#*=<>|$-]|[\x7f-\x9f]")
_ODD_SHARE = 0.04
_MIN_SIGNS = 4  # letters and digits of a text in a block of unknown content
_RUN = re2.compile(rb"[\x20-\x7e\xc0-\xff]{8,200}")
_WIDE_RUN = re2.compile(rb"(?:[\x20-\x7e\xc0-\xff]\x00){8,200}")
_MOST_RUNS = 200
_PROSE_SIGNS = re.compile(r"[\w .,:;'/()-]+")
_NUMBER = re.compile(r"\d{5,}")
_BAD, _COMMON, _OTHER = -3.0, 1.0, 0.6  # of one character


def readable(text: str) -> bool:
    """Return whether nearly all characters are printable and some are letters or digits."""
    sample = text[:_SAMPLE]
    n_good = sum(char.isprintable() or char in "\r\n\t" for char in sample)
    return n_good >= _READABLE_SHARE * len(sample) and any(char.isalnum() for char in sample)


def text_of(data: bytes) -> str:
    """Return bytes as text, without padding; empty when they are none in any usual encoding."""
    data = data.lstrip(b"\0") if not data.startswith(b"\0\0\xfe\xff") else data
    if not data.strip(b"\0 "):
        return ""
    is_wide = data[1::2].count(0) > len(data) // 4 or data[::2].count(0) > len(data) // 4
    text = decode(data if is_wide else data.rstrip(b"\0"))[0].strip("\0 \t\r\n\ufeff")
    return text if readable(text) else ""


def comment_text(raw: bytes) -> str:
    r"""Return an EXIF comment: eight bytes with the name of its code, then the text.

    >>> comment_text(b"UNICODE\0" + "Ann Roy".encode("utf-16-be"))
    'Ann Roy'
    """
    mark, text = raw[:_MARK_BYTES].rstrip(b"\0 ").upper(), raw[_MARK_BYTES:]
    if mark == b"UNICODE":
        return best_decoded(text, ("utf-8", "utf-16-le", "utf-16-be"))
    if mark == b"JIS":
        escaped = b"" if b"\x1b" in text else b"\x1b$B"
        return best_decoded(escaped + text.rstrip(b"\0"), ("iso2022_jp",)) or text_of(text)
    if mark in (b"ASCII", b""):
        return text_of(text)
    return text_of(raw)


def best_decoded(data: bytes, encodings: tuple[str, ...]) -> str:
    """Return the text in the encoding that gives the most usual characters; empty when none can be right."""
    found = []
    for encoding in ("utf-16", *encodings) if data.startswith((b"\xfe\xff", b"\xff\xfe")) else encodings:
        even = data[: len(data) // 2 * 2] if encoding.startswith("utf-16") else data.rstrip(b"\0")
        with suppress(UnicodeDecodeError):
            text = even.decode(encoding).strip("\0 \t\r\n\ufeff")
            if text:
                found.append((_usualness(text), text))
    best = max(found, default=(_BAD, ""))
    return best[1] if best[0] > 0 else ""


def _usualness(text: str) -> float:
    """Return the mean score of the characters, less a part for each Unicode block among them."""
    sample = text[:_SAMPLE]
    score = 0.0
    for char in sample:
        if char.isascii():
            score += _COMMON if char.isprintable() or char in "\r\n\t" else _BAD
        else:
            category = unicodedata.category(char)[0]
            score += _OTHER if category in "LMNPZ" else 0.0 if category == "S" else _BAD
    blocks = {ord(char) >> 8 for char in sample}
    return score / len(sample) - (len(blocks) - 1) / (2 * len(sample))


def block_texts(data: bytes) -> Iterator[str]:
    """Yield the texts of a block of unknown content: the whole, or runs of words."""
    text = text_of(data)
    if _is_prose(text):
        yield text
    else:
        yield from run_texts(data)


def _is_prose(text: str) -> bool:
    """Return whether a text of unknown origin has hardly any sign that a person would not write."""
    sample = text[:_SAMPLE]
    n_odd = len(_ODD.findall(sample))
    return n_odd <= _ODD_SHARE * len(sample) and sum(map(str.isalnum, sample)) >= _MIN_SIGNS


def run_texts(data: bytes) -> Iterator[str]:
    """Yield runs of printable characters in binary data that hold two words, or a word and a long number."""
    n_runs = 0
    for pattern, encoding in ((_RUN, "cp1252"), (_WIDE_RUN, "utf-16-le")):
        for match in pattern.finditer(data):
            n_runs += 1
            if n_runs > _MOST_RUNS:
                return
            text = match.group().decode(encoding, "replace").strip()
            n_words = len(words_of(text))
            if _PROSE_SIGNS.fullmatch(text) and n_words + bool(_NUMBER.search(text)) > 1 <= n_words:
                yield text


COMMENT, EXIF, XMP, IPTC, OTHER, REST = "comment", "exif", "xmp", "iptc", "other", "rest"
_MOST_BLOCKS = 20_000
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
_PIXELS_PNG = frozenset(
    (
        *b"IHDR PLTE IDAT IEND acTL fcTL fdAT tRNS gAMA cHRM sRGB".split(),
        *b"iCCP sBIT pHYs tIME bKGD hIST sPLT cICP mDCV cLLI".split(),
    )
)
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


@dataclass(frozen=True, slots=True)
class Block:
    """A block: its kind, the name that the file gives it, its content; what follows a picture is one."""

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
    elif data.startswith((b"II*\0", b"MM\0*")):
        yield Block(EXIF, "", data)
    for number, block in enumerate(walk(data) if walk else ()):
        if number >= _MOST_BLOCKS:
            return
        yield block


def _png(data: bytes) -> Iterator[Block]:
    at = len(_PNG)
    while at + 8 <= len(data):
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        at += 12 + length
        if kind == b"IEND":
            yield Block(REST, "", data[at:])
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
        yield Block(kind if kind != IPTC or raw.startswith(b"\x1c") else OTHER, name, raw)


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
        elif number not in _PIXELS_RESOURCES:
            yield Block(OTHER, f"resource {number}", body)


# QR and bar codes in a picture, by zxing-cpp.

_MOST_CODES = 64
_WHOLE_PIXELS = 12_000_000  # of a page at 300 dots an inch; larger ones are halved
_MOST_PIXELS = 40_000_000

_NOT_PRINTABLE = re.compile(r"<(?:NUL|U\+[0-9A-F]{2}|[A-Z]{2,3}\d?)>")


def read_codes(image: Any, place: str, sink: Sink) -> None:
    """Add the text of each code in a PIL image, ``#code``; one that cannot be decoded is recorded."""
    if image.width * image.height > _MOST_PIXELS:
        sink.fail(place, FailReason.TOO_LARGE, f"codes in more than {_MOST_PIXELS} pixels are not looked for")
        return
    found = _decoded(image)
    if len(found) > _MOST_CODES:
        sink.fail(
            place, FailReason.TOO_LARGE, f"{len(found) - _MOST_CODES} of {len(found)} codes are not read"
        )
    texts = [text for text, _ in found[:_MOST_CODES] if text.strip()]
    sink.add("\n".join(dict.fromkeys(texts)), f"{place}/code" if "#" in place else f"{place}#code")
    if not all(is_whole for _, is_whole in found):
        sink.fail(place, FailReason.CORRUPT, "a QR or bar code that cannot be decoded")


def _decoded(image: Any) -> list[tuple[str, bool]]:
    """Return text and validity of each code."""
    import zxingcpp  # noqa: PLC0415 (heavy)

    grey = image.convert("L")
    if grey.width * grey.height > _WHOLE_PIXELS:
        grey = grey.reduce(2)
    try:
        found = zxingcpp.read_barcodes(np.ascontiguousarray(grey), return_errors=True, try_downscale=False)
    except (RuntimeError, ValueError, TypeError):
        return []
    sure = (code for code in found if code.valid or code.format.name in _SURE_KINDS)
    return [(_text(code) if code.valid else "", bool(code.valid)) for code in sure]


def _text(code: Any) -> str:
    """Return the text of a code: in any encoding, unpacked, and of an address decoded, too."""
    text = str(code.text)
    if _NOT_PRINTABLE.search(text):
        raw = bytes(code.bytes)
        text = text_of(raw) or text
    decoded = unquote_plus(text) if "://" in text[:12] else text
    return text if decoded == text else f"{text}\n{decoded}"


_SURE_KINDS = frozenset({"QRCode", "QRCodeModel2"})  # stripes and dots alone may be anything
