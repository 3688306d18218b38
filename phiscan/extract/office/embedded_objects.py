"""Objects embedded in office documents: the file that a packager or an application put into one."""

from __future__ import annotations

import struct
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.office.compound_file import is_cut, open_ole
from phiscan.model import FailReason

_NATIVE = "\x01Ole10Native"
_PAYLOADS = ("Package", "CONTENTS", "Contents", "EmbeddedOdf")
_MAX_NAME_BYTES = 1024


class OleObjectExtractor:
    """Read compound files that belong to no application of ours but carry a file."""

    media_types = frozenset({"application/x-ole-storage"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Read the embedded file as a member.

        Raises:
            ExtractError: unsupported; there is none.
        """
        with open_ole(content.data) as ole:
            if is_cut(ole):
                sink.fail(content.locator, FailReason.CORRUPT, "cut short")
            member = _native(ole) or next(
                ((name, ole.openstream(name).read()) for name in _PAYLOADS if ole.exists(name)), None
            )
        if member is None:
            raise ExtractError(FailReason.UNSUPPORTED, "compound file of no known application")
        sink.take_member()
        sink.read_member(content.member(*member))


def _native(ole: Any) -> tuple[str, bytes] | None:
    """Return the name and the bytes of a packager's object: label, path, path, length, data."""
    if not ole.exists(_NATIVE):
        return None
    data = ole.openstream(_NATIVE).read()
    at = 6  # length of all, flags
    label, at = _string(data, at)
    _, at = _string(data, at)
    at += 8  # flags, length of the next path
    _, at = _string(data, at)
    if at + 4 > len(data):
        return label or "object", data[4:]
    size = struct.unpack_from("<I", data, at)[0]
    return label or "object", data[at + 4 : at + 4 + size]


def _string(data: bytes, at: int) -> tuple[str, int]:
    end = data.find(b"\0", at, at + _MAX_NAME_BYTES)
    if end < 0:
        return "", len(data)
    return data[at:end].decode("cp1252", "replace"), end + 1
