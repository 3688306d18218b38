"""Comparison of the tables, indexes and triggers of a database with those of the current schema."""

from __future__ import annotations

from functools import cache

import sqlalchemy as sa

from phiscan.store import append_only
from phiscan.store.tables import APPEND_ONLY, metadata

_LEFT_OUT = ("alembic_version", "sqlite_")


def problems(connection: sa.Connection) -> list[tuple[str, str]]:
    """Return the name of each table, index, view or trigger that differs, and the difference."""
    if connection.dialect.name != "sqlite":
        return _on_server(connection)
    found, expected = _described(connection), _expected()
    differing = [
        (name, "was removed" if name not in found else "was added" if name not in expected else "was changed")
        for name in sorted(found.keys() | expected.keys())
        if found.get(name) != expected.get(name)
    ]
    return [(name, f"of the schema {how}") for name, how in differing]


@cache
def _expected() -> dict[str, list[str]]:
    """Return the description of a newly created database."""
    engine = sa.create_engine("sqlite://")
    with engine.begin() as connection:
        metadata.create_all(connection)
        found = _described(connection)
    engine.dispose()
    return found


def _described(connection: sa.Connection) -> dict[str, list[str]]:
    query = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    found = {}
    for kind, name, sql in connection.exec_driver_sql(query).all():
        if name.startswith(_LEFT_OUT):
            continue
        found[name] = _table(connection, name, sql) if kind == "table" else [" ".join(sql.split())]
    return found


def _table(connection: sa.Connection, name: str, sql: str) -> list[str]:
    """Return columns and constraints of a table; a column added later is written after the constraints."""
    columns = connection.exec_driver_sql(f'PRAGMA table_info("{name}")').all()
    names = {row.name for row in columns}
    lines = (part.strip(" \n\t,") for part in sql.splitlines())
    return [
        *sorted(f"{row.name} {row.type} {row.notnull} {row.dflt_value} {row.pk}" for row in columns),
        *sorted(line for line in lines if line.split(" ")[0] not in names and line != ")"),
    ]


def _on_server(connection: sa.Connection) -> list[tuple[str, str]]:
    """Return triggers that are missing or disabled, and tables or columns that differ, on PostgreSQL."""
    query = (
        "SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
        "WHERE pg_table_is_visible(pg_class.oid) AND tgenabled <> 'D' AND NOT tgisinternal"
    )
    existing = set(connection.exec_driver_sql(query).scalars())
    expected = {f"{table}_no_{what}" for table in APPEND_ONLY for what in ("change", "truncate")}
    found = [(name, "of the schema was removed or switched off") for name in sorted(expected - existing)]
    found += [(name, "of the schema was added") for name in sorted(existing - expected)]
    bodies = connection.exec_driver_sql(
        "SELECT proname, prosrc FROM pg_proc WHERE proname LIKE '%%_refuse' AND pg_function_is_visible(oid)"
    )
    for name, body in bodies.all():
        table = name.removesuffix("_refuse")
        made = append_only.statements("postgresql", table, ())[0] if table in APPEND_ONLY else ""
        if body.strip() not in made:
            found.append((name, "of the schema was changed"))
    inspector = sa.inspect(connection)
    for table in metadata.sorted_tables:
        columns = (
            {one["name"] for one in inspector.get_columns(table.name)}
            if inspector.has_table(table.name)
            else set()
        )
        if columns != set(table.columns.keys()):
            found.append((table.name, "of the schema was changed"))
    return found
