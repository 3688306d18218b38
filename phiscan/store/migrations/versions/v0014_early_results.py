"""Results of a running scan that wait for a file before them, so that a kill does not lose them.

Revision ID: 0014
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from phiscan.store import collation

revision = "0014"
down_revision: str | None = "0013"
branch_labels: str | None = None
depends_on: str | None = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table; scans that have ended need no row of it."""
    op.create_table(
        "early_result",
        sa.Column(
            "scan_id", ROW_ID, autoincrement=False, nullable=False, comment="the scan, which has not ended"
        ),
        sa.Column("root_id", ROW_ID, autoincrement=False, nullable=False, comment="the root of the file"),
        sa.Column(
            "path",
            sa.LargeBinary(),
            nullable=False,
            comment="raw bytes of the path relative to the root",
        ),
        sa.Column(
            "result",
            sa.Text(),
            nullable=False,
            comment="the result as a JSON list: positions, types, masked shapes and keyed hashes",
        ),
        sa.ForeignKeyConstraint(["root_id"], ["root.id"], name=op.f("fk_early_result_root_id")),
        sa.ForeignKeyConstraint(["scan_id"], ["scan.id"], name=op.f("fk_early_result_scan_id")),
        sa.PrimaryKeyConstraint("scan_id", "root_id", "path", name=op.f("pk_early_result")),
        comment=(
            "Results of a running scan that cannot be recorded yet: an earlier file is still being read."
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
