"""Crawl the tables of a database server: ``postgresql://server/database[/schema]``, ``mariadb://server[/database]``.

Each table is an item ``SCHEMA/TABLE.sqlite``. When it is read, a random sample of its rows is copied into a
SQLite database in memory, in one read-only transaction on one connection.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from phiscan.config import SharesTable
from phiscan.crawl.databases.dialects import MARIADB, POSTGRESQL, translated
from phiscan.crawl.databases.sample import MOST_BYTES, take_sample
from phiscan.crawl.location import escaped, unescaped
from phiscan.crawl.remote import FolderShare, RangeFile
from phiscan.crawl.share import Crawled, RefusedError, UnansweredError, identity_number, optional
from phiscan.errors import InputError
from phiscan.model import FailReason, SourceFile

ENDING = ".sqlite"


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
            sample = take_sample(connection, self._dialect, table, self.settings.table_rows, seed)
        owner = access[0][0] if access else ""
        readers = tuple(dict.fromkeys(self._dialect.reader(reader) for _, reader in access if reader))
        rows = (sample.n_rows, sample.n_all) if sample.n_rows < sample.n_all else None
        described = replace(source, owner=owner, readers=readers, sampled_rows=rows)
        # One moment is read: what changes later is seen by the next crawl.
        data = sample.data
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
