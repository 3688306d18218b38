"""The records of a legacy workbook that calamine leaves out: notes, text boxes, encryption."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import islice
from typing import Any

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.office.compound_file import open_ole

_TXO, _CONTINUE, _FILEPASS, _HEADER, _FOOTER = 0x01B6, 0x003C, 0x002F, 0x0014, 0x0015
_WITH_TEXT = frozenset({_TXO, _CONTINUE, _HEADER, _FOOTER})
_HEAD = struct.Struct("<HH")
_FIRST_RECORDS = 100  # the record that says so is after the first
_MAX_TEXT_BYTES = 64 * 1024


def is_encrypted_workbook(data: bytes) -> bool:
    """Tell whether the workbook stream begins an encrypted part."""
    if not data.startswith(b"\xd0\xcf\x11\xe0"):
        return False
    with open_ole(data) as ole:
        stream = _stream(ole)
    return any(kind == _FILEPASS for kind, _, _ in islice(_records(stream), _FIRST_RECORDS))


def read_biff_notes(ole: Any, content: Content, sink: Sink) -> None:
    """Add the text of notes, text boxes, headers and footers as one segment ``#notes``."""
    lines = []
    awaited = 0  # characters that the CONTINUE record after a TXO holds
    stream = _stream(ole)
    for kind, start, size in _records(stream):
        if kind not in _WITH_TEXT:
            continue
        body = stream[start : start + min(size, _MAX_TEXT_BYTES)]
        if kind == _TXO and len(body) >= 12:  # noqa: PLR2004 (the length is at byte 10)
            awaited = struct.unpack_from("<H", body, 10)[0]
        elif kind == _CONTINUE and awaited and body:
            lines.append(_text(body[1:], awaited, wide=bool(body[0] & 1)))
            awaited = 0
        elif kind in (_HEADER, _FOOTER) and len(body) > 3:  # noqa: PLR2004 (length, then flags)
            lines.append(_text(body[3:], struct.unpack_from("<H", body)[0], wide=bool(body[2] & 1)))
    sink.add("\n".join(line for line in lines if line.strip()), content.place("notes"))


def _text(data: bytes, n_chars: int, *, wide: bool) -> str:
    if wide:
        return data[: 2 * n_chars].decode("utf-16-le", "replace")
    return data[:n_chars].decode("latin-1")


def _stream(ole: Any) -> bytes:
    """Return the workbook stream of an open compound file; nothing where it has none."""
    name = next((name for name in ("Workbook", "Book") if ole.exists(name)), "")
    return ole.openstream(name).read() if name else b""


def _records(stream: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield kind, offset and size of the bodies of a stream's records; a damaged stream ends early."""
    at = 0
    last = len(stream) - _HEAD.size
    while at <= last:
        kind, size = _HEAD.unpack_from(stream, at)
        at += _HEAD.size
        yield kind, at, size
        at += size
