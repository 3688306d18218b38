"""Set the collation of PostgreSQL text columns to "C", so that texts sort by code points as on SQLite.

PostgreSQL sorts by its locale, which may differ between servers and after an update of the system: lists
would be in another order than on SQLite, and an index built under the old order would no longer find its
rows. The collation "C" is the order of the bytes of UTF-8, everywhere.
"""

from __future__ import annotations

import sqlalchemy as sa

_UNORDERED = """
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = current_schema() AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'
ORDER BY table_name, ordinal_position
"""


def statements(connection: sa.Connection) -> tuple[str, ...]:
    """Return one statement per table that sets the collation of its text columns to "C"."""
    columns: dict[str, list[str]] = {}
    for table, column in connection.exec_driver_sql(_UNORDERED):
        columns.setdefault(table, []).append(column)
    return tuple(
        f'ALTER TABLE "{table}" '
        + ", ".join(f'ALTER COLUMN "{name}" TYPE text COLLATE "C"' for name in names)
        for table, names in columns.items()
    )
