"""Index of the review list by root and path: finds the items of one folder without a full scan.

Revision ID: 0016
"""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision: str | None = "0015"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Create the index."""
    op.create_index("ix_work_item_folder", "work_item", ["root_id", "path_folded"])


def downgrade() -> None:
    """Refuse, as every migration: a newer program may have written what an older schema cannot hold."""
    message = "a database is not taken back to an older schema; restore a backup"
    raise NotImplementedError(message)
