"""Sign-in by password and second factor, or through the hospital's identity provider; rate limits.

Every failure has the same response. An attempt is counted before the password is checked, so that concurrent
attempts are all counted. A failed attempt does not reveal whether the name exists or whether the account is
suspended, locked or disabled.

Attempts are counted by account and source together, so that strangers cannot lock out a user. A source is
trusted for an account that has signed in from it before: an address, or a browser with its cookie
(``source_of``). Each trusted source has its own attempts on an account; all others share one count. An
address with many failures waits twice as long for each further attempt, except for accounts that trust
it.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum
from functools import partial
from hashlib import sha256
from typing import Any, Final, TypeVar

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.review.accounts import accounts, passwords, second_factor
from phiscan.review.accounts.accounts import User, digest
from phiscan.review.audit.log import Act
from phiscan.store import seals
from phiscan.store.database import Database, inserted_id, lock_chain
from phiscan.store.sql_batches import count
from phiscan.store.tables.desk import audit_log
from phiscan.store.tables.users import (
    Role,
    UserEvent,
    sign_in_attempt,
    sign_in_challenge,
    sign_in_flow,
    user_account,
    user_event,
    web_session,
)

CHALLENGE_LIFE: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge whose password was correct; its secret authorizes sending a code."""

    secret: str = field(repr=False)


def begin_challenge(connection: sa.Connection, user_id: int, *, now: datetime) -> Challenge:
    """Create a challenge for the code of an account, and delete expired ones."""
    account = connection.execute(sa.select(user_account).where(user_account.c.id == user_id)).one()
    connection.execute(sign_in_challenge.delete().where(sign_in_challenge.c.created <= now - CHALLENGE_LIFE))
    secret = secrets.token_urlsafe(32)
    values = {"secret_hash": digest(secret), "user_id": user_id, "state": _state_of(account), "created": now}
    inserted_id(connection, sign_in_challenge, values)
    return Challenge(secret)


def challenged(connection: sa.Connection, secret: str, *, now: datetime) -> sa.Row[Any] | None:
    """Return the account of a challenge, unless its password or second factor has changed since."""
    query = (
        sa.select(user_account, sign_in_challenge.c.state.label("challenge_state"))
        .join(sign_in_challenge, sign_in_challenge.c.user_id == user_account.c.id)
        .where(
            sign_in_challenge.c.secret_hash == digest(secret),
            sign_in_challenge.c.created > now - CHALLENGE_LIFE,
        )
    )
    row = connection.execute(query).first()
    return row if row is not None and row.challenge_state == _state_of(row) else None


def _state_of(account: sa.Row[Any]) -> str:
    return sha256(f"{account.password_hash}\0{account.second_factor}".encode()).hexdigest()


KNOWN_FOR: Final = timedelta(days=90)
TRUSTED: Final = "known "  # prefix of sources whose attempts are counted separately
_MOST_CHARS = 100


def cookie(session_id: int, secret: str) -> str:
    """Return the cookie value by which the browser of this session is known later."""
    return f"{session_id}.{_mark(digest(secret))}"


def source_of(
    connection: sa.Connection, account: sa.Row[Any] | None, address: str, shown: str, *, now: datetime
) -> str:
    """Return the source under which attempts on an account are counted; "" = not a trusted source."""
    if account is None:
        return ""
    of_account = (web_session.c.user_id == account.id) & (web_session.c.created > now - KNOWN_FOR)
    number, _, mark = shown[:_MOST_CHARS].partition(".")
    if number.isascii() and number.isdecimal() and len(number) < len(str(2**63)):
        query = sa.select(web_session.c.token_hash).where(of_account, web_session.c.id == int(number))
        kept = connection.execute(query).scalar()
        if kept is not None and hmac.compare_digest(_mark(kept).encode(), mark.encode()):
            return f"{TRUSTED}browser {number}"
    here = sa.select(web_session.c.id).where(of_account, web_session.c.address == address).limit(1)
    is_known = bool(address) and connection.execute(here).first() is not None
    return f"{TRUSTED}{address}" if is_known else ""


def _mark(token_hash: str) -> str:
    return sha256(f"known browser {token_hash}".encode()).hexdigest()


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of failed attempts."""

    window: timedelta = timedelta(minutes=15)
    per_account: int = 5  # from one trusted source, or all others together; then suspended for that source
    per_address: int = 30  # for any names; then each further attempt waits
    first_wait: timedelta = timedelta(seconds=2)  # doubled by each further attempt
    longest_wait: timedelta = timedelta(minutes=1)
    until_locked: int = 20  # since the last success; then an administrator unlocks


_MOST_DOUBLED = 16
WITH_CODE = "password and code"  # how the audit log names a sign-in with a second factor


@dataclass(frozen=True, slots=True)
class _Source:
    """The source of an attempt."""

    address: str
    browser: str = field(default="", repr=False)  # the cookie of a known browser


class Refusal(Enum):
    """Why a sign-in failed; the response names only the limit of the address."""

    WRONG = "name or password is not right, or the account is locked or disabled"
    TOO_MANY = "too many attempts from this address"
    EXPIRED = "the code was asked for too long ago, or the account changed since"


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A user whose session has begun, and its cookie value."""

    user: User
    secret: str
    browser: str = field(default="", repr=False)  # the cookie by which this browser is known later


Outcome = SignedIn | Challenge | Refusal


@dataclass(frozen=True, slots=True)
class SignIns:
    """Sign-ins to the accounts of one database, under limits; ``browser``: the cookie of a known browser."""

    database: Database
    limits: Limits = field(default_factory=Limits)

    def sign_in(self, name: str, password: str, *, address: str, now: datetime, browser: str = "") -> Outcome:
        """Begin a session after checking the password.

        An account with a second factor gets a challenge; a wrong code counts as a wrong password does.

        Raises:
            StoreError: the database cannot be written.
        """

        def welcome(connection: sa.Connection, user: User) -> SignedIn | Challenge:
            if user.has_second_factor:
                return begin_challenge(connection, user.id, now=now)
            return begin(connection, user, method="password", address=address, now=now)

        return self._proven(name, password, welcome, source=_Source(address, browser), now=now)

    def finish_sign_in(
        self, challenge: str, code: str, *, address: str, now: datetime, browser: str = ""
    ) -> SignedIn | Refusal:
        """Begin the session of a sign-in whose password was correct, after checking a one-time code."""

        def welcome(connection: sa.Connection, row: sa.Row[Any]) -> SignedIn:
            connection.execute(sign_in_challenge.delete().where(sign_in_challenge.c.user_id == row.id))
            user = accounts.user_of(row)
            return begin(connection, user, method="password", address=address, now=now, log_as=WITH_CODE)

        find = partial(challenged, secret=challenge, now=now)
        return self._coded(find, code, welcome, source=_Source(address, browser), now=now)

    def proves_code(self, user: User, code: str, *, address: str, now: datetime) -> bool:
        """Check the second factor of a signed-in user; wrong codes count as at the sign-in."""

        def agree(connection: sa.Connection, row: sa.Row[Any]) -> bool:
            _forget_attempts(connection, row.id)
            return True

        find = partial(accounts.row_of, user_id=user.id)
        return self._coded(find, code, agree, source=_Source(address), now=now) is True

    def knows_password(self, user: User, password: str, *, address: str, now: datetime) -> bool:
        """Check the password of a signed-in user; wrong passwords count as at the sign-in.

        With a second factor, a correct password alone does not reset the count of wrong codes.
        """

        def agree(connection: sa.Connection, proven: User) -> bool:
            if not proven.has_second_factor:
                _forget_attempts(connection, proven.id)
            return True

        return self._proven(user.name, password, agree, source=_Source(address), now=now) is True

    def _coded(
        self,
        find: Callable[[sa.Connection], sa.Row[Any] | None],
        code: str,
        then: Callable[[sa.Connection, sa.Row[Any]], T],
        *,
        source: _Source,
        now: datetime,
    ) -> T | Refusal:
        """Count an attempt on the account that is found, check a one-time code, continue with ``then``."""

        def attempt(connection: sa.Connection) -> _Counted | Refusal:
            account = find(connection)
            if account is None:
                return Refusal.EXPIRED
            return _count(connection, account.name, source, self.limits, now) or Refusal.TOO_MANY

        counted = self.database.write(attempt, durable=True)
        if isinstance(counted, Refusal):
            return counted

        def finish(connection: sa.Connection) -> T | Refusal:
            row = find(connection)
            if row is None:
                return Refusal.EXPIRED
            may_try = not (counted.rests or row.disabled or row.locked)
            if may_try and second_factor.accept(connection, row, code, address=source.address, now=now):
                return then(connection, row)
            return _fail(connection, counted, source.address, self.limits, now, value="code")

        return self.database.write(finish, durable=True)

    def _proven(
        self,
        name: str,
        password: str,
        then: Callable[[sa.Connection, User], T],
        *,
        source: _Source,
        now: datetime,
    ) -> T | Refusal:
        """Count an attempt, check the password, and continue with ``then``."""
        counted = self.database.write(
            lambda connection: _count(connection, name, source, self.limits, now), durable=True
        )
        if counted is None:
            return Refusal.TOO_MANY
        is_right = passwords.is_right(password, counted.password_hash)  # slow: outside of any transaction

        def finish(connection: sa.Connection) -> T | Refusal:
            if is_right and not counted.rests:
                row = accounts.row_of(connection, counted.user_id)
                # Not if the password was changed while it was being checked.
                if row and not row.disabled and not row.locked and row.password_hash == counted.password_hash:
                    attempt = sign_in_attempt.c.id == counted.attempt
                    connection.execute(sign_in_attempt.delete().where(attempt))
                    return then(connection, accounts.user_of(row))
            return _fail(connection, counted, source.address, self.limits, now, value="")

        return self.database.write(finish, durable=True)


@dataclass(frozen=True, slots=True)
class _Counted:
    """A counted attempt: its account, and whether a correct password would be accepted."""

    user_id: int | None = None
    name: str = "unknown"  # the input is not stored if there is no such account: it may be a password
    password_hash: str = ""
    rests: bool = False
    attempt: int = 0  # number of its row


def _count(
    connection: sa.Connection, name: str, source: _Source, limits: Limits, now: datetime
) -> _Counted | None:
    """Count an attempt; None if there were too many from this address."""
    lock_chain(connection)  # concurrent attempts see each other
    since = now - limits.window
    unknown = sign_in_attempt.c.user_id.is_(None) & (sign_in_attempt.c.at <= since)
    connection.execute(sign_in_attempt.delete().where(unknown))
    row = accounts.find(connection, name)
    trusted = source_of(connection, row, source.address, source.browser, now=now)
    if not trusted and _must_wait(connection, source.address, limits, now):
        return None
    counted = _Counted() if row is None else _of_account(connection, row, trusted, limits, since)
    # While an account is suspended, no password is checked, and nothing counts towards its lock.
    user_id = None if counted.rests else counted.user_id
    attempt = {"user_id": user_id, "address": trusted or source.address, "at": now}
    return replace(counted, attempt=inserted_id(connection, sign_in_attempt, attempt))


def _of_account(
    connection: sa.Connection, row: sa.Row[Any], trusted: str, limits: Limits, since: datetime
) -> _Counted:
    """Return whether an account is suspended: for its trusted source, or for all sources that are not."""
    which = sign_in_attempt.c.user_id == row.id
    if trusted:
        which &= sign_in_attempt.c.address == trusted
    else:
        which &= sign_in_attempt.c.address.not_like(TRUSTED + "%")
    n_account = count(connection, sign_in_attempt, which, sign_in_attempt.c.at > since)
    return _Counted(row.id, row.name, row.password_hash, rests=n_account >= limits.per_account)


def _must_wait(connection: sa.Connection, address: str, limits: Limits, now: datetime) -> bool:
    """Return whether an address with many failures tries again before its wait is over."""
    here = sign_in_attempt.c.address == address
    n_before = count(connection, sign_in_attempt, here, sign_in_attempt.c.at > now - limits.window)
    if n_before < limits.per_address:
        return False
    last = connection.execute(sa.select(sa.func.max(sign_in_attempt.c.at)).where(here)).scalar_one()
    n_doubled = min(n_before - limits.per_address, _MOST_DOUBLED)
    wait: timedelta = min(limits.first_wait * 2**n_doubled, limits.longest_wait)
    return bool(now - last < wait)


def _fail(
    connection: sa.Connection, counted: _Counted, address: str, limits: Limits, now: datetime, *, value: str
) -> Refusal:
    user_id = counted.user_id
    act: Act = {"by": counted.name, "now": now}
    accounts.log(connection, UserEvent.SIGN_IN_FAILED, user_id, value=value, address=address, **act)
    if user_id is not None and not counted.rests:
        n_failed = count(connection, sign_in_attempt, sign_in_attempt.c.user_id == user_id)
        if n_failed >= limits.until_locked and accounts.get(connection, user_id).locked is None:
            accounts.change(connection, user_id, UserEvent.LOCK, {"locked": now}, address=address, **act)
    return Refusal.WRONG


def _forget_attempts(connection: sa.Connection, user_id: int) -> None:
    connection.execute(sign_in_attempt.delete().where(sign_in_attempt.c.user_id == user_id))


def begin(
    connection: sa.Connection, user: User, *, method: str, address: str, now: datetime, log_as: str = ""
) -> SignedIn:
    """Begin a session for an authenticated user."""
    _forget_attempts(connection, user.id)
    secret = secrets.token_urlsafe(32)  # new for every sign-in
    values = {"token_hash": digest(secret), "user_id": user.id, "method": method, "address": address}
    values |= {"created": now, "seen": now, "ended": None, "purpose": ""}
    number = seals.insert_one(connection, web_session, values)
    act: Act = {"by": user.name, "now": now}
    accounts.log(connection, UserEvent.SIGN_IN, user.id, value=log_as or method, address=address, **act)
    return SignedIn(user, secret, cookie(number, secret))


FLOW_LIFE = timedelta(minutes=10)
ACTOR = "identity provider"  # actor of the changes that its claims cause


@dataclass(frozen=True, slots=True, repr=False)
class Flow:
    """The secrets of one sign-in; ``browser`` is the value of a cookie."""

    state: str
    browser: str
    nonce: str
    code_verifier: str


@dataclass(frozen=True, slots=True)
class Identity:
    """An identity signed by the provider; ``role`` None: its claims contain no role."""

    subject: str  # issuer and subject
    name: str
    role: Role | None


def start_flow(connection: sa.Connection, *, now: datetime) -> Flow:
    """Begin a sign-in, and delete the unfinished ones that have expired."""
    connection.execute(sign_in_flow.delete().where(sign_in_flow.c.created <= now - FLOW_LIFE))
    flow = Flow(*(secrets.token_urlsafe(32) for _ in range(4)))
    hashes = {"state_hash": digest(flow.state), "browser_hash": digest(flow.browser)}
    secret = {"nonce": flow.nonce, "code_verifier": flow.code_verifier}
    inserted_id(connection, sign_in_flow, {**hashes, **secret, "created": now})
    return flow


def take_flow(connection: sa.Connection, *, state: str, browser: str, now: datetime) -> Flow | None:
    """Return the pending sign-in of this browser, and delete it."""
    found = (
        (sign_in_flow.c.state_hash == digest(state))
        & (sign_in_flow.c.browser_hash == digest(browser))
        & (sign_in_flow.c.created > now - FLOW_LIFE)
    )
    row = connection.execute(sa.select(sign_in_flow).where(found)).first()
    connection.execute(sign_in_flow.delete().where(found))
    return None if row is None else Flow(state, browser, row.nonce, row.code_verifier)


def sign_in_as(
    connection: sa.Connection, identity: Identity, *, address: str, now: datetime
) -> SignedIn | None:
    """Begin a session for the account of this identity; None if no account may sign in.

    The role in the claims becomes the account's role. A role that the claims granted before and no longer
    contain is removed, and the account is disabled until they grant one again. Sessions of the previous
    role end. An account is created for a new identity only if the claims contain a role, and never under
    the name of another account.
    """
    query = sa.select(user_account).where(user_account.c.subject == identity.subject)
    row = connection.execute(query).first()
    if row is None:
        user = _newcomer(connection, identity, now=now)
    else:
        user = _as_claimed(connection, accounts.user_of(row), identity.role, now=now)
    if user is None or not user.may_sign_in:
        user_id, name = (None, "unknown") if user is None else (user.id, user.name)
        failed, how = UserEvent.SIGN_IN_FAILED, "provider"
        accounts.log(connection, failed, user_id, value=how, address=address, by=name, now=now)
        return None
    return begin(connection, user, method="provider", address=address, now=now)


def _as_claimed(connection: sa.Connection, user: User, role: Role | None, *, now: datetime) -> User:
    """Apply the role of the claims to an account, and remove a role that they no longer contain."""
    if role is None:
        giver = _actor_of(connection, user, UserEvent.ADD, UserEvent.ROLE)
        # Access that no administrator is known to have granted here belongs to the provider.
        if user.disabled is None and giver in {None, ACTOR}:
            user = accounts.disable(connection, user.id, by=ACTOR, now=now)
        return user
    if user.disabled is not None and _actor_of(connection, user, UserEvent.DISABLE) == ACTOR:
        user = accounts.enable(connection, user.id, by=ACTOR, now=now)
    if user.may_sign_in and role is not user.role:
        user = accounts.set_role(connection, user.id, role, by=ACTOR, now=now, sign_out=True)
    return user


def _actor_of(connection: sa.Connection, user: User, *events: UserEvent) -> str | None:
    """Return who last performed one of these actions on an account; None if the record was purged."""
    query = (
        sa.select(audit_log.c.actor)
        .join(
            user_event,
            (user_event.c.id == audit_log.c.subject_id) & (user_event.c.event == audit_log.c.action),
        )
        .where(user_event.c.user_id == user.id, user_event.c.event.in_([event.value for event in events]))
        .order_by(user_event.c.id.desc())
        .limit(1)
    )
    actor: str | None = connection.execute(query).scalar()
    return actor


def _newcomer(connection: sa.Connection, identity: Identity, *, now: datetime) -> User | None:
    if identity.role is None:
        return None
    try:
        return accounts.add(connection, identity.name, identity.role, "", identity.subject, by=ACTOR, now=now)
    except InputError:  # an invalid name, or one of another account
        return None
