"""Compound files (OLE): properties, and whether they are encrypted."""

from __future__ import annotations

import codecs
import struct
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.office.property_set import texts
from phiscan.model import FailReason

_SECTOR_BYTES = 512
_FIRST_MARK = 0xFFFFFFFA  # higher numbers of sectors are marks: end, free, table
_WORD_ENCRYPTED = 0x0100
# Code pages that Python knows under another name.
_CODECS = {
    65001: "utf-8",
    -535: "utf-8",
    10000: "mac-roman",
    20127: "ascii",
    20866: "koi8-r",
    20932: "euc-jp",
    50220: "iso-2022-jp",
    51949: "euc-kr",
    54936: "gb18030",
    936: "gbk",
} | {28590 + part: f"iso8859-{part}" for part in range(1, 17)}
_SUMMARY = {2: "title", 3: "subject", 4: "author", 5: "keywords", 6: "comments", 8: "last_saved_by"}
_PROPERTIES = (
    ("\x05SummaryInformation", _SUMMARY),
    ("\x05DocumentSummaryInformation", {14: "manager", 15: "company", 2: "category"}),
)


def open_ole(data: bytes) -> Any:
    """Open a compound file.

    Raises:
        ExtractError: corrupt.
    """
    from phiscan.extract.office.open_compound import OpenCompoundFile  # noqa: PLC0415 (olefile)

    # A file that was cut ends within a sector; olefile wants whole ones.
    data += bytes(-len(data) % _SECTOR_BYTES)
    try:
        return OpenCompoundFile(data)
    except Exception as error:  # noqa: BLE001 (olefile raises many kinds on damaged files)
        raise ExtractError(FailReason.CORRUPT, type(error).__name__) from None


def is_cut(ole: Any) -> bool:
    """Tell a file that ends before its own table of sectors says."""
    return any(ole.nb_sect <= sector < _FIRST_MARK for sector in ole.fat)


def is_encrypted(ole: Any) -> bool:
    """Tell a password-protected Word or PowerPoint file."""
    if ole.exists("EncryptedSummary") or ole.exists("EncryptionInfo"):
        return True
    if not ole.exists("WordDocument"):
        return False
    head = ole.openstream("WordDocument").read(12)
    return len(head) == 12 and bool(struct.unpack_from("<H", head, 10)[0] & _WORD_ENCRYPTED)  # noqa: PLR2004


def properties_text(ole: Any) -> str:
    """Return the document properties as ``name: value`` lines."""
    lines = []
    try:
        for stream, names in _PROPERTIES:
            if not ole.exists(stream):
                continue
            found, code_page = texts(ole.openstream(stream).read())
            for number, name in names.items():
                value = found.get(number, "")
                shown = value if isinstance(value, str) else value.decode(codec(code_page), "replace")
                if shown.strip("\0 "):
                    lines.append(f"{name}: {shown.strip(chr(0) + ' ')}")
    except Exception:  # noqa: BLE001 (damaged properties are no loss of the text)
        return "\n".join(lines)
    return "\n".join(lines)


def codec(codepage: int | None) -> str:
    """Return the Python name of a Windows code page; cp1252 when it is unknown."""
    try:
        return codecs.lookup(_CODECS.get(codepage or 0) or f"cp{codepage}").name
    except LookupError:
        return "cp1252"
