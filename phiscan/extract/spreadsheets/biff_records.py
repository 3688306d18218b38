"""The records of a legacy workbook that calamine leaves out: notes, text boxes, encryption."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import islice

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.office.compound_file import open_ole

_TXO, _CONTINUE, _FILEPASS, _HEADER, _FOOTER = 0x01B6, 0x003C, 0x002F, 0x0014, 0x0015
_FIRST_RECORDS = 100  # the record that says so is after the first
_MAX_TEXT_BYTES = 64 * 1024


def is_encrypted_workbook(data: bytes) -> bool:
    """Tell whether the workbook stream begins an encrypted part."""
    return any(kind == _FILEPASS for kind, _ in islice(_records(data), _FIRST_RECORDS))


def read_biff_notes(content: Content, sink: Sink) -> None:
    """Add the text of notes, text boxes, headers and footers as one segment ``#notes``."""
    lines = []
    awaited = 0  # characters that the CONTINUE record after a TXO holds
    for kind, body in _records(content.data):
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


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield ``(kind, body)`` of the records in the workbook stream; a damaged stream ends early."""
    if not data.startswith(b"\xd0\xcf\x11\xe0"):
        return
    with open_ole(data) as ole:
        name = next((name for name in ("Workbook", "Book") if ole.exists(name)), "")
        stream = ole.openstream(name).read() if name else b""
    at = 0
    while at + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, at)
        yield kind, stream[at + 4 : at + 4 + min(size, _MAX_TEXT_BYTES)]
        at += 4 + size
