"""Sign-in challenges: the password was correct and the code is still missing; stored for minutes."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final

import sqlalchemy as sa

from phiscan.review.accounts.sessions import digest
from phiscan.store.database import inserted_id
from phiscan.store.tables.users import sign_in_challenge, user_account

LIFE: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge whose password was correct; its secret authorizes sending a code."""

    secret: str = field(repr=False)


def begin(connection: sa.Connection, account: sa.Row[Any], *, now: datetime) -> Challenge:
    """Create a challenge for the code of an account, and delete expired ones."""
    connection.execute(sign_in_challenge.delete().where(sign_in_challenge.c.created <= now - LIFE))
    secret = secrets.token_urlsafe(32)
    values = {
        "secret_hash": digest(secret),
        "user_id": account.id,
        "state": _state(account),
        "created": now,
    }
    inserted_id(connection, sign_in_challenge, values)
    return Challenge(secret)


def account_of(connection: sa.Connection, secret: str, *, now: datetime) -> sa.Row[Any] | None:
    """Return the account of a challenge, unless its password or second factor has changed since."""
    query = (
        sa.select(user_account, sign_in_challenge.c.state.label("challenge_state"))
        .join(sign_in_challenge, sign_in_challenge.c.user_id == user_account.c.id)
        .where(sign_in_challenge.c.secret_hash == digest(secret), sign_in_challenge.c.created > now - LIFE)
    )
    row = connection.execute(query).first()
    return row if row is not None and row.challenge_state == _state(row) else None


def end(connection: sa.Connection, user_id: int) -> None:
    """Delete all challenges of an account."""
    connection.execute(sign_in_challenge.delete().where(sign_in_challenge.c.user_id == user_id))


def _state(account: sa.Row[Any]) -> str:
    return sha256(f"{account.password_hash}\0{account.second_factor}".encode()).hexdigest()
