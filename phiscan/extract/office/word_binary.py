"""Legacy Word (DOC, Word 97 to 2003): the whole text stream, in order of character positions.

The stream holds the body, then footnotes, headers, comments, endnotes and text boxes, so nothing that a
reader sees is lost. Source: [MS-DOC] 2.4.1 (retrieving text), 2.8.35 (piece table).
"""

from __future__ import annotations

import re
import struct
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode
from phiscan.model import FailReason

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
