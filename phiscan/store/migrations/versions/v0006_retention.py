"""What was purged by policy, legal holds and keys; one order of texts on every server.

Revision ID: 0006
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from phiscan.store import append_only, collation

revision = "0006"
down_revision: str | None = "0005"
branch_labels: str | None = None
depends_on: str | None = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

APPEND_ONLY: dict[str, tuple[str, ...]] = {"legal_hold": ("id",), "purge": ("id",), "key_use": ("id",)}


def upgrade() -> None:
    """Make the tables; then, on a server, let every text sort by its code points."""
    op.create_table(
        "key_use",
        sa.Column(
            "id",
            ROW_ID,
            autoincrement=True,
            nullable=False,
            comment="number of the entry; the highest applies",
        ),
        sa.Column(
            "key_id",
            sa.Text(),
            nullable=False,
            comment="check value of the key: identifies it, reveals nothing about it",
        ),
        sa.Column(
            "former",
            sa.Text(),
            nullable=False,
            comment="state of the previous key: none (the first key), sealed or destroyed",
        ),
        sa.Column("used_by", sa.Text(), nullable=False, comment="who activated it"),
        sa.Column("used", sa.Text(), nullable=False, comment="when"),
        sa.CheckConstraint(
            """former IN (
'none', 'sealed', 'destroyed'
)""",
            name=op.f("ck_key_use_former_known"),
        ),
        sa.CheckConstraint("used_by <> ''", name=op.f("ck_key_use_used_by_named")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_key_use")),
        comment="Which key made the hashes, by its check value. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_table(
        "purge",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the certificate"),
        sa.Column("purged", sa.Text(), nullable=False, comment="when"),
        sa.Column("purged_by", sa.Text(), nullable=False, comment="who"),
        sa.Column(
            "policy",
            sa.Text(),
            nullable=False,
            comment="the policy that was applied, with the dates that follow from it",
        ),
        sa.Column("counts", sa.Text(), nullable=False, comment="{table: rows removed}"),
        sa.Column(
            "oldest",
            sa.Text(),
            nullable=True,
            comment="earliest time in a row that was removed; null = none had a time",
        ),
        sa.Column("newest", sa.Text(), nullable=True, comment="latest time in a row that was removed"),
        sa.Column(
            "digest",
            sa.Text(),
            nullable=False,
            comment="sha256 over all rows removed, table by table in order",
        ),
        sa.Column(
            "ranges",
            sa.Text(),
            nullable=False,
            comment="{logged table: [[first, last number], ...]} of rows removed",
        ),
        sa.Column(
            "log_through",
            ROW_ID,
            nullable=False,
            comment="last entry of the audit log that was removed, by this or before; 0 = none",
        ),
        sa.Column(
            "log_hash", sa.Text(), nullable=False, comment="hash of that entry: the log continues from it"
        ),
        sa.Column(
            "carried",
            sa.Text(),
            nullable=False,
            comment="{table: {row: digest}} of rows that outlive their entry in the log",
        ),
        sa.CheckConstraint("purged_by <> ''", name=op.f("ck_purge_purged_by_named")),
        sa.CheckConstraint("length(digest) = 64", name=op.f("ck_purge_digest_is_a_hash")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_purge")),
        comment="The certificate of a purge, and the point from which the audit log continues. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_table(
        "scan_totals",
        sa.Column("scan_id", ROW_ID, autoincrement=False, nullable=False, comment="the scan"),
        sa.Column(
            "summary",
            sa.Text(),
            nullable=False,
            comment="the numbers of the scan as they were before the first purge",
        ),
        sa.ForeignKeyConstraint(["scan_id"], ["scan.id"], name=op.f("fk_scan_totals_scan_id")),
        sa.PrimaryKeyConstraint("scan_id", name=op.f("pk_scan_totals")),
        comment="Numbers of scans some of whose rows were purged: they can no longer be counted.",
    )
    op.create_table(
        "legal_hold",
        sa.Column(
            "id",
            ROW_ID,
            autoincrement=True,
            nullable=False,
            comment="number of the entry; of several about one file or root, the highest applies",
        ),
        sa.Column("root_id", ROW_ID, nullable=True, comment="the root held; null = a single file"),
        sa.Column("file_id", ROW_ID, nullable=True, comment="the file held; null = a whole root"),
        sa.Column("state", sa.Text(), nullable=False, comment="placed or lifted"),
        sa.Column("reason", sa.Text(), nullable=False, comment="why, such as the number of the case"),
        sa.Column("set_by", sa.Text(), nullable=False, comment="who"),
        sa.Column("set_at", sa.Text(), nullable=False, comment="when"),
        sa.CheckConstraint("reason <> ''", name=op.f("ck_legal_hold_reason_given")),
        sa.CheckConstraint("set_by <> ''", name=op.f("ck_legal_hold_set_by_named")),
        sa.CheckConstraint(
            """state IN (
'placed', 'lifted'
)""",
            name=op.f("ck_legal_hold_state_known"),
        ),
        sa.CheckConstraint("(root_id IS NULL) <> (file_id IS NULL)", name=op.f("ck_legal_hold_one_held")),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_legal_hold_file_id")),
        sa.ForeignKeyConstraint(["root_id"], ["root.id"], name=op.f("fk_legal_hold_root_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_legal_hold")),
        comment="Legal holds: nothing about a held file or root is purged. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_legal_hold_file_id"), "legal_hold", ["file_id"], unique=False)
    op.create_index(op.f("ix_legal_hold_root_id"), "legal_hold", ["root_id"], unique=False)
    bind = op.get_bind()
    for table, unique in APPEND_ONLY.items():
        for statement in append_only.statements(bind.dialect.name, table, unique):
            bind.exec_driver_sql(statement)
    if bind.dialect.name == "postgresql":
        for statement in collation.statements(bind):
            bind.exec_driver_sql(statement)


def downgrade() -> None:
    """Refuse: what people decided would be lost."""
    message = "a database is not taken back to an older schema; restore a backup"
    raise NotImplementedError(message)
