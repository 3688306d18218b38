"""Text in the bytes of a PDF, whatever refers to it: strings of all streams and dictionaries."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

_STREAM = re.compile(rb"<<([^\x00]{0,2000}?)>>\s{0,4}stream\r?\n")
_NO_TEXT = re.compile(
    rb"/Image\b|/FontFile|/Length1\b|/DCTDecode|/JPXDecode|/JBIG2|/CCITTFax|/ObjStm|/XRef|/ICCBased|/Metadata\b|/FunctionType"
)
_KERNED = re.compile(rb"(?<!\\)\)\s{0,2}-?\d{0,2}(?:\.\d+)?\s{0,2}\(")  # no blank between the letters
_MACHINE_KEY = re.compile(
    rb"/(?:Producer|Creator|PTEX\.Fullbanner|CharSet|FontFamily|FontName|DA|DS|RC|D|ID)\s*$"
)
_LITERAL = re.compile(rb"\(((?:[^()\\]|\\.){1,4000})\)", re.DOTALL)
_SHOWN_TEXT = re.compile(rb"\bBT\b")
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r?\n|.)", re.DOTALL)
_NAMED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"", b"f": b""}
_MOST_STREAM_BYTES = 1024**2
_MOST_ALL_BYTES = 24 * 1024**2
_MOST_STREAMS = 5_000
_PRINTABLE_SHARE = 0.95


def pdf_texts(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield place and text of the streams that show text, and of the strings in dictionaries."""
    if b"/Encrypt" in data:
        return  # the strings are in a cipher
    ends = 0
    left = _MOST_ALL_BYTES
    for number, match in enumerate(_STREAM.finditer(data)):
        if number > _MOST_STREAMS or left <= 0:
            return
        yield from _dictionary(data[ends : match.start()], ends)
        end = data.find(b"endstream", match.end())
        ends = end if end >= 0 else match.end()
        yield from _dictionary(match[1], match.start())
        if _NO_TEXT.search(match[1]):
            continue
        body = _inflated(data[match.end() : ends], match[1])
        left -= len(body)
        if body and _SHOWN_TEXT.search(body):
            yield match.start(), _joined(body)
    yield from _dictionary(data[ends:], ends)


def _inflated(body: bytes, dictionary: bytes) -> bytes:
    if b"/Filter" not in dictionary:
        return body[:_MOST_STREAM_BYTES]
    if b"FlateDecode" not in dictionary:
        return b""
    try:
        return zlib.decompressobj().decompress(body, _MOST_STREAM_BYTES)
    except zlib.error:
        return b""


def _joined(body: bytes) -> str:
    text = b" ".join(_plain(match[1]) for match in _LITERAL.finditer(_KERNED.sub(b"", body))).decode(
        "latin-1"
    )
    return text if _is_readable(text) else ""


def _dictionary(data: bytes, at: int) -> Iterator[tuple[int, str]]:
    for match in _LITERAL.finditer(data):
        if _MACHINE_KEY.search(data, max(match.start() - 24, 0), match.start()):
            continue
        text = _plain(match[1])
        shown = (
            text.decode("utf-16", "replace")
            if text.startswith((b"\xfe\xff", b"\xff\xfe"))
            else text.decode("latin-1")
        )
        if _is_readable(shown):
            yield at + match.start(), shown


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
    n_good = sum(char.isalnum() or char.isspace() or char in ".,;:!?'\"()-/&%@+#" for char in text[:2000])
    return n_good >= _PRINTABLE_SHARE * min(len(text), 2000)
