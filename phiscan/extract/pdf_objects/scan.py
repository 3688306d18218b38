"""Strings and texts of streams in the bytes of a PDF, whatever refers to them; object streams too."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import re2

from phiscan.extract.pdf_objects.streams import Stream, resources, streams, unpacked

_NO_TEXT = re.compile(
    rb"/Image\b|/FontFile|/Length1\b|/DCTDecode|/JPXDecode|/JBIG2|/CCITTFax|/XRef\b|/ICCBased|/FunctionType|/CMapName"
)
_SIGNATURE = re2.compile(rb"/Contents\s*<(30[0-9A-Fa-f]{200,})")
# Common name (X.520) and address (PKCS 9), each with the kind of its string.
_SUBJECT = re.compile(
    rb"(?:\x06\x03\x55\x04\x03[\x0c\x13\x14]|\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x09\x01\x16)(.)", re.DOTALL
)
_AUTHORITY = re.compile(
    r"\b(?:CA|Root|Authority|Trust\w*|Certif\w+|Timestamp\w*|TSA|\w*Sign\w*|Adobe|DigiCert|Entrust|PKI|Issuing)\b",
    re.IGNORECASE,
)
_PICTURE = re.compile(rb"/Subtype\s*/Image\b")
_WIDTH, _HEIGHT = re.compile(rb"/Width\s+(\d{1,5})\b"), re.compile(rb"/Height\s+(\d{1,5})\b")
_MIN_SIDE, _MIN_AREA = 40, 60_000  # pixels; smaller ones are icons, and previews of pages
_FILE = re.compile(rb"/EmbeddedFile\b")
_MEDIA = re.compile(rb"/Type\s*/(Sound|3D)\b|/Subtype\s*/(U3D|PRC)\b")
_DOCUMENTS = (b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1", b"{\\rtf", b"\x1f\x8b\x08")
_PAGE = re.compile(rb"/Type\s*/Page\b")
_HEX_SHOWN = re2.compile(rb"<[0-9A-Fa-f\s]{4,}>\s*(?:-?[\d.]+\s*)*(?:\]\s*TJ|Tj|'|\")")
_UNSEEN = re2.compile(  # a font, or a matrix, of no size
    rb"\s0+(?:\.0+)?\s+T[fz]\b"
    rb"|(?:^|\s)0(?:\.000\d*)?\s+0\s+0\s+0(?:\.000\d*)?\s+\S+\s+\S+\s+(?:cm|Tm)\b"
)
_XML = re.compile(rb"\s*(?:\xef\xbb\xbf)?<(?:\?xml|[A-Za-z][\w:.-]{0,40}[\s>])")
_SCRIPT_ELEMENT = re2.compile(rb"(?s)<(?:\w+:)?script\b.*?</(?:\w+:)?script>")
_XML_TEXT = re.compile(rb">([^<>]{3,20000}+)<")
_STRING = re.compile(
    rb"/([A-Za-z]{1,20})\s*(?:\[\s*)?\(((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\)){1,20000})\)"
    rb"|/([A-Za-z]{1,20})\s*(?:\[\s*)?<([0-9A-Fa-f\s]{8,40000})>"
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
_READABLE_SHARE = 0.95
_ODD = re.compile(r"[^\w\s.,;:!?'\"()\[\]{}/\\&%@+#*=<>|$-]")
_ALNUM = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class PdfString:
    """One string of a dictionary with the name of its entry, or what one stream holds.

    The keys of streams: "content" for the text that one shows, "script", "xmp" and "xml" for whole streams,
    "glyphs" for codes that only a font explains, "file" for a file, "media" for sound and models,
    "picture" for a large one, "unseen" for text of no size, "pages" for the number of pages in ``number``.
    """

    key: str
    text: str = field(repr=False)
    number: int = 0  # of the object
    resources: bytes = field(repr=False, default=b"")  # of a stream of glyphs, as they are written
    stream: Stream | None = None  # of a file


def pdf_strings(data: bytes) -> Iterator[PdfString]:
    """Yield the strings of a PDF in the order of its bytes; nothing of one that is encrypted."""
    if b"/Encrypt" in data:
        return
    at = n_pages = 0
    left = _MOST_ALL_BYTES
    for stream in streams(data):
        if left <= 0:
            break
        between = data[stream.gap : stream.start]
        n_pages += len(_PAGE.findall(between))
        yield from _dictionary(between)
        at = stream.end
        if _FILE.search(stream.head):
            yield PdfString("file", "", stream.number, stream=stream)
            continue
        media = _MEDIA.search(stream.head)
        if media:
            yield PdfString("media", (media[1] or media[2]).decode("ascii"))
            continue
        if _NO_TEXT.search(stream.head):
            if _is_large_picture(stream.head):
                yield PdfString("picture", _size(stream.head), stream.number)
            continue
        body = unpacked(data[stream.start : stream.end], stream.head, _MOST_STREAM_BYTES)
        left -= len(body)
        if b"/ObjStm" in stream.head:
            n_pages += len(_PAGE.findall(body))
        yield from _stream(body, stream)
    yield from _dictionary(data[at:])
    yield from _remarks(data)
    n_pages += len(_PAGE.findall(data, at))
    yield PdfString("pages", "", n_pages)


def _is_large_picture(head: bytes) -> bool:
    if not _PICTURE.search(head):
        return False
    short, long = sorted(int(side) for side in _size(head).split("x"))
    return short >= _MIN_SIDE and short * long >= _MIN_AREA


def _size(head: bytes) -> str:
    width, height = _WIDTH.search(head), _HEIGHT.search(head)
    return f"{int(width[1]) if width else 0}x{int(height[1]) if height else 0}"


def _remarks(data: bytes) -> Iterator[PdfString]:
    """Yield comments of several words, and the text after the end of the file."""
    for remark in _REMARK.findall(data[:_MOST_ALL_BYTES]):
        if not _PROGRAM.search(remark):
            yield PdfString("content", _decoded(remark))
    end = data.rfind(_END)
    rest = data[end + len(_END) :].strip() if end >= 0 else b""
    if len(rest) >= _LEAST_REST and is_readable(text := _decoded(rest[:_MOST_STREAM_BYTES])):
        yield PdfString("content", text)


def _stream(body: bytes, stream: Stream) -> Iterator[PdfString]:
    if b"/ObjStm" in stream.head:
        yield from _dictionary(body)
    elif body.startswith(_DOCUMENTS):
        yield PdfString("file", "", stream.number, stream=stream)
    elif body.lstrip()[:32].startswith(_XMP) or b"<x:xmpmeta" in body[:400]:
        yield PdfString("xmp", body.decode("utf-8", "replace"))
    elif _SHOWS_TEXT.search(body):
        yield from _content(body, stream)
    elif b"/JS" in stream.head or _SCRIPT.search(body[:4096]):
        text = _decoded(body)
        if is_readable(text):
            yield PdfString("script", text)
    elif _XML.match(body):
        found = _XML_TEXT.findall(_SCRIPT_ELEMENT.sub(b" ", body))
        yield PdfString("xml", html.unescape(b"\n".join(found).decode("utf-8", "replace")))
    elif not body.lstrip()[:2].startswith(_OTHER_CONTENTS):
        text = _decoded(body)
        if is_readable(text) and not _NO_PROSE.search(body):
            yield PdfString("content", text)


def _content(body: bytes, stream: Stream) -> Iterator[PdfString]:
    """Yield the text that a stream of graphics shows, and its number where a font explains some of it."""
    text = _shown(_INLINE_PICTURE.sub(b"", body) if b"BI" in body else body)
    is_plain = bool(text.strip()) and is_readable(text)
    if is_plain:
        yield PdfString("content", text)
    if _UNSEEN.search(body):
        yield PdfString("unseen", "", stream.number)
    if not is_plain or _HEX_SHOWN.search(body):
        yield PdfString("glyphs", "", stream.number, resources(stream.head))


def _dictionary(data: bytes) -> Iterator[PdfString]:
    """Yield the strings of dictionaries; words in a row, as in an array, are one text, too."""
    yield from _signers(data)
    row: list[str] = []
    end = 0
    for match in _STRING.finditer(data) if _HAS_STRING.search(data) else ():
        literal = match[2] or match[5] or b""
        digits = b"".join(match[4].split()) if match[4] else b""
        raw = bytes.fromhex(digits[: len(digits) // 2 * 2].decode("ascii")) if digits else _plain(literal)
        text = _decoded(raw)
        is_text = bool(text.strip()) and is_readable(text)
        if row and (match[1] or match[3] or data[end : match.start()].strip()):
            yield from _joined_row(row)
            row = []
        end = match.end()
        if is_text:
            if match[1] != b"Limits":  # of a name tree
                row.append(text)
            yield PdfString((match[1] or match[3] or b"").decode("ascii"), text)
    yield from _joined_row(row)


def _signers(data: bytes) -> Iterator[PdfString]:
    """Yield the names and addresses of persons in the certificates of signatures."""
    for digits in _SIGNATURE.findall(data):
        raw = bytes.fromhex(digits[: len(digits) // 2 * 2].decode("ascii"))
        for match in _SUBJECT.finditer(raw):
            length = match[1][0]
            name = raw[match.end() : match.end() + length].decode("utf-8", "replace")
            if len(name) == length < 128 and not _AUTHORITY.search(name):  # noqa: PLR2004 (one byte of length)
                yield PdfString("Signer", name)


def _joined_row(row: list[str]) -> Iterator[PdfString]:
    if len(row) > 1 and not all(" " in text for text in row):
        yield PdfString("", " ".join(row))


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
