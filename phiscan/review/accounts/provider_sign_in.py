"""Sign-in through the hospital's identity provider: pending sign-ins, and the accounts of identities."""

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
    """Return the pending sign-in of this browser, and delete it."""
    found = (
        (sign_in_flow.c.state_hash == digest(state))
        & (sign_in_flow.c.browser_hash == digest(browser))
        & (sign_in_flow.c.created > now - FLOW_LIFE)
    )
    row = connection.execute(sa.select(sign_in_flow).where(found)).first()
    connection.execute(sign_in_flow.delete().where(found))
    return None if row is None else Flow(state, browser, row.nonce, row.code_verifier)


def sign_in(connection: sa.Connection, identity: Identity, *, address: str, now: datetime) -> SignedIn | None:
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
    """Apply the role of the claims to an account, and remove a role that they no longer contain."""
    if role is None:
        giver = _actor_of(connection, user, UserEvent.ADD, UserEvent.ROLE)
        # Access that no administrator is known to have granted here belongs to the provider.
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
        return accounts.add(
            connection,
            name=identity.name,
            role=identity.role,
            password_hash="",
            subject=identity.subject,
            by=ACTOR,
            now=now,
        )
    except InputError:  # an invalid name, or one of another account
        return None
