"""Deleted rows of SQLite databases: records in free pages, in free blocks and in the gap of a page.

What was deleted stays until its place is used again. A record is known by its header, whose lengths must add
up; where the header is overwritten, the runs of text are taken.
Source: the file format of SQLite, sections 1.5 (freelist), 1.6 (pages) and 2.1 (records).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from phiscan.extract.databases.named import strings
from phiscan.extract.residue.prose import words_of

_HEADER_BYTES = 100
_TABLE_LEAF = 0x0D
_TRUNK_HEAD = 8
_MOST_PAGES = 4_000
MOST_SCANNED = 1024**2  # bytes of the database in which records are looked for
_MOST_COLUMNS = 100
_INTEGER_BYTES = (0, 1, 2, 3, 4, 6, 8)
_FLOAT, _ZERO, _ONE, _BLOB, _TEXT = 7, 8, 9, 12, 13
_LEAST_WORDS = 2
ENCODINGS = {2: "utf-16-le", 3: "utf-16-be"}


def deleted_texts(data: bytes) -> Iterator[str]:
    """Yield what is left of deleted rows, each record or run of text on a line, from a whole database."""
    size = int.from_bytes(data[16:18], "big")
    size = 65536 if size == 1 else size
    if size < 512 or size & (size - 1):  # noqa: PLR2004 (the least page of SQLite)
        return
    encoding = ENCODINGS.get(int.from_bytes(data[56:60], "big"), "utf-8")
    seen: set[str] = set()
    n_scanned = 0
    for region in _free_regions(data, size):
        if not any(region):
            continue
        n_scanned += len(region)
        for text in region_texts(region, encoding, is_scanned=n_scanned <= MOST_SCANNED):
            if text not in seen:
                seen.add(text)
                yield text


def _free_regions(data: bytes, size: int) -> Iterator[bytes]:
    """Yield the bytes of free pages, then the gaps and free blocks of the pages of tables."""
    free = _free_pages(data, size)
    for number, head in sorted(free.items()):
        yield data[(number - 1) * size + head : number * size]
    n_pages = 0
    for at in range(0, len(data) - size + 1, size):
        start = at + (_HEADER_BYTES if at == 0 else 0)
        if at // size + 1 in free or data[start] != _TABLE_LEAF:
            continue
        n_pages += 1
        if n_pages > _MOST_PAGES:
            return
        yield from _page_regions(data[at : at + size], start - at)


def _free_pages(data: bytes, size: int) -> dict[int, int]:
    """Return the numbers of free pages with the bytes at their beginning that are no remains."""
    pages: dict[int, int] = {}
    trunk = int.from_bytes(data[32:36], "big")
    while trunk and trunk not in pages and trunk * size <= len(data):
        at = (trunk - 1) * size
        following, n_leaves = struct.unpack_from(">II", data, at)
        n_leaves = min(n_leaves, size // 4 - 2)
        pages[trunk] = _TRUNK_HEAD + 4 * n_leaves
        for leaf in struct.unpack_from(f">{n_leaves}I", data, at + _TRUNK_HEAD):
            pages.setdefault(leaf, 0)
        trunk = following
    return pages


def _page_regions(page: bytes, start: int) -> Iterator[bytes]:
    block, n_cells, content = struct.unpack_from(">HHH", page, start + 1)
    content = content or len(page)
    yield page[start + 8 + 2 * n_cells : content]
    for _ in range(len(page) // 4):
        if not start < block <= len(page) - 4:
            return
        following, n_bytes = struct.unpack_from(">HH", page, block)
        yield page[block + 4 : block + n_bytes]
        if following < block + max(n_bytes, 4):  # in order and without overlap; anything else is damage
            return
        block = following


def region_texts(region: bytes, encoding: str, *, is_scanned: bool) -> Iterator[str]:
    """Yield the records that are found in bytes without a directory, and the runs of text between them."""
    at = 0
    rest: list[bytes] = []
    if is_scanned:
        covered = 0
        while at < len(region):
            found = read_record(region, at, encoding) or (
                _beheaded(region, at, encoding) if at == 0 else None
            )
            if found is None:
                at += 1
                continue
            text, end = found
            if text:
                yield text
            rest.append(region[covered:at])
            covered = at = end
        rest.append(region[covered:])
    for left in rest if is_scanned else [region]:
        for text in strings(left):
            if len(words_of(text)) >= _LEAST_WORDS:
                yield text


def read_record(region: bytes, at: int, encoding: str) -> tuple[str, int] | None:
    """Read a whole cell: the length of its record, its row number, and a record of that length."""
    length, after = _varint(region, at)
    _, start = _varint(region, after)
    if not 3 <= length <= len(region) - start:  # noqa: PLR2004 (a header and a value)
        return None
    n_header, types_at = _varint(region, start)
    if not 2 <= n_header <= length:  # noqa: PLR2004 (its own length and a type)
        return None
    return _values(region, types_at, start + n_header, start + length, encoding)


def _beheaded(region: bytes, at: int, encoding: str) -> tuple[str, int] | None:
    """Read a record whose first four bytes are overwritten: the types that are left must fill the block."""
    for types_end in range(at + 1, min(at + _MOST_COLUMNS, len(region))):
        found = _values(region, at, types_end, len(region), encoding)
        if found is not None and found[0]:
            return found
    return None


def _values(region: bytes, at: int, types_end: int, end: int, encoding: str) -> tuple[str, int] | None:
    """Return the values of a record on one line and its end; None where types and lengths do not add up."""
    types: list[int] = []
    n_bytes = 0
    while at < types_end:
        kind, at = _varint(region, at)
        types.append(kind)
        n_bytes += _size(kind)
        # Checked here: most of what is tried is no record, and may claim types without end.
        if len(types) > _MOST_COLUMNS or n_bytes > end - types_end:
            return None
    if at != types_end or types_end + n_bytes != end:
        return None
    shown = []
    for kind in types:
        raw = region[at : at + _size(kind)]
        at += len(raw)
        if kind >= _TEXT and kind % 2:
            try:
                shown.append(raw.decode(encoding))
            except UnicodeDecodeError:
                return None
        elif 0 < kind < _FLOAT:
            shown.append(str(int.from_bytes(raw, "big", signed=True)))
    text = " | ".join(" ".join(value.split()) for value in shown if value.strip())
    return (text if len(words_of(text)) >= _LEAST_WORDS else ""), end


def _size(kind: int) -> int:
    if kind >= _BLOB:
        return (kind - _BLOB) // 2
    return _INTEGER_BYTES[kind] if kind < _FLOAT else 8 * (kind == _FLOAT)


def _varint(region: bytes, at: int) -> tuple[int, int]:
    value = 0
    for step in range(9):
        if at + step >= len(region):
            return 0, len(region)
        byte = region[at + step]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:  # noqa: PLR2004 (the last byte of a number)
            return value, at + step + 1
    return value, at + 9
