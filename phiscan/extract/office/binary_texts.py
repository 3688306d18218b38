"""Texts in the streams of DOC, XLS and PPT that their readers leave out: variables, names, older text."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.prose import ShownWords
from phiscan.extract.office.compound_file import slide_records, workbook_records
from phiscan.extract.office.storage import (
    FEW_CHARS,
    cells_of,
    is_prose,
    is_typed,
    narrow_runs,
    prose,
    table_texts,
    typed_runs,
    unshown,
    wide_runs,
)
from phiscan.model import FailReason

# Cells, pictures, fonts, formats of cells, printer settings: read elsewhere, or no text.
_LEFT_OUT = frozenset(
    {0x0204, 0x0208, 0x00BE, 0x0201, 0x0205, 0x00D7, 0x007D, 0x0092, 0x0225, 0x00D6, 0x00FD, 0x0207, 0x00EB}
    | {0x0031, 0x00E0, 0x004D, 0x0203, 0x027E, 0x00BD, 0x0809, 0x0014, 0x0015, 0x005B, 0x005C, 0x0892, 0x087D}
    | {0x0896}
)
# Formulas, names, notes, links, filters, scenarios, caches of pivot tables, hyperlinks, validation,
# conditions, titles of series, list tables, names of views: what a person typed, one word or several.
_TYPED = frozenset(
    {0x0006, 0x0018, 0x001C, 0x0023, 0x005A, 0x01AE, 0x009E, 0x00AF, 0x00AE, 0x00CD, 0x00C5}
    | {0x00B1, 0x00B0, 0x00C7, 0x01B0, 0x01B1, 0x01B2, 0x01BE, 0x01B8, 0x0800, 0x100D, 0x0872, 0x0878, 0x0894}
    | {0x01AA, 0x00DC, 0x00EC, 0x01C0, 0x020B, 0x005D, 0x00E3, 0x0087, 0x0221, 0x0051, 0x0052}
)
_SHARED, _CONTINUE, _NOTE_TEXT = 0x00FC, 0x003C, 0x01B6
_NAME, _NAME_AT, _BUILT_IN = 0x0018, 15, 0x20
_FORMAT = 0x041E
_FORMULA, _TEXT_TOKEN = 0x0006, b"\x17"
_SHORTEST = 6  # bytes of a record that can hold a word
_LITERAL = re.compile(r"\"([^\"]*[^\W\d_]{3,}[^\"]* [^\"]*[^\W\d_]{3,}[^\"]*)\"")  # of two words and more
_WORKBOOK_MOST_RECORDS = 400_000  # that are searched for text


def record_texts(stream: bytes) -> Iterator[str]:
    """Yield the texts of a stream of records that are no cells; shared strings too, which may be unused."""
    n_records = 0
    shared: list[bytes] = []  # a string that goes on in the next record has its width there once more
    for owner, kind, start, size in workbook_records(stream):
        if owner in _LEFT_OUT or size < _SHORTEST:
            continue
        body = stream[start : start + size]
        if owner == _SHARED:
            shared.append(body[1:] if kind == _CONTINUE and body[:1] in b"\0\1" else body)
        elif kind == _NAME:
            yield from _name(body)
        elif kind == _FORMAT:
            yield from (text for text in _LITERAL.findall(body.decode("latin-1").replace("\0", "")))
        elif owner == _FORMULA and _TEXT_TOKEN not in body:
            continue
        elif len(body) >= _SHORTEST and (kind != _CONTINUE or owner != _NOTE_TEXT):
            n_records += 1
            if n_records > _WORKBOOK_MOST_RECORDS:
                return
            if owner in _TYPED or (b" " in body and len(body) >= FEW_CHARS):  # else no prose
                yield from _record(body, is_known=owner in _TYPED)
    yield from _record(b"".join(shared), is_known=True)


def _name(body: bytes) -> Iterator[str]:
    """Yield a defined name, and the texts in its formula and descriptions."""
    if len(body) > _NAME_AT and not body[0] & _BUILT_IN:
        length, width = body[3], 1 + (body[_NAME_AT - 1] & 1)
        raw = body[_NAME_AT : _NAME_AT + length * width]
        name = raw.decode("utf-16-le" if width > 1 else "latin-1", "replace").replace("_", " ").strip()
        if is_typed(name):
            yield name
        yield from _record(body[_NAME_AT + length * width :], is_known=True)


def _record(body: bytes, *, is_known: bool) -> Iterator[str]:
    """Yield the runs of text in a record: prose, and where texts are known to be, any with its length."""
    for start, run in narrow_runs(body, long=not is_known):
        yield from _typed(body, start, run, 1, is_known=is_known)
    if is_known or b" \0" in body:  # else no prose
        for start, run in wide_runs(body):
            yield from _typed(body, start, run, 2, is_known=is_known)


def _typed(body: bytes, start: int, run: str, width: int, *, is_known: bool) -> Iterator[str]:
    """Yield the text at the beginning of a run up to the length that is written before it, and the rest."""
    text, is_counted = _cut(body, start, run, width)
    shown = text.strip()
    if is_typed(shown) if is_known and (is_counted or width > 1) else is_prose(shown):
        yield shown
    if len(text) < len(run) and is_prose(rest := run[len(text) :].strip()):
        yield rest


def _cut(body: bytes, start: int, text: str, width: int) -> tuple[str, bool]:
    """Return the text up to the length that is written before it, and whether there is one."""
    if start < 1 or body[start - 1] != width - 1:
        return text, False
    lengths = [struct.unpack_from("<H", body, start - 3)[0]] if start > 2 else []  # noqa: PLR2004 (number and flag)
    lengths += [body[start - 2]] if start > 1 else []
    return next(((text[:length], True) for length in lengths if 2 < length <= len(text)), (text, False))  # noqa: PLR2004


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
_LEAF_FONT, _LEAF_TEXTS = 0x0FB7, (0x0FA0, 0x0FA8, 0x0FBA)
_EMBEDDED = 0x1011


def add_typed_texts(ole: Any, content: Content, sink: Sink, n_segments: int) -> None:
    """Add the texts of a compound file that the text given since ``n_segments`` lacks, ``#values``."""
    shown = sink.text_since(n_segments)
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
            yield from prose(_stream(ole, entry))


def _stream(ole: Any, path: list[str]) -> bytes:
    return bytes(ole.data(*path)[:_MOST_STREAM_BYTES])


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
    yield from prose(body, shown)


def _slides(stream: bytes) -> Iterator[str]:
    """Yield the texts in the records that hold no text of a slide: alternative texts, drawn titles."""
    for _, _, kind, body in slide_records(stream):
        if kind not in (_LEAF_FONT, _EMBEDDED, *_LEAF_TEXTS):
            yield from (text for _, text in wide_runs(body) if is_typed(text.strip()))
            yield from prose(body)


def stream_texts(ole: Any) -> Iterator[str]:
    """Yield the runs of text in the streams of a compound file of no known application."""
    for entry in ole.listdir()[:_MOST_STREAMS]:
        if not entry[-1].startswith(("\x01", "\x03")):
            yield from typed_runs(_stream(ole, entry))


# Visual Basic projects in office files: source text of modules, captions and values of forms, names.
# Source: [MS-OVBA] 2.4.1 (compression), 2.3.4.2 (dir stream), 2.3.1 (PROJECT stream).

_CHUNK_BYTES = 4096
_SIGNATURE, _CHUNK_MARK = 1, 0b011
_MOST_SOURCE_BYTES = 4 * 1024**2  # of one module
_MOST_BYTES = 32 * 1024**2  # of all modules of a project
_MOST_PROJECT_STREAMS = 2_000
_SOURCE_BEGINS = re.compile(rb"\x01.[\xb0-\xbf]\x00Attribut", re.DOTALL)
_ATTRIBUTE_LINE = re.compile(r"(?m)^Attribute [\w.]*VB_(?!Description|Ext_KEY)[^\n]*\n?")
_AUTOMATIC_MODULE = re.compile(
    r"(?:This(?:Document|Workbook)|(?:Sheet|Module|Class|UserForm|Chart|NewMacros|Feuil|Tabelle|Modul)\d*)",
    re.IGNORECASE,
)
_NO_MODULE = re.compile(r"dir|_VBA_PROJECT|__SRP_\w+", re.IGNORECASE)
_FRAME = "\x03VBFrame"
_FRAME_VALUE = re.compile(r"^\s*(?:Caption|Tag|ControlTipText|Text|Value)\s*=\s*\"([^\"\n]+)\"", re.MULTILINE)
_PROJECT_VALUE = re.compile(r"^(?:Description|Name|HelpFile)=\"([^\"\n]+)\"", re.MULTILINE)
_DEFAULT_PROJECTS = frozenset({"VBAProject", "Project", "TemplateProject"})


def decompress(data: bytes, most: int = _MOST_SOURCE_BYTES) -> bytes:
    """Return the bytes of a compressed container, at most ``most``; up to the damage, where there is one.

    Raises:
        ValueError: it is no container.
    """
    if data[:1] != bytes([_SIGNATURE]):
        message = "no compressed container"
        raise ValueError(message)
    out = bytearray()
    at = 1
    while at + 2 <= len(data) and len(out) < most:
        header = struct.unpack_from("<H", data, at)[0]
        if header >> 12 & 0b111 != _CHUNK_MARK:
            break
        end = min(at + (header & 0xFFF) + 3, len(data))
        if header & 0x8000:
            _chunk(data, at + 2, end, out)
        else:
            out += data[at + 2 : at + 2 + _CHUNK_BYTES]
        at = end
    return bytes(out[:most])


def _chunk(data: bytes, at: int, end: int, out: bytearray) -> None:
    """Append what one chunk of tokens stands for."""
    start = len(out)
    while at < end:
        flags = data[at]
        at += 1
        for bit in range(8):
            if at >= end or len(out) - start >= _CHUNK_BYTES:
                return
            if not flags >> bit & 1:
                out.append(data[at])
                at += 1
                continue
            if at + 2 > end or len(out) == start:
                return  # a copy of nothing
            token = struct.unpack_from("<H", data, at)[0]
            at += 2
            n_offset_bits = max((len(out) - start - 1).bit_length(), 4)
            length = (token & 0xFFFF >> n_offset_bits) + 3
            source = len(out) - (token >> (16 - n_offset_bits)) - 1
            if source < start:
                return
            piece = out[source : source + length]
            out += (piece * (length // len(piece) + 1))[:length]


def read_macros(ole: Any, content: Content, sink: Sink) -> bool:
    """Add the source texts, names and form texts of each project of a compound file, ``#macros``."""
    entries = ole.listdir()[:_MOST_PROJECT_STREAMS]
    roots = dict.fromkeys(
        tuple(entry[:-2]) for entry in entries if len(entry) > 1 and entry[-2].upper() == "VBA"
    )
    for root in roots:
        lines, n_lost = _project(ole, root, entries)
        if n_lost:
            detail = f"source text of {n_lost} modules is missing, damaged or too large"
            sink.fail(content.place("macros"), FailReason.CORRUPT, detail)
        sink.add("\n".join(lines), content.place("macros"))
    return bool(roots)


def _project(ole: Any, root: tuple[str, ...], entries: list[list[str]]) -> tuple[list[str], int]:
    """Return the texts of one project, and how many modules have no readable source."""
    lines: list[str] = []
    n_lost, n_left = 0, _MOST_BYTES
    for entry in entries:
        if tuple(entry[: len(root)]) != root:
            continue
        name = entry[-1]
        if entry[len(root)].upper() != "VBA":
            lines += _form_texts(name, _stream(ole, entry))
        elif len(entry) == len(root) + 2 and not _NO_MODULE.fullmatch(name):
            data = _stream(ole, entry)
            source = _source(data)
            n_lost += source is None and bool(data)
            n_left -= len(source or b"")
            if n_left < 0:
                return lines, n_lost + 1
            shown = "" if _AUTOMATIC_MODULE.fullmatch(name) else f"Module: {name.replace('_', ' ')}"
            text = decode(source or b"")[0].replace("\r\n", "\n")
            lines += [shown, _ATTRIBUTE_LINE.sub("", text).strip()]
            if source is None:
                lines += typed_runs(data)
    return list(dict.fromkeys(line for line in lines if line)), n_lost


def _source(data: bytes) -> bytes | None:
    """Return the source text of a module from where one begins."""
    begins = [match.start() for match in _SOURCE_BEGINS.finditer(data)][:4]
    for begin in begins or [0]:
        with suppress(ValueError):
            found = decompress(data[begin:])
            if found.strip(b"\0\r\n "):
                return found
    return None


def _form_texts(name: str, data: bytes) -> list[str]:
    """Return captions and values of a form or its controls, and descriptions of the project."""
    if name == _FRAME:
        return _FRAME_VALUE.findall(decode(data)[0])
    if name.upper() == "PROJECT":
        found = _PROJECT_VALUE.findall(decode(data)[0])
        return [text for text in found if text not in _DEFAULT_PROJECTS]
    return [*typed_runs(data)] if name in ("f", "o", "x") else []
