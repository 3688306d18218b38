"""Which recognizers read a file, how many findings of each type it has, and how long its stages took.

Revision ID: 0010
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from phiscan.store import collation
from phiscan.store.column_types import CanonicalJson

revision = "0010"
down_revision: str | None = "0009"
branch_labels: str | None = None
depends_on: str | None = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add columns and table; of earlier examinations the number of findings is known, not their types."""
    op.add_column(
        "examination",
        sa.Column(
            "search",
            sa.Text(),
            nullable=False,
            server_default="",
            comment="which recognizers ran on it: everything, needed, audit or left_out; empty if not known",
        ),
    )
    op.add_column(
        "examination",
        sa.Column(
            "finding_counts",
            CanonicalJson(),
            nullable=False,
            server_default="{}",
            comment="number of findings of each type, {type: number}",
        ),
    )
    op.create_table(
        "stage_time",
        sa.Column("examination_id", ROW_ID, autoincrement=False, nullable=False, comment="the examination"),
        sa.Column(
            "seconds",
            CanonicalJson(),
            nullable=False,
            comment="seconds of its worker in each stage, [[stage, seconds], ...]",
        ),
        sa.Column("total_s", sa.Double(), nullable=False, comment="their sum"),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_stage_time_examination_id")
        ),
        sa.PrimaryKeyConstraint("examination_id", name=op.f("pk_stage_time")),
        comment="How long each stage of a file took; the slowest files of a scan are reported at its end.",
    )
    op.create_index(op.f("ix_stage_time_total_s"), "stage_time", ["total_s"])
    bind = op.get_bind()
    if bind.dialect.name == "postgresql":
        op.alter_column(
            "examination", "n_findings", comment="number of findings; of each type in finding_counts"
        )
        op.create_table_comment(
            "finding",
            "One identifier found in a file: where, of what type and why; never its value. "
            "Only of files that are referred, on the second list or in the audit sample.",
        )
        for statement in collation.statements(bind):
            bind.exec_driver_sql(statement)


def downgrade() -> None:
    """Refuse: what people decided would be lost."""
    message = "a database is not taken back to an older schema; restore a backup"
    raise NotImplementedError(message)
