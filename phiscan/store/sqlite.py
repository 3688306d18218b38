"""SQLite: creation of the file with its mode, connection settings, and beginning of transactions."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL

from phiscan.errors import StoreError
from phiscan.store.urls import is_sqlite, shown

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
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA temp_store = MEMORY")  # sorting leaves nothing in the temp folder
    cursor.execute("PRAGMA cache_size = -32768")  # KiB
    cursor.close()


def begin(
    connection: sa.Connection, *, writes: bool, durable: bool, derived: bool, patience_s: float
) -> None:
    """Begin a transaction; a writing one takes the lock now, waiting at most ``patience_s``.

    ``derived``: foreign keys are not checked in it.
    """
    if not writes:
        connection.exec_driver_sql("BEGIN")
        return
    level = "FULL" if durable else "NORMAL"
    connection.exec_driver_sql(f"PRAGMA synchronous = {level}")
    connection.exec_driver_sql(f"PRAGMA foreign_keys = {'OFF' if derived else 'ON'}")
    raw: Any = connection.connection.dbapi_connection
    try:
        raw.execute("PRAGMA busy_timeout = 0")
        _wait_for_lock(raw, patience_s)
    finally:
        raw.execute(f"PRAGMA busy_timeout = {int(patience_s * 1000)}")
    if not raw.in_transaction:
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # waits again, and fails as any statement does


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
        message = f"{name_shown}: expected the path of a database file"
        raise StoreError(message)
    if name.startswith("file:"):  # an SQLite URI is passed on unchanged
        return
    path = Path(name)
    try:
        if path.exists():  # checked first: another process may create the file meanwhile
            if path.is_file():
                return
            message = f"{name_shown}: expected a file"
            raise StoreError(message)
        if not create:
            message = f"{name_shown}: no such database; `phiscan init` or `phiscan scan` makes one"
            raise StoreError(message)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # SQLite would create it with the mode that the umask allows; its -wal and -shm files get the same
        # mode.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as error:
        message = f"{name_shown}: cannot be created: {error.strerror}"
        raise StoreError(message) from None
