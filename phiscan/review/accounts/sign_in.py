"""Signing in with a name and a password: the limits, and one answer for every way to fail.

An attempt is counted before the password is looked at, so that a hundred at once are a hundred. Whoever
fails learns neither whether the name exists nor whether the account rests, is locked or disabled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import TypeVar

import sqlalchemy as sa

from phiscan.review.accounts import accounts, passwords, sessions
from phiscan.review.accounts.accounts import User
from phiscan.store.database import Database, inserted_id, lock_chain
from phiscan.store.tables.users import UserEvent, sign_in_attempt, user_account, web_session

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """How often somebody may fail."""

    window: timedelta = timedelta(minutes=15)
    per_account: int = 5  # then the account rests until the window has passed
    per_address: int = 30  # whatever the names
    until_locked: int = 20  # since the last success; then an administrator unlocks


class Refusal(Enum):
    """Why nobody was signed in; only the address's limit is told to the browser."""

    WRONG = "name or password is not right, or the account rests, is locked or disabled"
    TOO_MANY = "too many attempts from this address"


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A person whose session has begun, and the value of its cookie."""

    user: User
    secret: str


def sign_in(
    database: Database, name: str, password: str, *, address: str, limits: Limits, now: datetime
) -> SignedIn | Refusal:
    """Begin a session for whoever knows the password.

    Raises:
        StoreError: the database cannot be written.
    """

    def welcome(connection: sa.Connection, user: User) -> SignedIn:
        return begin(connection, user, method="password", address=address, now=now)

    return _proven(database, name, password, welcome, address=address, limits=limits, now=now)


def knows_password(
    database: Database, user: User, password: str, *, address: str, limits: Limits, now: datetime
) -> bool:
    """Tell whether a signed-in person knows the account's password; wrong ones count as at the sign-in."""

    def agree(connection: sa.Connection, proven: User) -> bool:
        connection.execute(sign_in_attempt.delete().where(sign_in_attempt.c.user_id == proven.id))
        return True

    return _proven(database, user.name, password, agree, address=address, limits=limits, now=now) is True


def _proven(
    database: Database,
    name: str,
    password: str,
    then: Callable[[sa.Connection, User], T],
    *,
    address: str,
    limits: Limits,
    now: datetime,
) -> T | Refusal:
    """Do what comes next for whoever knows the password."""
    counted = database.write(lambda connection: _count(connection, name, address, limits, now), durable=True)
    if counted is None:
        return Refusal.TOO_MANY
    is_right = passwords.is_right(password, counted.password_hash)  # no transaction waits for this

    def finish(connection: sa.Connection) -> T | Refusal:
        if is_right and not counted.rests:
            query = sa.select(user_account).where(user_account.c.id == counted.user_id)
            row = connection.execute(query).first()
            # Not, when it was changed while we looked at the password.
            if row and not row.disabled and not row.locked and row.password_hash == counted.password_hash:
                return then(connection, accounts.user_of(row))
        return _fail(connection, counted, address, limits, now)

    return database.write(finish, durable=True)


@dataclass(frozen=True, slots=True)
class _Counted:
    """An attempt that was counted: whose, and whether a right password would do."""

    user_id: int | None = None
    name: str = "unknown"  # what was typed is not kept when there is no such account: it may be a password
    password_hash: str = ""
    rests: bool = False


def _count(
    connection: sa.Connection, name: str, address: str, limits: Limits, now: datetime
) -> _Counted | None:
    """Count an attempt; None when there were too many from this address."""
    lock_chain(connection)  # of attempts at the same moment, each sees those before
    since = now - limits.window
    unknown = sign_in_attempt.c.user_id.is_(None) & (sign_in_attempt.c.at <= since)
    connection.execute(sign_in_attempt.delete().where(unknown))
    if _n_attempts(connection, sign_in_attempt.c.address == address, since) >= limits.per_address:
        return None
    row = accounts.find(connection, name)
    if row is None:
        counted = _Counted()
    else:
        n_account = _n_attempts(connection, sign_in_attempt.c.user_id == row.id, since)
        counted = _Counted(row.id, row.name, row.password_hash, rests=n_account >= limits.per_account)
    # While an account rests, nothing is tried on it, and nothing counts towards its lock.
    user_id = None if counted.rests else counted.user_id
    inserted_id(connection, sign_in_attempt, {"user_id": user_id, "address": address, "at": now})
    return counted


def _fail(
    connection: sa.Connection, counted: _Counted, address: str, limits: Limits, now: datetime
) -> Refusal:
    user_id = counted.user_id
    accounts.log(connection, UserEvent.SIGN_IN_FAILED, user_id, actor=counted.name, address=address, now=now)
    if user_id is not None and not counted.rests:
        n_failed = _n_attempts(connection, sign_in_attempt.c.user_id == user_id, None)
        lock = (
            user_account.update()
            .where(user_account.c.id == user_id, user_account.c.locked.is_(None))
            .values(locked=now)
        )
        if n_failed >= limits.until_locked and connection.execute(lock).rowcount:
            accounts.log(
                connection,
                UserEvent.LOCK,
                user_id,
                actor=counted.name,
                address=address,
                now=now,
                changes={user_account: ([user_id], ("locked",))},
            )
    return Refusal.WRONG


def _n_attempts(connection: sa.Connection, which: sa.ColumnElement[bool], since: datetime | None) -> int:
    query = sa.select(sa.func.count()).select_from(sign_in_attempt).where(which)
    if since is not None:
        query = query.where(sign_in_attempt.c.at > since)
    return int(connection.execute(query).scalar_one())


def begin(connection: sa.Connection, user: User, *, method: str, address: str, now: datetime) -> SignedIn:
    """Begin a session for a person who has proven who they are."""
    connection.execute(sign_in_attempt.delete().where(sign_in_attempt.c.user_id == user.id))
    number, secret = sessions.begin(connection, user.id, method=method, address=address, now=now)
    accounts.log(
        connection,
        UserEvent.SIGN_IN,
        user.id,
        actor=user.name,
        value=method,
        address=address,
        now=now,
        changes={web_session: ([number], None)},
    )
    return SignedIn(user, secret)
