"""What an SQLite file needs: how it is made, who may read it, how its transactions begin."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL

from phiscan.errors import StoreError
from phiscan.review.urls import is_sqlite, shown


def connected(connection: Any, _record: Any) -> None:
    """Set a new connection up."""
    connection.isolation_level = None  # we say BEGIN ourselves
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA temp_store = MEMORY")  # sorting leaves nothing in the temp folder
    cursor.execute("PRAGMA cache_size = -32768")  # KiB
    cursor.close()


def begin(connection: sa.Connection, *, writes: bool, durable: bool) -> None:
    """Begin a transaction; a writing one takes the lock now."""
    if not writes:
        connection.exec_driver_sql("BEGIN")
        return
    level = "FULL" if durable else "NORMAL"
    connection.exec_driver_sql(f"PRAGMA synchronous = {level}")
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def file_identity(url: URL) -> tuple[int, int] | None:
    """Return device and inode of an SQLite file; None for anything else, or when it is not there."""
    if not is_sqlite(url) or not url.database or url.database.startswith("file:"):
        return None
    try:
        info = Path(url.database).stat()
    except OSError:
        return None
    return info.st_dev, info.st_ino


def prepare_file(url: URL, *, create: bool) -> None:
    """Look that the file is there; with ``create`` make it, for its owner only.

    Raises:
        StoreError: it is missing, no file, or cannot be made.
    """
    name_shown = shown(url)
    name = url.database or ""
    if name in {"", ":memory:"}:
        message = f"{name_shown}: expected the path of a database file"
        raise StoreError(message)
    if name.startswith("file:"):  # an SQLite URI; whoever writes one knows what it does
        return
    path = Path(name)
    try:
        if path.is_file():
            return
        if path.exists():
            message = f"{name_shown}: expected a file"
            raise StoreError(message)
        if not create:
            message = f"{name_shown}: no such database; `phiscan init` or `phiscan scan` makes one"
            raise StoreError(message)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # SQLite would make it readable by everybody that the umask allows; its -wal and -shm files take
        # over this mode.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as error:
        message = f"{name_shown}: cannot be created: {error.strerror}"
        raise StoreError(message) from None
