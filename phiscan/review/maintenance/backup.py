"""Backup: every row of one state of the database in one compressed file, with a manifest to verify it.

The file is a ZIP archive: ``manifest.json``, and for each table ``tables/NAME.jsonl`` with the lines of
``phiscan.store.portable_rows``. The same file restores into SQLite and into PostgreSQL. It is written in one
reading transaction, so that work can continue, and gets its name only when it is complete. Also here: the
status and the checks of a database.
"""

from __future__ import annotations

import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any

import sqlalchemy as sa

from phiscan import __version__
from phiscan.errors import ConfigError, InputError, StoreError
from phiscan.review import integrity, retention
from phiscan.review.audit import log as audit
from phiscan.review.maintenance import key_rotation
from phiscan.review.worklist.rows import rebuild
from phiscan.store import portable_rows as portable
from phiscan.store.column_types import iso
from phiscan.store.database import (
    Database,
    connect,
    is_sqlite,
    migrate_in,
    open_database,
    pending_revisions,
    schema_of,
)
from phiscan.store.identity import load_key
from phiscan.store.portable_rows import TableSum
from phiscan.store.sql_batches import count
from phiscan.store.tables import SCHEMA_VERSION
from phiscan.store.tables.desk import audit_log
from phiscan.store.tables.integrity import purge

FORMAT = 1
_MANIFEST = "manifest.json"
_MAX_MANIFEST_BYTES = 64 * 1024**2
_LEVEL = 6
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, TypeError, ValueError, RuntimeError)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The metadata of a backup."""

    made: str  # UTC, ISO 8601
    phiscan: str
    schema: str
    tables: dict[str, TableSum]
    audit_entries: int
    audit_head: str  # to be noted outside of the database: it proves later that no entry was removed
    key_id: str  # check value of the key of the hashes; "" = no key was used yet

    def to_json(self) -> dict[str, Any]:
        """Return the object that is stored in the file."""
        return {
            "format": FORMAT,
            "phiscan": self.phiscan,
            "schema": self.schema,
            "made": self.made,
            "audit": {"entries": self.audit_entries, "head": self.audit_head},
            "key_id": self.key_id,
            "tables": {
                name: {"rows": entry.n_rows, "sha256": entry.digest, "last_id": entry.last_id}
                for name, entry in sorted(self.tables.items())
            },
        }


def back_up(url: str, path: Path, *, now: datetime) -> Manifest:
    """Write a backup of the database to a new file with mode 0600.

    Raises:
        InputError: the file exists, or cannot be written; no partial file remains.
        StoreError: the database cannot be read.
    """
    opened = closing(open_database(url, create=False))
    with opened as database, _new_file(path) as stream, database.read() as connection:
        return _write(connection, stream, now=now)


def check(path: Path) -> Manifest:
    """Compare every table in a backup with the manifest.

    Raises:
        InputError: names the difference.
    """
    with _archive(path) as archive:
        manifest = _manifest(path, archive)
        for name, expected in manifest.tables.items():
            if portable.sum_of(_lines(archive, name)) != (expected.n_rows, expected.digest):
                raise InputError(path, f"table {name} is not what the manifest says: damaged or changed")
    return manifest


def restore(path: Path, url: str) -> Manifest:
    """Restore a backup into an empty database, all or nothing, and migrate it to the current schema.

    Raises:
        InputError: it is no backup, damaged, or of a newer version.
        StoreError: the database is not empty, or cannot be written.
    """
    with _archive(path) as archive, closing(connect(url, create=True)) as target:
        manifest, found = _manifest(path, archive), schema_of(target)
        if found:
            with target.read() as connection:
                filled = portable.table_with_rows(connection)
            if filled or {found, manifest.schema} != {SCHEMA_VERSION}:
                other = f"its schema is {found}, that of the backup {manifest.schema}"
                why = f"{filled} has rows" if filled else other
                raise StoreError(target.name, f"expected an empty database: {why}")
        if is_sqlite(target.url):
            target.outside_transactions("PRAGMA journal_mode = WAL")
        target.write(
            lambda connection: _fill(target, connection, archive, manifest, has_tables=bool(found)),
            durable=True,
            lock="exclusive",
        )
    return manifest


def try_out(path: Path) -> Manifest:
    """Restore a backup into a temporary database, and verify the audit log there.

    Raises:
        InputError: it is no backup, or damaged.
        StoreError: the restored database is not intact.
    """
    trial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.trial")
    try:
        return restore(path, f"sqlite:///{trial}")
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            trial.with_name(trial.name + suffix).unlink(missing_ok=True)


def _write(connection: sa.Connection, stream: IO[bytes], *, now: datetime) -> Manifest:
    tables = portable.tables_of(connection)
    last_ids, sums = portable.last_ids(connection, tables), {}
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        for table in tables:
            with archive.open(f"tables/{table.name}.jsonl", "w", force_zip64=True) as member:
                n_rows, digest = portable.sum_of(portable.lines_of(connection, table), member)
            sums[table.name] = TableSum(n_rows, digest, last_ids.get(table.name, 0))
        manifest = Manifest(
            made=iso(now),
            phiscan=__version__,
            schema=SCHEMA_VERSION,
            tables=sums,
            audit_entries=sums[audit_log.name].n_rows,
            audit_head=audit.last_hash(connection),
            key_id=key_rotation.key_in_use(connection),
        )
        archive.writestr(_MANIFEST, json.dumps(manifest.to_json(), indent=1))
    return manifest


@contextmanager
def _new_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a stream whose file gets its name after it is synced; on an error the file is removed."""
    if path.exists():
        raise InputError(path, "is there already; a backup is never overwritten")
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "w+b") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.link(draft, path)  # unlike a rename, fails if the file exists by now
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
            with suppress(OSError):  # not every file system supports it
                os.fsync(folder)
            os.close(folder)
        finally:
            draft.unlink()
    except FileExistsError:
        raise InputError(path, "is there already; a backup is never overwritten") from None
    except OSError as error:
        raise InputError(path, f"the backup cannot be written: {error.strerror}") from None


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror or type(error).__name__}") from None
    except _DAMAGE as error:
        raise InputError(path, f"not a whole backup of phiscan ({type(error).__name__})") from None


def _manifest(path: Path, archive: zipfile.ZipFile) -> Manifest:
    if archive.getinfo(_MANIFEST).file_size > _MAX_MANIFEST_BYTES:
        message = "manifest too large"
        raise ValueError(message)
    raw = json.loads(archive.read(_MANIFEST))
    if raw["format"] != FORMAT:
        raise InputError(path, f"format {raw['format']}; this phiscan reads format {FORMAT}")
    pending_revisions(str(path), str(raw["schema"]))
    tables = {
        str(name): TableSum(int(entry["rows"]), str(entry["sha256"]), int(entry["last_id"]))
        for name, entry in raw["tables"].items()
    }
    return Manifest(
        **{name: str(raw[name]) for name in ("made", "phiscan", "schema", "key_id")},
        tables=tables,
        audit_entries=int(raw["audit"]["entries"]),
        audit_head=str(raw["audit"]["head"]),
    )


def _lines(archive: zipfile.ZipFile, table: str) -> Iterator[bytes]:
    with archive.open(f"tables/{table}.jsonl") as member:
        for line in member:
            yield line.rstrip(b"\n")


def _fill(
    target: Database,
    connection: sa.Connection,
    archive: zipfile.ZipFile,
    manifest: Manifest,
    *,
    has_tables: bool,
) -> None:
    """Write all rows of a backup, migrate them, and verify the copy before the commit.

    Raises:
        StoreError: a row is invalid, or the written rows differ from the manifest.
    """
    if not has_tables:
        migrate_in(target, connection, manifest.schema, derive=rebuild)
    for table in portable.tables_of(connection):
        try:
            if table.name in manifest.tables:
                portable.insert_lines(connection, table, _lines(archive, table.name))
        except ValueError as error:
            message = f"table {table.name}: a line is not a row of it ({type(error).__name__})"
            raise StoreError(message) from None
    portable.set_last_ids(connection, {name: one.last_id for name, one in manifest.tables.items()})
    found = portable.sums_of(connection)
    for name in sorted({*found, *manifest.tables}):
        if found.get(name) != manifest.tables.get(name):
            raise StoreError(target.name, f"table {name} is not equal to what was copied; nothing was kept")
    if manifest.schema != SCHEMA_VERSION:
        migrate_in(target, connection, derive=rebuild)
    check = audit.verify(connection)
    if not check.ok:
        where = f"entry {check.first_bad}: {check.problem}"
        raise StoreError(target.name, f"the audit log of the copy is not whole: {where}")


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
    with closing(connect(url, create=False)) as database:
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
    return found


def verify(url: str, key_file: Path) -> list[Check]:
    """Run all integrity checks of a database, however long they take.

    Raises:
        StoreError: it cannot be opened or read.
    """
    audit_key = key_file.with_name("audit.key")
    key = audit_key if audit_key.exists() else None
    with closing(open_database(url, create=False, audit_key=key)) as database, database.read() as connection:
        looks: dict[str, Callable[[], str]] = {
            "integrity": lambda: _integrity(connection),
            "foreign keys": lambda: _foreign_keys(connection),
            "tables and triggers": lambda: "; ".join(map(": ".join, integrity.problems(connection))),
            "audit log": lambda: _log(connection),
            "key": lambda: _key(connection, key_file),
        }
        return [Check(name, look()) for name, look in looks.items()]


def require_sound(database: Database) -> None:
    """Refuse an SQLite file with damaged pages, naming the remedy; a server checks its pages itself.

    Raises:
        StoreError: the file is damaged.
    """
    try:
        with database.read() as connection:
            found = _integrity(connection, "quick_check")
    except StoreError as error:
        if not is_sqlite(database.url):
            raise
        found = _DAMAGED.format(str(error).removeprefix(f"{database.name}: "))
    if found:
        raise StoreError(database.name, f"{found}")


_DAMAGED = (
    "the file is damaged ({}); move it away, then `phiscan db restore FILE` with the newest backup that "
    "`phiscan db verify FILE` finds whole"
)


def _integrity(connection: sa.Connection, check: str = "integrity_check") -> str:
    if connection.dialect.name != "sqlite":
        return ""  # a server checks its pages itself; pg_amcheck checks all of them
    try:
        found = str(connection.exec_driver_sql(f"PRAGMA {check}(1)").scalar())
    except sa.exc.DatabaseError as error:  # too damaged for the check itself
        found = str(error.orig)
    return "" if found == "ok" else _DAMAGED.format(found.splitlines()[0])


def _foreign_keys(connection: sa.Connection) -> str:
    if connection.dialect.name != "sqlite":
        query = "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND NOT convalidated"
        return "" if not connection.exec_driver_sql(query).scalar() else "a foreign key was never validated"
    row = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    return "" if row is None else f"a row of {row[0]} refers to a row of {row[2]} that is not there"


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
