"""Write events of the patient index as append-only rows with an entry in the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.review.audit import log as audit
from phiscan.store.column_types import storable
from phiscan.store.database import Database

MAX_PURPOSE_CHARS = 500


@dataclass(frozen=True, slots=True)
class Actor:
    """The person who acts, and the time."""

    name: str
    now: datetime


def record_event(
    database: Database, event: str, *, actor: Actor, purpose: str = "", details: Mapping[str, Any]
) -> int:
    """Append an event and its entry in the audit log; return its number.

    Raises:
        InputError: the actor's name is empty, or the purpose is too long.
    """
    name, purpose = storable(actor.name.strip()), storable(purpose.strip())
    if not name:
        message = "by: expected a name"
        raise InputError(message)
    if len(purpose) > MAX_PURPOSE_CHARS:
        message = f"purpose: expected at most {MAX_PURPOSE_CHARS} characters"
        raise InputError(message)

    def write(connection: sa.Connection) -> int:
        values = {
            "event": event,
            "purpose": purpose,
            "details": dict(details),
            "done_by": name,
            "done": actor.now,
        }
        # The purpose is free text and may hold PHI: the log has the digest of the row, not the text.
        return audit.record(connection, "patients", values, {"event": event}, by=name, now=actor.now)

    return database.write(write, durable=True)
