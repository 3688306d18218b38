"""Texts in the order of their code points on every database, as SQLite sorts them.

A PostgreSQL database sorts as its locale says, and two servers, or one server before and after an update of
its system, may sort differently: a list would be in another order than on SQLite, and an index built under
the old order would no longer find its rows. The collation "C" is the order of the bytes of UTF-8, everywhere.
"""

from __future__ import annotations

import sqlalchemy as sa

_UNORDERED = """
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = current_schema() AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'
ORDER BY table_name, ordinal_position
"""


def statements(connection: sa.Connection) -> tuple[str, ...]:
    """Return what gives every text of a PostgreSQL schema the collation "C", a statement a table."""
    columns: dict[str, list[str]] = {}
    for table, column in connection.exec_driver_sql(_UNORDERED):
        columns.setdefault(table, []).append(column)
    return tuple(
        f'ALTER TABLE "{table}" '
        + ", ".join(f'ALTER COLUMN "{name}" TYPE text COLLATE "C"' for name in names)
        for table, names in columns.items()
    )
