"""The officer's desk: corrections, second review, suppressions, reveals, near-duplicates.

Revision ID: 0004
"""

from __future__ import annotations

from alembic import op

from phiscan.store import append_only
from phiscan.store.migrations.tables import v0004_groups, v0004_reviews

revision = "0004"
down_revision: str | None = "0003"
branch_labels: str | None = None
depends_on: str | None = None

RISK = "order in the queue: people x kinds of identifiers x exposure x score"

APPEND_ONLY: dict[str, tuple[str, ...]] = {
    "desk_policy": ("id",),
    "decision_form": ("id", "token"),
    "decision_undo": ("id", "decision_id", "second_verdict_id"),
    "second_review": ("id", "decision_id"),
    "second_verdict": ("id",),
    "adjudication": ("id", "decision_id"),
    "span_correction": ("id",),
    "span_review": ("id",),
    "topic_correction": ("id",),
    "suppression": ("id",),
    "suppression_approval": ("id", "suppression_id"),
    "suppression_lift": ("id", "suppression_id"),
    "reveal": ("id",),
    "sample_draw": ("id",),
    "sample_member": ("id",),
}


def upgrade() -> None:
    """Make the tables."""
    v0004_groups.make_groups()
    v0004_reviews.make_reviews()
    bind = op.get_bind()
    # Exposure became a factor of the risk: everyone 4, a group or unknown 2, the owner 1.
    bind.exec_driver_sql(
        "UPDATE examination SET risk = risk * CASE WHEN mode & 61440 = 0 THEN 2 WHEN mode & 4 = 4 THEN 4"
        " WHEN mode & 32 = 32 THEN 2 ELSE 1 END"
    )
    if bind.dialect.name != "sqlite":
        op.alter_column("examination", "risk", comment=RISK)
    for table, unique in APPEND_ONLY.items():
        for statement in append_only.statements(bind.dialect.name, table, unique):
            bind.exec_driver_sql(statement)


def downgrade() -> None:
    """Refuse: what people decided would be lost."""
    message = "a database is not taken back to an older schema; restore a backup"
    raise NotImplementedError(message)
