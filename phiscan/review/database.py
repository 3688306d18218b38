"""Opening the review database, its transactions and its migrations; all that depends on its kind is here.

SQLite: write-ahead log, so that people review while a scan writes; every writing transaction takes its
lock at the start (BEGIN IMMEDIATE) and is short; a database that stays locked is tried again.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url

from phiscan.errors import StoreError
from phiscan.review.tables import SCHEMA_VERSION

T = TypeVar("T")

BUSY_TIMEOUT_S = 10.0  # SQLite itself waits so long for a lock
N_TRIES = 6  # and then the whole transaction is tried again

_WRITES = "phiscan_writes"
_DURABLE = "phiscan_durable"


class Database:
    """An open database: read and write transactions, with every failure as a ``StoreError``."""

    def __init__(self, url: URL, engine: sa.Engine) -> None:
        self.url = url
        self.is_new = False  # made by opening it
        self._file = _file_identity(url)
        self._engine = engine
        # One reading transaction sees one state: SQLite always, a server only when asked.
        is_sqlite = url.get_backend_name() == "sqlite"
        self._reader = engine if is_sqlite else engine.execution_options(isolation_level="REPEATABLE READ")
        self._writer = engine.execution_options(**{_WRITES: True})
        self._durable = engine.execution_options(**{_WRITES: True, _DURABLE: True})

    @property
    def name(self) -> str:
        """The URL for messages, its password hidden."""
        return self.url.render_as_string(hide_password=True)

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Give a connection in a transaction that sees one state of the database.

        Raises:
            StoreError: the database cannot be read.
        """
        try:
            with self._reader.connect() as connection, connection.begin():
                yield connection
        except sa.exc.SQLAlchemyError as error:
            raise self._store_error(error) from None

    def write(self, action: Callable[[sa.Connection], T], *, durable: bool = False) -> T:
        """Run ``action`` in one writing transaction; again from its start when the database was locked.

        ``durable``: survives a power cut once this returns (reviewers' decisions); otherwise it survives
        the death of the process (results of a scan, which a next scan would find again).

        Raises:
            StoreError: the database cannot be written.
        """
        if _file_identity(self.url) != self._file:
            # An open SQLite file goes on taking rows after it was deleted: they would be lost unsaid.
            message = f"{self.name}: was deleted or replaced while it was in use"
            raise StoreError(message)
        engine = self._durable if durable else self._writer
        for attempt in range(N_TRIES):
            try:
                with engine.connect() as connection, connection.begin():
                    return action(connection)
            except sa.exc.OperationalError as error:
                if not _is_busy(error) or attempt == N_TRIES - 1:
                    raise self._store_error(error) from None
                time.sleep(random.uniform(0.01, 0.05) * 2**attempt)  # noqa: S311 (spreads waiting writers)
            except sa.exc.SQLAlchemyError as error:
                raise self._store_error(error) from None
        message = f"{self.name}: stayed locked"  # pragma: no cover (the loop returns or raises)
        raise StoreError(message)

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def _store_error(self, error: sa.exc.SQLAlchemyError) -> StoreError:
        return StoreError(f"{self.name}: {_cause(error)}")


def open_database(url: str, *, create: bool) -> Database:
    """Open the database at an SQLAlchemy URL; with ``create`` make what is missing and migrate it.

    Raises:
        StoreError: one line with the URL (password hidden): unusable URL, missing, foreign, corrupt,
            read-only or of another schema version.
    """
    try:
        parsed = make_url(url)
    except sa.exc.ArgumentError:
        message = "database: expected a URL such as sqlite:///phiscan.db"
        raise StoreError(message) from None
    shown = parsed.render_as_string(hide_password=True)
    if parsed.get_backend_name() == "sqlite":
        _prepare_file(parsed, shown, create=create)
    try:
        engine = _engine(parsed)
    except (sa.exc.SQLAlchemyError, ImportError) as error:
        message = f"{shown}: no driver for this kind of database: {str(error).splitlines()[0]}"
        raise StoreError(message) from None
    database = Database(parsed, engine)
    try:
        _check_schema(database, create=create)
    except BaseException:
        database.close()
        raise
    return database


def lock_chain(connection: sa.Connection) -> None:
    """Let nobody else append to the audit log until this transaction ends.

    On SQLite the writing transaction already excludes every other writer.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("LOCK TABLE audit_log IN EXCLUSIVE MODE")


def inserted_id(connection: sa.Connection, table: sa.Table, values: Mapping[str, Any]) -> int:
    """Insert one row and return the number that it got."""
    key = connection.execute(table.insert().values(dict(values))).inserted_primary_key
    return int(key[0]) if key else 0


def _engine(url: URL) -> sa.Engine:
    if url.get_backend_name() != "sqlite":
        return sa.create_engine(url, hide_parameters=True, pool_pre_ping=True)
    engine = sa.create_engine(url, hide_parameters=True, connect_args={"timeout": BUSY_TIMEOUT_S})
    sa.event.listen(engine, "connect", _sqlite_connected)
    sa.event.listen(engine, "begin", _sqlite_begin)
    return engine


def _sqlite_connected(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA temp_store = MEMORY")  # sorting leaves nothing in the temp folder
    cursor.execute("PRAGMA cache_size = -32768")  # KiB
    cursor.close()


def _sqlite_begin(connection: sa.Connection) -> None:
    options = connection.get_execution_options()
    if not options.get(_WRITES):
        connection.exec_driver_sql("BEGIN")
        return
    level = "FULL" if options.get(_DURABLE) else "NORMAL"
    connection.exec_driver_sql(f"PRAGMA synchronous = {level}")
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _file_identity(url: URL) -> tuple[int, int] | None:
    """Return device and inode of an SQLite file; None for anything else, or when it is not there."""
    if url.get_backend_name() != "sqlite" or not url.database or url.database.startswith("file:"):
        return None
    try:
        info = Path(url.database).stat()
    except OSError:
        return None
    return info.st_dev, info.st_ino


def _prepare_file(url: URL, shown: str, *, create: bool) -> None:
    name = url.database or ""
    if name in {"", ":memory:"}:
        message = f"{shown}: expected the path of a database file"
        raise StoreError(message)
    if name.startswith("file:"):  # an SQLite URI; whoever writes one knows what it does
        return
    path = Path(name)
    try:
        if path.is_file():
            return
        if path.exists():
            message = f"{shown}: expected a file"
            raise StoreError(message)
        if not create:
            message = f"{shown}: no such database; `phiscan init` or `phiscan scan` makes one"
            raise StoreError(message)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # SQLite would make it readable by everybody that the umask allows; its -wal and -shm files take
        # over this mode.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as error:
        message = f"{shown}: cannot be created: {error.strerror}"
        raise StoreError(message) from None


def _check_schema(database: Database, *, create: bool) -> None:
    with database.read() as connection:
        found = _found_version(connection)
        n_tables = 0 if found else len(sa.inspect(connection).get_table_names())
    if found == SCHEMA_VERSION:
        return
    if found is None and n_tables:
        message = f"{database.name}: not a phiscan database: it has tables, but none of ours"
        raise StoreError(message)
    if found is not None and found > SCHEMA_VERSION:
        message = f"{database.name}: schema {found} is newer than {SCHEMA_VERSION}, which this phiscan knows"
        raise StoreError(message)
    if not create:
        found = found or "none"
        message = f"{database.name}: schema {found}, expected {SCHEMA_VERSION}; `phiscan init` updates it"
        raise StoreError(message)
    from phiscan.review.migrations import migrate  # noqa: PLC0415 (Alembic takes 0.4 s to import)

    _use_wal(database)
    database.write(migrate)
    database.is_new = found is None


def _found_version(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    version: str | None = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    return version


def _use_wal(database: Database) -> None:
    """Switch an SQLite file to write-ahead logging, for good; it cannot be done inside a transaction."""
    if database.url.get_backend_name() != "sqlite":
        return
    try:
        raw = database._engine.raw_connection()  # noqa: SLF001 (same module)
        try:
            raw.cursor().execute("PRAGMA journal_mode = WAL")
        finally:
            raw.close()
    except (sa.exc.SQLAlchemyError, OSError) as error:
        message = f"{database.name}: cannot be written: {error}"
        raise StoreError(message) from None


def _is_busy(error: sa.exc.OperationalError) -> bool:
    code = getattr(error.orig, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in {5, 6}  # SQLITE_BUSY, SQLITE_LOCKED
    return getattr(error.orig, "sqlstate", None) in {"40001", "40P01"}  # serialisation failure, deadlock


def _cause(error: sa.exc.SQLAlchemyError) -> str:
    """Say what went wrong in one line without any value; servers quote rows in their messages."""
    original = getattr(error, "orig", None)
    if type(original).__module__.startswith("sqlite3"):
        return str(original).splitlines()[0]
    state = getattr(original, "sqlstate", None)
    kind = type(original or error).__name__
    return f"{kind} ({state})" if state else kind
