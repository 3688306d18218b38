"""States of accounts, tokens and sessions in the audit log: a short digest per column, at each change.

The digests are in the details of the log's entries; the newest one of a row must match the row.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from phiscan.store.column_types import canonical_json, row_digest, stored_columns
from phiscan.store.tables.users import api_token, user_account, web_session

N_HEX = 16
_CHANGING = {
    user_account: {"second_factor_step"},
    api_token: {"used"},
    web_session: {"seen", "purpose", "seal"},
}
COLUMNS: Mapping[sa.Table, tuple[str, ...]] = {
    table: tuple(column.name for column in table.columns if column.name not in {"id", *changing})
    for table, changing in _CHANGING.items()
}
"""All columns but those that change at each use."""
TABLES = {table.name: table for table in COLUMNS}

States = dict[str, dict[int, dict[str, str]]]
"""Per table and row, the digest of each column."""


def state_of(table: sa.Table, row: Mapping[str, Any]) -> dict[str, str]:
    """Return the digest of each column of a row as stored."""
    return {name: row_digest(table, [name, row[name]])[:N_HEX] for name in COLUMNS[table]}


def states(
    connection: sa.Connection, table: sa.Table, where: sa.ColumnElement[bool] | None = None
) -> dict[int, dict[str, str]]:
    """Return the current states of rows."""
    query = sa.select(*stored_columns(table)).order_by(table.c.id)
    if where is not None:
        query = query.where(where)
    return {row["id"]: state_of(table, dict(row)) for row in connection.execute(query).mappings()}


def details_of(
    connection: sa.Connection, changes: Mapping[sa.Table, tuple[Iterable[int], Collection[str] | None]]
) -> dict[str, Any]:
    """Return the part of a log entry about changed rows; only the columns that the change concerns.

    ``changes``: by table, the rows and their columns (None = all, of a new row). Columns outside of the
    change keep their previous digest, so that a manipulation of them is found later.
    """
    found: dict[str, Any] = {}
    for table, (numbers, columns) in changes.items():
        ids = list(numbers)
        rows = states(connection, table, table.c.id.in_(ids)) if ids else {}
        kept = {
            str(number): {name: state[name] for name in state if columns is None or name in columns}
            for number, state in rows.items()
        }
        if any(kept.values()):
            found[table.name] = kept
    return {"states": found} if found else {}


def add(known: States, details: Mapping[str, Any]) -> None:
    """Merge the states of one entry into the known ones; the later entry applies."""
    for name, rows in details.get("states", {}).items():
        of_table = known.setdefault(name, {})
        for number, state in rows.items():
            of_table.setdefault(int(number), {}).update(state)


def carried(connection: sa.Connection, known: States) -> dict[str, dict[str, str]]:
    """Return the states of existing rows for the certificate of a purge."""
    kept: dict[str, dict[str, str]] = {}
    for name, rows in known.items():
        existing = set(connection.execute(sa.select(TABLES[name].c.id)).scalars())
        of_table = {
            str(number): canonical_json(state) for number, state in rows.items() if number in existing
        }
        if of_table:
            kept[name] = of_table
    return kept


def from_carried(kept: Mapping[str, Mapping[int, str]]) -> States:
    """Return the states stored in the certificate of a purge."""
    return {
        name: {int(number): json.loads(text) for number, text in rows.items()}
        for name, rows in kept.items()
        if name in TABLES
    }
