"""Signing in through the hospital's identity provider: the sign-in under way, and whose account it is."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.review.accounts import accounts, sessions
from phiscan.review.accounts.accounts import User
from phiscan.review.accounts.sessions import digest
from phiscan.review.accounts.sign_in import SignedIn, begin
from phiscan.store.database import inserted_id
from phiscan.store.tables import audit_log
from phiscan.store.tables.users import Role, UserEvent, sign_in_flow, user_account, user_event

FLOW_LIFE = timedelta(minutes=10)
ACTOR = "identity provider"  # of what its claims change


@dataclass(frozen=True, slots=True, repr=False)
class Flow:
    """The secrets of one sign-in; ``browser`` is the value of a cookie."""

    state: str
    browser: str
    nonce: str
    code_verifier: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Who somebody is, as the provider has signed it; ``role`` None: its claims say nothing of roles."""

    subject: str  # issuer and subject
    name: str
    role: Role | None


def start_flow(connection: sa.Connection, *, now: datetime) -> Flow:
    """Begin a sign-in, and forget those that were never finished."""
    connection.execute(sign_in_flow.delete().where(sign_in_flow.c.created <= now - FLOW_LIFE))
    flow = Flow(*(secrets.token_urlsafe(32) for _ in range(4)))
    values = {
        "state_hash": digest(flow.state),
        "browser_hash": digest(flow.browser),
        "nonce": flow.nonce,
        "code_verifier": flow.code_verifier,
        "created": now,
    }
    inserted_id(connection, sign_in_flow, values)
    return flow


def take_flow(connection: sa.Connection, *, state: str, browser: str, now: datetime) -> Flow | None:
    """Return the sign-in that this browser began, once."""
    found = (
        (sign_in_flow.c.state_hash == digest(state))
        & (sign_in_flow.c.browser_hash == digest(browser))
        & (sign_in_flow.c.created > now - FLOW_LIFE)
    )
    row = connection.execute(sa.select(sign_in_flow).where(found)).first()
    connection.execute(sign_in_flow.delete().where(found))
    return None if row is None else Flow(state, browser, row.nonce, row.code_verifier)


def sign_in(connection: sa.Connection, identity: Identity, *, address: str, now: datetime) -> SignedIn | None:
    """Begin a session for the account of this identity; None when it has none that may sign in.

    The role that the claims say is the account's role from now on; a role that they gave and no longer give
    is taken away, and the account disabled until they give one again. Sessions of the former role end. An
    account is made for somebody new only when the claims give a role, and never under a name that another
    account has.
    """
    query = sa.select(user_account).where(user_account.c.subject == identity.subject)
    row = connection.execute(query).first()
    if row is None:
        user = _newcomer(connection, identity, now=now)
    else:
        user = _as_claimed(connection, accounts.user_of(row), identity.role, now=now)
    if user is None or not user.may_sign_in:
        user_id = None if user is None else user.id
        actor = "unknown" if user is None else user.name
        accounts.log(
            connection,
            UserEvent.SIGN_IN_FAILED,
            user_id,
            actor=actor,
            value="provider",
            address=address,
            now=now,
        )
        return None
    return begin(connection, user, method="provider", address=address, now=now)


def _as_claimed(connection: sa.Connection, user: User, role: Role | None, *, now: datetime) -> User:
    """Give an account what the claims say, and take away what they no longer say."""
    if role is None:
        giver = _actor_of(connection, user, UserEvent.ADD, UserEvent.ROLE)
        # Access that nobody is known to have given here is the provider's to take.
        if user.disabled is None and giver in {None, ACTOR}:
            ended = sessions.end_access(connection, user.id, now=now)
            user = accounts.change(
                connection, user.id, UserEvent.DISABLE, {"disabled": now}, by=ACTOR, now=now, also=ended
            )
        return user
    if user.disabled is not None and _actor_of(connection, user, UserEvent.DISABLE) == ACTOR:
        user = accounts.change(connection, user.id, UserEvent.ENABLE, {"disabled": None}, by=ACTOR, now=now)
    if user.may_sign_in and role is not user.role:
        ended = sessions.end_access(connection, user.id, now=now)
        user = accounts.change(
            connection,
            user.id,
            UserEvent.ROLE,
            {"role": role.value},
            by=ACTOR,
            value=role.value,
            now=now,
            also=ended,
        )
    return user


def _actor_of(connection: sa.Connection, user: User, *events: UserEvent) -> str | None:
    """Return who did the last of these things to an account; None when the record was purged."""
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
        return accounts.add(
            connection,
            name=identity.name,
            role=identity.role,
            password_hash="",
            subject=identity.subject,
            by=ACTOR,
            now=now,
        )
    except InputError:  # an unfit name, or one that another account has
        return None
