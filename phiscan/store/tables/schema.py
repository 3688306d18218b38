"""The ``MetaData`` of the review store, and functions that define its columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from phiscan.store.column_types import RowId

metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    },
)


def one_of(column: str, values: Iterable[str]) -> sa.CheckConstraint:
    """Return the named constraint that a column holds one of these values."""
    listed = textwrap.fill(", ".join(f"'{value}'" for value in values), 100)
    return sa.CheckConstraint(f"{column} IN (\n{listed}\n)", name=f"{column}_known")


def column(
    name: str, kind: Any, comment: str, *args: Any, null: bool = False, default: Any = None
) -> sa.Column[Any]:
    """Return a column with its comment, NOT NULL unless ``null``.

    ``default``: the value in rows written before the column was added.
    """
    return sa.Column(name, kind, *args, nullable=null, comment=comment, server_default=default)


def row_id(comment: str) -> sa.Column[Any]:
    """Return the primary key with row numbers, which are never reused."""
    return sa.Column("id", RowId, primary_key=True, autoincrement=True, comment=comment)


def key(name: str, target: str, comment: str) -> sa.Column[Any]:
    """Return a column of a primary key that points at another table."""
    reference = (sa.ForeignKey(target),) if target else ()
    return sa.Column(
        name, RowId, *reference, primary_key=True, autoincrement=False, nullable=False, comment=comment
    )
