"""Strings and texts of streams in the bytes of a PDF, whatever refers to them; object streams too."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import re2

_STREAM = re.compile(rb">>\s{0,4}stream\r?\n")
_BEGIN = re.compile(rb"\d\s+\d{1,5}\s+obj\b")
_NO_TEXT = re.compile(
    rb"/Image\b|/FontFile|/Length1\b|/DCTDecode|/JPXDecode|/JBIG2|/CCITTFax|/XRef\b|/ICCBased|/FunctionType|/CMapName"
    rb"|/EmbeddedFile\b"
)
_STRING = re.compile(
    rb"/([A-Za-z]{1,20})\s*(?:\[\s*)?\(((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\)){1,20000})\)"
    rb"|/([A-Za-z]{1,20})\s*<((?:[0-9A-Fa-f]{2}\s?){4,20000})>"
    rb"|\(((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\)){3,20000})\)",
    re.DOTALL,
)
_HAS_STRING = re2.compile(rb"\(|[A-Za-z][\s\v]*(?:\[[\s\v]*)?<[0-9A-Fa-f\s\v]")
_KERNED = re.compile(rb"\)(?<!\\\))\s{0,2}-?\d{0,2}(?:\.\d+)?\s{0,2}\(")  # no blank between the letters
# A string with its last bracket, or the end of a line. Branches that begin with one sign are found fast.
_SHOWN = re.compile(rb"\(([^()\\]*+(?:\\.[^()\\]*+)*+\))|T[dDm*]\b|ET\b", re.DOTALL)
_SHOWS_TEXT = re.compile(rb"\bBT\b")
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r?\n|.)", re.DOTALL)
_NAMED = {b"n": b"\n", b"r": b"\n", b"t": b"\t", b"b": b"", b"f": b""}
_SCRIPT = re.compile(rb"\bfunction\b|\bvar\b|\bthis\.|\bapp\.")
_REMARK = re2.compile(rb"(?m)^%+ ?([A-Za-z][ -~]{19,400})\r?$")
_PROGRAM = re.compile(rb"reportlab|generated|produce|pdftex|pdf-\d|created (?:by|with)", re.IGNORECASE)
_END, _LEAST_REST = b"%%EOF", 20
_INLINE_PICTURE = re.compile(rb"\bBI\s.{0,65536}?\sEI\b", re.DOTALL)
_NO_PROSE = re.compile(rb"begincmap|\bBI\s")  # codes of a font, a picture within the page
_OTHER_CONTENTS = (b"<", b"%!", b"{")  # the template of a form, a font, a function
_XMP = (b"<x:xmpmeta", b"<?xpacket")
_MOST_STREAM_BYTES = 2 * 1024**2
_MOST_ALL_BYTES = 24 * 1024**2
_MOST_STREAMS = 20_000
_LONGEST_DICTIONARY = 4096
_LONGEST_NUMBERS = 32  # bytes of the two numbers before ``obj``
_READABLE_SHARE = 0.95
_ODD = re.compile(r"[^\w\s.,;:!?'\"()\[\]{}/\\&%@+#*=<>|$-]")
_ALNUM = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class PdfString:
    """One string of a dictionary with the name of its entry, or the text that one stream shows."""

    key: str  # "content" for the text of a stream, "script" and "xmp" for whole streams
    text: str = field(repr=False)


def pdf_strings(data: bytes) -> Iterator[PdfString]:
    """Yield the strings of a PDF in the order of its bytes; nothing of one that is encrypted."""
    if b"/Encrypt" in data:
        return
    at = 0
    left = _MOST_ALL_BYTES
    for number, match in enumerate(_STREAM.finditer(data)):
        if number > _MOST_STREAMS or left <= 0:
            return
        if match.start() < at:
            continue  # within a stream
        yield from _dictionary(data[at : match.start()])
        end = data.find(b"endstream", match.end())
        end = len(data) if end < 0 else end
        head = _head(data, at, match.start())
        at = end
        if _NO_TEXT.search(head):
            continue
        body = _unpacked(data[match.end() : end], head)
        left -= len(body)
        yield from _stream(body, head)
    yield from _dictionary(data[at:])
    yield from _remarks(data)


def _remarks(data: bytes) -> Iterator[PdfString]:
    """Yield comments of several words, and the text after the end of the file."""
    for remark in _REMARK.findall(data[:_MOST_ALL_BYTES]):
        if not _PROGRAM.search(remark):
            yield PdfString("content", _decoded(remark))
    end = data.rfind(_END)
    rest = data[end + len(_END) :].strip() if end >= 0 else b""
    if len(rest) >= _LEAST_REST and is_readable(text := _decoded(rest[:_MOST_STREAM_BYTES])):
        yield PdfString("content", text)


def _head(data: bytes, start: int, end: int) -> bytes:
    """Return the dictionary of the stream that begins at ``end``."""
    head = data[max(start, end - _LONGEST_DICTIONARY) : end]
    at = head.rfind(b"obj")
    while at >= 0:
        begin = _BEGIN.search(head, max(at - _LONGEST_NUMBERS, 0), at + len(b"obj "))
        if begin:
            return head[begin.end() :]
        at = head.rfind(b"obj", 0, at)
    return head


def _unpacked(body: bytes, head: bytes) -> bytes:
    """Return the bytes of a stream after the filters of text and deflate; nothing after any other."""
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


def _stream(body: bytes, head: bytes) -> Iterator[PdfString]:
    if b"/ObjStm" in head:
        yield from _dictionary(body)
    elif body.lstrip()[:32].startswith(_XMP) or b"<x:xmpmeta" in body[:400]:
        yield PdfString("xmp", body.decode("utf-8", "replace"))
    elif b"BT" in body and _SHOWS_TEXT.search(body):
        text = _shown(_INLINE_PICTURE.sub(b"", body) if b"BI" in body else body)
        if text.strip() and is_readable(text):
            yield PdfString("content", text)
    elif b"/JS" in head or _SCRIPT.search(body[:4096]):
        text = _decoded(body)
        if is_readable(text):
            yield PdfString("script", text)
    elif not body.lstrip()[:2].startswith(_OTHER_CONTENTS):
        text = _decoded(body)
        if is_readable(text) and not _NO_PROSE.search(body):
            yield PdfString("content", text)


def _dictionary(data: bytes) -> Iterator[PdfString]:
    for match in _STRING.finditer(data) if _HAS_STRING.search(data) else ():
        literal = match[2] or match[5] or b""
        raw = bytes.fromhex(match[4].decode("ascii")) if match[4] else _plain(literal)
        text = _decoded(raw)
        if text.strip() and is_readable(text):
            yield PdfString((match[1] or match[3] or b"").decode("ascii"), text)


def _shown(body: bytes) -> str:
    """Return what a stream shows: strings joined, with a blank at wide gaps and a line at each move."""
    found = _SHOWN.findall(_KERNED.sub(b"", body))
    literals = b"".join([literal[:-1] + b" " if literal else b"\n" for literal in found])
    lines = map(str.strip, _plain(literals).decode("cp1252", "replace").split("\n"))
    return "\n".join(filter(None, lines))


def _plain(literal: bytes) -> bytes:
    return _ESCAPE.sub(_unescaped, literal) if b"\\" in literal else literal


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if code[:1] in b"01234567":
        return bytes([int(code, 8) & 0xFF])
    return _NAMED.get(code, b"" if code.endswith(b"\n") else code)


def _decoded(raw: bytes) -> str:
    if raw.startswith((b"\xfe\xff", b"\xff\xfe")):
        return raw.decode("utf-16", "replace")
    if raw.startswith(b"\xef\xbb\xbf"):
        return raw.decode("utf-8-sig", "replace")
    return raw.decode("ascii" if raw.isascii() else "cp1252", "replace")


def is_readable(text: str) -> bool:
    """Tell text in a usual encoding from codes that only a font of the document explains."""
    head = text[:2000]
    n_odd = len(_ODD.findall(head))
    return n_odd <= (1 - _READABLE_SHARE) * len(head) and _ALNUM.search(head) is not None
