"""The purpose of reveals, asked once in a session.

Revision ID: 0013
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from phiscan.store import collation
from phiscan.store.column_types import SafeText

revision = "0013"
down_revision: str | None = "0012"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Add the column; in a session that has begun, the purpose is asked at the next reveal."""
    op.add_column(
        "web_session",
        sa.Column(
            "purpose",
            SafeText(),
            nullable=False,
            server_default="",
            comment="purpose of reveals in this session; empty = not given yet",
        ),
    )
    bind = op.get_bind()
    if bind.dialect.name == "postgresql":
        for statement in collation.statements(bind):
            bind.exec_driver_sql(statement)


def downgrade() -> None:
    """Refuse: what people decided would be lost."""
    message = "a database is not taken back to an older schema; restore a backup"
    raise NotImplementedError(message)
