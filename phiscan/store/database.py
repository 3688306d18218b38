"""Open the review database, run transactions and migrations; the differences of databases are hidden here.

SQLite: write-ahead log, so that people review while a scan writes; every writing transaction takes its
lock at the start (BEGIN IMMEDIATE) and is short; it is retried while the database is locked.
PostgreSQL: the same, with an advisory lock (``phiscan.store.postgresql``).
"""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url

from phiscan.errors import ConfigError, StoreError
from phiscan.store import postgresql, seals, signed_head
from phiscan.store.identity import create_key, load_key
from phiscan.store.tables import SCHEMA_VERSION

# Schemes of PostgreSQL URLs; psycopg 3 is the only supported driver.
_POSTGRESQL = frozenset({"postgresql", "postgres"})
_DRIVER = "postgresql+psycopg"

_SECRET = ("password", "passphrase", "passwd", "secret")
_HIDDEN = "***"


def parse(url: str) -> URL:
    """Parse an SQLAlchemy URL; ``postgresql://`` and ``postgres://`` select psycopg 3.

    Raises:
        StoreError: it is not a URL; the message does not quote it, since it may hold a password.
    """
    try:
        parsed = make_url(url.strip())
    except (sa.exc.ArgumentError, ValueError):  # a port that is no number: ValueError, and it quotes the URL
        message = "database: expected a URL such as sqlite:///phiscan.db or postgresql://user@host/phiscan"
        raise StoreError(message) from None
    return parsed.set(drivername=_DRIVER) if parsed.drivername in _POSTGRESQL else parsed


def shown(url: URL) -> str:
    """Return the URL for messages: without the driver, every password hidden, also those in its options.

    >>> shown(parse("postgresql://ana:hunter2@db/phiscan?sslpassword=x"))
    'postgresql://ana:***@db/phiscan?sslpassword=***'
    """
    query = {
        name: _HIDDEN if any(word in name.lower() for word in _SECRET) else value
        for name, value in url.query.items()
    }
    if url.drivername == _DRIVER:
        url = url.set(drivername="postgresql")
    return url.set(query=query).render_as_string(hide_password=True).replace("%2A%2A%2A", _HIDDEN)


def is_sqlite(url: URL) -> bool:
    """Return whether the database is an SQLite file."""
    return url.get_backend_name() == "sqlite"


FIRST_PAUSE_S = 0.004  # between attempts to lock; a decision holds the lock for a few milliseconds
MIN_PAUSE_S = 0.001
OLD_AFTER_S = 0.02  # waiting time after which the pause is halved


# What helps, by the primary code of an error of SQLite.
_REMEDIES = {
    sqlite3.SQLITE_CORRUPT: "the file is damaged; move it away and restore a backup (`phiscan db restore`)",
    sqlite3.SQLITE_NOTADB: "expected a phiscan database; name its file, or restore a backup",
    sqlite3.SQLITE_FULL: "free some space and repeat the command; what was recorded before is kept",
    sqlite3.SQLITE_READONLY: "phiscan's account has to be able to write the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "phiscan's account has to be able to read and write the file and its folder",
    sqlite3.SQLITE_IOERR: "check the storage, and that there is space on it",
    sqlite3.SQLITE_BUSY: "another program holds a lock on it; repeat the command when that has ended",
}


def cause(error: BaseException) -> str:
    """Return the message of an error of SQLite in one line, with what helps."""
    message = str(error).splitlines()[0]
    code = getattr(error, "sqlite_errorcode", None)
    remedy = _REMEDIES.get(code & 0xFF) if code is not None else None
    return f"{message}: {remedy}" if remedy else message


def connected(connection: Any, _record: Any) -> None:
    """Configure a new connection."""
    connection.isolation_level = None  # BEGIN is sent explicitly
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA temp_store = MEMORY")  # sorting leaves nothing in the temp folder
    connection.execute("PRAGMA cache_size = -32768")  # KiB


def _wait_for_lock(raw: Any, patience_s: float) -> None:
    """Begin as soon as no other transaction writes; return after ``patience_s`` at most.

    SQLite's busy handler sleeps longer after each attempt, up to 0.1 s, so that a new writer overtakes those
    that have waited long (starvation). Here the pause becomes shorter with the waiting time.
    """
    began = time.monotonic()
    while True:
        try:
            raw.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            waited = time.monotonic() - began
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or waited >= patience_s:
                return
            pause = max(MIN_PAUSE_S, FIRST_PAUSE_S / (1 + waited / OLD_AFTER_S))
            time.sleep(random.uniform(0.5, 1.5) * pause)  # noqa: S311 (spreads waiting writers)
        else:
            return


def file_identity(url: URL) -> tuple[int, int] | None:
    """Return device and inode of an SQLite file; None if it does not exist or is no file."""
    if not is_sqlite(url) or not url.database or url.database.startswith("file:"):
        return None
    try:
        info = Path(url.database).stat()
    except OSError:
        return None
    return info.st_dev, info.st_ino


def prepare_file(url: URL, *, create: bool) -> None:
    """Check that the file exists; with ``create``, create it with mode 0600.

    Raises:
        StoreError: it is missing, no file, or cannot be made.
    """
    name_shown = shown(url)
    name = url.database or ""
    if name in {"", ":memory:"}:
        raise StoreError(name_shown, "expected the path of a database file")
    if name.startswith("file:"):  # an SQLite URI is passed on unchanged
        return
    path = Path(name)
    try:
        if path.exists():  # checked first: another process may create the file meanwhile
            if path.is_file():
                return
            raise StoreError(name_shown, "expected a file")
        if not create:
            raise StoreError(name_shown, "no such database; `phiscan init` or `phiscan scan` makes one")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # SQLite would create it with the mode that the umask allows; its -wal and -shm files get the same
        # mode.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreError(name_shown, f"cannot be created: {error.strerror}") from None


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
        self._file = file_identity(url)
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
        if file_identity(self.url) != self._file:
            # An open SQLite file accepts rows after it was deleted: they would be lost silently.
            raise StoreError(self.name, "was deleted or replaced while it was in use")
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
            raise StoreError(self.name, f"{_cause_of(error, lost=False)}") from None

    def give_key(self, option: str, key: bytes) -> None:
        """Give every connection a key from now on: ``signed_head.OPTION`` or ``identity.OPTION``."""
        self._engine = self._engine.execution_options(**{option: key})
        self._reader = self._reader.execution_options(**{option: key})

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def _store_error(self, error: sa.exc.SQLAlchemyError) -> StoreError:
        lost = bool(getattr(error, "connection_invalidated", False))
        return StoreError(f"{self.name}: {_cause_of(getattr(error, 'orig', None) or error, lost=lost)}")


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
    database.give_key(signed_head.OPTION, key)
    if not is_new:
        return
    with database.read() as connection:
        has_been_signed = signed_head.has_been_signed(connection)
    if not has_been_signed:
        database.write(seals.sign_all)


def connect(url: str, *, create: bool) -> Database:
    """Return a database without checking its schema; with ``create``, create a missing file.

    Raises:
        StoreError: one line with the URL (password hidden): unusable or missing.
    """
    parsed = parse(url)
    if is_sqlite(parsed):
        prepare_file(parsed, create=create)
    try:
        return Database(parsed, _engine(parsed))
    except (sa.exc.SQLAlchemyError, ImportError) as error:
        hint = "; pip install 'phiscan[postgresql]'" if "psycopg" in str(error) else ""
        reason = str(error).splitlines()[0]
        raise StoreError(shown(parsed), f"no driver for this kind of database: {reason}{hint}") from None


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
    sa.event.listen(engine, "connect", connected)
    sa.event.listen(engine, "begin", _sqlite_begin)
    return engine


def _sqlite_begin(connection: sa.Connection) -> None:
    """Begin a transaction; a writing one takes the lock now."""
    options = connection.get_execution_options()
    if _LOCK_MODE not in options:
        connection.exec_driver_sql("BEGIN")
        return
    connection.exec_driver_sql(f"PRAGMA synchronous = {'FULL' if options.get(_DURABLE) else 'NORMAL'}")
    connection.exec_driver_sql(f"PRAGMA foreign_keys = {'OFF' if options.get(_DERIVED) else 'ON'}")
    raw: Any = connection.connection.dbapi_connection
    try:
        raw.execute("PRAGMA busy_timeout = 0")
        _wait_for_lock(raw, BUSY_TIMEOUT_S)
    finally:
        raw.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT_S * 1000)}")
    if not raw.in_transaction:
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # waits again, and fails as any statement does


def _server_begin(connection: sa.Connection) -> None:
    options = connection.get_execution_options()
    if _LOCK_MODE in options:
        postgresql.begin(connection, options[_LOCK_MODE], durable=bool(options.get(_DURABLE)))


def _check_schema(database: Database, *, create: bool, derive: Derive | None) -> None:
    found = schema_of(database)
    if found == SCHEMA_VERSION:
        return
    pending_revisions(database.name, found)
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


def pending_revisions(name: str, found: str) -> list[tuple[str, str]]:
    """Return number and summary of each migration that a database at schema ``found`` still needs.

    Raises:
        StoreError: this program neither has nor migrates that schema.
    """
    from phiscan.store.migrations import pending  # noqa: PLC0415 (Alembic takes 0.4 s to import)

    steps = pending(found)
    if steps is None:
        raise StoreError(
            name,
            f"schema {found}, expected {SCHEMA_VERSION}: written by another version of phiscan;"
            " use that version, or begin with a new database (move this one away, `phiscan init`)",
        )
    return steps


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
        raise StoreError(database.name, "not a phiscan database: it has tables of another program")
    return ""


def migrate_in(
    database: Database, connection: sa.Connection, revision: str = "head", *, derive: Derive | None
) -> None:
    """Migrate to a revision in a writing transaction; to the newest one, ``derive`` runs at its end.

    Raises:
        StoreError: the database is not suited for phiscan's tables.
    """
    from phiscan.store.migrations import migrate  # noqa: PLC0415 (Alembic takes 0.4 s to import)

    if connection.dialect.name == "postgresql" and (why := postgresql.refusal(connection)):
        raise StoreError(database.name, f"{why}")
    migrate(connection, revision)
    if derive is not None and revision == "head":
        derive(connection)


def bring_up_to_date(database: Database, *, derive: Derive | None = None) -> None:
    """Migrate to the newest schema in one transaction; ``derive`` runs at its end.

    Raises:
        StoreError: the database cannot be written, or is not suited for phiscan's tables.
    """
    if is_sqlite(database.url):
        # Persistent; people review while a scan writes.
        database.outside_transactions("PRAGMA journal_mode = WAL")
    database.write(lambda connection: migrate_in(database, connection, derive=derive), lock="exclusive")


def _is_busy(error: sa.exc.SQLAlchemyError, lock: LockMode) -> bool:
    original = getattr(error, "orig", None)
    code = getattr(original, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in {5, 6}  # SQLITE_BUSY, SQLITE_LOCKED
    return postgresql.is_retried(original, lock=lock)


def _cause_of(original: BaseException, *, lost: bool) -> str:
    """Return the cause in one line without any value, since servers quote rows in their messages."""
    if type(original).__module__.startswith("sqlite3"):
        return cause(original)
    return postgresql.cause(original, lost=lost)
