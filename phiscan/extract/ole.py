"""Compound files (OLE): properties, and whether they are encrypted."""

from __future__ import annotations

import codecs
import io
import struct
from typing import Any

from phiscan.errors import ExtractError
from phiscan.model import FailReason

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
_PROPERTIES = (
    "title",
    "subject",
    "author",
    "keywords",
    "comments",
    "last_saved_by",
    "manager",
    "company",
    "category",
)


def open_ole(data: bytes) -> Any:
    """Open a compound file.

    Raises:
        ExtractError: corrupt.
    """
    import olefile  # noqa: PLC0415

    try:
        return olefile.OleFileIO(io.BytesIO(data))
    except Exception as error:  # noqa: BLE001 (olefile raises many kinds on damaged files)
        raise ExtractError(FailReason.CORRUPT, type(error).__name__) from None


def is_encrypted(data: bytes) -> bool:
    """Tell a password-protected Word or PowerPoint file."""
    with open_ole(data) as ole:
        if ole.exists("EncryptedSummary") or ole.exists("EncryptionInfo"):
            return True
        if not ole.exists("WordDocument"):
            return False
        head = ole.openstream("WordDocument").read(12)
    return len(head) == 12 and bool(struct.unpack_from("<H", head, 10)[0] & _WORD_ENCRYPTED)  # noqa: PLR2004


def properties_text(data: bytes) -> str:
    """Return the document properties as ``name: value`` lines."""
    try:
        with open_ole(data) as ole:
            metadata = ole.get_metadata()
            codepage = getattr(metadata, "codepage", None)
            lines = []
            for name in _PROPERTIES:
                value = getattr(metadata, name, None)
                if isinstance(value, bytes):
                    value = value.decode(codec(codepage), "replace")
                if isinstance(value, str) and value.strip("\0 "):
                    lines.append(f"{name}: {value.strip(chr(0) + ' ')}")
    except Exception:  # noqa: BLE001 (damaged properties are no loss of the text)
        return ""
    return "\n".join(lines)


def codec(codepage: int | None) -> str:
    """Return the Python name of a Windows code page; cp1252 when it is unknown."""
    try:
        return codecs.lookup(_CODECS.get(codepage or 0) or f"cp{codepage}").name
    except LookupError:
        return "cp1252"
