"""Memo files of dBase (DBT) and FoxPro (FPT): the long texts of a table, which lie in a file of their own.

Source: dBase III, dBase IV and Visual FoxPro file structures.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink

_HEAD_BYTES = _BLOCK_BYTES = 512
_FOXPRO_TEXT, _FOXPRO_HEAD = 1, 8
_DBASE4_MARK = b"\xff\xff\x08\0"
_MOST_FOXPRO = 16_384
_END = b"\x1a"


class MemoFileExtractor:
    """Read the memos of a table."""

    media_types = frozenset({"application/x-dbase-memo"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add each memo, ``#memo3``; their texts share one code page."""
        memos = list(_memos(content.data))
        encoding = decode(b"\n".join(memos))[1]
        for number, memo in enumerate(memos, 1):
            sink.add(memo.decode(encoding, "replace"), content.place(f"memo{number}"))


def is_memo_file(data: bytes) -> bool:
    """Tell a memo file by its head, padded with NULs, and the head of its first memo.

    >>> is_memo_file(bytes(1024))
    False
    """
    return bool(_kind(data)) and next(_memos(data), None) is not None


def _kind(data: bytes) -> str:
    if len(data) <= _HEAD_BYTES + _FOXPRO_HEAD or any(data[24:_HEAD_BYTES]):
        return ""
    n_blocks, unused, size = struct.unpack_from(">IHH", data)
    if n_blocks and not unused and 0 < size <= _MOST_FOXPRO and _is_foxpro(data, size):
        return "FoxPro"
    n_blocks = int.from_bytes(data[:4], "little")
    if not 1 < n_blocks <= len(data) // _BLOCK_BYTES + 1:
        return ""
    if data.startswith(_DBASE4_MARK, _HEAD_BYTES):
        return "dBase IV"
    text = data[_HEAD_BYTES : data.find(_END, _HEAD_BYTES)]
    return "dBase III" if len(text) > 1 and _is_text(text) and data[16] in (0, 3) else ""


def _is_foxpro(data: bytes, block: int) -> bool:
    """Tell FoxPro by the head of the first memo: its kind, and a length within the file."""
    at = -(-_HEAD_BYTES // block) * block
    kind, size = struct.unpack_from(">II", data, at) if at + _FOXPRO_HEAD <= len(data) else (0, 0)
    text = data[at + _FOXPRO_HEAD : at + _FOXPRO_HEAD + size]
    return kind <= _FOXPRO_TEXT and 0 < size == len(text) and (kind == 0 or _is_text(text.rstrip(b"\0")))


def _is_text(data: bytes) -> bool:
    return not any(byte < ord("\t") for byte in data)


def _memos(data: bytes) -> Iterator[bytes]:
    kind = _kind(data)
    if kind == "FoxPro":
        yield from _foxpro(data, struct.unpack_from(">H", data, 6)[0])
    elif kind == "dBase IV":
        yield from _dbase4(data)
    elif kind:
        at = _HEAD_BYTES
        while at < len(data):
            end = data.find(_END, at)
            end = len(data) if end < 0 else end
            yield data[at:end].strip(b"\0 ")
            at = -(-max(end + 1, at + 1) // _BLOCK_BYTES) * _BLOCK_BYTES


def _foxpro(data: bytes, block: int) -> Iterator[bytes]:
    at = -(-_HEAD_BYTES // block) * block
    while at + _FOXPRO_HEAD <= len(data):
        kind, size = struct.unpack_from(">II", data, at)
        start = at + _FOXPRO_HEAD
        if kind == _FOXPRO_TEXT and 0 < size <= len(data) - start:
            yield data[start : start + size].rstrip(b"\0 ")
            at = -(-(start + size) // block) * block
        else:
            at += block


def _dbase4(data: bytes) -> Iterator[bytes]:
    at = data.find(_DBASE4_MARK, _HEAD_BYTES)
    while at >= 0:
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        end = max(min(at + size, len(data)), at + _FOXPRO_HEAD)
        yield data[at + _FOXPRO_HEAD : end].rstrip(_END + b"\0")
        at = data.find(_DBASE4_MARK, end)
