"""Open the audit log to more actions; note who may read a file, equal contents, and files that went away.

Revision ID: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from phiscan.store import append_only

revision = "0002"
down_revision: str | None = "0001"
branch_labels: str | None = None
depends_on: str | None = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the log anew with a wider constraint (SQLite cannot alter one), then what is new."""
    bind = op.get_bind()
    if bind.dialect.name == "sqlite":
        _copy_log(bind)
    else:
        op.drop_constraint(op.f("ck_audit_log_action_known"), "audit_log", type_="check")
        op.create_check_constraint(op.f("ck_audit_log_action_named"), "audit_log", "action <> ''")
        op.alter_column("audit_log", "action", comment=ACTION)
    op.create_index(op.f("ix_examination_content_hash"), "examination", ["content_hash"])
    op.create_index(op.f("ix_examination_size"), "examination", ["size"])
    _create_access()
    _create_reuse()


def _create_access() -> None:
    op.create_table(
        "access",
        sa.Column("examination_id", ROW_ID, autoincrement=False, nullable=False, comment="the examination"),
        sa.Column(
            "owner",
            sa.Text(),
            nullable=False,
            comment="name of the owner on the share; empty when it has none",
        ),
        sa.Column(
            "readers",
            sa.Text(),
            nullable=False,
            comment="who may read the file, [name, ...]; everyone, group NAME, user NAME",
        ),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_access_examination_id")
        ),
        sa.PrimaryKeyConstraint("examination_id", name=op.f("pk_access")),
        comment="Who owns a file and who may read it, on the share when the file was examined.",
    )


def _create_reuse() -> None:
    op.create_table(
        "reuse",
        sa.Column("examination_id", ROW_ID, autoincrement=False, nullable=False, comment="the examination"),
        sa.ForeignKeyConstraint(["examination_id"], ["examination.id"], name=op.f("fk_reuse_examination_id")),
        sa.PrimaryKeyConstraint("examination_id", name=op.f("pk_reuse")),
        comment="An examination copied from one of equal content: hashed, not screened again.",
    )
    op.create_table(
        "departure",
        sa.Column(
            "scan_id",
            ROW_ID,
            autoincrement=False,
            nullable=False,
            comment="the complete scan that no longer found the file",
        ),
        sa.Column(
            "file_id",
            ROW_ID,
            autoincrement=False,
            nullable=False,
            comment="the file that was there at the complete scan before",
        ),
        sa.Column(
            "moved_to", ROW_ID, nullable=True, comment="file of the same content that this scan saw first"
        ),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_departure_file_id")),
        sa.ForeignKeyConstraint(["moved_to"], ["file.id"], name=op.f("fk_departure_moved_to")),
        sa.ForeignKeyConstraint(["scan_id"], ["scan.id"], name=op.f("fk_departure_scan_id")),
        sa.PrimaryKeyConstraint("scan_id", "file_id", name=op.f("pk_departure")),
        comment="A file that was deleted, or moved, between two complete scans of its root.",
    )
    op.create_index(op.f("ix_departure_file_id"), "departure", ["file_id"])
    op.create_index(op.f("ix_departure_moved_to"), "departure", ["moved_to"])


ACTION = "what was done; `phiscan.review.audit.log` lists the actions"


def _copy_log(bind: sa.Connection) -> None:
    op.rename_table("audit_log", "audit_log_before")
    for event in ("update", "delete", "replace"):
        bind.exec_driver_sql(f"DROP TRIGGER audit_log_no_{event}")
    op.create_table(
        "audit_log",
        sa.Column(
            "id", ROW_ID, autoincrement=True, nullable=False, comment="number of the entry, without gaps"
        ),
        sa.Column("at", sa.Text(), nullable=False, comment="when"),
        sa.Column("actor", sa.Text(), nullable=False, comment="who"),
        sa.Column("action", sa.Text(), nullable=False, comment=ACTION),
        sa.Column(
            "subject_id",
            ROW_ID,
            nullable=False,
            comment="number of the row in the table that the action writes to",
        ),
        sa.Column(
            "details",
            sa.Text(),
            nullable=False,
            comment="what was done, with the digest of the row written",
        ),
        sa.Column(
            "prev_hash",
            sa.Text(),
            nullable=False,
            comment="hash of the entry before; 64 zeros before the first",
        ),
        sa.Column(
            "hash",
            sa.Text(),
            nullable=False,
            comment="sha256 over the canonical JSON of the other columns",
        ),
        sa.CheckConstraint("action <> ''", name=op.f("ck_audit_log_action_named")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
        sa.UniqueConstraint("hash", name=op.f("uq_audit_log_hash")),
        sa.UniqueConstraint("prev_hash", name=op.f("uq_audit_log_prev_hash")),
        comment="Every change of review state, each entry chained to the one before. Append-only.",
        sqlite_autoincrement=True,
    )
    bind.exec_driver_sql("INSERT INTO audit_log SELECT * FROM audit_log_before ORDER BY id")
    op.drop_table("audit_log_before")
    for statement in append_only.statements("sqlite", "audit_log", ("id", "hash", "prev_hash")):
        bind.exec_driver_sql(statement)


def downgrade() -> None:
    """Refuse: the log may hold actions that the older schema does not take."""
    message = "a database is not taken back to an older schema; restore a backup"
    raise NotImplementedError(message)
