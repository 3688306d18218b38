"""E-mails to owners of files, read from the log of exports: time, file, address."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime

import sqlalchemy as sa

from phiscan.store.tables.users import UserEvent, user_event

_PREFIX = "e-mail to the owner of file "
_VALUE = re.compile(re.escape(_PREFIX) + r"(\d+): (.+)")


def value_of(file_id: int, to: str) -> str:
    """Return the log value of one message.

    >>> value_of(7, "ann@hospital.example")
    'e-mail to the owner of file 7: ann@hospital.example'
    """
    return f"{_PREFIX}{file_id}: {to}"


def sent(connection: sa.Connection) -> Mapping[int, tuple[tuple[datetime, str], ...]]:
    """Return the messages by file, oldest first."""
    query = (
        sa.select(user_event.c.at, user_event.c.value)
        .where(user_event.c.event == UserEvent.EXPORT.value, user_event.c.value.startswith(_PREFIX))
        .order_by(user_event.c.id)
    )
    found: dict[int, list[tuple[datetime, str]]] = defaultdict(list)
    for row in connection.execute(query):
        parsed = _VALUE.fullmatch(row.value)
        if parsed:
            found[int(parsed[1])].append((row.at, parsed[2]))
    return {file_id: tuple(entries) for file_id, entries in found.items()}
