"""SQLite databases: every row of every table after its column names, read from memory."""

from __future__ import annotations

import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from phiscan.errors import ExtractError, kind_of
from phiscan.extract.core.content import Content, Inflating, Sink, TextFullError
from phiscan.extract.core.file_type import sniff
from phiscan.extract.core.labels import humanise
from phiscan.extract.core.magic_numbers import EMPTY, UNKNOWN
from phiscan.extract.core.unsupported import strings
from phiscan.extract.spreadsheets.rows import ROWS_AT_ONCE, add_rows
from phiscan.model import FailReason

_MOST_TABLES = 2_000
_MOST_SECONDS = 60.0
_STEPS = 100_000  # of the engine between two looks at the clock
_KEY_BYTES = 16  # a shorter blob is a key or a word, no file
_ZLIB_HEADS = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_PREFIX_BYTES = 4  # the length of the whole, which some programs write before compressed data
_SHORT_BYTES = 3
_JOURNAL_VERSIONS = slice(18, 20)  # 2 says that a journal lies beside the file; 1 that none does


def read_sqlite(content: Content, sink: Sink) -> None:
    """Add rows in blocks, ``#table2/row201``, and read files in cells as members; of damage the texts.

    Raises:
        ExtractError: corrupt.
    """
    data = bytearray(content.data)
    if data[_JOURNAL_VERSIONS] == b"\2\2":
        data[_JOURNAL_VERSIONS] = b"\1\1"
    n_segments, n_unread = sink.n_segments, len(sink.unread)
    with sink.part(content.locator, sqlite3.Error, said="damaged SQLite database"):
        _read_tables(bytes(data), content, sink)
    if len(sink.unread) > n_unread:
        sink.add("\n".join(strings(content.data)), content.place("strings"))
    if sink.n_segments == n_segments and len(sink.unread) > n_unread:
        raise ExtractError(FailReason.CORRUPT, "no SQLite tables")


def _read_tables(data: bytes, content: Content, sink: Sink) -> None:
    with _opened(data) as database:
        tables = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
        ).fetchmany(_MOST_TABLES + 1)
        if len(tables) > _MOST_TABLES:
            place = content.place(f"table{_MOST_TABLES + 1}")
            sink.fail(place, FailReason.TOO_LARGE, f"tables after the first {_MOST_TABLES} are not read")
        for number, (name,) in enumerate(tables[:_MOST_TABLES], 1):
            _read_table(database, name, content, sink, f"table{number}")


def _read_table(database: sqlite3.Connection, name: str, content: Content, sink: Sink, place: str) -> None:
    try:
        quoted = str(name).replace('"', '""')
        rows = database.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 (a name cannot be a parameter)
        labels = [humanise(column[0]) for column in rows.description]
        sink.add(f"Table: {name}", content.place(place))
        first = 1
        while block := rows.fetchmany(ROWS_AT_ONCE):
            shown = (
                [_short_text(cell) if isinstance(cell, bytes) else cell for cell in row] for row in block
            )
            following = add_rows(shown, labels, content, sink, first, f"{place}/")
            for number, row in enumerate(block, first):
                _read_files(row, content, sink, f"{place}-row{number}")
            first = following
    except TextFullError:
        raise
    except (sqlite3.Error, UnicodeError) as error:
        sink.fail(content.place(place), FailReason.CORRUPT, kind_of(error))


@contextmanager
def _opened(data: bytes) -> Iterator[sqlite3.Connection]:
    """Give a database in memory; work of more than a minute ends."""
    with closing(sqlite3.connect(":memory:")) as database:
        try:
            database.deserialize(data)
        except sqlite3.Error:
            raise ExtractError(FailReason.CORRUPT, "no SQLite database") from None
        database.text_factory = lambda raw: raw.decode("utf-8", "replace")
        deadline = time.monotonic() + _MOST_SECONDS
        database.set_progress_handler(lambda: int(time.monotonic() > deadline), _STEPS)
        database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA temp_store = MEMORY")
        yield database


def _short_text(value: bytes) -> str:
    """Return a blob that is too short for a file as text, where it is printable."""
    if not _SHORT_BYTES <= len(value) <= _KEY_BYTES:
        return ""
    with suppress(UnicodeDecodeError):
        text = value.decode()
        return text if text.isprintable() else ""
    return ""


def _read_files(row: tuple[object, ...], content: Content, sink: Sink, place: str) -> None:
    for number, value in enumerate(row, 1):
        if isinstance(value, bytes) and len(value) > _KEY_BYTES:
            sink.add_member(content, f"{place}-{number}", _inflated(value, sink))


def _inflated(value: bytes, sink: Sink) -> bytes:
    """Return a blob unpacked where it is compressed with zlib, with or without a head, else as it is.

    Raises:
        ExtractError: too_large.
    """
    if sniff(value) != UNKNOWN:
        return value
    for start, window in ((0, zlib.MAX_WBITS), (_PREFIX_BYTES, zlib.MAX_WBITS), (0, -zlib.MAX_WBITS)):
        if window > 0 and value[start : start + 2] not in _ZLIB_HEADS:
            continue
        try:
            found = sink.unpack(Inflating(value[start:], window), len(value))
        except zlib.error:
            continue
        if sniff(found) not in (EMPTY, UNKNOWN):
            return found
    return value
