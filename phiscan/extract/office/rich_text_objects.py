"""Objects within RTF: compound files, and files that a packager put there, after hexadecimal digits."""

from __future__ import annotations

import re

from phiscan.extract.compound_parts.storage import native_file

_PACKAGE_CLASS = b"\x08\0\0\0Package\0"
_HEX = re.compile(rb"[0-9a-fA-F\s]+")


def object_bytes(data: bytes) -> bytes:
    """Return the compound file or the package within an object's hexadecimal data."""
    raw = hex_bytes(data)
    at = raw.find(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    return raw[at:] if at >= 0 else _packaged(raw)


def _packaged(raw: bytes) -> bytes:
    """Return the file that a packager put into an object of OLE 1; empty where there is none.

    Source: [MS-OLEDS] 2.2.5 (version, format, three strings after their lengths, length, data).
    """
    at = raw.find(_PACKAGE_CLASS)
    if at < 0:
        return b""
    at += len(_PACKAGE_CLASS)
    for _ in range(2):  # topic and item
        at += 4 + int.from_bytes(raw[at : at + 4], "little")
    size = int.from_bytes(raw[at : at + 4], "little")
    data = raw[at + 4 : at + 4 + size]
    return native_file(data) if data else b""


def hex_bytes(data: bytes) -> bytes:
    """Return the bytes after hexadecimal digits, up to the first other character."""
    match = _HEX.match(data)
    digits = b"".join(match.group().split()) if match else b""
    return bytes.fromhex(digits[: len(digits) // 2 * 2].decode("ascii"))
