"""Accounts: adding, changing and reading them; every change is logged in its own transaction."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.review.audit import log as audit
from phiscan.review.integrity import digests
from phiscan.store.database import inserted_id
from phiscan.store.tables.users import Role, UserEvent, user_account

MAX_NAME_CHARS = 64
Changes = Mapping[sa.Table, tuple[Iterable[int], Collection[str] | None]]
"""Changed rows by table, and their changed columns; None = all columns, of a new row."""
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
    connection: sa.Connection,
    *,
    name: str,
    role: Role,
    password_hash: str,
    subject: str | None,
    by: str,
    now: datetime,
) -> User:
    """Create an account.

    Raises:
        InputError: the name is invalid or taken.
    """
    name = checked_name(name)
    if find(connection, name) is not None:
        message = _("{name}: there is an account of this name already", name=name)
        raise InputError(message)
    values = {
        "name": name,
        "name_key": name_key(name),
        "role": role.value,
        "password_hash": password_hash,
        "subject": subject,
        "created": now,
        "disabled": None,
        "locked": None,
        "second_factor": "",
        "second_factor_step": 0,
    }
    number = inserted_id(connection, user_account, values)
    changes: Changes = {user_account: ([number], None)}
    log(connection, UserEvent.ADD, number, actor=by, value=role.value, now=now, changes=changes)
    return get(connection, number)


def change(
    connection: sa.Connection,
    user_id: int,
    event: UserEvent,
    values: dict[str, Any],
    *,
    by: str,
    value: str = "",
    now: datetime,
    also: Changes | None = None,
) -> User:
    """Change columns of an account and log it; ``also``: other rows changed by the same action.

    Raises:
        InputError: there is no such account.
    """
    get(connection, user_id)
    connection.execute(user_account.update().where(user_account.c.id == user_id).values(values))
    changes = {**(also or {}), user_account: ([user_id], tuple(values))}
    log(connection, event, user_id, actor=by, value=value, now=now, changes=changes)
    return get(connection, user_id)


def log(
    connection: sa.Connection,
    event: UserEvent,
    user_id: int | None,
    *,
    actor: str,
    value: str = "",
    address: str = "",
    now: datetime,
    changes: Changes | None = None,
) -> None:
    """Append one event and its entry in the audit log; ``changes``: the changed rows and columns."""
    row = {"event": event.value, "user_id": user_id, "value": value, "address": address, "at": now}
    name = connection.execute(sa.select(user_account.c.name).where(user_account.c.id == user_id)).scalar()
    details = {"user": user_id, "name": name, "value": value}
    details |= digests.state_details(connection, changes or {})
    audit.record(connection, event.value, row, details, by=actor, now=now)


def find(connection: sa.Connection, name: str) -> sa.Row[Any] | None:
    """Return the row of the account with this name, compared case-insensitively."""
    query = sa.select(user_account).where(user_account.c.name_key == name_key(name))
    return connection.execute(query).first()


def get(connection: sa.Connection, user_id: int) -> User:
    """Return an account.

    Raises:
        InputError: there is no such account.
    """
    row = connection.execute(sa.select(user_account).where(user_account.c.id == user_id)).first()
    if row is None:
        message = _("user {user_id}: there is no such account", user_id=user_id)
        raise InputError(message)
    return user_of(row)


def named(connection: sa.Connection, name: str) -> User:
    """Return the account with this name.

    Raises:
        InputError: there is no such account.
    """
    row = find(connection, name)
    if row is None:
        message = _("{name}: there is no such account; `phiscan users list` shows them", name=name)
        raise InputError(message)
    return user_of(row)


def everybody(connection: sa.Connection) -> list[User]:
    """Return all accounts by name."""
    query = sa.select(user_account).order_by(user_account.c.name_key)
    return [user_of(row) for row in connection.execute(query)]


def user_of(row: sa.Row[Any], prefix: str = "") -> User:
    """Return the columns of a row without its hash; ``prefix``: of the column labels in a join."""
    columns = {column.name: row._mapping[prefix + column.name] for column in user_account.c}  # noqa: SLF001 (public API)
    return User(
        id=columns["id"],
        name=columns["name"],
        role=Role(columns["role"]),
        created=columns["created"],
        disabled=columns["disabled"],
        locked=columns["locked"],
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
