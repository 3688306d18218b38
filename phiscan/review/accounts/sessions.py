"""Sessions of browsers and tokens of programs, stored on the server so that they can be revoked.

Only the sha256 of a cookie or token is stored: they are 256 random bits, which cannot be derived from it.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.review.accounts.accounts import MAX_NAME_CHARS, User, user_of
from phiscan.store import seals
from phiscan.store.database import inserted_id
from phiscan.store.tables.users import api_token, user_account, web_session

MAX_TOKEN_DAYS = 90

SEEN_STEP = timedelta(minutes=1)  # precision of the last use, so that not every request writes
_PREFIX = "account_"
TOKEN_PREFIX = "phiscan_"  # noqa: S105 (lets secret scanners find a token that leaked)


class Scope(StrEnum):
    """The scope of a token, within the rights of its user."""

    READ = "read"  # list, items, scans, reports, log
    DECIDE = "decide"  # verdicts, corrections, assignments, suppressions
    EXPORT = "export"  # the queue and the report as files
    ADMIN = "admin"  # accounts


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long a session is valid."""

    idle: timedelta = timedelta(minutes=15)
    absolute: timedelta = timedelta(hours=10)


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in browser."""

    id: int
    user: User
    method: str
    address: str
    created: datetime
    seen: datetime
    purpose: str = ""  # purpose of reveals; "" = not chosen yet


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a program, without its secret."""

    id: int
    user: User
    label: str
    created: datetime
    expires: datetime
    revoked: datetime | None
    scopes: frozenset[Scope] = frozenset()
    used: datetime | None = None

    def is_good(self, now: datetime) -> bool:
        """Return whether it is valid now."""
        return self.revoked is None and self.expires > now


def digest(secret: str) -> str:
    """Return the stored hash of a random secret."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def begin(
    connection: sa.Connection, user_id: int, *, method: str, address: str, now: datetime
) -> tuple[int, str]:
    """Begin a session; return its number and its cookie value, which is new for every sign-in."""
    secret = secrets.token_urlsafe(32)
    values = {
        "token_hash": digest(secret),
        "user_id": user_id,
        "method": method,
        "address": address,
        "created": now,
        "seen": now,
        "ended": None,
        "purpose": "",
    }
    seals.insert(connection, web_session, [values])
    same = sa.select(web_session.c.id).where(web_session.c.token_hash == values["token_hash"])
    return int(connection.execute(same).scalar_one()), secret


def current(connection: sa.Connection, secret: str, *, lifetime: Lifetime, now: datetime) -> Session | None:
    """Return the session of a cookie while it is valid and its user may sign in."""
    query = (
        sa.select(web_session, *_prefixed())
        .join(user_account, user_account.c.id == web_session.c.user_id)
        .where(
            web_session.c.token_hash == digest(secret),
            web_session.c.ended.is_(None),
            web_session.c.created > now - lifetime.absolute,
            web_session.c.seen > now - lifetime.idle,
            user_account.c.disabled.is_(None),
        )
    )
    row = connection.execute(query).first()
    if row is None:
        return None
    # A session whose last use or purpose was set with SQL is over.
    stored = seals.rows(connection, web_session, web_session.c.id == row.id).one()
    return _session_of(row) if seals.is_right(connection, web_session, stored) else None


def touch(connection: sa.Connection, session_id: int, *, now: datetime) -> None:
    """Record the use of a session."""
    seals.update(connection, web_session, session_id, {"seen": now})


def set_purpose(connection: sa.Connection, session_id: int, purpose: str) -> None:
    """Store the purpose of reveals until the session ends."""
    seals.update(connection, web_session, session_id, {"purpose": purpose})


def end(connection: sa.Connection, *, user_id: int, session_id: int | None, now: datetime) -> list[int]:
    """End one session of a user, or (None) all; return their numbers."""
    which = (web_session.c.user_id == user_id) & web_session.c.ended.is_(None)
    if session_id is not None:
        which &= web_session.c.id == session_id
    ids = list(connection.execute(sa.select(web_session.c.id).where(which)).scalars())
    for number in ids:
        seals.update(connection, web_session, number, {"ended": now})
    return ids


def revoke_tokens(connection: sa.Connection, user_id: int, *, now: datetime) -> list[int]:
    """Revoke every token of a user; return their numbers."""
    which = (api_token.c.user_id == user_id) & api_token.c.revoked.is_(None)
    ids = list(connection.execute(sa.select(api_token.c.id).where(which)).scalars())
    if ids:
        connection.execute(api_token.update().where(api_token.c.id.in_(ids)).values(revoked=now))
    return ids


def of_user(connection: sa.Connection, user_id: int, *, lifetime: Lifetime, now: datetime) -> list[Session]:
    """Return the valid sessions of a user, newest first."""
    query = (
        sa.select(web_session, *_prefixed())
        .join(user_account, user_account.c.id == web_session.c.user_id)
        .where(
            web_session.c.user_id == user_id,
            web_session.c.ended.is_(None),
            web_session.c.created > now - lifetime.absolute,
            web_session.c.seen > now - lifetime.idle,
        )
        .order_by(web_session.c.id.desc())
    )
    return [_session_of(row) for row in connection.execute(query)]


def end_access(
    connection: sa.Connection, user_id: int, *, now: datetime
) -> dict[sa.Table, tuple[list[int], tuple[str, ...]]]:
    """End every session and revoke every token of a user; return the changes, for the log."""
    ended = end(connection, user_id=user_id, session_id=None, now=now)
    revoked = revoke_tokens(connection, user_id, now=now)
    return {web_session: (ended, ("ended",)), api_token: (revoked, ("revoked",))}


def end_tokens(
    connection: sa.Connection, user_id: int, *, now: datetime
) -> dict[sa.Table, tuple[list[int], tuple[str, ...]]]:
    """Revoke every token of a user; return the changes, for the log."""
    return {api_token: (revoke_tokens(connection, user_id, now=now), ("revoked",))}


def checked_label(label: str, *, days: int, scopes: Collection[Scope]) -> str:
    """Return the stripped label of a new token.

    Raises:
        InputError: no label, no scope, or too long a lifetime.
    """
    label = label.strip()
    if not 1 <= len(label) <= MAX_NAME_CHARS:
        message = _(
            "label: expected 1 to {max_name_chars} characters that describe what the token is for",
            max_name_chars=MAX_NAME_CHARS,
        )
        raise InputError(message)
    if not 1 <= days <= MAX_TOKEN_DAYS:
        message = _("days: expected 1 to {max_token_days}", max_token_days=MAX_TOKEN_DAYS)
        raise InputError(message)
    if not scopes:
        message = _("scopes: expected at least one of {scope}", scope=", ".join(Scope))
        raise InputError(message)
    return label


def make_token(
    connection: sa.Connection,
    user_id: int,
    *,
    label: str,
    expires: datetime,
    scopes: Collection[Scope],
    now: datetime,
) -> tuple[int, str]:
    """Create a token; return its number, and the token, which is shown once."""
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    values = {
        "token_hash": digest(secret),
        "user_id": user_id,
        "label": label,
        "created": now,
        "expires": expires,
        "revoked": None,
        "scopes": ",".join(scope.value for scope in Scope if scope in scopes),
        "used": None,
    }
    return inserted_id(connection, api_token, values), secret


def touch_token(connection: sa.Connection, token_id: int, *, now: datetime) -> None:
    """Record the use of a token."""
    connection.execute(api_token.update().where(api_token.c.id == token_id).values(used=now))


def bearer(connection: sa.Connection, secret: str, *, now: datetime) -> Token | None:
    """Return the token while it is valid and its user may sign in."""
    query = (
        sa.select(api_token, *_prefixed())
        .join(user_account, user_account.c.id == api_token.c.user_id)
        .where(
            api_token.c.token_hash == digest(secret),
            api_token.c.revoked.is_(None),
            api_token.c.expires > now,
            user_account.c.disabled.is_(None),
        )
    )
    row = connection.execute(query).first()
    return None if row is None else _token_of(row)


def tokens(connection: sa.Connection, user_id: int | None = None) -> list[Token]:
    """Return the tokens of a user (None = of all users), newest first."""
    query = (
        sa.select(api_token, *_prefixed())
        .join(user_account, user_account.c.id == api_token.c.user_id)
        .order_by(api_token.c.id.desc())
    )
    if user_id is not None:
        query = query.where(api_token.c.user_id == user_id)
    return [_token_of(row) for row in connection.execute(query)]


def revoke_token(connection: sa.Connection, token_id: int, *, user_id: int | None, now: datetime) -> bool:
    """Revoke a token (of this user only, unless None); return whether it existed."""
    change = api_token.update().where(api_token.c.id == token_id, api_token.c.revoked.is_(None))
    if user_id is not None:
        change = change.where(api_token.c.user_id == user_id)
    return bool(connection.execute(change.values(revoked=now)).rowcount)


def _prefixed() -> list[sa.ColumnElement[Any]]:
    return [column.label(_PREFIX + column.name) for column in user_account.c]


def _session_of(row: sa.Row[Any]) -> Session:
    return Session(row.id, user_of(row, _PREFIX), row.method, row.address, row.created, row.seen, row.purpose)


def _token_of(row: sa.Row[Any]) -> Token:
    scopes = frozenset(Scope(name) for name in row.scopes.split(",") if name)
    return Token(
        row.id, user_of(row, _PREFIX), row.label, row.created, row.expires, row.revoked, scopes, row.used
    )
