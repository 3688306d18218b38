"""Crawl the tables of a database server: ``postgresql://server/database[/schema]``, ``mariadb://server[/database]``.

Each table is an item ``SCHEMA/TABLE.sqlite``. When it is read, a random sample of its rows is copied into a
SQLite database in memory, in one read-only transaction on one connection.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from phiscan.config import SharesTable
from phiscan.crawl.databases.dialect import Dialect, Table
from phiscan.crawl.databases.mariadb import MariaDb
from phiscan.crawl.databases.postgresql import PostgreSql
from phiscan.crawl.databases.sample import MOST_BYTES, take_sample
from phiscan.crawl.location import escaped, unescaped
from phiscan.crawl.remote import FolderShare, RangeFile
from phiscan.crawl.share import OpenFile, identity_number
from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.crawl.walk import Entry
from phiscan.errors import InputError
from phiscan.model import FailReason, SourceFile

ENDING = ".sqlite"


class DatabaseShare(FolderShare):
    """The tables of a database, or of one of its schemas."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        super().__init__(root, settings)
        where = self.location
        self._dialect: Dialect = PostgreSql() if where.scheme == "postgresql" else MariaDb()
        place = self._dialect.split(tuple(map(unescaped, where.path)))
        if place is None:
            message = (
                f"{self.shown}: expected postgresql://SERVER/DATABASE/SCHEMA or mariadb://SERVER/DATABASE"
            )
            raise InputError(message)
        database, self._schema = place
        self._lock = threading.Lock()  # the server is read by one connection
        self._raw: Any = None
        self._is_closed = False
        who = self.credentials
        url = sa.URL.create(
            self._dialect.driver,
            username=who.username or None,
            password=who.password or None,
            host=where.host,
            port=where.port or None,
            database=database or None,
        )
        arguments = self._dialect.arguments(where, who, settings)
        try:
            self._engine = sa.create_engine(
                url, connect_args=arguments, pool_size=1, max_overflow=0, **self._dialect.options
            )
        except ImportError:
            needed = f"needs the package {self._dialect.package}; expected phiscan installed with"
            message = f"{where.scheme}://: {needed} [{self._dialect.extra}]"
            raise InputError(message) from None
        sa.event.listen(self._engine, "connect", self._prepare)

    def check(self) -> None:
        """Sign in and find the schema; see ``ServerShare``."""
        with self._connected() as connection:
            schemas = self._dialect.schemas(connection)
        if self._schema and self._schema not in schemas:
            raise RefusedError(FailReason.IO_ERROR, "no such schema or database")

    def close(self) -> None:
        """Close the connection; a thread that still waits for rows gets none."""
        super().close()
        self._is_closed = True
        if (raw := self._raw) is not None:
            self._dialect.shut(raw)
        self._engine.dispose()

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[OpenFile]:
        """Copy a sample of the rows of a table and open it at a position; see ``RemoteShare``."""
        folder, _, name = source.path.decode("utf-8", "surrogateescape").rpartition("/")
        schema, name = unescaped(folder) or self._schema, unescaped(name.removesuffix(ENDING))
        seed = identity_number(str(source.absolute), str(source.inode)) % 2**31
        with self._connected() as connection:
            table = next(iter(self._dialect.tables(connection, schema, name)), None)
            if table is None:
                raise RefusedError(FailReason.CHANGED, "vanished before it was read")
            owner, readers = self._dialect.access(connection, table)
            sample = take_sample(connection, self._dialect, table, self.settings.table_rows, seed)
        rows = (sample.n_rows, sample.n_all) if sample.n_rows < sample.n_all else None
        described = replace(source, owner=owner, readers=readers, sampled_rows=rows)
        # One moment is read: what changes later is seen by the next crawl.
        data = sample.data
        yield RangeFile(described, lambda at: data[at:], offset, n_bytes=len(data))

    def list_folder(self, folder: bytes) -> list[Entry]:
        """Return the schemas, or the tables of one; see ``FolderShare``."""
        with self._connected() as connection:
            if not folder and not self._schema:
                names = [escaped(name).encode() for name in self._dialect.schemas(connection)]
                return [Entry(SourceFile(self.root, name, 0, 0, 0, 0, 0), is_folder=True) for name in names]
            schema = unescaped(folder.decode()) or self._schema
            tables = self._dialect.tables(connection, schema)
        return [Entry(self._source(folder, table), is_folder=False) for table in tables]

    def _source(self, folder: bytes, table: Table) -> SourceFile:
        path = b"/".join(filter(None, (folder, (escaped(table.name) + ENDING).encode())))
        size = min(table.n_bytes, MOST_BYTES)  # no more is read
        inode = identity_number(*table.marks, str(table.n_bytes))
        return SourceFile(self.root, path, size, table.changed_ns, table.changed_ns, inode, 0)

    def _prepare(self, raw: Any, _record: Any) -> None:
        """Make a new connection read only, with limits."""
        cursor = raw.cursor()
        for statement in self._dialect.session(raw, self.settings):
            cursor.execute(statement)
        cursor.close()
        raw.commit()

    def _opened(self) -> sa.Connection:
        if self._is_closed:
            message = "the scan has ended"
            raise UnansweredError(message, is_gone=True)
        return self._engine.connect()

    @contextmanager
    def _connected(self) -> Iterator[sa.Connection]:
        """Give the connection, one thread at a time; errors of the driver are translated."""
        try:
            with self._lock, self._opened() as connection:
                self._raw = connection.connection.dbapi_connection
                try:
                    yield connection
                except BaseException:
                    connection.invalidate()  # what the server still sends is not waited for
                    raise
                finally:
                    self._raw = None
        except sa.exc.DBAPIError as error:
            raise self._dialect.translated(error.orig or error) from None
        except (sa.exc.SQLAlchemyError, OSError) as error:
            raise self._dialect.translated(error) from None
