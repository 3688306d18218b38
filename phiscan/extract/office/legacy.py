"""Legacy Word and PowerPoint, and the documents that programs of their own read: WordPerfect, Works, Write.

The text stream of Word holds the body, then footnotes, headers, comments, endnotes and text boxes, in order
of character positions. Source: [MS-DOC] 2.4.1 (retrieving text), 2.8.35 (piece table).
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.file_type import sniff
from phiscan.extract.core.unsupported import read_strings
from phiscan.extract.office.binary_texts import add_typed_texts, read_macros
from phiscan.extract.office.compound_file import (
    decrypted,
    is_cut,
    is_encrypted,
    open_ole,
    properties_text,
    slide_records,
    workbook_records,
)
from phiscan.extract.office.storage import embedded_storages
from phiscan.model import FailReason
from phiscan.sandbox import programs
from phiscan.sandbox.channel import in_memory

# The pictures within legacy office files (DOC, XLS, PPT): the BLIP records of OfficeArt.
#
# They are found by their record header, wherever the stream keeps them. Source: [MS-ODRAW] 2.2.23.

_RECORD = re.compile(rb"[\x00-\xff]{2}[\x1a-\x1f\x29\x2a]\xf0", re.DOTALL)
_EMF, _WMF, _DIB = 0xF01A, 0xF01B, 0xF01F
_BITMAPS = {0xF01D, 0xF01E, 0xF029, 0xF02A}  # JPEG, PNG, TIFF, JPEG in CMYK
_STARTS = (b"\x89PNG", b"\xff\xd8\xff", b"II*\0", b"MM\0*")
_HEADER_BYTES, _MAX_PREFIX = 8, 40
_METAFILE_HEADER = 34  # sizes and the way of compression, after one or two identifiers of 16 bytes
_BITMAP_HEADER = b"\x28\0\0\0"
_DRAWING_GROUP = 0x00EB
_DRAWING_GROUP_MARK = struct.pack("<H", _DRAWING_GROUP)
_STREAMS = ("Pictures", "Data", "WordDocument")

Inflate = Callable[[bytes], bytes]


def picture_members(ole: Any, content: Content, sink: Sink) -> Iterator[Content]:
    """Yield the pictures of an opened legacy file as members, ``picture1``; damage is recorded."""
    number = 0
    with sink.part(content.place("pictures"), OSError, ValueError, struct.error):
        for stream in _picture_streams(ole):
            for picture in blips(stream, sink.inflate):
                number += 1
                sink.take_member()
                yield content.member(f"picture{number}", picture)


def _picture_streams(ole: Any) -> Iterator[bytes]:
    for name in _STREAMS:
        if ole.exists(name):
            yield ole.openstream(name).read()
    for name in ("Workbook", "Book"):
        if ole.exists(name):
            yield _drawing_group(ole.openstream(name).read())


def _drawing_group(stream: bytes) -> bytes:
    """Join the pieces of a workbook's pictures: a record holds no more than 8,224 bytes."""
    if _DRAWING_GROUP_MARK not in stream:
        return b""
    records = workbook_records(stream)
    return b"".join(stream[at : at + size] for owner, _, at, size in records if owner == _DRAWING_GROUP)


def blips(stream: bytes, inflate: Inflate) -> Iterator[bytes]:
    """Yield each picture of a stream as a file of its own."""
    at = 0
    while match := _RECORD.search(stream, at):
        start = match.start()
        at = start + 1
        if start + _HEADER_BYTES > len(stream):
            return
        _, kind, size = struct.unpack_from("<HHI", stream, start)
        body = stream[start + _HEADER_BYTES : start + _HEADER_BYTES + size]
        if len(body) < size:  # no record, or one that is cut
            continue
        picture = _picture(kind, body, inflate)
        if picture:
            at = start + _HEADER_BYTES + size
            yield picture


def _picture(kind: int, body: bytes, inflate: Inflate) -> bytes:
    if kind in _BITMAPS:
        starts = [found for magic in _STARTS if (found := body.find(magic, 0, _MAX_PREFIX)) >= 0]
        return body[min(starts) :] if starts else b""
    if kind == _DIB:
        found = body.find(_BITMAP_HEADER, 0, _MAX_PREFIX)
        if found < 0:
            return b""
        from phiscan.extract.ocr.images import bitmap_file  # noqa: PLC0415 (rarely needed)

        return bitmap_file(body[found:])
    if kind not in (_EMF, _WMF):
        return b""
    for n_identifiers in (1, 2):
        packed_at = 16 * n_identifiers + _METAFILE_HEADER
        if body[packed_at : packed_at + 1] == b"\x78":
            return inflate(body[packed_at:])
    return b""


_FIB_FLAGS, _FIB_CLX = 0x0A, 0x01A2
_TABLE_FLAG = 0x0200
_SAVED_IN_PIECES = 0x0004
_FIB_TEXT = 0x18  # where the text begins and ends
_WIDE = 0x1000
_FIB_CLX_95 = 0x0160
_COMPRESSED = 0x40000000
_FIRST_WORD_97 = 0x00C1  # nFib of Word 97
_STORIES = ("body", "footnotes", "headers", "macros", "comments", "endnotes", "textboxes", "header_textboxes")
_FIB_LENGTHS = 0x004C  # ccpText and the lengths of the other stories, 4 bytes each
# A field is 0x13 instruction 0x14 result 0x15; only the result is seen, but instructions may hold addresses.
_MARKS_TO_SPACES = bytes(code if code > 31 else 32 for code in range(256))  # noqa: PLR2004 (controls)
_BREAKS = {"\r": "\n", "\x07": "\t", "\x0b": "\n", "\x0c": "\n"}
_MARKS = {"\x1e": "-", "\x1f": "", "\x13": " ", "\x14": " ", "\x15": ""}
_CONTROLS = str.maketrans(_BREAKS | _MARKS | {chr(code): "" for code in (0, 1, 2, 3, 4, 5, 6, 8)})
_INSTRUCTION = re.compile(r"\x13\s*(?!HYPERLINK|FILLIN|COMMENTS|AUTHOR)[^\x13-\x15]*(?=[\x14\x15])")


def stories(ole: Any) -> list[tuple[str, str]]:
    """Return ``(story, text)`` for every part of a Word document that holds text.

    Raises:
        ExtractError: unsupported or corrupt.
    """
    fib = ole.openstream("WordDocument").read()
    if len(fib) < _FIB_CLX + 8:
        raise ExtractError(FailReason.CORRUPT, "short Word header")
    if struct.unpack_from("<H", fib, 2)[0] < _FIRST_WORD_97:
        return [("body", _clean(_word_95_text(fib)))]
    flags = struct.unpack_from("<H", fib, _FIB_FLAGS)[0]
    table = ole.openstream("1Table" if flags & _TABLE_FLAG else "0Table").read()
    offset, size = struct.unpack_from("<II", fib, _FIB_CLX)
    text = "".join(_pieces(fib, table[offset : offset + size]))
    lengths = struct.unpack_from("<8i", fib, _FIB_LENGTHS)
    found, at = [], 0
    for name, length in zip(_STORIES, lengths, strict=True):
        part = text[at : at + max(length, 0)]
        at += max(length, 0)
        if part:
            found.append((name, _clean(part)))
    if at < len(text):
        found.append(("rest", _clean(text[at:])))
    return found


def _word_95_text(stream: bytes) -> str:
    """Return the text of Word 6 and 95: in one run or in pieces, of one byte or two per character."""
    flags = struct.unpack_from("<H", stream, _FIB_FLAGS)[0]
    width = 2 if flags & _WIDE else 1
    if flags & _SAVED_IN_PIECES:
        offset, size = struct.unpack_from("<II", stream, _FIB_CLX_95)
        ranges = [(place, place + width * n) for place, n in _piece_table(stream[offset : offset + size])]
    else:
        ranges = [struct.unpack_from("<II", stream, _FIB_TEXT)]
    data = b"".join(stream[start:end] for start, end in ranges)
    if width == 2:  # noqa: PLR2004 (UTF-16)
        return data.decode("utf-16-le", "replace")
    # The code page is nowhere; the letters tell it, without the marks of cells and fields.
    _, encoding = decode(data.translate(_MARKS_TO_SPACES))
    return data.decode(encoding, "replace")


def _pieces(stream: bytes, clx: bytes) -> list[str]:
    """Decode the pieces: UTF-16, or one byte per character."""
    texts = []
    for place, n_chars in _piece_table(clx):
        if place & _COMPRESSED:
            start = (place & ~_COMPRESSED) // 2
            texts.append(stream[start : start + n_chars].decode("cp1252", "replace"))
        else:
            texts.append(stream[place : place + 2 * n_chars].decode("utf-16-le", "replace"))
    return texts


def _piece_table(clx: bytes) -> list[tuple[int, int]]:
    """Return ``(place in the stream, characters)`` of each piece, in the order of the text.

    Raises:
        ExtractError: corrupt; there is no table.
    """
    at = 0
    while at + 3 <= len(clx) and clx[at] == 1:  # formatting changes, before the table
        at += 3 + struct.unpack_from("<H", clx, at + 1)[0]
    if at + 5 > len(clx) or clx[at] != 2:  # noqa: PLR2004 (the mark of the piece table)
        raise ExtractError(FailReason.CORRUPT, "no piece table")
    size = struct.unpack_from("<I", clx, at + 1)[0]
    table = clx[at + 5 : at + 5 + size]
    n_pieces = (len(table) - 4) // 12
    positions = struct.unpack_from(f"<{n_pieces + 1}I", table)
    pieces = []
    for number in range(n_pieces):
        place = struct.unpack_from("<I", table, 4 * (n_pieces + 1) + 8 * number + 2)[0]
        n_chars = positions[number + 1] - positions[number]
        if n_chars > 0:
            pieces.append((place, n_chars))
    return pieces


def _clean(text: str) -> str:
    lines = (line.strip(" \t") for line in _INSTRUCTION.sub("", text).translate(_CONTROLS).split("\n"))
    return "\n".join(line for line in lines if line)


def read_legacy_office(content: Content, sink: Sink) -> None:
    """Add one segment per story or slide, then the properties."""
    ole = open_ole(content.data)
    if is_encrypted(ole):
        ole.close()
        content = replace(content, data=decrypted(content.data, sink.passwords))
        ole = open_ole(content.data)
    n_segments = sink.n_segments
    with ole:
        if is_cut(ole):
            sink.fail(content.locator, FailReason.CORRUPT, "cut short")
        is_word = ole.exists("WordDocument")
        parts = _parts(ole, is_word=is_word)
        members = _objects(ole, content, sink, is_word=is_word)
        pictures = list(picture_members(ole, content, sink))
        properties = properties_text(ole)
        if parts:
            for number, (place, text) in enumerate(parts, 1):
                sink.add(text, content.place(place if is_word else f"{place.partition('@')[0]}{number}"))
        else:
            sink.fail(content.locator, FailReason.CORRUPT, "damaged: only the runs of text in it are read")
        sink.add(properties, content.place("properties"))
        embedded = hidden_parts(ole, content, sink, n_segments)
    for member in embedded:
        sink.read_member(member)
    for number, data in enumerate(members, 1):
        sink.read_member(content.member(f"object{number}", data))
    for picture in pictures:
        sink.read_member(picture)


def hidden_parts(ole: Any, content: Content, sink: Sink, n_segments: int) -> list[Content]:
    """Add macros and texts beside the text of an opened legacy file; return the objects embedded in it."""
    read_macros(ole, content, sink)
    add_typed_texts(ole, content, sink, n_segments)
    return list(embedded_storages(ole, content, sink))


def _parts(ole: Any, *, is_word: bool) -> list[tuple[str, str]]:
    """Return the parts by our own readers; empty where the format is older or damaged."""
    try:
        return stories(ole) if is_word else atoms(ole)
    except (ExtractError, OSError, ValueError, struct.error, IndexError):
        return []


def _objects(ole: Any, content: Content, sink: Sink, *, is_word: bool) -> list[bytes]:
    """Return the files that other applications embedded; where they cannot be read is recorded."""
    found: list[bytes] = []
    with sink.part(content.place("objects"), OSError, ValueError, struct.error):
        if is_word:
            for entry in ole.listdir():
                if entry[0] == "ObjectPool" and entry[-1] in ("Package", "CONTENTS"):
                    sink.take_member()
                    found.append(ole.openstream(entry).read())
        else:
            for data in objects(ole, sink.inflate):
                sink.take_member()
                found.append(data)
    return found


Run = Callable[..., programs.Finished]
_DOCUMENTS = {
    "application/vnd.wordperfect": "wpd2text",
    "application/vnd.ms-works": "wps2text",
    "application/x-mswrite": "wps2text",
}
BY_PROGRAM_TYPES = frozenset(_DOCUMENTS)


@contextmanager
def program_runs(content: Content, seconds: float) -> Iterator[Run]:
    """Give a function that runs programs on a file in memory, never on a disk, within one limit of time.

    The function raises ExtractError: timed_out.
    """
    descriptor = in_memory(content.data) if content.stream is None else content.stream.fileno()
    ends = time.monotonic() + seconds

    def run(job: str, **values: str) -> programs.Finished:
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            return programs.run(job, descriptor, max(ends - time.monotonic(), 0.01), **values)
        except subprocess.TimeoutExpired:
            raise ExtractError(FailReason.TIMED_OUT, job) from None

    try:
        yield run
    finally:
        if content.stream is None:
            os.close(descriptor)


def read_by_program(content: Content, sink: Sink) -> None:
    """Add the text of a WordPerfect, Works or Write document by wpd2text or wps2text.

    Raises:
        ExtractError: unsupported, where not even a run of text is found; timed_out.
    """
    media_type = sniff(content.data, content.name)
    job = _DOCUMENTS[media_type]
    if not programs.is_installed(job):
        read_strings(content, media_type, sink, f"needs {job}, which is not installed")
        return
    with program_runs(content, sink.limits.time_s) as run:
        done = run(job)
    text = done.output.decode("utf-8", "replace").strip()
    if not text:
        read_strings(content, media_type, sink, f"damaged or of a version that {job} does not know")
        return
    sink.add(text, content.locator)
    if done.status:
        sink.fail(content.locator, FailReason.CORRUPT, f"{job} read a part of it")


_TEXT_CHARS, _TEXT_BYTES, _CSTRING = 0x0FA0, 0x0FA8, 0x0FBA
_OBJECT = 0x1011  # ExOleObjStg, deflated when its instance is 1


def atoms(ole: Any) -> list[tuple[str, str]]:
    """Return ``(place, text)`` per slide, notes page and master; also what fast saving kept."""
    gathered: dict[str, list[str]] = {}
    for place, _, kind, body in slide_records(ole.openstream("PowerPoint Document").read()):
        if kind in (_TEXT_CHARS, _CSTRING, _TEXT_BYTES):
            text = body.decode("latin-1" if kind == _TEXT_BYTES else "utf-16-le", "replace")
            cleaned = text.replace("\r", "\n").replace("\x0b", "\n").replace("\0", "").strip()
            if cleaned and not cleaned.startswith("___PPT"):  # the names of binary tags
                gathered.setdefault(place, []).append(cleaned)
    return [(place, "\n".join(lines)) for place, lines in gathered.items()]


def objects(ole: Any, inflate: Callable[[bytes], bytes]) -> Iterator[bytes]:
    """Yield the compound files of embedded objects; ``inflate`` unpacks within the budget."""
    for _, instance, kind, body in slide_records(ole.openstream("PowerPoint Document").read()):
        if kind == _OBJECT and body:
            yield inflate(body[4:]) if instance else body
