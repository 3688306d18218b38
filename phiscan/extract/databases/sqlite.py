"""SQLite databases: every row of every table after its column names, read from memory."""

from __future__ import annotations

import re
import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress

from phiscan.errors import ExtractError, kind_of
from phiscan.extract.core.content import Content, Inflating, Sink, TextFullError
from phiscan.extract.core.file_type import sniff
from phiscan.extract.core.labels import humanise
from phiscan.extract.core.magic_numbers import EMPTY, UNKNOWN
from phiscan.extract.core.prose import ShownWords, words_of
from phiscan.extract.core.unsupported import strings
from phiscan.extract.databases.records import list_long_cells
from phiscan.extract.spreadsheets.rows import SEPARATOR
from phiscan.model import FailReason

_ROWS_AT_ONCE = 200
_MOST_TABLES = 2_000
_MOST_SECONDS = 60.0
_STEPS = 100_000  # of the engine between two looks at the clock
_MOST_CELL = 1_000_000
_KEY_BYTES = 16  # a shorter blob is a key or a word, no file
_LITERAL = re.compile(r"'((?:[^']|''){5,4000})'|--([^\n]{5,4000})|/\*(.{5,4000}?)\*/", re.DOTALL)
_DEFINITION = re.compile(r"CREATE (?:TABLE|(?:UNIQUE )?INDEX|VIEW|TRIGGER|VIRTUAL TABLE)\b")
_ZLIB_HEADS = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_PREFIX_BYTES = 4  # the length of the whole, which some programs write before compressed data
_SHORT_BYTES = 3
_HEADER_BYTES = 100
_JOURNAL_VERSIONS = slice(18, 20)  # 2 says that a journal lies beside the file; 1 that none does


def read_sqlite(content: Content, sink: Sink) -> None:
    """Add rows in blocks, ``#table2/row201``, and read files in cells as members.

    Runs of text that no row gave follow, ``#deleted``: what is left of deleted rows and of damaged pages.

    Raises:
        ExtractError: corrupt.
    """
    data = bytearray(content.data)
    if data[_JOURNAL_VERSIONS] == b"\2\2":
        data[_JOURNAL_VERSIONS] = b"\1\1"
    n_segments, n_pieces, n_unread = sink.n_segments, sink.n_pieces, len(sink.unread)
    packed = b""
    with sink.part(content.locator, sqlite3.Error, said="damaged SQLite database"):
        packed = _read_tables(bytes(data), content, sink)
    sink.add("\n".join(_remains(content.data, packed, sink.text_since(n_pieces))), content.place("deleted"))
    if sink.n_segments == n_segments and len(sink.unread) > n_unread:
        raise ExtractError(FailReason.CORRUPT, "no SQLite tables")


def _read_tables(data: bytes, content: Content, sink: Sink) -> bytes:
    """Add every table; return the database without its free pages, empty where it is damaged."""
    with _opened(data) as database:
        tables = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
        ).fetchmany(_MOST_TABLES + 1)
        if len(tables) > _MOST_TABLES:
            place = content.place(f"table{_MOST_TABLES + 1}")
            sink.fail(place, FailReason.TOO_LARGE, f"tables after the first {_MOST_TABLES} are not read")
        for number, (name,) in enumerate(tables[:_MOST_TABLES], 1):
            _read_table(database, name, content, sink, f"table{number}")
        sink.add("\n".join(_schema_texts(database)), content.place("schema"))
        with suppress(sqlite3.Error):
            database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 1)  # VACUUM attaches the new database
            database.execute("VACUUM")
            return database.serialize()
        return b""


def _read_table(database: sqlite3.Connection, name: str, content: Content, sink: Sink, place: str) -> None:
    try:
        quoted = str(name).replace('"', '""')
        rows = database.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 (a name cannot be a parameter)
        labels = [humanise(column[0]) for column in rows.description]
        sink.add(f"Table: {name}", content.place(place))
        first = 1
        while block := rows.fetchmany(_ROWS_AT_ONCE):
            lines = (SEPARATOR.join(_cells(labels, row)) for row in block)
            sink.add("\n".join(line for line in lines if line), content.place(f"{place}/row{first}"))
            list_long_cells(block, content.place(f"{place}/row{first}"), sink)
            for offset, row in enumerate(block):
                _read_files(row, content, sink, f"{place}-row{first + offset}")
            first += len(block)
    except TextFullError:
        raise
    except (sqlite3.Error, UnicodeError) as error:
        sink.fail(content.place(place), FailReason.CORRUPT, kind_of(error))


class _opened:  # noqa: N801 (a context, like those of contextlib)
    """A database in memory; work of more than a minute ends."""

    def __init__(self, data: bytes) -> None:
        self._database = sqlite3.connect(":memory:")
        try:
            self._database.deserialize(data)
        except sqlite3.Error:
            self._database.close()
            raise ExtractError(FailReason.CORRUPT, "no SQLite database") from None

    def __enter__(self) -> sqlite3.Connection:
        database = self._database
        database.text_factory = lambda raw: raw.decode("utf-8", "replace")
        deadline = time.monotonic() + _MOST_SECONDS
        database.set_progress_handler(lambda: int(time.monotonic() > deadline), _STEPS)
        database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA temp_store = MEMORY")
        return database

    def __exit__(self, *_: object) -> None:
        self._database.close()


def _remains(data: bytes, packed: bytes, shown_text: str) -> Iterator[str]:
    """Yield the runs of text that neither a row nor the database without its free pages has."""
    shown = ShownWords("\n".join([shown_text, *strings(packed)]))
    for run in strings(data[_HEADER_BYTES:]):
        is_missing = len(words_of(run)) > 1 and (shown.lacks(run) or shown.lacks((run,)))
        if is_missing and not _DEFINITION.search(run):
            yield run


def _schema_texts(database: sqlite3.Connection) -> Iterator[str]:
    """Yield literals and comments of several words in the definitions of tables, views and triggers."""
    with suppress(sqlite3.Error, UnicodeError):
        for (definition,) in database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"):
            for found in _LITERAL.findall(str(definition)[:_MOST_CELL]):
                text = " ".join("".join(found).split())
                if len(words_of(text)) > 1:
                    yield text


def _cells(labels: list[str], row: tuple[object, ...]) -> Iterator[str]:
    for label, value in zip(labels, row, strict=True):
        if isinstance(value, bytes):
            value = _short_text(value)  # noqa: PLW2901 (a blob as its text)
        if value is None or value == "":
            continue
        text = " ".join(str(value)[:_MOST_CELL].split())
        if text:
            yield f"{label}: {text}"


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
            sink.take_member()
            sink.read_member(content.member(f"{place}-{number}", _inflated(value, sink)))


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
