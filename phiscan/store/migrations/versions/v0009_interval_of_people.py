"""The interval of the number of people, each detector's own probability, and the bytes that were read.

Revision ID: 0009
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from phiscan.store import collation
from phiscan.store.column_types import CanonicalJson

revision = "0009"
down_revision: str | None = "0008"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Add the columns; of what was examined before, none of it is known."""
    columns: tuple[sa.Column[Any], ...] = (
        sa.Column(
            "people_low",
            sa.BigInteger(),
            nullable=True,
            comment="lower end of the 95% interval of n_people; null if the whole text was examined",
        ),
        sa.Column(
            "people_high",
            sa.BigInteger(),
            nullable=True,
            comment="upper end of that interval",
        ),
        sa.Column(
            "detector_probabilities",
            CanonicalJson(),
            nullable=False,
            server_default="[]",
            comment="P(PHI) by each detector alone, 0 to 1, [[name, probability], ...]",
        ),
        sa.Column(
            "bytes_read",
            sa.BigInteger(),
            nullable=True,
            comment="bytes read of it; null = not known",
        ),
    )
    for column in columns:
        op.add_column("examination", column)
    bind = op.get_bind()
    if bind.dialect.name == "postgresql":
        for statement in collation.statements(bind):
            bind.exec_driver_sql(statement)


def downgrade() -> None:
    """Refuse: what people decided would be lost."""
    message = "a database is not taken back to an older schema; restore a backup"
    raise NotImplementedError(message)
