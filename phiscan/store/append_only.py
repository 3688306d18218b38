"""Triggers that make tables append-only: they reject UPDATE, DELETE and REPLACE, in each SQL dialect."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

import sqlalchemy as sa

_SQLITE_CHANGE = """CREATE TRIGGER {table}_no_{event} BEFORE {EVENT} ON {table}
BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"""

# INSERT OR REPLACE removes the old row without firing the DELETE trigger (unless recursive triggers are on,
# which the attacker's connection controls), so the insert itself is rejected.
_SQLITE_REPLACE = """CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table}
WHEN EXISTS (SELECT 1 FROM {table} WHERE {same})
BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"""

_POSTGRESQL_FUNCTION = """CREATE FUNCTION {table}_refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION '{table} is append-only'; END $$"""

_POSTGRESQL_ROWS = """CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE ON {table}
FOR EACH ROW EXECUTE FUNCTION {table}_refuse()"""

_POSTGRESQL_TABLE = """CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION {table}_refuse()"""


def statements(dialect: str, table: str, unique: Sequence[str]) -> tuple[str, ...]:
    """Return the statements that make one table append-only on a database of this dialect.

    Raises:
        ValueError: the dialect is neither sqlite nor postgresql.
    """
    if dialect == "sqlite":
        same = " OR ".join(f"{column} = NEW.{column}" for column in unique)
        changes = tuple(
            _SQLITE_CHANGE.format(table=table, event=event, EVENT=event.upper())
            for event in ("update", "delete")
        )
        return (*changes, _SQLITE_REPLACE.format(table=table, same=same))
    if dialect == "postgresql":
        texts = (_POSTGRESQL_FUNCTION, _POSTGRESQL_ROWS, _POSTGRESQL_TABLE)
        return tuple(text.format(table=table) for text in texts)
    message = f"no append-only triggers are written for {dialect}"
    raise ValueError(message)


@contextmanager
def lifted(connection: sa.Connection, tables: Collection[str]) -> Iterator[None]:
    """Allow deletes (not updates) in these tables until the block ends; only for a purge.

    It runs in the caller's transaction, so that no other connection ever sees the tables unprotected. On a
    server only their owner may do it.
    """
    if connection.dialect.name == "sqlite":
        names = [f"{table}_no_delete" for table in sorted(tables)]
        query = sa.text("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = :name")
        after = [str(connection.execute(query, {"name": name}).scalar_one()) for name in names]
        before = [f"DROP TRIGGER {name}" for name in names]
    else:
        before, after = (
            [f"ALTER TABLE {table} {what} TRIGGER {table}_no_change" for table in sorted(tables)]
            for what in ("DISABLE", "ENABLE")
        )
    for statement in before:
        connection.exec_driver_sql(statement)
    yield
    for statement in after:
        connection.exec_driver_sql(statement)


def guard(metadata: sa.MetaData, tables: Mapping[str, Sequence[str]]) -> None:
    """Make ``metadata.create_all`` add the triggers to these tables."""

    def add(target: sa.Table, connection: sa.Connection, **_: object) -> None:
        for statement in statements(connection.dialect.name, target.name, tables[target.name]):
            connection.exec_driver_sql(statement)

    for name in tables:
        sa.event.listen(metadata.tables[name], "after_create", add)
