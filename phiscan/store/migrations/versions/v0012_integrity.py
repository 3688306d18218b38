"""Digests of scans and the signed head of the audit log; scopes and last use of API tokens.

Revision ID: 0012
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from phiscan.store import append_only, collation

revision = "0012"
down_revision: str | None = "0011"
branch_labels: str | None = None
depends_on: str | None = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables; scans from now on get digests. Everybody signs in again: sessions are logged now."""
    _make_digests()
    op.create_table(
        "audit_head",
        sa.Column("id", ROW_ID, autoincrement=False, nullable=False, comment="always 1"),
        sa.Column(
            "entry",
            ROW_ID,
            nullable=False,
            comment="number of the last entry of the audit log when it was signed",
        ),
        sa.Column("hash", sa.Text(), nullable=False, comment="hash of that entry"),
        sa.Column("key_id", sa.Text(), nullable=False, comment="check value of the key that signed"),
        sa.Column("signature", sa.Text(), nullable=False, comment="HMAC-SHA256 over number and hash, hex"),
        sa.Column("signed", sa.Text(), nullable=False, comment="when"),
        sa.CheckConstraint("id = 1", name=op.f("ck_audit_head_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_head")),
        comment="The last entry of the audit log, signed; a log that ends before it was truncated.",
    )
    op.add_column(
        "api_token",
        sa.Column(
            "scopes",
            sa.Text(),
            nullable=False,
            server_default="read,decide,export,admin",
            comment="what it may be used for: some of read, decide, export, admin, with commas",
        ),
    )
    op.add_column(
        "api_token",
        sa.Column("used", sa.Text(), nullable=True, comment="last use, to the minute; null = never"),
    )
    bind = op.get_bind()
    bind.exec_driver_sql("UPDATE web_session SET ended = seen WHERE ended IS NULL")
    for statement in append_only.statements(bind.dialect.name, "scan_digest", ("id",)):
        bind.exec_driver_sql(statement)
    if bind.dialect.name == "postgresql":
        for statement in collation.statements(bind):
            bind.exec_driver_sql(statement)


def _make_digests() -> None:
    op.create_table(
        "examination_digest",
        sa.Column("examination_id", ROW_ID, autoincrement=False, nullable=False, comment="the examination"),
        sa.Column(
            "parts",
            sa.Text(),
            nullable=False,
            comment="{table: first 24 hex digits of sha256 over its rows of this examination}",
        ),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_examination_digest_examination_id")
        ),
        sa.PrimaryKeyConstraint("examination_id", name=op.f("pk_examination_digest")),
        comment="Digest of one result and its rows in other tables, made when its scan was complete.",
    )
    op.create_table(
        "scan_digest",
        sa.Column(
            "id",
            ROW_ID,
            autoincrement=True,
            nullable=False,
            comment="number of the digest; of several of one scan, the highest applies",
        ),
        sa.Column("scan_id", ROW_ID, nullable=False, comment="the scan"),
        sa.Column(
            "cause",
            sa.Text(),
            nullable=False,
            comment="why it was made: scan, or purge (rows of the scan were removed by policy)",
        ),
        sa.Column("n_examinations", sa.BigInteger(), nullable=False, comment="results that the scan made"),
        sa.Column(
            "examinations", sa.Text(), nullable=False, comment="sha256 over the digests of its results"
        ),
        sa.Column("n_sightings", sa.BigInteger(), nullable=False, comment="files that it saw"),
        sa.Column("sightings", sa.Text(), nullable=False, comment="sha256 over them"),
        sa.Column("scan_row", sa.Text(), nullable=False, comment="sha256 over the scan itself and its roots"),
        sa.Column("whole", sa.Boolean(), nullable=False, comment="whether it covered its roots completely"),
        sa.Column("made", sa.Text(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(["scan_id"], ["scan.id"], name=op.f("fk_scan_digest_scan_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scan_digest")),
        sqlite_autoincrement=True,
        comment="Digest of a complete scan. Append-only; each row is in the audit log.",
    )
    op.create_index(op.f("ix_scan_digest_scan_id"), "scan_digest", ["scan_id"])


def downgrade() -> None:
    """Refuse: what people decided would be lost."""
    message = "a database is not taken back to an older schema; restore a backup"
    raise NotImplementedError(message)
