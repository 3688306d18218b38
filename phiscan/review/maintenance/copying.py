"""Copying of a whole database into an empty one of any kind, in one transaction, compared row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import sqlalchemy as sa

from phiscan.errors import StoreError
from phiscan.review.audit import log as audit
from phiscan.review.records.items import AuditCheck
from phiscan.review.worklist.rows import rebuild
from phiscan.store import portable_rows as portable
from phiscan.store import postgresql
from phiscan.store.database import Database, connect, is_sqlite, open_database, schema_of
from phiscan.store.portable_rows import TableSum
from phiscan.store.tables import SCHEMA_VERSION

Lines = Callable[[str], Iterable[bytes]]
"""Yields the lines of a table by its name."""


def move(source_url: str, target_url: str, *, on_table: Callable[[str, int], None]) -> dict[str, TableSum]:
    """Copy every row of one database into an empty one; writers wait until it is done.

    All or nothing: after an interruption the target is still empty.

    Raises:
        StoreError: a database cannot be opened, the target is not empty, or the copy differs.
    """
    source = open_database(source_url, create=False)
    try:
        target = connect(target_url, create=True)
        try:

            def copy(reading: sa.Connection) -> dict[str, TableSum]:
                tables = {table.name: table for table in portable.tables_of(reading)}
                return fill(
                    target,
                    SCHEMA_VERSION,
                    lambda name: portable.lines_of(reading, tables[name]),
                    portable.last_ids(reading, tables.values()),
                    on_table=on_table,
                )

            # With an exclusive lock, so that no row is written during the copy.
            return source.write(copy, lock="exclusive")
        finally:
            target.close()
    finally:
        source.close()


def fill(
    target: Database,
    schema: str,
    lines: Lines,
    last_ids: Mapping[str, int],
    *,
    expected: Mapping[str, TableSum] | None = None,
    on_table: Callable[[str, int], None],
) -> dict[str, TableSum]:
    """Write all rows into an empty database, migrate it, and verify the copy before the commit.

    ``schema`` is that of the rows; ``expected``: the expected digest of each table, if known.

    Raises:
        StoreError: the target is not empty, a row is invalid, or the written rows differ from the expected.
    """
    refuse_unless_empty(target)
    if is_sqlite(target.url):
        target.outside_transactions("PRAGMA journal_mode = WAL")

    def write(connection: sa.Connection) -> dict[str, TableSum]:
        _make_tables(target, connection, schema)
        passed: dict[str, TableSum] = {}
        for table in portable.tables_of(connection):
            try:
                n_rows, digest = portable.insert_lines(connection, table, lines(table.name))
            except ValueError as error:
                message = f"table {table.name}: a line is not a row of it ({type(error).__name__})"
                raise StoreError(message) from None
            passed[table.name] = TableSum(n_rows, digest, last_ids.get(table.name, 0))
            on_table(table.name, n_rows)
        portable.set_last_ids(connection, last_ids)
        _compare(target, portable.sums_of(connection), passed)
        _compare(target, passed, passed if expected is None else expected)
        if schema != SCHEMA_VERSION:
            _migrate(connection, "head")
        _prove(target, audit.verify(connection))
        return passed

    return target.write(write, durable=True, lock="exclusive")


def refuse_unless_empty(target: Database) -> None:
    """Raise a StoreError unless the database has no tables, or the tables of phiscan without any row."""
    found = schema_of(target)
    if not found:
        return
    with target.read() as connection:
        filled = portable.table_with_rows(connection)
    if filled or found != SCHEMA_VERSION:
        why = f"{filled} has rows" if filled else f"its schema is {found}"
        message = f"{target.name}: expected an empty database: {why}"
        raise StoreError(message)


def _make_tables(target: Database, connection: sa.Connection, schema: str) -> None:
    there = sa.inspect(connection).has_table(portable.VERSION_TABLE)
    if there:
        if schema != SCHEMA_VERSION:
            message = (
                f"{target.name}: expected a database without tables: the copy has the older schema {schema}"
            )
            raise StoreError(message)
        if filled := portable.table_with_rows(connection):  # another process was faster
            message = f"{target.name}: expected an empty database: {filled} has rows"
            raise StoreError(message)
        return
    if connection.dialect.name == "postgresql" and (why := postgresql.refusal(connection)):
        message = f"{target.name}: {why}"
        raise StoreError(message)
    _migrate(connection, schema)


def _migrate(connection: sa.Connection, revision: str) -> None:
    from phiscan.store.migrations import migrate  # noqa: PLC0415 (Alembic takes 0.4 s to import)

    migrate(connection, revision)
    if revision == "head":
        rebuild(connection)


def _compare(target: Database, found: Mapping[str, TableSum], expected: Mapping[str, TableSum]) -> None:
    for name in sorted({*found, *expected}):
        if found.get(name) != expected.get(name):
            message = f"{target.name}: table {name} is not equal to what was copied; nothing was kept"
            raise StoreError(message)


def _prove(target: Database, check: AuditCheck) -> None:
    if not check.ok:
        message = (
            f"{target.name}: the audit log of the copy is not whole: entry {check.first_bad}: {check.problem}"
        )
        raise StoreError(message)
