"""Baseline: every table, index and trigger of ``phiscan.store.tables``.

Revision ID: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from phiscan.store.tables import SCHEMA_VERSION
from phiscan.store.tables.schema import metadata

revision = SCHEMA_VERSION
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None

_UNORDERED = """
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = current_schema() AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'
ORDER BY table_name, ordinal_position
"""


def upgrade() -> None:
    """Create the tables; their triggers are added after each (``append_only.guard``)."""
    bind = op.get_bind()
    metadata.create_all(bind, checkfirst=False)
    if bind.dialect.name == "postgresql":
        sort_by_code_points(bind)


def sort_by_code_points(connection: sa.Connection) -> None:
    """Set the collation of PostgreSQL text columns to "C", the order of the bytes of UTF-8, as on SQLite.

    By the server's locale, lists would be in another order than on SQLite, and after an update of the
    system an index built under the old order would no longer find its rows.
    """
    columns: dict[str, list[str]] = {}
    for table, column in connection.exec_driver_sql(_UNORDERED):
        columns.setdefault(table, []).append(column)
    for table, names in columns.items():
        changes = ", ".join(f'ALTER COLUMN "{name}" TYPE text COLLATE "C"' for name in names)
        connection.exec_driver_sql(f'ALTER TABLE "{table}" {changes}')


def downgrade() -> None:
    """Refuse: there is nothing before the first schema."""
    message = "there is no schema before the baseline"
    raise NotImplementedError(message)
