"""Second factors of local accounts: sealed secrets, recovery codes, sign-ins that wait for a code, events.

Revision ID: 0015
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from phiscan.store import append_only, collation
from phiscan.store.column_types import RowId, SafeText, UtcTime

revision = "0015"
down_revision: str | None = "0014"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Make the columns and tables; nobody has a second factor yet."""
    op.add_column(
        "user_account",
        sa.Column(
            "second_factor",
            sa.Text(),
            nullable=False,
            server_default="",
            comment="secret of the second factor, sealed; empty = none",
        ),
    )
    op.add_column(
        "user_account",
        sa.Column(
            "second_factor_step",
            sa.BigInteger(),
            nullable=False,
            server_default="0",
            comment="time step of the last code that was used",
        ),
    )
    _make_challenges()
    _make_recovery_codes()
    _make_events()
    bind = op.get_bind()
    for statement in append_only.statements(bind.dialect.name, "second_factor_event", ("id",)):
        bind.exec_driver_sql(statement)
    if bind.dialect.name == "postgresql":
        for statement in collation.statements(bind):
            bind.exec_driver_sql(statement)


def _make_challenges() -> None:
    op.create_table(
        "sign_in_challenge",
        sa.Column("id", RowId, autoincrement=True, nullable=False, comment="number of the sign-in"),
        sa.Column(
            "secret_hash",
            sa.Text(),
            nullable=False,
            comment="sha256 of the cookie that the same browser must send with the code",
        ),
        sa.Column("user_id", RowId, nullable=False, comment="account whose code is required"),
        sa.Column(
            "state",
            sa.Text(),
            nullable=False,
            comment="sha256 over password hash and sealed secret: a change of either ends it",
        ),
        sa.Column(
            "created", UtcTime, nullable=False, comment="when the password was accepted; valid for minutes"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_sign_in_challenge_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_in_challenge")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_sign_in_challenge_secret_hash")),
        sqlite_autoincrement=True,
        comment="A sign-in whose password was right and whose code is missing; removed when it ends.",
    )


def _make_recovery_codes() -> None:
    op.create_table(
        "recovery_code",
        sa.Column("id", RowId, autoincrement=True, nullable=False, comment="number of the code"),
        sa.Column("user_id", RowId, nullable=False, comment="whose"),
        sa.Column(
            "code_hash",
            sa.Text(),
            nullable=False,
            comment="HMAC-SHA256 of account and code under a key of the home",
        ),
        sa.Column("used", UtcTime, nullable=True, comment="when it was used; null = not yet"),
        sa.CheckConstraint("length(code_hash) = 64", name=op.f("ck_recovery_code_code_is_a_hash")),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_recovery_code_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recovery_code")),
        sa.UniqueConstraint("code_hash", name=op.f("uq_recovery_code_code_hash")),
        sqlite_autoincrement=True,
        comment=("Codes that replace a lost second factor, each valid once. The code itself is not stored."),
    )
    op.create_index(op.f("ix_recovery_code_user_id"), "recovery_code", ["user_id"])


def _make_events() -> None:
    op.create_table(
        "second_factor_event",
        sa.Column("id", RowId, autoincrement=True, nullable=False, comment="number of the event"),
        sa.Column(
            "event",
            sa.Text(),
            nullable=False,
            comment="what happened: on, off, reset, codes (new recovery codes), recovery (one used)",
        ),
        sa.Column("user_id", RowId, nullable=False, comment="the account"),
        sa.Column(
            "address",
            SafeText,
            nullable=False,
            comment="network address of the browser; empty = on the server itself",
        ),
        sa.Column("at", UtcTime, nullable=False, comment="when"),
        sa.CheckConstraint(
            "event IN (\n'on', 'off', 'reset', 'codes', 'recovery'\n)",
            name=op.f("ck_second_factor_event_event_known"),
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user_account.id"], name=op.f("fk_second_factor_event_user_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_second_factor_event")),
        sqlite_autoincrement=True,
        comment="What happened to second factors. Append-only; each row is in the audit log.",
    )
    op.create_index(op.f("ix_second_factor_event_user_id"), "second_factor_event", ["user_id"])


def downgrade() -> None:
    """Refuse: what people decided would be lost."""
    message = "a database is not taken back to an older schema; restore a backup"
    raise NotImplementedError(message)
