"""Admit ``sampled`` as the reason of an unread part: left out between the samples of a long, referred text.

Revision ID: 0017
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision: str | None = "0016"
branch_labels: str | None = None
depends_on: str | None = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_NAME = "ck_unread_part_reason_known"
_REASONS = """reason IN (
'encrypted', 'corrupt', 'too_large', 'timed_out', 'out_of_memory', 'crashed', 'no_permission',
'changed', 'unsupported', 'needs_ocr', 'io_error', 'nested_too_deep', 'sampled'
)"""


def upgrade() -> None:
    """Widen the constraint; SQLite cannot alter one, so that its table is copied into a new one."""
    bind = op.get_bind()
    if bind.dialect.name == "sqlite":
        _copy_table(bind)
        return
    op.drop_constraint(op.f(_NAME), "unread_part", type_="check")
    op.create_check_constraint(op.f(_NAME), "unread_part", _REASONS)


def _copy_table(bind: sa.Connection) -> None:
    op.rename_table("unread_part", "unread_part_before")
    op.create_table(
        "unread_part",
        sa.Column("examination_id", ROW_ID, autoincrement=False, nullable=False, comment="the examination"),
        sa.Column(
            "position",
            ROW_ID,
            autoincrement=False,
            nullable=False,
            comment="index in the given order, from 0",
        ),
        sa.Column("locator", sa.Text(), nullable=False, comment="path through containers to the part"),
        sa.Column("reason", sa.Text(), nullable=False, comment="why it could not be read"),
        sa.Column("detail", sa.Text(), nullable=False, comment="technical detail, never content"),
        sa.CheckConstraint(_REASONS, name=op.f(_NAME)),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_unread_part_examination_id")
        ),
        sa.PrimaryKeyConstraint("examination_id", "position", name=op.f("pk_unread_part")),
        comment="A part of a file (attachment, member of an archive) that could not be read.",
    )
    bind.exec_driver_sql(
        "INSERT INTO unread_part (examination_id, position, locator, reason, detail)"
        " SELECT examination_id, position, locator, reason, detail FROM unread_part_before"
    )
    op.drop_table("unread_part_before")


def downgrade() -> None:
    """Refuse, as every migration: a newer program may have written what an older schema cannot hold."""
    message = "a database is not taken back to an older schema; restore a backup"
    raise NotImplementedError(message)
