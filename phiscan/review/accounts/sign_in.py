"""Signing in with a name and a password: the limits, and one answer for every way to fail.

An attempt is counted before the password is looked at, so that a hundred at once are a hundred. Whoever
fails learns neither whether the name exists nor whether the account rests, is locked or disabled.

Attempts count by account and source together, so that strangers stop no one. A source is trusted for an
account that has signed in from it before: an address, or a browser that shows its cookie
(``known_browsers``). From a trusted source an account has attempts of its own; all others share those of the
account. An address with many failures waits twice as long for each further attempt, except for accounts that
trust it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, TypeVar

import sqlalchemy as sa

from phiscan.review.accounts import accounts, challenges, known_browsers, passwords, second_factor, sessions
from phiscan.review.accounts.accounts import User
from phiscan.review.accounts.challenges import Challenge
from phiscan.store.database import Database, inserted_id, lock_chain
from phiscan.store.tables.users import UserEvent, sign_in_attempt, user_account, web_session

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """How often somebody may fail."""

    window: timedelta = timedelta(minutes=15)
    per_account: int = 5  # from one trusted source, or all others together; then the account rests for them
    per_address: int = 30  # whatever the names; then each further attempt waits
    first_wait: timedelta = timedelta(seconds=2)  # doubled by each further attempt
    longest_wait: timedelta = timedelta(minutes=1)
    until_locked: int = 20  # since the last success; then an administrator unlocks


_MOST_DOUBLED = 16
WITH_CODE = "password and code"  # how the audit log calls a sign-in with a second factor


@dataclass(frozen=True, slots=True)
class _Source:
    """Where an attempt comes from."""

    address: str
    browser: str = field(default="", repr=False)  # the cookie by which a browser is known


class Refusal(Enum):
    """Why nobody was signed in; only the address's limit is told to the browser."""

    WRONG = "name or password is not right, or the account is locked or disabled"
    TOO_MANY = "too many attempts from this address"
    EXPIRED = "the code was asked for too long ago, or the account changed since"


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A person whose session has begun, and the value of its cookie."""

    user: User
    secret: str
    browser: str = field(default="", repr=False)  # the cookie by which this browser is known later


def sign_in(
    database: Database,
    name: str,
    password: str,
    *,
    address: str,
    limits: Limits,
    now: datetime,
    browser: str = "",
) -> Outcome:
    """Begin a session for whoever knows the password; ``browser``: the cookie of a known one.

    An account with a second factor is asked for its code; a wrong one counts as a wrong password does.

    Raises:
        StoreError: the database cannot be written.
    """

    def welcome(connection: sa.Connection, user: User) -> SignedIn | Challenge:
        if user.has_second_factor:
            query = sa.select(user_account).where(user_account.c.id == user.id)
            return challenges.begin(connection, connection.execute(query).one(), now=now)
        return begin(connection, user, method="password", address=address, now=now)

    source = _Source(address, browser)
    return _proven(database, name, password, welcome, source=source, limits=limits, now=now)


Outcome = SignedIn | Challenge | Refusal


def finish_sign_in(
    database: Database,
    challenge: str,
    code: str,
    *,
    address: str,
    limits: Limits,
    now: datetime,
    browser: str = "",
) -> SignedIn | Refusal:
    """Begin the session of a sign-in whose password was right, for whoever sends a code that is good once."""
    source = _Source(address, browser)

    def count(connection: sa.Connection) -> _Counted | Refusal:
        account = challenges.account_of(connection, challenge, now=now)
        if account is None:
            return Refusal.EXPIRED
        return _count(connection, account.name, source, limits, now) or Refusal.TOO_MANY

    counted = database.write(count, durable=True)
    if isinstance(counted, Refusal):
        return counted

    def finish(connection: sa.Connection) -> SignedIn | Refusal:
        row = challenges.account_of(connection, challenge, now=now)
        if row is None:
            return Refusal.EXPIRED
        may_try = not (counted.rests or row.disabled or row.locked)
        if may_try and second_factor.accept(connection, row, code, address=address, now=now):
            challenges.end(connection, row.id)
            user = accounts.get(connection, row.id)
            return begin(connection, user, method="password", address=address, now=now, log_as=WITH_CODE)
        return _fail(connection, counted, address, limits, now, value="code")

    return database.write(finish, durable=True)


def proves_code(
    database: Database, user: User, code: str, *, address: str, limits: Limits, now: datetime
) -> bool:
    """Tell whether a signed-in person has the second factor; wrong codes count as at the sign-in."""
    source = _Source(address)
    counted = database.write(
        lambda connection: _count(connection, user.name, source, limits, now), durable=True
    )

    def finish(connection: sa.Connection) -> bool:
        if counted is None:
            return False
        row = connection.execute(sa.select(user_account).where(user_account.c.id == user.id)).one()
        may_try = not (counted.rests or row.disabled or row.locked)
        if may_try and second_factor.accept(connection, row, code, address=address, now=now):
            connection.execute(sign_in_attempt.delete().where(sign_in_attempt.c.user_id == user.id))
            return True
        _fail(connection, counted, address, limits, now, value="code")
        return False

    return database.write(finish, durable=True)


def knows_password(
    database: Database, user: User, password: str, *, address: str, limits: Limits, now: datetime
) -> bool:
    """Tell whether a signed-in person knows the account's password; wrong ones count as at the sign-in.

    Where there is a second factor, the password alone forgives no wrong code.
    """

    def agree(connection: sa.Connection, proven: User) -> bool:
        if not proven.has_second_factor:
            connection.execute(sign_in_attempt.delete().where(sign_in_attempt.c.user_id == proven.id))
        return True

    source = _Source(address)
    return _proven(database, user.name, password, agree, source=source, limits=limits, now=now) is True


def _proven(
    database: Database,
    name: str,
    password: str,
    then: Callable[[sa.Connection, User], T],
    *,
    source: _Source,
    limits: Limits,
    now: datetime,
) -> T | Refusal:
    """Do what comes next for whoever knows the password."""
    counted = database.write(lambda connection: _count(connection, name, source, limits, now), durable=True)
    if counted is None:
        return Refusal.TOO_MANY
    is_right = passwords.is_right(password, counted.password_hash)  # no transaction waits for this

    def finish(connection: sa.Connection) -> T | Refusal:
        if is_right and not counted.rests:
            query = sa.select(user_account).where(user_account.c.id == counted.user_id)
            row = connection.execute(query).first()
            # Not, when it was changed while we looked at the password.
            if row and not row.disabled and not row.locked and row.password_hash == counted.password_hash:
                connection.execute(sign_in_attempt.delete().where(sign_in_attempt.c.id == counted.attempt))
                return then(connection, accounts.user_of(row))
        return _fail(connection, counted, source.address, limits, now)

    return database.write(finish, durable=True)


@dataclass(frozen=True, slots=True)
class _Counted:
    """An attempt that was counted: whose, and whether a right password would do."""

    user_id: int | None = None
    name: str = "unknown"  # what was typed is not kept when there is no such account: it may be a password
    password_hash: str = ""
    rests: bool = False
    attempt: int = 0  # number of its row


def _count(
    connection: sa.Connection, name: str, source: _Source, limits: Limits, now: datetime
) -> _Counted | None:
    """Count an attempt; None when there were too many from this address."""
    lock_chain(connection)  # of attempts at the same moment, each sees those before
    since = now - limits.window
    unknown = sign_in_attempt.c.user_id.is_(None) & (sign_in_attempt.c.at <= since)
    connection.execute(sign_in_attempt.delete().where(unknown))
    row = accounts.find(connection, name)
    trusted = known_browsers.source_of(connection, row, source.address, source.browser, now=now)
    if not trusted and _must_wait(connection, source.address, limits, now):
        return None
    counted = _Counted() if row is None else _of_account(connection, row, trusted, limits, since)
    # While an account rests, nothing is tried on it, and nothing counts towards its lock.
    user_id = None if counted.rests else counted.user_id
    attempt = {"user_id": user_id, "address": trusted or source.address, "at": now}
    return replace(counted, attempt=inserted_id(connection, sign_in_attempt, attempt))


def _of_account(
    connection: sa.Connection, row: sa.Row[Any], trusted: str, limits: Limits, since: datetime
) -> _Counted:
    """Return whether an account rests: for its trusted source, or for all sources that are not."""
    which = sign_in_attempt.c.user_id == row.id
    if trusted:
        which &= sign_in_attempt.c.address == trusted
    else:
        which &= sign_in_attempt.c.address.not_like(known_browsers.TRUSTED + "%")
    n_account = _n_attempts(connection, which, since)
    return _Counted(row.id, row.name, row.password_hash, rests=n_account >= limits.per_account)


def _must_wait(connection: sa.Connection, address: str, limits: Limits, now: datetime) -> bool:
    """Tell whether an address with many failures tries again before its wait is over."""
    here = sign_in_attempt.c.address == address
    n_before = _n_attempts(connection, here, now - limits.window)
    if n_before < limits.per_address:
        return False
    last = connection.execute(sa.select(sa.func.max(sign_in_attempt.c.at)).where(here)).scalar_one()
    n_doubled = min(n_before - limits.per_address, _MOST_DOUBLED)
    wait: timedelta = min(limits.first_wait * 2**n_doubled, limits.longest_wait)
    return bool(now - last < wait)


def _fail(
    connection: sa.Connection,
    counted: _Counted,
    address: str,
    limits: Limits,
    now: datetime,
    *,
    value: str = "",
) -> Refusal:
    user_id = counted.user_id
    accounts.log(
        connection,
        UserEvent.SIGN_IN_FAILED,
        user_id,
        actor=counted.name,
        value=value,
        address=address,
        now=now,
    )
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


def begin(
    connection: sa.Connection, user: User, *, method: str, address: str, now: datetime, log_as: str = ""
) -> SignedIn:
    """Begin a session for a person who has proven who they are."""
    connection.execute(sign_in_attempt.delete().where(sign_in_attempt.c.user_id == user.id))
    number, secret = sessions.begin(connection, user.id, method=method, address=address, now=now)
    accounts.log(
        connection,
        UserEvent.SIGN_IN,
        user.id,
        actor=user.name,
        value=log_as or method,
        address=address,
        now=now,
        changes={web_session: ([number], None)},
    )
    return SignedIn(user, secret, known_browsers.cookie(number, secret))
