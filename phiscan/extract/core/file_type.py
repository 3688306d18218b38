"""File type by content; the name is only a hint where the content leaves it open."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from itertools import islice
from typing import BinaryIO

from phiscan.extract.core.charset import EBCDIC_PAGES, decode
from phiscan.extract.core.magic_numbers import (
    DECIDED_BY_NAME,
    DECLARED,
    DOCX,
    EMPTY,
    ENCRYPTED_OOXML,
    NAME_TYPES,
    ODF,
    OLE,
    PPTX,
    TEXT,
    UNKNOWN,
    XLSB,
    XLSX,
    by_beginning,
)

_OPEN_DOCUMENT = {
    "text": ODF + "text",
    "spreadsheet": ODF + "spreadsheet",
    "presentation": ODF + "presentation",
    "graphics": ODF + "graphics",
}
_OLE_STREAMS = (
    ("EncryptedPackage", ENCRYPTED_OOXML),
    ("WordDocument", "application/msword"),
    ("Workbook", "application/vnd.ms-excel"),
    ("Book", "application/vnd.ms-excel"),
    ("PowerPoint Document", "application/vnd.ms-powerpoint"),
    ("__properties_version1.0", "application/vnd.ms-outlook"),
)
_SAMPLE = 8192
_END_BYTES, _ENTRY_BYTES, _LONGEST_END = 22, 46, 22 + 0xFFFF  # of the directory of a ZIP archive
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_DUMP = re.compile(
    r"[0-9a-fA-F]{7,8}:?[ \t]+(?:[0-9a-fA-F]{2,4} {1,2}){7}"
)  # its right column is set off by bars
_STRUCK_OVER = re.compile(rb"([^\x08])\x08(?=\1|_|[^\x08])|\x1b\[[0-9;]{0,20}[A-Za-z]")
_HEADER_LINE = re.compile(r"[A-Za-z][A-Za-z0-9-]{1,40}:[ \t]?[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*(?:\r?\n|$)")
_MAIL_HEADERS = re.compile(
    r"(?im)^(received|from|to|subject|date|message-id|mime-version|return-path|delivered-to):"
)
_MIN_MAIL_HEADERS = 2
_LINES_LOOKED_AT = 20
_HTML = re.compile(r"<(!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_XML_ROOT = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?[A-Za-z_][\w.-]*(?:\s[^<>]*)?/?>")
# X12 begins with elements of fixed length, after a separator that no word holds.
_INTERCHANGE = re.compile(r"ISA([^\w\s])..\1.{10}\1..\1.{10}\1", re.DOTALL)
_TEXT_STARTS = (
    (_INTERCHANGE, "application/edi-x12"),
    (re.compile(r"BEGIN:VCARD\s", re.IGNORECASE), "text/vcard"),
    (re.compile(r"BEGIN:(?:VCALENDAR|VNOTE|VMSG|VTODO|VEVENT)\s", re.IGNORECASE), "text/calendar"),
)
_LOCAL = b"PK\x03\x04"
_FIELD_SEPARATORS = b"\x01\x1e\x1f"
_LATE_PDF = re.compile(rb"^%PDF-[12]\.\d", re.MULTILINE)
_LATE_PDF_WITHIN = 64 * 1024
_COUNTED = re.compile(r"\d{1,12}[ \t]*\r?\n")
_DELIMITERS = "\t;|,\x01\x1e\x1f"  # the last three of data warehouses
_TEXTUAL = frozenset(
    {*NAME_TYPES.values(), TEXT, "application/hl7-v2", "application/edi-x12", "text/vcard", "text/calendar"}
)


def suffix(name: str) -> str:
    """Return the ending of a name in lower case, with its dot.

    >>> suffix("Scan.PDF")
    '.pdf'
    """
    stem, dot, ending = name.rpartition(".")
    return f".{ending.lower()}" if dot and stem else ""


def declared_type(name: str, media_type: str) -> str:
    """Return what the name promises where the content contradicts it, else the empty string.

    >>> declared_type("holiday.jpg", "application/zip")
    'image/jpeg'
    >>> declared_type("notes.txt", "text/csv")
    ''
    """
    declared = DECLARED.get(suffix(name), "")
    if declared == media_type or {declared, media_type} <= _TEXTUAL:
        return ""
    return declared


_Checks = tuple[tuple[Callable[[bytes], bool], str], ...]


class _Structures:
    """Checks of several fields of a content for its kind, which readers give; the registry lists them."""

    first: _Checks = ()  # before a content is taken for text
    last: _Checks = ()  # of what is neither text nor anything else


def register(first: _Checks, last: _Checks) -> None:
    """Set the checks by which kinds without a signature at their beginning are told."""
    _Structures.first, _Structures.last = first, last


def is_orc(data: bytes) -> bool:
    """Tell whether data is an ORC table: the letters at its beginning alone may begin a text, too.

    The postscript at its end repeats them; where the end is lost, the first stripe has control characters.
    """
    return data.startswith(b"ORC") and (data[-4:-1] == b"ORC" or bool(_CONTROL.search(data, 3, 64)))


def sniff(data: bytes, name: str = "") -> str:  # noqa: PLR0911 (one return per kind of evidence)
    """Return the media type of ``data``; content decides, ``name`` only between kinds of text."""
    if not data:
        return EMPTY
    known = by_beginning(data)
    if known:
        return known
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return _sniff_zip(data)
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _sniff_ole(data)
    if b"%PDF-" in data[:1024]:
        return "application/pdf"
    if data.startswith(b"RIFF"):
        return "image/webp" if data[8:12] == b"WEBP" else "audio/x-riff"
    if data.startswith(b"BM") and len(data) > 26 and data[14] in (12, 40, 64, 108, 124):  # noqa: PLR2004 (header sizes)
        return "image/bmp"
    if _LATE_PDF.search(data, 0, _LATE_PDF_WITHIN) and b"startxref" in data[-4096:]:
        return "application/pdf"
    found = next((kind for check, kind in _Structures.first if check(data)), "")
    kind = found or _sniff_text(data, name)
    return _behind_other_bytes(data) if kind == UNKNOWN else kind


def _behind_other_bytes(data: bytes) -> str:
    """Return the type of data without a mark at its beginning: a self-extracting archive, OpenPGP."""
    if _LOCAL in data and _directory_names(data) is not None:
        return "application/zip"
    return next((kind for check, kind in _Structures.last if check(data)), UNKNOWN)


def sniff_stream(head: bytes, name: str, stream: BinaryIO) -> str:
    """Return the media type of an open file that begins with ``head``."""
    if head.startswith(b"PK\x03\x04"):
        return _sniff_zip(head, stream)
    return sniff(head, name)


def _sniff_zip(data: bytes, stream: BinaryIO | None = None) -> str:
    known = _directory_names(data) if stream is None else None
    if known is not None and "mimetype" not in known:
        return _package_type(known) or "application/zip"
    try:
        with zipfile.ZipFile(stream or io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            mimetype = (
                archive.open("mimetype").read(200).decode("ascii", "ignore") if "mimetype" in names else ""
            )
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, EOFError, zlib.error):
        return _sniff_broken_zip(data)
    if mimetype.startswith("application/epub"):
        return "application/epub+zip"
    if mimetype.startswith(ODF):
        kind = mimetype.removeprefix(ODF).partition("-")[0]
        return _OPEN_DOCUMENT.get(kind, ODF + "text")
    return _package_type(names) or "application/zip"


def _directory_names(data: bytes) -> set[str] | None:
    """Return the names in a plain directory of an archive; None where zipfile must look."""
    end = data.rfind(b"PK\x05\x06", max(len(data) - _LONGEST_END, 0))
    if end < 0 or end + _END_BYTES > len(data):
        return None
    n_members, n_bytes = struct.unpack_from("<10xHI", data, end)
    at = end - n_bytes
    names = set()
    for _ in range(n_members):
        if at < 0 or data[at : at + 4] != b"PK\x01\x02" or at + _ENTRY_BYTES > end:
            return None
        flags = data[at + 9]
        lengths = struct.unpack_from("<HHH", data, at + 28)
        name = data[at + _ENTRY_BYTES : at + _ENTRY_BYTES + lengths[0]]
        names.add(name.decode("utf-8" if flags & 8 else "cp437", "replace"))
        at += _ENTRY_BYTES + sum(lengths)
    return names if at == end and names else None


def _package_type(names: set[str]) -> str:
    lowered = {name.lower().replace("\\", "/") for name in names}
    if not {"[content_types].xml", "_rels/.rels"} & lowered:
        return ""
    if any(name.startswith("word/") for name in lowered):
        return DOCX
    if "xl/workbook.bin" in lowered:
        return XLSB
    if any(name.startswith("xl/") for name in lowered):
        return XLSX
    return PPTX if any(name.startswith("ppt/") for name in lowered) else ""


def _sniff_broken_zip(data: bytes) -> str:
    """Name a damaged package after its first members, so that its failure counts for its format."""
    head = data[:_SAMPLE]
    for mark, media_type in ((b"word/", DOCX), (b"xl/", XLSX), (b"ppt/", PPTX)):
        if mark in head:
            return media_type
    return "application/zip"


def _sniff_ole(data: bytes) -> str:
    import olefile  # noqa: PLC0415 (only for OLE files)

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            top = {entry[0].lower() for entry in ole.listdir(streams=True, storages=True) if len(entry) == 1}
    except Exception:  # noqa: BLE001 (a damaged compound file fails in many ways; its reader says which)
        return OLE
    for stream, media_type in _OLE_STREAMS:
        if stream.lower() in top:
            return media_type
    return OLE


def _sniff_text(data: bytes, name: str) -> str:  # noqa: PLR0911 (one return per kind of text)
    head = data[:_SAMPLE]
    text, encoding = decode(head)
    if (
        not encoding.startswith(("utf-16", "utf-32", *EBCDIC_PAGES))
        and len(_CONTROL.findall(_without_terminal_codes(head))) > len(head) // 50
    ):
        return UNKNOWN
    if encoding.startswith("utf-16") and not _looks_like_text(text):
        return UNKNOWN
    start = text.lstrip("\ufeff \t\r\n")
    by_name = NAME_TYPES.get(suffix(name), "")
    if (known := next((kind for pattern, kind in _TEXT_STARTS if pattern.match(start)), "")) != "":
        return known
    if start.startswith("From ") and _is_mail(start.partition("\n")[2]):
        return "message/rfc822" if by_name == "message/rfc822" else "application/mbox"
    if start.startswith("<"):
        return _sniff_markup(start, by_name)
    if _is_mail(start) or (by_name == "message/rfc822" and ":" in start[:200]):
        return "message/rfc822"
    if _HTML.search(start[:2048]) or by_name == "text/html":
        return "text/html"
    if start.startswith(("{", "[")):
        return _sniff_json(start, by_name)
    if by_name in DECIDED_BY_NAME:
        return by_name
    return "text/csv" if _is_delimited(text, whole=len(data) <= _SAMPLE) else TEXT


def _without_terminal_codes(head: bytes) -> bytes:
    """Return a text without colours of a terminal, letters that are struck over, and separators of fields."""
    plain = _STRUCK_OVER.sub(b"", head) if b"\x08" in head or b"\x1b" in head else head
    return plain.translate(None, _FIELD_SEPARATORS)


def _looks_like_text(text: str) -> bool:
    """Tell real UTF-16 from binary with many NULs: hardly any unassigned or control characters."""
    odd = sum(not (char.isprintable() or char in "\r\n\t\f\v") for char in text)
    return odd <= len(text) // 20


def _is_mail(text: str) -> bool:
    """Tell an RFC 5322 header: known fields among the first lines, all of them ``Field: value``.

    Apple Mail writes the size of the message on a line before it.
    """
    counted = _COUNTED.match(text)
    position = counted.end() if counted else 0
    names = set()
    while match := _HEADER_LINE.match(text, position):
        known = _MAIL_HEADERS.match(match.group())
        if known:
            names.add(known.group(1).lower())
            if len(names - {"date"}) >= _MIN_MAIL_HEADERS and names & {"received", "from", "message-id"}:
                return True
        position = match.end()
    return False


def _sniff_markup(start: str, by_name: str) -> str:
    if _HTML.search(start[:2048]) or by_name == "text/html":
        return "text/html"
    if start.startswith("<?xml") or _XML_ROOT.match(
        re.sub(r"^(?:<!--.*?-->|<![^>]*>|\s)+", "", start, flags=re.DOTALL)
    ):
        return "text/xml"
    return TEXT


def _sniff_json(start: str, by_name: str) -> str:
    if by_name in ("application/json", "application/x-ndjson"):
        return by_name
    first, _, rest = start.partition("\n")
    if first.rstrip().endswith("}") and rest.lstrip().startswith("{"):
        return "application/x-ndjson"
    return "application/json" if re.match(r'[\[{]\s*(?:["\[{\]}]|-?\d)', start) else TEXT


def _is_delimited(text: str, *, whole: bool) -> bool:
    """Tell a table: at least three lines, the same number of a delimiter in each."""
    filled = (line for line in text.splitlines() if line.strip())
    lines = list(islice(filled, _LINES_LOOKED_AT + 1))  # the last one of a part may be cut
    if lines and _DUMP.match(lines[0]):
        return False
    if not whole and len(lines) <= _LINES_LOOKED_AT:
        lines = lines[:-1]
    lines = lines[:_LINES_LOOKED_AT]
    if len(lines) < 3:  # noqa: PLR2004 (a header and two rows)
        return False
    for delimiter in _DELIMITERS:
        counts = {line.count(delimiter) for line in lines}
        if len(counts) == 1 and counts.pop() >= (3 if delimiter == "," else 2):
            return True
    return False
