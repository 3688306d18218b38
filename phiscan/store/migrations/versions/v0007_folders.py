"""Folders that a rescan passes over whole.

Revision ID: 0007
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from phiscan.store import collation

revision = "0007"
down_revision: str | None = "0006"
branch_labels: str | None = None
depends_on: str | None = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table; the next scan fills it."""
    op.create_table(
        "folder",
        sa.Column("root_id", ROW_ID, autoincrement=False, nullable=False, comment="its root"),
        sa.Column(
            "place",
            sa.LargeBinary(),
            nullable=False,
            comment="raw bytes of its path relative to the root, each / as a NUL: sorts in crawl order",
        ),
        sa.Column(
            "digest",
            sa.LargeBinary(),
            nullable=False,
            comment="blake3 over the file system state of its entries, 16 bytes",
        ),
        sa.Column(
            "file_runs",
            sa.Text(),
            nullable=False,
            comment="its files and other entries, [[first, last], ...] of file.id",
        ),
        sa.ForeignKeyConstraint(["root_id"], ["root.id"], name=op.f("fk_folder_root_id")),
        sa.PrimaryKeyConstraint("root_id", "place", name=op.f("pk_folder")),
        comment="A folder whose results are all current: they stay valid while its digest is the same.",
    )
    bind = op.get_bind()
    if bind.dialect.name == "postgresql":
        for statement in collation.statements(bind):
            bind.exec_driver_sql(statement)


def downgrade() -> None:
    """Refuse: what people decided would be lost."""
    message = "a database is not taken back to an older schema; restore a backup"
    raise NotImplementedError(message)
