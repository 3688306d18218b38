"""Accounts, sessions of browsers and tokens of programs; every change is logged in its own transaction.

Sessions and tokens are stored on the server so that they can be revoked. Of a cookie or token only the sha256
is stored: they are 256 random bits, which cannot be derived from it.
"""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any, Unpack

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.review.audit import log as audit
from phiscan.review.audit.log import Act
from phiscan.store import seals
from phiscan.store.sql_batches import as_value
from phiscan.store.tables.users import Role, UserEvent, api_token, sign_in_attempt, user_account, web_session

MAX_NAME_CHARS = 64
_ALSO_IN_NAMES = frozenset(" .,-_'@")


@dataclass(frozen=True, slots=True)
class User:
    """A user account, without any part of the password."""

    id: int
    name: str
    role: Role
    created: datetime
    disabled: datetime | None = None
    locked: datetime | None = None
    has_password: bool = True
    subject: str = ""  # at the identity provider; empty = none
    has_second_factor: bool = False

    @property
    def may_sign_in(self) -> bool:
        """Whether the account is neither disabled nor locked."""
        return self.disabled is None and self.locked is None


def add(
    connection: sa.Connection, name: str, role: Role, secret: str, subject: str | None, **act: Unpack[Act]
) -> User:
    """Create an account; ``secret``: the hash of its password, "" = none.

    Raises:
        InputError: the name is invalid or taken.
    """
    name = checked_name(name)
    if find(connection, name) is not None:
        raise InputError(_("{name}: there is an account of this name already", name=name))
    values = {"name": name, "name_key": name_key(name), "role": role.value, "password_hash": secret}
    number = seals.insert_one(connection, user_account, {**values, "subject": subject, "created": act["now"]})
    log(connection, UserEvent.ADD, number, value=role.value, **act)
    return get(connection, number)


def change(
    connection: sa.Connection,
    user_id: int,
    event: UserEvent,
    values: dict[str, Any],
    *,
    value: str = "",
    address: str = "",
    **act: Unpack[Act],
) -> User:
    """Change columns of an account and log it.

    Raises:
        InputError: there is no such account.
    """
    get(connection, user_id)
    seals.update(connection, user_account, user_id, values)
    log(connection, event, user_id, value=value, address=address, **act)
    return get(connection, user_id)


def set_role(
    connection: sa.Connection, user_id: int, role: Role, *, sign_out: bool = False, **act: Unpack[Act]
) -> User:
    """Change the role of an account; its tokens are revoked, its sessions only end with ``sign_out``."""
    (end_access if sign_out else end_tokens)(connection, user_id, now=act["now"])
    return change(connection, user_id, UserEvent.ROLE, {"role": role.value}, value=role.value, **act)


def disable(connection: sa.Connection, user_id: int, *, by: str, now: datetime) -> User:
    """Disable an account; its sessions end, its tokens are revoked."""
    end_access(connection, user_id, now=now)
    return change(connection, user_id, UserEvent.DISABLE, {"disabled": now}, by=by, now=now)


def enable(connection: sa.Connection, user_id: int, *, by: str, now: datetime) -> User:
    """Enable a disabled account."""
    return change(connection, user_id, UserEvent.ENABLE, {"disabled": None}, by=by, now=now)


def unlock(connection: sa.Connection, user_id: int, *, by: str, now: datetime) -> User:
    """Reset the count of failed sign-ins of an account."""
    connection.execute(sign_in_attempt.delete().where(sign_in_attempt.c.user_id == user_id))
    return change(connection, user_id, UserEvent.UNLOCK, {"locked": None}, by=by, now=now)


def log(
    connection: sa.Connection,
    event: UserEvent,
    user_id: int | None,
    *,
    value: str = "",
    address: str = "",
    **act: Unpack[Act],
) -> None:
    """Append one event and its entry in the audit log."""
    row = {"event": event.value, "user_id": user_id, "value": value, "address": address, "at": act["now"]}
    name = connection.execute(sa.select(user_account.c.name).where(user_account.c.id == user_id)).scalar()
    details = {"user": user_id, "name": name, "value": value}
    audit.record(connection, event.value, row, details, **act)


def find(connection: sa.Connection, name: str) -> sa.Row[Any] | None:
    """Return the row of the account with this name, compared case-insensitively."""
    query = sa.select(user_account).where(user_account.c.name_key == name_key(name))
    return connection.execute(query).first()


def row_of(connection: sa.Connection, user_id: int | None) -> sa.Row[Any] | None:
    """Return the row of an account."""
    return connection.execute(sa.select(user_account).where(user_account.c.id == user_id)).first()


def get(connection: sa.Connection, user_id: int) -> User:
    """Return an account.

    Raises:
        InputError: there is no such account.
    """
    row = row_of(connection, user_id)
    if row is None:
        raise InputError(_("user {user_id}: there is no such account", user_id=user_id))
    return user_of(row)


def named(connection: sa.Connection, name: str) -> User:
    """Return the account with this name.

    Raises:
        InputError: there is no such account.
    """
    row = find(connection, name)
    if row is None:
        raise InputError(_("{name}: there is no such account; `phiscan users list` shows them", name=name))
    return user_of(row)


def everybody(connection: sa.Connection) -> list[User]:
    """Return all accounts by name."""
    query = sa.select(user_account).order_by(user_account.c.name_key)
    return [user_of(row) for row in connection.execute(query)]


def user_of(row: sa.Row[Any], prefix: str = "") -> User:
    """Return the columns of a row without its hash; ``prefix``: of the column labels in a join."""
    columns = {column.name: row._mapping[prefix + column.name] for column in user_account.c}  # noqa: SLF001 (public API)
    return User(
        **{name: columns[name] for name in ("id", "name", "created", "disabled", "locked")},
        role=Role(columns["role"]),
        has_password=bool(columns["password_hash"]),
        subject=columns["subject"] or "",
        has_second_factor=bool(columns["second_factor"]),
    )


def name_key(name: str) -> str:
    """Return the name folded: names that differ only in case or look are equal.

    >>> name_key("A. Officer ") == name_key("a. officer")
    True
    """
    return unicodedata.normalize("NFKC", name).strip().casefold()


def checked_name(name: str) -> str:
    """Return a valid name: letters, digits and a few signs, so that it is unambiguous everywhere.

    Raises:
        InputError: it is invalid.
    """
    name = unicodedata.normalize("NFC", name).strip()
    fit = all(char.isalnum() or char in _ALSO_IN_NAMES for char in name)
    if not 1 <= len(name) <= MAX_NAME_CHARS or not fit or not name[0].isalnum():
        message = _(
            "name: expected 1 to {max_name_chars} letters, digits, spaces or . , - _ ' @",
            max_name_chars=MAX_NAME_CHARS,
        )
        raise InputError(message)
    return name


MAX_TOKEN_DAYS = 90
SEEN_STEP = timedelta(minutes=1)  # precision of the last use, so that not every request writes
TOKEN_PREFIX = "phiscan_"  # noqa: S105 (lets secret scanners find a token that leaked)
_PREFIX = "account_"
_WITH_ACCOUNT = [column.label(_PREFIX + column.name) for column in user_account.c]
_SESSIONS = sa.select(web_session, *_WITH_ACCOUNT).join(
    user_account, user_account.c.id == web_session.c.user_id
)
_TOKENS = sa.select(api_token, *_WITH_ACCOUNT).join(user_account, user_account.c.id == api_token.c.user_id)


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


def current_session(
    connection: sa.Connection, secret: str, *, lifetime: Lifetime, now: datetime
) -> Session | None:
    """Return the session of a cookie while it is valid and its user may sign in."""
    is_its = (web_session.c.token_hash == digest(secret), user_account.c.disabled.is_(None))
    row = connection.execute(_SESSIONS.where(*is_its, *_is_valid(lifetime, now))).first()
    if row is None:
        return None
    # A session whose last use or purpose was set with SQL is over.
    stored = seals.rows(connection, web_session, web_session.c.id == row.id).one()
    return _session_of(row) if seals.is_right(connection, web_session, stored) else None


def sessions_of(
    connection: sa.Connection, user_id: int, *, lifetime: Lifetime, now: datetime
) -> list[Session]:
    """Return the valid sessions of a user, newest first."""
    query = _SESSIONS.where(web_session.c.user_id == user_id, *_is_valid(lifetime, now))
    return [_session_of(row) for row in connection.execute(query.order_by(web_session.c.id.desc()))]


def _is_valid(lifetime: Lifetime, now: datetime) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        web_session.c.ended.is_(None),
        web_session.c.created > now - lifetime.absolute,
        web_session.c.seen > now - lifetime.idle,
    )


def end_sessions(
    connection: sa.Connection, user_id: int, *, session_id: int | None = None, but: int = 0, now: datetime
) -> int:
    """End one session of a user, or all (without the number ``but``); return how many there were."""
    which = (web_session.c.user_id == user_id) & web_session.c.ended.is_(None) & (web_session.c.id != but)
    if session_id is not None:
        which &= web_session.c.id == session_id
    return _end(connection, web_session, which, {"ended": now})


def end_tokens(connection: sa.Connection, user_id: int, *, now: datetime) -> int:
    """Revoke every token of a user; return how many there were."""
    which = (api_token.c.user_id == user_id) & api_token.c.revoked.is_(None)
    return _end(connection, api_token, which, {"revoked": now})


def _end(
    connection: sa.Connection, table: sa.Table, which: sa.ColumnElement[bool], values: dict[str, Any]
) -> int:
    ids = connection.execute(sa.select(table.c.id).where(which)).scalars().all()
    for number in ids:
        seals.update(connection, table, number, values)
    return len(ids)


def end_access(connection: sa.Connection, user_id: int, *, now: datetime, but: int = 0) -> int:
    """End every session (without the number ``but``) and token of a user; return how many there were."""
    return end_sessions(connection, user_id, but=but, now=now) + end_tokens(connection, user_id, now=now)


def end(
    connection: sa.Connection,
    user_id: int,
    session_id: int | None = None,
    *,
    event: UserEvent = UserEvent.REVOKE,
    by: str,
    now: datetime,
) -> None:
    """End one session of a user, or all, and with them all tokens; log it if there were any."""
    if session_id is None:
        n_ended = end_access(connection, user_id, now=now)
    else:
        n_ended = end_sessions(connection, user_id, session_id=session_id, now=now)
    if n_ended:
        log(connection, event, user_id, by=by, now=now)


def make_token(
    connection: sa.Connection,
    user_id: int,
    *,
    label: str,
    days: int,
    scopes: Collection[Scope] = tuple(Scope),
    by: str,
    now: datetime,
) -> str:
    """Return a new token of an account with these scopes, which is shown once; only its hash is stored.

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
        raise InputError(_("days: expected 1 to {max_token_days}", max_token_days=MAX_TOKEN_DAYS))
    if not scopes:
        raise InputError(_("scopes: expected at least one of {scope}", scope=", ".join(Scope)))
    get(connection, user_id)
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    values = {
        "token_hash": digest(secret),
        "user_id": user_id,
        "label": label,
        "created": now,
        "expires": now + timedelta(days=days),
        "scopes": ",".join(scope.value for scope in Scope if scope in scopes),
    }
    seals.insert_one(connection, api_token, values)
    log(connection, UserEvent.TOKEN_MADE, user_id, value=label, by=by, now=now)
    return secret


def bearer(connection: sa.Connection, secret: str, *, now: datetime) -> Token | None:
    """Return the token while it is valid and its user may sign in."""
    is_its = (api_token.c.token_hash == digest(secret), user_account.c.disabled.is_(None))
    is_good = (api_token.c.revoked.is_(None), api_token.c.expires > now)
    row = connection.execute(_TOKENS.where(*is_its, *is_good)).first()
    return None if row is None else _token_of(row)


def tokens(connection: sa.Connection, user_id: int | None = None) -> list[Token]:
    """Return the tokens of a user (None = of all users), newest first."""
    query = _TOKENS if user_id is None else _TOKENS.where(api_token.c.user_id == user_id)
    return [_token_of(row) for row in connection.execute(query.order_by(api_token.c.id.desc()))]


def revoke_token(
    connection: sa.Connection, token_id: int, *, user_id: int | None, by: str, now: datetime
) -> None:
    """Revoke a token; ``user_id``: only if it belongs to this user.

    Raises:
        InputError: there is no such valid token.
    """
    which = (api_token.c.id == token_id) & api_token.c.revoked.is_(None)
    if user_id is not None:
        which &= api_token.c.user_id == user_id
    if not _end(connection, api_token, which, {"revoked": now}):
        message = f"token {token_id}: there is no such token, or it was taken back already"
        raise InputError(message)
    log(connection, UserEvent.TOKEN_REVOKED, user_id, value=str(token_id), by=by, now=now)


def _session_of(row: sa.Row[Any]) -> Session:
    return as_value(Session, row, user=user_of(row, _PREFIX))


def _token_of(row: sa.Row[Any]) -> Token:
    scopes = frozenset(Scope(name) for name in row.scopes.split(",") if name)
    return as_value(Token, row, user=user_of(row, _PREFIX), scopes=scopes)
