"""The probability of PHI of each examined file, its reasons, and the second list.

Revision ID: 0008
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from phiscan.store import collation
from phiscan.store.column_types import CanonicalJson

revision = "0008"
down_revision: str | None = "0007"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Add the columns; what was examined before has no probability and is on no second list."""
    op.add_column(
        "examination",
        sa.Column(
            "probability",
            sa.Double(),
            nullable=True,
            comment="P(PHI) at the configured prevalence, 0 to 1; null unless screened",
        ),
    )
    op.add_column(
        "examination",
        sa.Column(
            "decision_reasons",
            CanonicalJson(),
            nullable=False,
            server_default="[]",
            comment="largest contributions to P(PHI), [[input, added log-odds], ...]",
        ),
    )
    op.add_column(
        "examination",
        sa.Column(
            "second_look",
            sa.Boolean(),
            nullable=False,
            server_default=sa.false(),
            comment="not referred, but marked by a detector or by the decision table",
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
