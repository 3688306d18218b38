"""States of accounts, tokens and sessions in the audit log: a short digest per column, at each change.

The digests are in the details of the log's entries; the newest one of a row must match the row. A row
without a digest is older than this check: then role, lock and lifetime must follow from its events.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from phiscan.store.column_types import canonical_json
from phiscan.store.tables.users import UserEvent, api_token, user_account, user_event, web_session

N_HEX = 16
COLUMNS: Mapping[sa.Table, tuple[str, ...]] = {
    user_account: (
        "name",
        "name_key",
        "role",
        "password_hash",
        "subject",
        "disabled",
        "locked",
        "second_factor",
    ),
    api_token: ("token_hash", "user_id", "label", "created", "expires", "revoked", "scopes"),
    web_session: ("token_hash", "user_id", "method", "created", "ended"),
}
TABLES = {table.name: table for table in COLUMNS}

States = dict[str, dict[int, dict[str, str]]]
"""Per table and row, the digest of each column."""


def state_of(table: sa.Table, row: Mapping[str, Any]) -> dict[str, str]:
    """Return the digest of each column of a row as stored."""
    return {
        name: sha256(canonical_json([table.name, name, row[name]]).encode()).hexdigest()[:N_HEX]
        for name in COLUMNS[table]
    }


def states(
    connection: sa.Connection, table: sa.Table, where: sa.ColumnElement[bool] | None = None
) -> dict[int, dict[str, str]]:
    """Return the current states of rows."""
    columns = [
        sa.type_coerce(table.c[name], _plain(table.c[name].type)).label(name) for name in COLUMNS[table]
    ]
    query = sa.select(table.c.id, *columns).order_by(table.c.id)
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


def legacy_problem(connection: sa.Connection, table: sa.Table, number: int) -> str:
    """Return how a row without a state in the log differs from its events; "" = it does not."""
    row = connection.execute(sa.select(table).where(table.c.id == number)).one()
    if table is web_session:
        return "" if row.ended is not None else "it is open, but no sign-in began it"
    if table is api_token:
        made = sa.select(user_event.c.id).where(
            user_event.c.event == UserEvent.TOKEN_MADE.value,
            user_event.c.user_id == row.user_id,
            user_event.c.value == row.label,
            user_event.c.at == row.created,
        )
        return "" if connection.execute(made).first() else "no event made it"
    return _legacy_account(connection, row)


def _legacy_account(connection: sa.Connection, row: sa.Row[Any]) -> str:
    query = sa.select(user_event.c.event, user_event.c.value).where(user_event.c.user_id == row.id)
    events = connection.execute(query.order_by(user_event.c.id)).all()
    if not any(one.event == UserEvent.ADD.value for one in events):
        return "no event made it"
    roles = [one.value for one in events if one.event in {UserEvent.ADD.value, UserEvent.ROLE.value}]
    if roles[-1] != row.role:
        return f"role is {row.role}, but its last event made it {roles[-1]}"
    for column, on, off in (
        (row.disabled, UserEvent.DISABLE, UserEvent.ENABLE),
        (row.locked, UserEvent.LOCK, UserEvent.UNLOCK),
    ):
        last = [one.event for one in events if one.event in {on.value, off.value}][-1:]
        if (column is not None) != (last == [on.value]):
            return f"its last event of that kind is {last[0] if last else 'none'}, its row says otherwise"
    return ""


def _plain(kind: sa.types.TypeEngine[Any]) -> sa.types.TypeEngine[Any]:
    return kind.impl_instance if isinstance(kind, sa.types.TypeDecorator) else kind
