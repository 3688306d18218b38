"""Visual Basic projects in office files: source text of modules, captions and values of forms, names.

Source: [MS-OVBA] 2.4.1 (compression), 2.3.4.2 (dir stream), 2.3.1 (PROJECT stream).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import Any

from phiscan.extract.compound_parts.text_runs import is_typed, narrow_runs, wide_runs
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.office.compound_file import codec
from phiscan.model import FailReason

_CHUNK_BYTES = 4096
_SIGNATURE, _CHUNK_MARK = 1, 0b011
_MOST_SOURCE_BYTES = 4 * 1024**2  # of one module
_MOST_BYTES = 32 * 1024**2  # of all modules of a project
_MOST_STREAMS = 2_000
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
# Records of the dir stream.
_CODE_PAGE, _NAME, _STREAM_NAME, _OFFSET, _VERSION = 0x03, 0x19, 0x1A, 0x31, 0x09
_DESCRIPTIONS = (0x05, 0x1C, 0x0C)


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
    entries = ole.listdir()[:_MOST_STREAMS]
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
    code_page, modules, described = _directory(_stream(ole, [*root, "VBA", "dir"]))
    encoding = codec(code_page)
    lines += [text for text in described if is_typed(text)]
    for entry in entries:
        if tuple(entry[: len(root)]) != root:
            continue
        name = entry[-1]
        if entry[len(root)].upper() != "VBA":
            lines += _form_texts(name, _stream(ole, entry), encoding)
        elif len(entry) == len(root) + 2 and not _NO_MODULE.fullmatch(name):
            data = _stream(ole, entry)
            source = _source(data, modules.get(name.casefold()))
            n_lost += source is None and bool(data)
            n_left -= len(source or b"")
            if n_left < 0:
                return lines, n_lost + 1
            shown = "" if _AUTOMATIC_MODULE.fullmatch(name) else f"Module: {name.replace('_', ' ')}"
            text = (source or b"").decode(encoding, "replace").replace("\r\n", "\n")
            lines += [shown, _ATTRIBUTE_LINE.sub("", text).strip()]
            if source is None:
                lines += _runs(data)
    return list(dict.fromkeys(line for line in lines if line)), n_lost


def _stream(ole: Any, path: list[str]) -> bytes:
    try:
        return bytes(ole.openstream(path).read())
    except (OSError, ValueError):
        return b""


def _source(data: bytes, offset: int | None) -> bytes | None:
    """Return the source text of a module from where the directory says, or from where one begins."""
    begins = [offset] if offset is not None and offset < len(data) else []
    begins += [match.start() for match in _SOURCE_BEGINS.finditer(data)][:4]
    for begin in begins or [0]:
        try:
            found = decompress(data[begin:])
        except ValueError:
            continue
        if found.strip(b"\0\r\n "):
            return found
    return None


def _directory(packed: bytes) -> tuple[int, dict[str, int], list[str]]:
    """Return code page, source offsets by stream name, and descriptions in the directory of a project."""
    code_page, offsets, described, stream = 1252, {}, [], ""
    try:
        data = decompress(packed, 1024**2)
    except ValueError:
        return code_page, {}, []
    at = 0
    while at + 6 <= len(data):
        kind, size = struct.unpack_from("<HI", data, at)
        if kind == _VERSION:  # whose size does not count its last field
            size = 6
        body = data[at + 6 : at + 6 + size]
        at += 6 + size
        if kind == _CODE_PAGE and len(body) == 2:  # noqa: PLR2004 (a short number)
            code_page = struct.unpack("<H", body)[0]
        elif kind == _STREAM_NAME:
            stream = body.decode(codec(code_page), "replace").casefold()
        elif kind == _OFFSET and len(body) == 4:  # noqa: PLR2004 (a number)
            offsets[stream] = struct.unpack("<I", body)[0]
        elif kind in _DESCRIPTIONS and body:
            described.append(body.decode(codec(code_page), "replace"))
    return code_page, offsets, described


def _form_texts(name: str, data: bytes, encoding: str) -> list[str]:
    """Return captions and values of a form or its controls, and descriptions of the project."""
    if name == _FRAME:
        return _FRAME_VALUE.findall(data.decode(encoding, "replace"))
    if name.upper() == "PROJECT":
        found = _PROJECT_VALUE.findall(data.decode(encoding, "replace"))
        return [text for text in found if text not in _DEFAULT_PROJECTS]
    return _runs(data) if name in ("f", "o", "x") else []


def _runs(data: bytes) -> list[str]:
    return [text.strip() for text in _all_runs(data) if is_typed(text.strip())]


def _all_runs(data: bytes) -> Iterator[str]:
    yield from (text for _, text in narrow_runs(data))
    yield from (text for _, text in wide_runs(data))
