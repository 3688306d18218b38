"""SQLite databases: every row of every table after its column names, read from memory."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink, TextFullError
from phiscan.extract.core.labels import humanise
from phiscan.extract.spreadsheets.rows import SEPARATOR
from phiscan.model import FailReason

_ROWS_AT_ONCE = 200
_MOST_TABLES = 2_000
_MOST_SECONDS = 60.0
_STEPS = 100_000  # of the engine between two looks at the clock
_MOST_CELL = 1_000_000
_JOURNAL_VERSIONS = slice(18, 20)  # 2 says that a journal lies beside the file; 1 that none does


class SqliteExtractor:
    """Read SQLite files."""

    media_types = frozenset({"application/vnd.sqlite3"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add rows in blocks, ``#table2/row201``, and read files in cells as members.

        Raises:
            ExtractError: corrupt.
        """
        data = bytearray(content.data)
        if data[_JOURNAL_VERSIONS] == b"\2\2":
            data[_JOURNAL_VERSIONS] = b"\1\1"
        with _opened(bytes(data)) as database:
            try:
                tables = database.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
                ).fetchmany(_MOST_TABLES)
            except sqlite3.Error:
                raise ExtractError(FailReason.CORRUPT, "no SQLite tables") from None
            for number, (name,) in enumerate(tables, 1):
                self._read_table(database, name, content, sink, f"table{number}")

    def _read_table(
        self, database: sqlite3.Connection, name: str, content: Content, sink: Sink, place: str
    ) -> None:
        try:
            quoted = str(name).replace('"', '""')
            rows = database.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 (a name cannot be a parameter)
            labels = [humanise(column[0]) for column in rows.description]
            sink.add(f"Table: {name}", content.place(place))
            first = 1
            while block := rows.fetchmany(_ROWS_AT_ONCE):
                lines = (_line(labels, row) for row in block)
                sink.add("\n".join(line for line in lines if line), content.place(f"{place}/row{first}"))
                for offset, row in enumerate(block):
                    _read_files(row, content, sink, f"{place}-row{first + offset}")
                first += len(block)
        except TextFullError:
            raise
        except (sqlite3.Error, UnicodeError) as error:
            sink.fail(content.place(place), FailReason.CORRUPT, type(error).__name__)


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
        return database

    def __exit__(self, *_: object) -> None:
        self._database.close()


def _line(labels: list[str], row: tuple[object, ...]) -> str:
    return SEPARATOR.join(_cells(labels, row))


def _cells(labels: list[str], row: tuple[object, ...]) -> Iterator[str]:
    for label, value in zip(labels, row, strict=True):
        if isinstance(value, bytes) or value is None or value == "":
            continue
        text = " ".join(str(value)[:_MOST_CELL].split())
        if text:
            yield f"{label}: {text}"


def _read_files(row: tuple[object, ...], content: Content, sink: Sink, place: str) -> None:
    for number, value in enumerate(row, 1):
        if isinstance(value, bytes) and len(value) > 16:  # noqa: PLR2004 (a key)
            sink.take_member()
            sink.read_member(content.member(f"{place}-{number}", value))
