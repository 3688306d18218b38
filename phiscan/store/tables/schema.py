"""The ``MetaData`` of the review store, and functions that define its columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from phiscan.store.column_types import RowId, SafeText, UtcTime

metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    },
)

ACTED = "acted"  # key of the columns of who and when in ``Column.info``


def one_of(column: str, values: Iterable[str]) -> sa.CheckConstraint:
    """Return the named constraint that a column holds one of these values."""
    listed = textwrap.fill(", ".join(f"'{value}'" for value in values), 100)
    return sa.CheckConstraint(f"{column} IN (\n{listed}\n)", name=f"{column}_known")


def column(
    name: str, kind: Any, comment: str, *, to: str = "", null: bool = False, default: Any = None
) -> sa.Column[Any]:
    """Return a column with its comment, NOT NULL unless ``null``.

    ``to``: the column of another table that it points at. ``default``: the value in rows written without one.
    """
    reference = (sa.ForeignKey(to),) if to else ()
    return sa.Column(name, kind, *reference, nullable=null, comment=comment, server_default=default)


def who(name: str, comment: str) -> sa.Column[Any]:
    """Return the column of who did what a row of a history is about (``audit.log.record`` fills it)."""
    return sa.Column(name, SafeText, nullable=False, comment=comment, info={ACTED: "by"})


def when(name: str, comment: str = "when") -> sa.Column[Any]:
    """Return the column of when that was done."""
    return sa.Column(name, UtcTime, nullable=False, comment=comment, info={ACTED: "now"})


def row_id(comment: str) -> sa.Column[Any]:
    """Return the primary key with row numbers, which are never reused."""
    return sa.Column("id", RowId, primary_key=True, autoincrement=True, comment=comment)


def seal() -> sa.Column[Any]:
    """Return the column with a row's HMAC under the signing key (``store.seals``)."""
    return column("seal", sa.Text, "HMAC-SHA256 of the row under audit.key; empty without that key")


def key(name: str, target: str, comment: str, kind: Any = RowId) -> sa.Column[Any]:
    """Return a column of a primary key that points at another table ("" = at none)."""
    reference = (sa.ForeignKey(target),) if target else ()
    return sa.Column(
        name, kind, *reference, primary_key=True, autoincrement=False, nullable=False, comment=comment
    )


APPEND_ONLY: dict[str, tuple[str, ...]] = {}
"""All append-only tables and their unique columns, by which a REPLACE could otherwise remove a row."""


def table(name: str, *items: sa.schema.SchemaItem, comment: str) -> sa.Table:
    """Return a table of the store with columns and constraints; the numbers of its rows are never reused."""
    has_number = any(isinstance(item, sa.Column) and item.autoincrement is True for item in items)
    return sa.Table(name, metadata, *items, comment=comment, sqlite_autoincrement=has_number)


def history(name: str, *items: sa.schema.SchemaItem, comment: str) -> sa.Table:
    """Return an append-only table: triggers refuse every change of its rows; each names who did it."""
    names = [one.name for one in items if isinstance(one, sa.Column) and one.info.get(ACTED) == "by"]
    given = [sa.CheckConstraint(f"{one} <> ''", name=f"{one}_named") for one in names]
    made = table(name, *items, *given, comment=comment)
    unique = [one.name for item in items if isinstance(item, sa.UniqueConstraint) for one in item.columns]
    APPEND_ONLY[name] = ("id", *unique)
    return made


def digest(metadata: sa.MetaData, append_only: Mapping[str, Sequence[str]]) -> str:
    """Return 12 hex digits of sha256 over names, types, keys and constraints of all tables; not comments."""
    lines = [f"{table} {unique}" for table, unique in append_only.items()]
    for table in metadata.tables.values():
        for item in table.columns:
            default = getattr(item.server_default, "arg", "")
            keys = sorted(key.target_fullname for key in item.foreign_keys)
            checks = sorted(str(getattr(check, "sqltext", "")) for check in item.constraints)
            kind = f"{type(item.type).__name__} {item.nullable} {default} {item.primary_key}"
            lines.append(f"{table.name} {item.name} {kind} {keys} {checks}")
        lines += (
            f"{table.name} {constraint.name} {getattr(constraint, 'sqltext', '')} {constraint.columns.keys()}"
            for constraint in table.constraints
            if isinstance(constraint, sa.CheckConstraint | sa.UniqueConstraint)
        )
        lines += (
            f"{table.name} {index.name} {index.unique} {index.columns.keys()}" for index in table.indexes
        )
    return sha256("\n".join(sorted(lines)).encode()).hexdigest()[:12]
