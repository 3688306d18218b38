"""Open the review database, run transactions and migrations; the differences of databases are hidden here.

SQLite: write-ahead log, so that people review while a scan writes; every writing transaction takes its
lock at the start (BEGIN IMMEDIATE) and is short; it is retried while the database is locked.
PostgreSQL: the same, with an advisory lock (``phiscan.store.postgresql``).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import URL

from phiscan.errors import ConfigError, StoreError
from phiscan.store import postgresql, signed_head, sqlite
from phiscan.store.identity import create_key, load_key
from phiscan.store.tables import SCHEMA_VERSION
from phiscan.store.urls import is_sqlite, parse, shown

T = TypeVar("T")
Derive = Callable[[sa.Connection], object]

BUSY_TIMEOUT_S = 10.0  # for the lock of an SQLite file
N_TRIES = 6  # of the whole transaction

LockMode = Literal["serial", "shared", "exclusive"]
"""Concurrency of a writing transaction: serial = one at a time; shared = concurrent with the serial ones
(recording of results, on a server); exclusive = without any other (removal of rows). An SQLite file always
has one writer at a time."""

_LOCK_MODE = "phiscan_lock_mode"
_DURABLE = "phiscan_durable"
_DERIVED = "phiscan_derived"
# Set explicitly, so that the server's configuration does not change the isolation.
_READ_COMMITTED = {"isolation_level": "READ COMMITTED"}


class Database:
    """An open database: read and write transactions, with every failure as a ``StoreError``."""

    def __init__(self, url: URL, engine: sa.Engine) -> None:
        self.url = url
        self.is_new = False  # created by opening it
        self._file = sqlite.file_identity(url)
        self._engine = engine
        # A reading transaction sees a snapshot: always on SQLite, on a server by its isolation level.
        self._reader = (
            engine
            if is_sqlite(url)
            else engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        )

    @property
    def name(self) -> str:
        """The URL for messages, its password hidden."""
        return shown(self.url)

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Yield a connection in a transaction that sees a snapshot of the database.

        Raises:
            StoreError: the database cannot be read.
        """
        try:
            with self._reader.connect() as connection, connection.begin():
                yield connection
        except sa.exc.SQLAlchemyError as error:
            raise self._store_error(error) from None

    def write(
        self,
        action: Callable[[sa.Connection], T],
        *,
        durable: bool = False,
        derived: bool = False,
        lock: LockMode = "serial",
    ) -> T:
        """Run ``action`` in one writing transaction, and repeat it from its start if the database was locked.

        ``durable``: survives a power failure once this returns (reviewers' decisions); otherwise it survives
        the death of the process (results of a scan, which the next scan would find again). ``derived``: all
        written rows refer to rows read before in the same transaction, so that foreign keys need no check on
        SQLite.

        Raises:
            StoreError: the database cannot be written.
        """
        if sqlite.file_identity(self.url) != self._file:
            # An open SQLite file accepts rows after it was deleted: they would be lost silently.
            message = f"{self.name}: was deleted or replaced while it was in use"
            raise StoreError(message)
        engine = self._engine.execution_options(
            **{_LOCK_MODE: lock, _DURABLE: durable, _DERIVED: derived},
            **({} if is_sqlite(self.url) else _READ_COMMITTED),
        )
        for attempt in range(N_TRIES):
            try:
                with engine.connect() as connection, connection.begin():
                    return action(connection)
            except sa.exc.SQLAlchemyError as error:
                if not _is_busy(error, lock) or attempt == N_TRIES - 1:
                    raise self._store_error(error) from None
                time.sleep(random.uniform(0.005, 0.02) * (attempt + 1))  # noqa: S311 (spreads waiting writers)
        message = f"{self.name}: stayed locked"  # pragma: no cover (the loop returns or raises)
        raise StoreError(message)

    def outside_transactions(self, statement: str) -> None:
        """Run a statement that is not allowed inside a transaction (VACUUM, a change of the journal).

        Raises:
            StoreError: it failed.
        """
        try:
            with self._engine.connect() as connection:
                raw = connection.connection.dbapi_connection
                if raw is None:  # pragma: no cover (a connection that was just made has one)
                    return
                if not is_sqlite(self.url):
                    raw.autocommit = True  # SQLite's connections always are: BEGIN is sent explicitly
                try:
                    raw.cursor().execute(statement)
                finally:
                    connection.invalidate()  # back to the pool's own settings
        except sa.exc.SQLAlchemyError as error:
            raise self._store_error(error) from None
        except self._engine.dialect.loaded_dbapi.Error as error:
            message = f"{self.name}: {_cause_of(error, lost=False)}"
            raise StoreError(message) from None

    def sign_with(self, key: bytes) -> None:
        """Sign the end of the audit log with this key from now on, and check the signature when verifying."""
        option = {signed_head.OPTION: key}
        self._engine = self._engine.execution_options(**option)
        self._reader = self._reader.execution_options(**option)

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def _store_error(self, error: sa.exc.SQLAlchemyError) -> StoreError:
        return StoreError(f"{self.name}: {_cause(error)}")


def open_database(
    url: str, *, create: bool, derive: Derive | None = None, audit_key: Path | None = None
) -> Database:
    """Open the database at an SQLAlchemy URL; with ``create``, create missing tables and migrate it.

    ``derive`` rebuilds rows derived from other tables; it runs in the transaction of a migration.
    ``audit_key``: the file of the key that signs the end of the audit log; created if it is missing.

    Raises:
        StoreError: one line with the URL (password hidden): unusable URL, missing, foreign, corrupt,
            read-only or of another schema version.
    """
    database = connect(url, create=create)
    try:
        _check_schema(database, create=create, derive=derive)
        if audit_key is not None:
            _sign_with(database, audit_key)
    except BaseException:
        database.close()
        raise
    return database


def _sign_with(database: Database, audit_key: Path) -> None:
    """Load the signing key; a new key signs the existing log, unless another key signed it before."""
    try:
        is_new = create_key(audit_key)
        key = load_key(audit_key)
    except ConfigError as error:
        raise StoreError(str(error)) from None
    database.sign_with(key)
    if not is_new:
        return
    with database.read() as connection:
        has_been_signed = signed_head.has_been_signed(connection)
    if not has_been_signed:
        database.write(lambda connection: signed_head.sign_last(connection, now=datetime.now(UTC)))


def connect(url: str, *, create: bool) -> Database:
    """Return a database without checking its schema; with ``create``, create a missing file.

    Raises:
        StoreError: one line with the URL (password hidden): unusable or missing.
    """
    parsed = parse(url)
    if is_sqlite(parsed):
        sqlite.prepare_file(parsed, create=create)
    try:
        return Database(parsed, _engine(parsed))
    except (sa.exc.SQLAlchemyError, ImportError) as error:
        hint = "; pip install 'phiscan[postgresql]'" if "psycopg" in str(error) else ""
        reason = str(error).splitlines()[0]
        message = f"{shown(parsed)}: no driver for this kind of database: {reason}{hint}"
        raise StoreError(message) from None


def lock_chain(connection: sa.Connection) -> None:
    """Lock the audit log against other writers until this transaction ends.

    A serial or exclusive transaction already excludes other writers of the log; on a server a shared one
    takes the lock here.
    """
    if connection.dialect.name == "postgresql":
        postgresql.lock_writers(connection)


def inserted_id(connection: sa.Connection, table: sa.Table, values: Mapping[str, Any]) -> int:
    """Insert one row and return its number."""
    key = connection.execute(_insert(table), dict(values)).inserted_primary_key
    return int(key[0]) if key else 0


@cache
def _insert(table: sa.Table) -> sa.Insert:
    return table.insert()


def _engine(url: URL) -> sa.Engine:
    if not is_sqlite(url):
        arguments = postgresql.connect_arguments(url) if url.get_backend_name() == "postgresql" else {}
        engine = sa.create_engine(url, hide_parameters=True, pool_pre_ping=True, connect_args=arguments)
        sa.event.listen(engine, "begin", _server_begin)
        return engine
    engine = sa.create_engine(url, hide_parameters=True, connect_args={"timeout": BUSY_TIMEOUT_S})
    sa.event.listen(engine, "connect", sqlite.connected)
    sa.event.listen(engine, "begin", _sqlite_begin)
    return engine


def _sqlite_begin(connection: sa.Connection) -> None:
    options = connection.get_execution_options()
    sqlite.begin(
        connection,
        writes=_LOCK_MODE in options,
        durable=bool(options.get(_DURABLE)),
        derived=bool(options.get(_DERIVED)),
        patience_s=BUSY_TIMEOUT_S,
    )


def _server_begin(connection: sa.Connection) -> None:
    options = connection.get_execution_options()
    if _LOCK_MODE in options:
        postgresql.begin(connection, options[_LOCK_MODE], durable=bool(options.get(_DURABLE)))


def _check_schema(database: Database, *, create: bool, derive: Derive | None) -> None:
    found = schema_of(database)
    if found == SCHEMA_VERSION:
        return
    if found and found > SCHEMA_VERSION:
        message = (
            f"{database.name}: schema {found} is newer than {SCHEMA_VERSION}, the newest of this phiscan;"
            " use the phiscan that wrote it, or a newer one"
        )
        raise StoreError(message)
    if not create:
        message = (
            f"{database.name}: schema {found}, expected {SCHEMA_VERSION}; `phiscan db migrate` updates it"
            if found
            else f"{database.name}: is empty, without any table of phiscan; restore a backup"
            " (`phiscan db restore`), or make it anew (`phiscan init`)"
        )
        raise StoreError(message)
    bring_up_to_date(database, derive=derive)
    database.is_new = not found


def schema_of(database: Database) -> str:
    """Return the schema's number, "" for an empty database.

    Raises:
        StoreError: it is another program's database.
    """
    with database.read() as connection:
        inspector = sa.inspect(connection)
        if inspector.has_table("alembic_version"):
            version = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
            return str(version or "")
        n_tables = len(inspector.get_table_names())
    if n_tables:
        message = f"{database.name}: not a phiscan database: it has tables of another program"
        raise StoreError(message)
    return ""


def bring_up_to_date(database: Database, *, derive: Derive | None = None) -> None:
    """Migrate to the newest schema in one transaction; ``derive`` runs at its end.

    Raises:
        StoreError: the database cannot be written, or is not suited for phiscan's tables.
    """
    from phiscan.store.migrations import migrate  # noqa: PLC0415 (Alembic takes 0.4 s to import)

    if is_sqlite(database.url):
        # Persistent; people review while a scan writes.
        database.outside_transactions("PRAGMA journal_mode = WAL")

    def bring(connection: sa.Connection) -> None:
        if connection.dialect.name == "postgresql" and (why := postgresql.refusal(connection)):
            message = f"{database.name}: {why}"
            raise StoreError(message)
        migrate(connection)
        if derive is not None:
            derive(connection)

    database.write(bring, lock="exclusive")


def _is_busy(error: sa.exc.SQLAlchemyError, lock: LockMode) -> bool:
    original = getattr(error, "orig", None)
    code = getattr(original, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in {5, 6}  # SQLITE_BUSY, SQLITE_LOCKED
    return postgresql.is_retried(original, lock=lock)


def _cause(error: sa.exc.SQLAlchemyError) -> str:
    return _cause_of(
        getattr(error, "orig", None) or error, lost=bool(getattr(error, "connection_invalidated", False))
    )


def _cause_of(original: BaseException, *, lost: bool) -> str:
    """Return the cause in one line without any value, since servers quote rows in their messages."""
    if type(original).__module__.startswith("sqlite3"):
        return sqlite.cause(original)
    return postgresql.cause(original, lost=lost)
