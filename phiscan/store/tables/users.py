"""Tables of users: accounts, sessions, tokens, their events, saved views."""

from __future__ import annotations

from enum import StrEnum

import sqlalchemy as sa

from phiscan.store.column_types import RowId, SafeText, UtcTime
from phiscan.store.tables.schema import column, history, one_of, row_id, seal, table, when, who


class Role(StrEnum):
    """The role of a user; its permissions are in ``phiscan.web.access``."""

    READER = "reader"
    REVIEWER = "reviewer"
    LEAD = "lead"
    AUDITOR = "auditor"
    ADMIN = "admin"
    OWNER = "owner"  # of files on a share: sees their own files alone


class UserEvent(StrEnum):
    """The events of an account; each is also an action of the audit log."""

    ADD = "user_add"
    ROLE = "user_role"
    PASSWORD = "user_password"  # noqa: S105 (the name of an event)
    DISABLE = "user_disable"
    ENABLE = "user_enable"
    LOCK = "user_lock"
    UNLOCK = "user_unlock"
    SIGN_IN = "sign_in"
    SIGN_IN_FAILED = "sign_in_failed"
    SIGN_OUT = "sign_out"
    REVOKE = "sessions_revoke"
    TOKEN_MADE = "token_make"  # noqa: S105 (the name of an event)
    TOKEN_REVOKED = "token_revoke"  # noqa: S105 (the name of an event)
    EXPORT = "export"
    SECOND_FACTOR = "second_factor"  # on, off, reset, codes (new recovery codes) or recovery (one used)


user_account = table(
    "user_account",
    row_id("number of the account"),
    column("name", SafeText, "name for signing in; shown with every decision"),
    column("name_key", SafeText, "the name folded, so that two names cannot differ by case alone"),
    column("role", sa.Text, "reader, reviewer, lead, auditor, admin or owner"),
    column("password_hash", sa.Text, "Argon2id; empty = no password, signs in through the provider only"),
    column("subject", SafeText, "issuer and subject at the identity provider", null=True),
    column("created", UtcTime, "when the account was made"),
    column("disabled", UtcTime, "since when it may not sign in", null=True),
    column("locked", UtcTime, "since when it is locked after too many wrong passwords", null=True),
    column("second_factor", sa.Text, "secret of the second factor, sealed; empty = none", default=""),
    column("second_factor_step", sa.BigInteger, "time step of the last code that was used", default="0"),
    seal(),
    one_of("role", (role.value for role in Role)),
    sa.CheckConstraint("name <> ''", name="name_given"),
    sa.UniqueConstraint("name_key"),
    sa.UniqueConstraint("subject"),
    comment="A person who may sign in to the desk. Never removed, only disabled.",
)

user_event = history(
    "user_event",
    row_id("number of the event"),
    column("event", sa.Text, "what happened; the same word as the action of the audit log"),
    column("user_id", RowId, "the account; null = no such account", to="user_account.id", null=True),
    column(
        "value",
        SafeText,
        "the new role or second factor, label of a token, how a person signed in; may be empty",
    ),
    column("address", SafeText, "network address of the browser; empty = on the server itself"),
    when("at"),
    one_of("event", (event.value for event in UserEvent)),
    sa.Index(None, "user_id"),
    comment="What happened to accounts and sign-ins. Append-only; each row is in the audit log.",
)

web_session = table(
    "web_session",
    row_id("number of the session"),
    column("token_hash", sa.Text, "sha256 of the random value in the cookie"),
    column("user_id", RowId, "whose", to="user_account.id"),
    column("method", sa.Text, "how the person signed in: password or provider"),
    column("address", SafeText, "network address of the browser that signed in"),
    column("created", UtcTime, "when it began"),
    column("seen", UtcTime, "last request, to the minute"),
    column("ended", UtcTime, "when it was ended: signed out or revoked", null=True),
    column("purpose", SafeText, "purpose of reveals in this session; empty = not given yet"),
    seal(),
    one_of("method", ("password", "provider")),
    sa.CheckConstraint("length(token_hash) = 64", name="token_is_a_hash"),
    sa.UniqueConstraint("token_hash"),
    sa.Index(None, "user_id"),
    comment="A signed-in browser. The cookie's value itself is not stored.",
)

api_token = table(
    "api_token",
    row_id("number of the token"),
    column("token_hash", sa.Text, "sha256 of the token"),
    column("user_id", RowId, "account whose rights it has", to="user_account.id"),
    column("label", SafeText, "what it is for"),
    column("created", UtcTime, "when it was made"),
    column("expires", UtcTime, "when it expires"),
    column("revoked", UtcTime, "when it was revoked", null=True),
    column(
        "scopes",
        sa.Text,
        "what it may be used for: some of read, decide, export, admin, with commas",
        default="read,decide,export,admin",
    ),
    column("used", UtcTime, "last use, to the minute; null = never", null=True),
    seal(),
    sa.CheckConstraint("length(token_hash) = 64", name="token_is_a_hash"),
    sa.UniqueConstraint("token_hash"),
    sa.Index(None, "user_id"),
    comment="A key of a program for the REST API. The token itself is not stored.",
)

sign_in_attempt = table(
    "sign_in_attempt",
    row_id("number of the attempt"),
    column("user_id", RowId, "the account; null = no such account", to="user_account.id", null=True),
    column("address", SafeText, "network address that it came from"),
    column("at", UtcTime, "when"),
    sa.Index(None, "user_id", "at"),
    sa.Index(None, "address", "at"),
    comment="Sign-ins that failed, for the limits; old rows are removed, the audit log keeps them.",
)

sign_in_flow = table(
    "sign_in_flow",
    row_id("number of the sign-in"),
    column("state_hash", sa.Text, "sha256 of the random state that the provider must send back"),
    column("browser_hash", sa.Text, "sha256 of the cookie that the same browser must send back"),
    column("nonce", sa.Text, "random value that the provider must sign"),
    column("code_verifier", sa.Text, "PKCE secret of this sign-in"),
    column("created", UtcTime, "when it began; valid for minutes"),
    sa.UniqueConstraint("state_hash"),
    comment="A sign-in through the identity provider that is under way; removed when it ends.",
)

sign_in_challenge = table(
    "sign_in_challenge",
    row_id("number of the sign-in"),
    column("secret_hash", sa.Text, "sha256 of the cookie that the same browser must send with the code"),
    column("user_id", RowId, "account whose code is required", to="user_account.id"),
    column("state", sa.Text, "sha256 over password hash and sealed secret: a change of either ends it"),
    column("created", UtcTime, "when the password was accepted; valid for minutes"),
    sa.UniqueConstraint("secret_hash"),
    comment="A sign-in whose password was right and whose code is missing; removed when it ends.",
)

recovery_code = table(
    "recovery_code",
    row_id("number of the code"),
    column("user_id", RowId, "whose", to="user_account.id"),
    column("code_hash", sa.Text, "HMAC-SHA256 of account and code under a key of the home"),
    column("used", UtcTime, "when it was used; null = not yet", null=True),
    seal(),
    sa.CheckConstraint("length(code_hash) = 64", name="code_is_a_hash"),
    sa.UniqueConstraint("code_hash"),
    sa.Index(None, "user_id"),
    comment="Codes that replace a lost second factor, each valid once. The code itself is not stored.",
)

saved_view = table(
    "saved_view",
    row_id("number of the view"),
    column("user_id", RowId, "whose", to="user_account.id"),
    column("name", SafeText, "its name"),
    column("query", SafeText, "the filters, as the address of the queue page writes them"),
    column("created", UtcTime, "when it was saved"),
    sa.CheckConstraint("name <> ''", name="name_given"),
    sa.UniqueConstraint("user_id", "name"),
    comment="Filters of the queue that a person saved.",
)

log_review = history(
    "log_review",
    row_id("number of the review"),
    who("reviewer", "who has reviewed the log"),
    column("n_entries", sa.BigInteger, "entries that the log had"),
    column("head", sa.Text, "hash of the last of them"),
    column("note", SafeText, "free text; may be empty"),
    when("at"),
    sa.CheckConstraint("length(head) = 64", name="head_is_a_hash"),
    comment='"I have reviewed this log": who, when, and up to which entry. Append-only.',
)
