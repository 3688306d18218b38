"""Crawl the tables of a database server: ``postgresql://server/database[/schema]``, ``mariadb://server[/database]``.

Each table is an item ``SCHEMA/TABLE.sqlite``. When it is read, a random sample of its rows is copied into a
SQLite database in memory, in one read-only transaction on one connection. The number of rows that are kept
depends on how long they are, so that a sample has a bounded size; a table with fewer rows is taken whole. The
same seed draws the same rows of the same data. They are stored in a random order, so that every part of the
sample is a sample as well.
"""

from __future__ import annotations

import math
import os
import random
import re
import socket
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from phiscan.config import SharesTable
from phiscan.crawl.dialects import MARIADB, POSTGRESQL, Dialect, translated
from phiscan.crawl.location import escaped, unescaped
from phiscan.crawl.remote import FolderShare, RangeFile
from phiscan.crawl.share import Crawled, RefusedError, UnansweredError, identity_number, optional
from phiscan.errors import InputError
from phiscan.model import FailReason, SourceFile

ENDING = ".sqlite"
MOST_BYTES = 64 * 1024**2  # of the rows that are wanted, by their average length
_BLOCK_BYTES = 8192
_LARGEST_INTEGER = 2**63


class DatabaseShare(FolderShare):
    """The tables of a database, or of one of its schemas."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        super().__init__(root, settings)
        where, who = self.location, self.credentials
        self._dialect = dialect = POSTGRESQL if where.scheme == "postgresql" else MARIADB
        parts = list(map(unescaped, where.path))
        database = parts.pop(0) if parts and dialect.has_databases else ""
        if len(parts) > 1 or (dialect.has_databases and not database):
            expected = "expected postgresql://SERVER/DATABASE/SCHEMA or mariadb://SERVER/DATABASE"
            raise InputError(self.shown, f"{expected}")
        self._schema = "".join(parts)
        self._lock = threading.Lock()  # the server is read by one connection
        self._raw: Any = None
        self._is_closed = False
        account = (who.username or None, who.password or None)
        url = sa.URL.create(dialect.driver, *account, where.host, where.port or None, database or None)
        self._wait_s = max(2, round(settings.timeout_s))
        how = {"connect_args": dialect.arguments(where, who, self._wait_s), **dialect.options}
        with optional(f"{where.scheme}://", dialect.package, dialect.extra):
            self._engine = sa.create_engine(url, pool_size=1, max_overflow=0, **how)
        sa.event.listen(self._engine, "connect", self._prepare)

    def check(self) -> None:
        """Sign in and find the schema; see ``ServerShare``."""
        with self._connected() as connection:
            schemas = self._schemas(connection)
        if self._schema and self._schema not in schemas:
            raise RefusedError(FailReason.IO_ERROR, "no such schema or database")

    def close(self) -> None:
        """Close the connection; a thread that still waits for rows gets none."""
        super().close()
        self._is_closed = True
        if (raw := self._raw) is not None:
            # The driver's own way would wait for the server; PyMySQL shows only its socket.
            below = getattr(raw, "_sock", raw)
            with suppress(Exception), socket.socket(fileno=os.dup(below.fileno())) as connected:
                connected.shutdown(socket.SHUT_RDWR)
        self._engine.dispose()

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[RangeFile]:
        """Copy a sample of the rows of a table and open it at a position; see ``ServerShare``."""
        folder, _, name = source.path.decode("utf-8", "surrogateescape").rpartition("/")
        schema, name = unescaped(folder) or self._schema, unescaped(name.removesuffix(ENDING))
        seed = identity_number(str(source.absolute), str(source.inode)) % 2**31
        with self._connected() as connection:
            table = next(iter(self._tables(connection, schema, name)), None)
            if table is None:
                raise RefusedError(FailReason.CHANGED, "vanished before it was read")
            place = {"schema": schema, "name": name}
            access = connection.execute(sa.text(self._dialect.access), place).all()
            data, *rows = _sample(connection, self._dialect, table, self.settings.table_rows, seed)
        owner = access[0][0] if access else ""
        readers = tuple(dict.fromkeys(self._dialect.reader(reader) for _, reader in access if reader))
        sampled = (rows[0], rows[1]) if rows[0] < rows[1] else None
        described = replace(source, owner=owner, readers=readers, sampled_rows=sampled)
        # One moment is read: what changes later is seen by the next crawl.
        yield RangeFile(described, lambda at: data[at:], offset, n_bytes=len(data))

    def list_folder(self, folder: bytes) -> list[Crawled]:
        """Return the schemas, or the tables of one; see ``FolderShare``."""
        with self._connected() as connection:
            if not folder and not self._schema:
                names = [escaped(name).encode() for name in self._schemas(connection)]
                return [Crawled(SourceFile(self.root, name, 0, 0, 0, 0, 0), is_folder=True) for name in names]
            tables = self._tables(connection, unescaped(folder.decode()) or self._schema)
        return [Crawled(self._source(folder, table), is_folder=False) for table in tables]

    def _source(self, folder: bytes, table: sa.Row[Any]) -> SourceFile:
        path = b"/".join(filter(None, (folder, (escaped(table.name) + ENDING).encode())))
        size = min(int(table.n_bytes), MOST_BYTES)  # no more is read
        inode, moment = identity_number(table.marks, str(table.n_bytes)), int(table.changed_ns)
        return SourceFile(self.root, path, size, moment, moment, inode, 0)

    def _schemas(self, connection: sa.Connection) -> Sequence[str]:
        return connection.execute(sa.text(self._dialect.schemas)).scalars().all()

    def _tables(self, connection: sa.Connection, schema: str, name: str = "") -> Sequence[sa.Row[Any]]:
        query = sa.text(self._dialect.tables + (self._dialect.one_table if name else ""))
        return connection.execute(query, {"schema": schema, **({"name": name} if name else {})}).all()

    def _prepare(self, raw: Any, _record: Any) -> None:
        """Make a new connection read only, with limits."""
        if self._dialect is MARIADB:
            raw._read_timeout = 11 * self._wait_s  # noqa: SLF001 (longer than a statement may take)
        cursor = raw.cursor()
        if self._dialect is POSTGRESQL and raw.info.parameter_status("server_encoding") == "SQL_ASCII":
            from psycopg.adapt import Loader  # noqa: PLC0415 (an optional part)

            class Undeclared(Loader):
                """Text of a database that does not say its encoding, as of a file that does not."""

                def load(self, data: Any) -> str:
                    with suppress(UnicodeDecodeError):
                        return bytes(data).decode()
                    return bytes(data).decode("cp1252", "replace")

            raw.adapters.register_loader("text", Undeclared)
            cursor.execute("SET client_encoding = 'LATIN1'")  # in which all bytes are valid
        for statement in self._dialect.session:
            cursor.execute(statement.format(seconds=self._wait_s, longest=10 * self._wait_s))
        cursor.close()
        raw.commit()

    @contextmanager
    def _connected(self) -> Iterator[sa.Connection]:
        """Give the connection, one thread at a time; errors of the driver are translated."""
        try:
            with self._lock:
                if self._is_closed:
                    message = "the scan has ended"
                    raise UnansweredError(message, is_gone=True)
                with self._engine.connect() as connection:
                    self._raw = connection.connection.dbapi_connection
                    try:
                        yield connection
                    except BaseException:
                        connection.invalidate()  # what the server still sends is not waited for
                        raise
                    finally:
                        self._raw = None
        except (sa.exc.SQLAlchemyError, self._engine.dialect.loaded_dbapi.Error, OSError) as error:
            raise translated(getattr(error, "orig", None) or error) from None


def _sample(
    connection: sa.Connection, dialect: Dialect, table: sa.Row[Any], most_rows: int, seed: int
) -> tuple[bytes, int, int]:
    """Draw at most so many rows of a table at random.

    Returns a SQLite database of one table, its number of rows, and that of the whole table. All statements
    see the same state of the table: the connection's transaction is a snapshot. Where blocks can be drawn,
    about one is read for each row that is wanted; else all are.
    """
    source = dialect.source.format(".".join(map(dialect.quoted, (table.place, table.name))))
    share = min(1.0, most_rows * _BLOCK_BYTES / max(table.n_scanned_bytes, 1)) if dialect.blocks else 1.0
    if share < 1:
        source += dialect.blocks.format(percent=share * 100, seed=seed)
    ((n_found,),) = _rows(connection, dialect, f"SELECT count(*) FROM {source}")  # noqa: S608 (quoted names)
    n_all = n_found if share >= 1 else round(max(n_found, 1) / share)
    row_bytes = max(table.n_bytes / max(n_all, 1), 1)
    n_wanted = max(1, min(most_rows, int(MOST_BYTES / row_bytes)))
    if n_found > n_wanted:
        # The number that is drawn varies; three standard deviations less than wanted are rarely too many.
        n_wanted_on_average = max(n_wanted - 3 * math.sqrt(n_wanted), n_wanted / 2)
        source += f" WHERE {dialect.condition.format(share=n_wanted_on_average / n_found, seed=seed)}"
    declared, expressions = _columns(connection, dialect, table)
    statement = f"SELECT {table.hint}{', '.join(expressions)} FROM {source}"  # noqa: S608 (quoted names)
    found = _rows(connection, dialect, statement)
    rows = list(_bounded(found, n_wanted))
    if next(found, None) is not None:
        connection.invalidate()  # else the driver would fetch what is left
    random.Random(seed).shuffle(rows)  # noqa: S311 (an order, no secret)
    name = POSTGRESQL.quoted(f"_{table.name}" if table.name.lower().startswith("sqlite_") else table.name)
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE TABLE {name} ({', '.join(declared)})")
        places = ", ".join("?" * len(declared))
        database.executemany(f"INSERT INTO {name} VALUES ({places})", rows)  # noqa: S608 (a quoted name)
        return database.serialize(), len(rows), max(n_all, len(rows))


def _columns(connection: sa.Connection, dialect: Dialect, table: sa.Row[Any]) -> tuple[list[str], list[str]]:
    """Return the columns of a table, also those not shown by default: declared for SQLite, and asked for.

    SQLite knows no names that differ in case alone.
    """
    declared, expressions, names = [], [], set()
    place = {"schema": table.place, "name": table.name}
    for column, kind in connection.execute(sa.text(dialect.columns), place):
        shown = column
        while shown.lower() in names:
            shown += "_2"
        names.add(shown.lower())
        found = next(one for one in dialect.types if re.fullmatch(one[0], kind))
        declared.append(f"{POSTGRESQL.quoted(shown)} {found[1]}")
        expressions.append(found[2].format(f"t.{dialect.quoted(column)}"))
    return declared or ["none TEXT"], expressions or ["1"]


def _rows(connection: sa.Connection, dialect: Dialect, statement: str) -> Iterator[Sequence[Any]]:
    """Run a statement as it is, and yield its rows, of which one is in memory at a time.

    Names in it may have what stands for parameters elsewhere. How long rows are is not known before: a cell
    that compresses well is far longer than its part of the table.
    """
    if dialect is POSTGRESQL:
        raw: Any = connection.connection.dbapi_connection
        return iter(raw.cursor().stream(statement))
    plain = connection.execution_options(no_parameters=True, stream_results=True, max_row_buffer=1)
    return iter(plain.exec_driver_sql(statement))


def _bounded(rows: Iterable[Sequence[Any]], n_wanted: int) -> Iterator[list[Any]]:
    """Yield the values of rows for SQLite, until there are enough or they are longer than was expected."""
    n_bytes = 0
    for number, row in enumerate(rows):
        if number >= n_wanted or n_bytes > 2 * MOST_BYTES:
            return
        values = [_value(value) for value in row]
        n_bytes += sum(len(value) for value in values if isinstance(value, str | bytes))
        yield values


def _value(value: Any) -> Any:
    """Return a value that SQLite takes.

    >>> _value(True), _value(2**63), _value(1.5), _value(b"x"), _value(None)
    (1, '9223372036854775808', '1.5', b'x', None)
    """
    if value is None or isinstance(value, bytes | str):
        return value
    if isinstance(value, int) and -_LARGEST_INTEGER <= value < _LARGEST_INTEGER:
        return int(value)
    return bytes(value) if isinstance(value, bytearray | memoryview) else str(value)
