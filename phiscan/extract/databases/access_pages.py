"""Rows of Access databases page by page: deleted rows, texts of queries and other rows that no export lists.

A data page holds a directory of its rows; a deleted row keeps its bytes until the page is written anew. The
variable columns of a row are delimited at its end, so each text is read without the definition of its table.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Collection, Iterator
from itertools import pairwise

from phiscan.extract.databases.named import strings
from phiscan.extract.residue.prose import ShownWords, words_of
from phiscan.extract.spreadsheets.rows import SEPARATOR

_PAGE_BYTES = {0: 2048}  # by the version of the header; 4096 for all later ones
_VERSION_AT, _MASKED, _KEY_AT, _ENCRYPTION_AT = 0x14, slice(0x18, 0x98), 0x3E, 0x299
_HEADER_KEY = b"\xc7\xda\x39\x6b"
_LAST_JET, _DATA_PAGE, _CATALOG, _LONG_VALUES = 1, b"\1\1", 2, int.from_bytes(b"LVAL", "little")
_DELETED, _ELSEWHERE, _PLACE = 0x4000, 0x8000, 0x1FFF
_COMPRESSED = b"\xff\xfe"
_MEMO_HEAD = 12
_MOST_PAGES, _MOST_LINES, _MOST_DECRYPTED = 65_536, 20_000, 4_096
_MOST_ENCRYPTION_BYTES = 3_000
_LEAST_WORDS, _LEAST_SHARE = 2, 0.8
_PROPERTIES = re.compile(
    r"NavPane|AutoCorrect|ShowDocumentTabs|CheckTruncated|ANSI Query Mode"
)  # of each database
_SYSTEM, _QUERIES = "MSys", "MSysQueries"
_KNOWN = re.compile(r"[^\W\d_]{2,}|\d{4,}")
_USUAL = re.compile(r"[\w\s.,;:'\"()/@+&%#!?<>=*\[\]{}|\\-]")


def is_encrypted(data: bytes) -> bool:
    """Return whether a database of Access 2007 or later is encrypted with a password.

    Older ones are only masked with a key that lies in their header.
    """
    if len(data) < _ENCRYPTION_AT + 6 or data[_VERSION_AT] <= _LAST_JET:
        return False
    size, major, minor = struct.unpack_from("<HHH", data, _ENCRYPTION_AT)
    return 0 < size < _MOST_ENCRYPTION_BYTES and major in (1, 2, 3, 4) and minor in (1, 2, 3, 4)


def unlisted_rows(data: bytes, listed: Collection[str], shown: ShownWords) -> Iterator[tuple[bool, str]]:
    """Yield whether a row is deleted, and its texts on a line, for rows that no export of the tables holds.

    ``listed`` are the names of the exported tables; ``shown`` holds the words of the extracted text.
    """
    seen: set[str] = set()
    pages = list(_data_pages(data))
    names = _table_names(pages)
    for page, owner in pages:
        name = names.get(owner, "")
        for is_deleted, row in _rows(page):
            if name in listed and not is_deleted:
                continue
            line = _line(row, len(page), is_long_value=owner == _LONG_VALUES)
            is_wanted = line not in seen and len(words_of(line)) >= _LEAST_WORDS
            if is_wanted and (is_deleted or name == _QUERIES or shown.lacks(line)):
                seen.add(line)
                yield is_deleted, line
        for text in () if owner == _CATALOG or name.startswith(_SYSTEM) else strings(_gap(page)):
            if text not in seen and len(words_of(text)) >= _LEAST_WORDS and not _PROPERTIES.search(text):
                seen.add(text)
                yield True, text
        if len(seen) >= _MOST_LINES:
            return


def _table_names(pages: list[tuple[bytes, int]]) -> dict[int, str]:
    """Return the names of tables by the numbers of the pages that define them, from the catalog."""
    return {
        int.from_bytes(row[2:5], "little"): next(
            (_value(raw, len(page)) for raw in _variable(row, len(page))), ""
        )
        for page, owner in pages
        if owner == _CATALOG
        for _, row in _rows(page)
    }


def _data_pages(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the pages of rows, each with the number of the page that defines its table."""
    size = _PAGE_BYTES.get(data[_VERSION_AT], 4096) if len(data) > _VERSION_AT else 4096
    key = _page_key(data)
    most = _MOST_DECRYPTED if key else _MOST_PAGES
    for number in range(1, min(len(data) // size, most)):
        page = data[number * size : (number + 1) * size]
        if key:
            page = _decrypted(struct.pack("<I", key ^ number), page)
        if page.startswith(_DATA_PAGE):
            yield page, struct.unpack_from("<I", page, 4)[0]


def _page_key(data: bytes) -> int:
    """Return the key with which the pages of an old database are masked; 0 = they are not."""
    if len(data) < _MASKED.stop or data[_VERSION_AT] > _LAST_JET:
        return 0
    header = _decrypted(_HEADER_KEY, data[_MASKED])
    return int(struct.unpack_from("<I", header, _KEY_AT - _MASKED.start)[0])


def _decrypted(key: bytes, data: bytes) -> bytes:
    from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4  # noqa: PLC0415 (slow to import)
    from cryptography.hazmat.primitives.ciphers import Cipher  # noqa: PLC0415

    # The library takes keys of 5 bytes or more; a key that is repeated gives the same cipher.
    return Cipher(ARC4(key * 2), mode=None).decryptor().update(data)


def _directory(page: bytes) -> tuple[int, list[int]]:
    """Return the end of a page's directory and its entries."""
    at = 8 if len(page) == _PAGE_BYTES[0] else 12
    n_rows = min(struct.unpack_from("<H", page, at)[0], (len(page) - at - 2) // 2)
    return at + 2 + 2 * n_rows, list(struct.unpack_from(f"<{n_rows}H", page, at + 2))


def _rows(page: bytes) -> Iterator[tuple[bool, bytes]]:
    _, entries = _directory(page)
    end = len(page)
    for entry in entries:
        start = entry & _PLACE
        if not 0 < start <= end:
            return
        if start < end and not (entry & _ELSEWHERE and end - start <= 4):  # noqa: PLR2004 (a pointer)
            yield bool(entry & _DELETED), page[start:end]
        end = start


def _gap(page: bytes) -> bytes:
    """Return the bytes between the directory and the rows, which belong to nothing."""
    start, entries = _directory(page)
    return page[start : min((entry & _PLACE for entry in entries), default=len(page))]


def _line(row: bytes, page_bytes: int, *, is_long_value: bool) -> str:
    if is_long_value:  # a piece of one begins with the place of the next
        texts = max((_text(row), _text(row[4:])), key=len)
        return " ".join(texts.split())
    values = (" ".join(_value(raw, page_bytes).split()) for raw in _variable(row, page_bytes))
    return SEPARATOR.join(value for value in values if _KNOWN.search(value))


def _variable(row: bytes, page_bytes: int) -> Iterator[bytes]:
    """Yield the values of the variable columns of a row."""
    offsets = (_offsets_of_jet3 if page_bytes == _PAGE_BYTES[0] else _offsets_of_jet4)(row)
    if offsets and all(one <= other <= len(row) for one, other in pairwise(offsets)):
        for start, end in pairwise(offsets):
            yield row[start:end]


def _offsets_of_jet4(row: bytes) -> tuple[int, ...]:
    if len(row) < 6:  # noqa: PLR2004 (counts of columns and a mask)
        return ()
    at = len(row) - (struct.unpack_from("<H", row)[0] + 7) // 8 - 2
    if at < 2:  # noqa: PLR2004 (the count of columns)
        return ()
    n_values = struct.unpack_from("<H", row, at)[0]
    start = at - 2 * (n_values + 1)
    return struct.unpack_from(f"<{n_values + 1}H", row, start)[::-1] if start > 0 else ()


def _offsets_of_jet3(row: bytes) -> tuple[int, ...]:
    """Return the offsets of a row of Access 97: a byte each, with a table of where 256 bytes are passed."""
    at = len(row) - (row[0] + 7) // 8 - 1
    if at < 1:
        return ()
    n_values, n_jumps = row[at], max(len(row) - 1, 0) // 256
    start = at - n_jumps - n_values - 1
    if start < 0:
        return ()
    jumps = row[start + n_values + 1 : at][::-1]
    raw = row[start : start + n_values + 1][::-1]
    return tuple(offset + 256 * sum(number >= jump for jump in jumps) for number, offset in enumerate(raw))


def _value(raw: bytes, page_bytes: int) -> str:
    if page_bytes == _PAGE_BYTES[0]:
        return max(_narrow(raw), _narrow(raw[_MEMO_HEAD:]), key=len)
    return _text(raw) or _text(raw[_MEMO_HEAD:])


def _narrow(raw: bytes) -> str:
    text = raw.decode("cp1252", "replace")
    return text if _is_usual(text) else ""


def _text(raw: bytes) -> str:
    """Return a text in UTF-16, whole or with its Latin letters in one byte; empty for anything else."""
    if raw.startswith(_COMPRESSED):
        text = _expanded(raw[2:]).decode("utf-16-le", "replace")
    else:
        text = raw[: len(raw) & ~1].decode("utf-16-le", "replace")
    return text if _is_usual(text) else ""


def _expanded(raw: bytes) -> bytes:
    """Return compressed text as UTF-16: a NUL changes between one byte and two for a letter."""
    out, at, is_short = bytearray(), 0, True
    while at < len(raw):
        if raw[at] == 0:
            is_short, at = not is_short, at + 1
        elif is_short:
            out += bytes((raw[at], 0))
            at += 1
        else:
            out += raw[at : at + 2]
            at += 2
    return bytes(out[: len(out) & ~1])


def _is_usual(text: str) -> bool:
    return (
        bool(text)
        and len(_USUAL.findall(text)) >= _LEAST_SHARE * len(text)
        and all(char.isprintable() or char in "\r\n\t" for char in text)
    )
