"""Objects embedded in office documents: the file that a packager or an application put into one."""

from __future__ import annotations

import struct
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.file_type import sniff
from phiscan.extract.core.magic_numbers import UNKNOWN
from phiscan.extract.office.binary_texts import read_macros, stream_texts
from phiscan.extract.office.compound_file import is_cut, open_ole
from phiscan.extract.office.storage import is_typed, unshown, wide_runs
from phiscan.model import FailReason

_NATIVE = "\x01Ole10Native"
_PAYLOADS = ("Package", "CONTENTS", "Contents", "EmbeddedOdf")
_COMP_OBJ, _EQUATION = "\x01CompObj", b"quation"
_MAX_NAME_BYTES = 1024
_UNKNOWN_APPLICATION = "compound file of no known application"
# Controls of forms and equations: their few texts are runs of characters in known streams.
_CONTROLS = ("\x03OCXNAME", "Equation Native", "\x03OCXDATA", "\x03PRINT")


def read_ole_object(content: Content, sink: Sink) -> None:
    """Read macros, the embedded file as a member, else the runs of text in the streams.

    Raises:
        ExtractError: unsupported; there is no text in it.
    """
    with open_ole(content.data) as ole:
        if is_cut(ole):
            sink.fail(content.locator, FailReason.CORRUPT, "cut short")
        has_macros = read_macros(ole, content, sink)
        member = _native(ole)
        if member is None and not has_macros:
            payload = next((name for name in _PAYLOADS if ole.exists(name)), "")
            member = (payload, ole.data(payload), []) if payload else None
        texts = member[2] if member is not None else []
        description = ole.data(_COMP_OBJ)
        is_control = any(ole.exists(name) for name in _CONTROLS) or _EQUATION in description
        if not has_macros and (member is None or (is_control and sniff(member[1]) == UNKNOWN)):
            member, texts = None, list(stream_texts(ole))
            if not is_control and not texts:
                raise ExtractError(FailReason.UNSUPPORTED, _UNKNOWN_APPLICATION)
            if not is_control:
                said = f"{_UNKNOWN_APPLICATION}: only the runs of text in it are read"
                sink.fail(content.locator, FailReason.UNSUPPORTED, said)
    sink.add("\n".join(unshown(texts, "")), content.place("strings"))
    if member is not None:
        sink.add_member(content, *member[:2])


def _native(ole: Any) -> tuple[str, bytes, list[str]] | None:
    """Return the file of a packager's object (label, path, path, length, data, wide names), and its names."""
    if not ole.exists(_NATIVE):
        return None
    data = ole.data(_NATIVE)
    at = 6  # length of all, flags
    label, at = _string(data, at)
    path, at = _string(data, at)
    at += 8  # flags, length of the next path
    source, at = _string(data, at)
    if at + 4 > len(data):
        return "object", data[4:], []
    size = struct.unpack_from("<I", data, at)[0]
    rest = data[at + 4 + size :]
    names = [label, path, source, *(text for _, text in wide_runs(rest))]
    return label or "object", data[at + 4 : at + 4 + size], [name for name in names if is_typed(name)]


def _string(data: bytes, at: int) -> tuple[str, int]:
    end = data.find(b"\0", at, at + _MAX_NAME_BYTES)
    if end < 0:
        return "", len(data)
    return data[at:end].decode("cp1252", "replace"), end + 1
