"""Rows of SQLite page by page, without column names: write-ahead logs, rollback journals, damaged files.

A page of rows begins with a directory of its cells; each cell is a record that names the types of its values.
Source: the file format of SQLite, sections 1.6 (pages), 3 (rollback journal) and 4 (write-ahead log).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.databases.named import strings
from phiscan.extract.databases.sqlite_remains import ENCODINGS, MOST_SCANNED, read_record, region_texts
from phiscan.extract.residue.prose import words_of
from phiscan.model import FailReason

WAL, JOURNAL = "application/x-sqlite-wal", "application/x-sqlite-journal"
WAL_MAGICS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
JOURNAL_MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
_HEADER_BYTES, _FRAME_BYTES, _WAL_BYTES = 100, 24, 32
_TABLE_LEAF, _INDEX_PAGES = 0x0D, (0x02, 0x05, 0x0A)
_LEAST_PAGE, _MOST_PAGE = 512, 65_536
_MOST_PAGES = 20_000
_DEFAULT_PAGE = 4096


class SqliteLogExtractor:
    """Read the rows that a program has written and not yet, or no longer, in the database itself."""

    media_types = frozenset({WAL, JOURNAL})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the rows of all pages in it, ``#rows``.

        Raises:
            ExtractError: corrupt, where it has no pages.
        """
        is_log = content.data.startswith(WAL_MAGICS)
        pages = list((_log_pages if is_log else _journal_pages)(content.data))
        if not pages:
            raise ExtractError(FailReason.CORRUPT, "no pages of SQLite")
        sink.add("\n".join(page_rows(pages)), content.place("rows"))


def database_rows(data: bytes) -> Iterator[str]:
    """Yield the rows of a damaged database; pages are of the usual size if its head gives no other."""
    size = int.from_bytes(data[16:18], "big")
    size = _MOST_PAGE if size == 1 else size
    if not _is_page_size(size):
        size = _DEFAULT_PAGE
    yield from page_rows(data[at : at + size] for at in range(0, len(data), size))


def page_rows(pages: Iterable[bytes]) -> Iterator[str]:
    """Yield the values of each row on a line, once; of damaged pages also the runs of text."""
    seen: set[str] = set()
    encoding = "utf-8"
    for number, page in enumerate(pages):
        if number >= _MOST_PAGES:
            return
        start = 0
        if page.startswith(b"SQLite format 3\0"):
            start = _HEADER_BYTES
            encoding = ENCODINGS.get(int.from_bytes(page[56:60], "big"), "utf-8")
        is_scanned = number * len(page) < MOST_SCANNED
        for text in _texts(page, start, encoding, is_scanned=is_scanned):
            if text not in seen and len(words_of(text)) > 1:
                seen.add(text)
                yield text


def _texts(page: bytes, start: int, encoding: str, *, is_scanned: bool) -> Iterator[str]:
    kind = page[start] if start < len(page) else 0
    if kind in _INDEX_PAGES:
        return
    if kind != _TABLE_LEAF or start + 8 > len(page):
        yield from region_texts(page, encoding, is_scanned=is_scanned)
        return
    n_cells = min(struct.unpack_from(">H", page, start + 3)[0], (len(page) - start - 8) // 2)
    cells = sorted(struct.unpack_from(f">{n_cells}H", page, start + 8))
    for cell, following in zip(cells, [*cells[1:], len(page)], strict=True):
        found = read_record(page, cell, encoding) if cell < len(page) else None
        if found is not None:
            yield found[0]
        else:  # it goes on in other pages, or is damaged
            yield " | ".join(strings(page[cell:following]))


def _log_pages(data: bytes) -> Iterator[bytes]:
    size = int.from_bytes(data[8:12], "big")
    if _is_page_size(size):
        for at in range(_WAL_BYTES + _FRAME_BYTES, len(data), size + _FRAME_BYTES):
            yield data[at : at + size]


def _journal_pages(data: bytes) -> Iterator[bytes]:
    if len(data) < _HEADER_BYTES:
        return
    sector, size = struct.unpack_from(">II", data, 20)
    if _is_page_size(size) and _is_page_size(sector):
        for at in range(sector + 4, len(data), size + 8):  # each after its number, before its checksum
            yield data[at : at + size]


def _is_page_size(size: int) -> bool:
    return _LEAST_PAGE <= size <= _MOST_PAGE and not size & (size - 1)
