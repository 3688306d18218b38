"""The first schema: scans, files, examinations, findings, decisions, audit log.

Revision ID: 0001
"""

from __future__ import annotations

from alembic import op

from phiscan.store import append_only
from phiscan.store.migrations.tables import v0001_findings, v0001_scans

revision = "0001"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None

APPEND_ONLY: dict[str, tuple[str, ...]] = {
    "decision": ("id",),
    "assignment": ("id",),
    "audit_log": ("id", "hash", "prev_hash"),
}


def upgrade() -> None:
    """Make every table."""
    v0001_scans.make_scans()
    v0001_findings.make_findings()
    bind = op.get_bind()
    for table, unique in APPEND_ONLY.items():
        for statement in append_only.statements(bind.dialect.name, table, unique):
            bind.exec_driver_sql(statement)


def downgrade() -> None:
    """Refuse: there is nothing before the first schema."""
    message = "there is no schema before 0001"
    raise NotImplementedError(message)
