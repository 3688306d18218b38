"""Saved views: filters of the queue that a user stores under a name."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.store.database import inserted_id
from phiscan.store.tables.users import saved_view

MAX_VIEWS = 50  # per user
MAX_NAME_CHARS = 60
MAX_QUERY_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class SavedView:
    """A view of one user; ``query`` is the query string of the queue page, without "?"."""

    id: int
    name: str
    query: str
    created: datetime


def of_user(connection: sa.Connection, user_id: int) -> list[SavedView]:
    """Return the views of a user by name."""
    query = (
        sa.select(saved_view)
        .where(saved_view.c.user_id == user_id)
        .order_by(saved_view.c.name, saved_view.c.id)
    )
    return [SavedView(row.id, row.name, row.query, row.created) for row in connection.execute(query)]


def save(connection: sa.Connection, user_id: int, *, name: str, query: str, now: datetime) -> SavedView:
    """Save a view; one of the same name is replaced.

    Raises:
        InputError: no name, too long, or too many views.
    """
    name, query = name.strip(), query.removeprefix("?")
    if not 1 <= len(name) <= MAX_NAME_CHARS or not name.isprintable():
        message = _("name: expected 1 to {max_name_chars} characters", max_name_chars=MAX_NAME_CHARS)
        raise InputError(message)
    if len(query) > MAX_QUERY_CHARS or not (query.isascii() and query.isprintable()):
        message = _(
            "query: expected at most {max_query_chars} characters, as an address is written",
            max_query_chars=MAX_QUERY_CHARS,
        )
        raise InputError(message)
    same = (saved_view.c.user_id == user_id) & (saved_view.c.name == name)
    connection.execute(saved_view.delete().where(same))
    if len(of_user(connection, user_id)) >= MAX_VIEWS:
        message = _("expected at most {max_views} saved views; remove one first", max_views=MAX_VIEWS)
        raise InputError(message)
    values = {"user_id": user_id, "name": name, "query": query, "created": now}
    return SavedView(inserted_id(connection, saved_view, values), name, query, now)


def remove(connection: sa.Connection, user_id: int, view_id: int) -> None:
    """Delete a view of a user.

    Raises:
        InputError: the user has no such view.
    """
    which = (saved_view.c.user_id == user_id) & (saved_view.c.id == view_id)
    if not connection.execute(saved_view.delete().where(which)).rowcount:
        message = _("view {view_id}: there is no such view of yours", view_id=view_id)
        raise InputError(message)
