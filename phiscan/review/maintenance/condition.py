"""Status of a database: its contents in numbers, and integrity checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from phiscan.errors import ConfigError, StoreError
from phiscan.review import integrity, retention
from phiscan.review.audit import log as audit
from phiscan.review.maintenance import key_rotation
from phiscan.store import portable_rows as portable
from phiscan.store.database import Database, connect, is_sqlite, open_database, schema_of
from phiscan.store.identity import load_key
from phiscan.store.sql_batches import count
from phiscan.store.tables import SCHEMA_VERSION, purge


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check."""

    name: str
    problem: str  # "" = passed


def status(url: str) -> dict[str, Any]:
    """Return type, schema and contents of a database, also of another schema version.

    Raises:
        StoreError: it cannot be opened, or is no database of phiscan.
    """
    database = connect(url, create=False)
    try:
        version = schema_of(database)
        found: dict[str, Any] = {
            "database": database.name,
            "kind": "sqlite" if is_sqlite(database.url) else database.url.get_backend_name(),
            "schema": version or None,
            "up_to_date": version == SCHEMA_VERSION,
        }
        with database.read() as connection:
            found["server"] = ".".join(map(str, connection.dialect.server_version_info or ()))
            found["bytes"] = _size(connection)
            found["tables"] = {one.name: count(connection, one) for one in portable.tables_of(connection)}
            if version == SCHEMA_VERSION:
                found["audit_entries"] = found["tables"]["audit_log"]
                found["audit_head"] = audit.last_hash(connection)
                found["key_id"] = key_rotation.key_in_use(connection) or None
                found["holds"] = len(retention.holds(connection))
                found["purges"] = count(connection, purge)
    finally:
        database.close()
    return found


def verify(url: str, key_file: Path) -> list[Check]:
    """Run all integrity checks of a database, however long they take.

    Raises:
        StoreError: it cannot be opened or read.
    """
    audit_key = key_file.with_name("audit.key")
    database = open_database(url, create=False, audit_key=audit_key if audit_key.exists() else None)
    try:
        with database.read() as connection:
            looks: dict[str, Callable[[], str]] = {
                "integrity": lambda: _integrity(connection),
                "foreign keys": lambda: _foreign_keys(connection),
                "tables and triggers": lambda: _schema(connection),
                "audit log": lambda: _log(connection),
                "key": lambda: _key(connection, key_file),
            }
            return [Check(name, look()) for name, look in looks.items()]
    finally:
        database.close()


def require_sound(database: Database) -> None:
    """Refuse an SQLite file with damaged pages, naming the remedy; a server checks its pages itself.

    Raises:
        StoreError: the file is damaged.
    """
    if not is_sqlite(database.url):
        return
    try:
        with database.read() as connection:
            found = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar())
    except StoreError as error:
        found = str(error).removeprefix(f"{database.name}: ")
    if found != "ok":
        message = (
            f"{database.name}: the file is damaged ({found.splitlines()[0]}); move it away, then `phiscan db "
            "restore FILE` with the newest backup that `phiscan db verify FILE` finds whole"
        )
        raise StoreError(message)


def _integrity(connection: sa.Connection) -> str:
    if connection.dialect.name != "sqlite":
        return ""  # a server checks its pages itself; pg_amcheck checks all of them
    try:
        found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
    except sa.exc.DatabaseError:  # too damaged for the check itself
        found = ""
    if found == "ok":
        return ""
    return "the file is damaged; move it away, then `phiscan db restore FILE` with the last whole backup"


def _foreign_keys(connection: sa.Connection) -> str:
    if connection.dialect.name != "sqlite":
        query = "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND NOT convalidated"
        return "" if not connection.exec_driver_sql(query).scalar() else "a foreign key was never validated"
    row = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    return "" if row is None else f"a row of {row[0]} refers to a row of {row[2]} that is not there"


def _schema(connection: sa.Connection) -> str:
    return "; ".join(f"{name}: {what}" for name, what in integrity.problems(connection))


def _log(connection: sa.Connection) -> str:
    check = integrity.verify(connection)
    if check.ok:
        return ""
    return f"entry {check.first_bad}: {check.problem}" if check.first_bad else check.problem


def _key(connection: sa.Connection, key_file: Path) -> str:
    in_use = key_rotation.key_in_use(connection)
    if not in_use:
        return ""
    try:
        found = key_rotation.key_id(load_key(key_file))
    except ConfigError as error:
        return str(error)
    return "" if found == in_use else f"{key_file} holds key {found}; the hashes are made with key {in_use}"


def _size(connection: sa.Connection) -> int:
    if connection.dialect.name == "sqlite":
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        return int(pages) * int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())
    return int(connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one())
