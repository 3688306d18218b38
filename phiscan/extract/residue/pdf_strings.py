"""Text in the bytes of a PDF, whatever refers to it: strings of dictionaries, texts of streams, comments."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import unquote

import re2

_STREAM = re.compile(rb"<<([^\x00]{0,2000}?)>>\s{0,4}stream\r?\n")
_NO_TEXT = re.compile(
    rb"/Image\b|/FontFile|/Length1\b|/DCTDecode|/JPXDecode|/JBIG2|/CCITTFax|/XRef|/ICCBased|/FunctionType|/CMapName|/EmbeddedFile\b"
)
_EMBEDDED = re.compile(rb"/Type\s?/EmbeddedFile\b")
_KERNED = re.compile(rb"(?<!\\)\)\s{0,2}-?\d{0,2}(?:\.\d+)?\s{0,2}\(")  # no blank between the letters
_MACHINE_KEY = re.compile(
    rb"/(?:Producer|Creator|PTEX\.Fullbanner|CharSet|FontFamily|FontName|DA|DS|D|ID)\s*$"
)
_LITERAL = re.compile(rb"\(((?:[^()\\]|\\.){1,4000})\)", re.DOTALL)
_DIGITS = re.compile(rb"<((?:[0-9A-Fa-f]{2}\s?){8,20000})>")
_TAG = re.compile(r"<[^<>]{1,400}>")
_SHOWN_TEXT = re.compile(rb"\bBT\b")
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r?\n|.)", re.DOTALL)
_NAMED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"", b"f": b""}
_COMMENT = re2.compile(rb"(?m)^%+ ?([A-Za-z][ -~]{19,400})\r?$")
_PROGRAM = re.compile(
    rb"reportlab|generated|produce|pdftex|pdf-\d|created (?:by|with)|begincmap"
    rb"|^\s*[<{]|%!|/Type\b|\bfunction\b",
    re.IGNORECASE,
)
_MACHINE_VALUE = re.compile(r"uuid:|xmp\.|\S+\Z")
_END, _LEAST_REST = b"%%EOF", 20
_MOST_STREAM_BYTES = 1024**2
_MOST_ALL_BYTES = 24 * 1024**2
_MOST_STREAMS = 20_000
_PRINTABLE_SHARE = 0.95
_MOST_SINGLE = 0.5  # of the strings of a stream; more are glyphs that are set one by one


def is_encrypted(data: bytes) -> bool:
    """Tell a file whose strings and streams are in a cipher."""
    return b"/Encrypt" in data


def pdf_texts(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield place and text of streams and of the strings in dictionaries; nothing of an encrypted file."""
    if is_encrypted(data):
        return
    ends = 0
    has_ends = True
    left = _MOST_ALL_BYTES
    for number, match in enumerate(_STREAM.finditer(data)):
        if number > _MOST_STREAMS or left <= 0:
            return
        if match.start() < ends:
            continue  # within a stream
        end = data.find(b"endstream", match.end()) if has_ends else -1
        has_ends = end >= 0  # else none follows at all
        before, ends = ends, end if has_ends else match.end()
        yield from _dictionary(data[before : match.start()], before)
        yield from _dictionary(match[1], match.start())
        if _NO_TEXT.search(match[1]):
            continue
        body = _unpacked(data[match.end() : ends], match[1])
        left -= len(body)
        yield from _stream(body, match[1], match.start())
    yield from _dictionary(data[ends:], ends)
    for comment in _COMMENT.finditer(data[:_MOST_ALL_BYTES]):
        if not _PROGRAM.search(comment[1]):
            yield comment.start(), comment[1].decode("latin-1")
    end = data.rfind(_END)
    if end >= 0 and len(data) - end > _LEAST_REST and _is_readable(rest := data[end + 5 :].decode("latin-1")):
        yield end, rest


def embedded_files(data: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Yield place, first bytes and packed size of the embedded files of a PDF that is not encrypted."""
    if b"/EmbeddedFile" not in data or is_encrypted(data):
        return
    for number, match in enumerate(_STREAM.finditer(data)):
        if _EMBEDDED.search(match[1]):
            end = data.find(b"endstream", match.end())
            if end < 0 or number > _MOST_STREAMS:
                return
            body = data[match.end() : end]
            yield match.start(), _unpacked(body, match[1]), len(body)


def _stream(body: bytes, head: bytes, at: int) -> Iterator[tuple[int, str]]:
    if b"/ObjStm" in head:
        yield from _dictionary(body, at)
    elif b"<x:xmpmeta" in body[:1000]:
        texts = (text.strip() for text in _TAG.split(body.decode("utf-8", "replace")))
        yield from ((at, text) for text in texts if text and not _MACHINE_VALUE.match(text))
    elif _SHOWN_TEXT.search(body):
        yield at, _joined(body)
    elif body and not _PROGRAM.search(body[:2000]):
        text = body.decode("latin-1")
        yield from ((at, text),) if _is_readable(text) else ()


def _unpacked(body: bytes, head: bytes) -> bytes:
    if b"/Filter" not in head:
        return body[:_MOST_STREAM_BYTES]
    with suppress(ValueError, zlib.error):
        if b"/ASCII85Decode" in head or b"/A85" in head:
            body = base64.a85decode(body.strip().removeprefix(b"<~").partition(b"~")[0])
        elif b"/ASCIIHexDecode" in head or b"/AHx" in head:
            digits = b"".join(body.partition(b">")[0].split())
            body = bytes.fromhex(digits[: len(digits) // 2 * 2].decode("ascii"))
        elif b"/Fl" not in head:
            return b""
        return zlib.decompressobj().decompress(body, _MOST_STREAM_BYTES) if b"/Fl" in head else body
    return b""


def _joined(body: bytes) -> str:
    pieces = [_plain(match[1]) for match in _LITERAL.finditer(_KERNED.sub(b"", body))]
    n_single = sum(len(piece) == 1 for piece in pieces)
    text = (b"" if n_single > _MOST_SINGLE * len(pieces) else b" ").join(pieces).decode("latin-1")
    return text if _is_readable(text) else ""


def _dictionary(data: bytes, at: int) -> Iterator[tuple[int, str]]:
    for match in _LITERAL.finditer(data):
        if not _MACHINE_KEY.search(data, max(match.start() - 24, 0), match.start()):
            yield from _string(_plain(match[1]), at + match.start())
    for match in _DIGITS.finditer(data):
        yield from _string(bytes.fromhex(match[1].decode("ascii")), at + match.start())


def _string(raw: bytes, at: int) -> Iterator[tuple[int, str]]:
    if raw.startswith((b"\xfe\xff", b"\xff\xfe")):
        text = raw.decode("utf-16", "replace")
    elif raw.startswith(b"\xef\xbb\xbf"):
        text = raw.decode("utf-8-sig", "replace")
    else:
        text = raw.decode("latin-1")
    if "%20" in text:
        text = unquote(text).rpartition("?")[2]
    if text.lstrip().startswith("<"):
        text = _TAG.sub(" ", text)
    if _is_readable(text):
        yield at, text


def _plain(literal: bytes) -> bytes:
    if b"\\" not in literal:
        return literal
    return _ESCAPE.sub(_unescaped, literal)


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if code[:1] in b"01234567":
        return bytes([int(code, 8) & 0xFF])
    return _NAMED.get(code, b"" if code.endswith(b"\n") else code)


def _is_readable(text: str) -> bool:
    """Tell text in a usual encoding from codes of a font of its own."""
    if not text:
        return False
    n_good = sum(char.isalnum() or char.isspace() or char in ".,;:!?'\"()-/&%@+#=" for char in text[:2000])
    return n_good >= _PRINTABLE_SHARE * min(len(text), 2000)
