"""People who review: users, sessions, saved views.

Revision ID: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from phiscan.store import append_only

revision = "0003"
down_revision: str | None = "0002"
branch_labels: str | None = None
depends_on: str | None = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

APPEND_ONLY: dict[str, tuple[str, ...]] = {"user_event": ("id",), "log_review": ("id",)}


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "log_review",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the review"),
        sa.Column("reviewer", sa.Text(), nullable=False, comment="who has reviewed the log"),
        sa.Column("n_entries", sa.BigInteger(), nullable=False, comment="entries that the log had"),
        sa.Column("head", sa.Text(), nullable=False, comment="hash of the last of them"),
        sa.Column("note", sa.Text(), nullable=False, comment="free text; may be empty"),
        sa.Column("at", sa.Text(), nullable=False, comment="when"),
        sa.CheckConstraint("reviewer <> ''", name=op.f("ck_log_review_reviewer_named")),
        sa.CheckConstraint("length(head) = 64", name=op.f("ck_log_review_head_is_a_hash")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_log_review")),
        comment='"I have reviewed this log": who, when, and up to which entry. Append-only.',
        sqlite_autoincrement=True,
    )
    op.create_table(
        "sign_in_flow",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the sign-in"),
        sa.Column(
            "state_hash",
            sa.Text(),
            nullable=False,
            comment="sha256 of the random state that the provider must send back",
        ),
        sa.Column(
            "browser_hash",
            sa.Text(),
            nullable=False,
            comment="sha256 of the cookie that the same browser must send back",
        ),
        sa.Column("nonce", sa.Text(), nullable=False, comment="random value that the provider must sign"),
        sa.Column("code_verifier", sa.Text(), nullable=False, comment="PKCE secret of this sign-in"),
        sa.Column("created", sa.Text(), nullable=False, comment="when it began; valid for minutes"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_in_flow")),
        sa.UniqueConstraint("state_hash", name=op.f("uq_sign_in_flow_state_hash")),
        comment="A sign-in through the identity provider that is under way; removed when it ends.",
        sqlite_autoincrement=True,
    )
    op.create_table(
        "user_account",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the account"),
        sa.Column(
            "name",
            sa.Text(),
            nullable=False,
            comment="name for signing in; shown with every decision",
        ),
        sa.Column(
            "name_key",
            sa.Text(),
            nullable=False,
            comment="the name folded, so that two names cannot differ by case alone",
        ),
        sa.Column("role", sa.Text(), nullable=False, comment="reader, reviewer, lead, auditor or admin"),
        sa.Column(
            "password_hash",
            sa.Text(),
            nullable=False,
            comment="Argon2id; empty = no password, signs in through the provider only",
        ),
        sa.Column("subject", sa.Text(), nullable=True, comment="issuer and subject at the identity provider"),
        sa.Column("created", sa.Text(), nullable=False, comment="when the account was made"),
        sa.Column("disabled", sa.Text(), nullable=True, comment="since when it may not sign in"),
        sa.Column(
            "locked",
            sa.Text(),
            nullable=True,
            comment="since when it is locked after too many wrong passwords",
        ),
        sa.CheckConstraint("name <> ''", name=op.f("ck_user_account_name_given")),
        sa.CheckConstraint(
            "role IN (\n'reader', 'reviewer', 'lead', 'auditor', 'admin'\n)",
            name=op.f("ck_user_account_role_known"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user_account")),
        sa.UniqueConstraint("name_key", name=op.f("uq_user_account_name_key")),
        sa.UniqueConstraint("subject", name=op.f("uq_user_account_subject")),
        comment="A person who may sign in to the desk. Never removed, only disabled.",
        sqlite_autoincrement=True,
    )
    op.create_table(
        "api_token",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the token"),
        sa.Column("token_hash", sa.Text(), nullable=False, comment="sha256 of the token"),
        sa.Column("user_id", ROW_ID, nullable=False, comment="account whose rights it has"),
        sa.Column("label", sa.Text(), nullable=False, comment="what it is for"),
        sa.Column("created", sa.Text(), nullable=False, comment="when it was made"),
        sa.Column("expires", sa.Text(), nullable=False, comment="when it expires"),
        sa.Column("revoked", sa.Text(), nullable=True, comment="when it was revoked"),
        sa.CheckConstraint("length(token_hash) = 64", name=op.f("ck_api_token_token_is_a_hash")),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_api_token_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_token")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_api_token_token_hash")),
        comment="A key of a program for the REST API. The token itself is not stored.",
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_api_token_user_id"), "api_token", ["user_id"], unique=False)
    op.create_table(
        "saved_view",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the view"),
        sa.Column("user_id", ROW_ID, nullable=False, comment="whose"),
        sa.Column("name", sa.Text(), nullable=False, comment="its name"),
        sa.Column(
            "query",
            sa.Text(),
            nullable=False,
            comment="the filters, as the address of the queue page writes them",
        ),
        sa.Column("created", sa.Text(), nullable=False, comment="when it was saved"),
        sa.CheckConstraint("name <> ''", name=op.f("ck_saved_view_name_given")),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_saved_view_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_view")),
        sa.UniqueConstraint("user_id", "name", name=op.f("uq_saved_view_user_id_name")),
        comment="Filters of the queue that a person saved.",
        sqlite_autoincrement=True,
    )
    op.create_table(
        "sign_in_attempt",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the attempt"),
        sa.Column("user_id", ROW_ID, nullable=True, comment="the account; null = no such account"),
        sa.Column("address", sa.Text(), nullable=False, comment="network address that it came from"),
        sa.Column("at", sa.Text(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_sign_in_attempt_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_in_attempt")),
        comment="Sign-ins that failed, for the limits; old rows are removed, the audit log keeps them.",
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_sign_in_attempt_address_at"), "sign_in_attempt", ["address", "at"], unique=False)
    op.create_index(op.f("ix_sign_in_attempt_user_id_at"), "sign_in_attempt", ["user_id", "at"], unique=False)
    op.create_table(
        "user_event",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the event"),
        sa.Column(
            "event",
            sa.Text(),
            nullable=False,
            comment="what happened; the same word as the action of the audit log",
        ),
        sa.Column("user_id", ROW_ID, nullable=True, comment="the account; null = no such account"),
        sa.Column(
            "value",
            sa.Text(),
            nullable=False,
            comment="the new role, the label of a token or how a person signed in; may be empty",
        ),
        sa.Column(
            "address",
            sa.Text(),
            nullable=False,
            comment="network address of the browser; empty = on the server itself",
        ),
        sa.Column("at", sa.Text(), nullable=False, comment="when"),
        sa.CheckConstraint(
            """event IN (
'user_add', 'user_role', 'user_password', 'user_disable', 'user_enable', 'user_lock', 'user_unlock',
'sign_in', 'sign_in_failed', 'sign_out', 'sessions_revoke', 'token_make', 'token_revoke', 'export'
)""",
            name=op.f("ck_user_event_event_known"),
        ),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_user_event_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user_event")),
        comment="What happened to accounts and sign-ins. Append-only; each row is in the audit log.",
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_user_event_user_id"), "user_event", ["user_id"], unique=False)
    op.create_table(
        "web_session",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the session"),
        sa.Column(
            "token_hash", sa.Text(), nullable=False, comment="sha256 of the random value in the cookie"
        ),
        sa.Column("user_id", ROW_ID, nullable=False, comment="whose"),
        sa.Column(
            "method", sa.Text(), nullable=False, comment="how the person signed in: password or provider"
        ),
        sa.Column(
            "address", sa.Text(), nullable=False, comment="network address of the browser that signed in"
        ),
        sa.Column("created", sa.Text(), nullable=False, comment="when it began"),
        sa.Column("seen", sa.Text(), nullable=False, comment="last request, to the minute"),
        sa.Column("ended", sa.Text(), nullable=True, comment="when it was ended: signed out or revoked"),
        sa.CheckConstraint(
            "method IN (\n'password', 'provider'\n)", name=op.f("ck_web_session_method_known")
        ),
        sa.CheckConstraint("length(token_hash) = 64", name=op.f("ck_web_session_token_is_a_hash")),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_web_session_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_web_session")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_web_session_token_hash")),
        comment="A signed-in browser. The cookie's value itself is not stored.",
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_web_session_user_id"), "web_session", ["user_id"], unique=False)
    bind = op.get_bind()
    for table, unique in APPEND_ONLY.items():
        for statement in append_only.statements(bind.dialect.name, table, unique):
            bind.exec_driver_sql(statement)


def downgrade() -> None:
    """Refuse: what people decided would be lost."""
    message = "a database is not taken back to an older schema; restore a backup"
    raise NotImplementedError(message)
