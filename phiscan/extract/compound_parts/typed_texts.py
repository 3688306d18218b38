"""Texts in the streams of DOC, XLS and PPT that their readers leave out: variables, names, older text."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from itertools import islice
from typing import Any

from phiscan.extract.compound_parts.text_runs import (
    cells_of,
    is_typed,
    narrow_prose,
    narrow_runs,
    table_texts,
    unshown,
    wide_prose,
    wide_runs,
)
from phiscan.extract.compound_parts.workbook_records import record_texts
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.residue.prose import ShownWords

# Streams that are read elsewhere, or that only programs fill in.
_READ_ELSEWHERE = re.compile(
    r"WordDocument|[01]Table|Data|PowerPoint Document|Workbook|Book|Pictures|\x05SummaryInformation|\x01.*"
    r"|\x03.*|__.*|MsoDataStore|EncryptedSummary|Current User",
    re.IGNORECASE,
)
_FOLDERS_READ_ELSEWHERE = re.compile(
    r"ObjectPool|MBD[0-9A-F]{8}|Macros|_VBA_PROJECT_CUR|MsoDataStore|_xmlsignatures|__.*", re.IGNORECASE
)
_MOST_STREAM_BYTES = 32 * 1024**2
_MOST_STREAMS = 500
_MOST_TEXTS = 500_000
_FIB_FLAGS, _TABLE_FLAG = 0x0A, 0x0200
_FIB_BYTES = 0x0600
_FONTS_AND_STYLES = (0x00A2, 0x0112)  # pairs of place and size in the header: style sheet, fonts
_LEAF_FONT, _LEAF_TEXTS, _CONTAINER = 0x0FB7, (0x0FA0, 0x0FA8, 0x0FBA), 0x0F
_EMBEDDED = 0x1011
_MOST_RECORDS = 500_000


def add_typed_texts(ole: Any, content: Content, sink: Sink, n_pieces: int) -> None:
    """Add the texts of a compound file that the text given since ``n_pieces`` lacks, ``#values``."""
    shown = sink.text_since(n_pieces)
    cells = cells_of(shown)
    found = [
        text for text in islice(_texts(ole, ShownWords(shown)), _MOST_TEXTS) if text and text not in cells
    ]
    if found:
        sink.add("\n".join(unshown(found, shown, cells)), content.place("values"))


def _texts(ole: Any, shown: ShownWords) -> Iterator[str]:
    """Yield the texts of a compound file, but for prose that the ``shown`` text holds."""
    if ole.exists("WordDocument"):
        yield from _word(_stream(ole, ["WordDocument"]), ole, shown)
    if ole.exists("PowerPoint Document"):
        yield from _slides(_stream(ole, ["PowerPoint Document"]))
    for name in ("Workbook", "Book"):
        if ole.exists(name):
            yield from record_texts(_stream(ole, [name]))
    for entry in ole.listdir()[:_MOST_STREAMS]:
        if _FOLDERS_READ_ELSEWHERE.fullmatch(entry[0]):
            continue
        if entry[0] == "_SX_DB_CUR":
            yield from record_texts(_stream(ole, entry))
        elif not _READ_ELSEWHERE.fullmatch(entry[-1]):
            yield from _other(_stream(ole, entry))


def _stream(ole: Any, path: list[str]) -> bytes:
    try:
        return bytes(ole.openstream(path).read()[:_MOST_STREAM_BYTES])
    except (OSError, ValueError):
        return b""


def _word(main: bytes, ole: Any, shown: ShownWords) -> Iterator[str]:
    """Yield names, variables and form entries of the tables, and text of older versions."""
    if len(main) < _FIB_BYTES:
        return
    flags = struct.unpack_from("<H", main, _FIB_FLAGS)[0]
    table = _stream(ole, ["1Table" if flags & _TABLE_FLAG else "0Table"])
    for pair in _FONTS_AND_STYLES:
        start, size = struct.unpack_from("<II", main, pair)
        if start < len(table):
            table = table[:start] + bytes(min(size, len(table) - start)) + table[start + size :]
    for data in (table, _stream(ole, ["Data"])):
        for text in table_texts(data):
            plain = text.replace("_", " ").strip()
            if is_typed(text) and (plain == text or is_typed(plain)):
                yield plain
    body = main[_FIB_BYTES // 2 :]
    yield from wide_prose(body, shown)
    yield from narrow_prose(body, shown)


def _slides(stream: bytes) -> Iterator[str]:
    """Yield the texts in the records that hold no text of a slide: alternative texts, drawn titles."""
    at = 0
    for _ in range(_MOST_RECORDS):
        if at + 8 > len(stream):
            return
        version, kind, size = struct.unpack_from("<HHI", stream, at)
        at += 8
        if version & 0x0F == _CONTAINER:
            continue  # its records follow
        if kind not in (_LEAF_FONT, _EMBEDDED, *_LEAF_TEXTS):
            body = stream[at : at + size]
            yield from (text for _, text in wide_runs(body) if is_typed(text.strip()))
            yield from narrow_prose(body)
        at += size


def _other(data: bytes) -> Iterator[str]:
    """Yield the texts of a stream of no known kind."""
    yield from wide_prose(data)
    yield from narrow_prose(data)


def stream_texts(ole: Any) -> Iterator[str]:
    """Yield the runs of text in the streams of a compound file of no known application."""
    for entry in ole.listdir()[:_MOST_STREAMS]:
        if not entry[-1].startswith(("\x01", "\x03")):
            data = _stream(ole, entry)
            for runs in (narrow_runs, wide_runs):
                yield from (shown for _, text in runs(data) if is_typed(shown := text.strip()))
