"""Write build/docs/database.md from the comments of the tables (`make docs`)."""

from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from phiscan.store.tables.schema import APPEND_ONLY, metadata

PAGE = Path(__file__).resolve().parents[1] / "build" / "docs" / "database.md"
HEAD = f"""# The review database

Made by `docs/make_database.py` from the comments in `phiscan/store/tables/`;
do not edit.

No column holds document text: findings keep positions, types, masked shapes and keyed hashes. Times are UTC
in ISO 8601. Paths are kept as the raw bytes that the file system gave, with a text beside them for people.

Whoever may read this database learns which files hold health information, and sees the names of files; it
is made with mode 0600. The key of the hashes lies in another file. With both, a guessed value can be tested
against the column `identity`.

SQLite runs with a write-ahead log, so that people review while a scan writes. While phiscan runs, copy it
with `phiscan db backup`, not with `cp`. On PostgreSQL every text sorts by its code points.

The tables `{"`, `".join(APPEND_ONLY)}` refuse
UPDATE, DELETE and REPLACE by triggers.
"""


def page() -> str:
    """Return the whole page."""
    tables = sorted(metadata.tables.values(), key=lambda table: table.name)
    return "\n".join([HEAD, *(line for table in tables for line in _section(table))]) + "\n"


def _section(table: sa.Table) -> Iterator[str]:
    yield f"## {table.name}\n"
    yield f"{table.comment}\n"
    yield "| column | type | | meaning |"
    yield "| --- | --- | --- | --- |"
    for column in table.columns:
        yield f"| `{column.name}` | {_kind(column)} | {', '.join(_notes(column))} | {column.comment} |"
    yield ""
    for constraint in sorted(table.constraints, key=lambda constraint: str(constraint.name)):
        if isinstance(constraint, sa.CheckConstraint):
            yield f"* `{_name(constraint, table)}`: {' '.join(str(constraint.sqltext).split())}"
        elif isinstance(constraint, sa.UniqueConstraint):
            columns = ", ".join(column.name for column in constraint.columns)
            yield f"* `{_name(constraint, table)}`: unique {columns}"
    yield ""


def _kind(column: "sa.Column[object]") -> str:
    compiled = column.type.compile(dialect=sa.create_engine("sqlite://").dialect)
    return compiled.lower()


def _notes(column: "sa.Column[object]") -> Iterator[str]:
    if column.primary_key:
        yield "key"
    for reference in column.foreign_keys:
        yield f"to {reference.target_fullname}"
    if column.nullable:
        yield "may be null"


def _name(constraint: sa.Constraint, table: sa.Table) -> str:
    prefix = "ck" if isinstance(constraint, sa.CheckConstraint) else "uq"
    name = str(constraint.name)
    return name if name.startswith(prefix) else f"{prefix}_{table.name}_{name}"


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
