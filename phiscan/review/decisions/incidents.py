"""Privacy incidents: files that are one breach, and what is written and decided about them.

An incident is its entries, which are never changed: of several about one field or file the last one applies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import groupby
from typing import Any

import sqlalchemy as sa

from phiscan.errors import ConflictError, InputError
from phiscan.language import gettext as _
from phiscan.review.audit import log as audit
from phiscan.review.decisions import notes
from phiscan.review.decisions.writing import checked_name, checked_text
from phiscan.store.database import lock_chain
from phiscan.store.tables import incident_entry, work_item

MAX_TITLE_CHARS = 200
TITLE = "title"
MAX_REASON_CHARS = 1_000
ANSWERS = ("mine", "not_mine", "done", "needed")
"""What an owner may answer about a file; "needed": it needs to stay, with a reason."""


class IncidentState(StrEnum):
    """The state of an incident; only an open one is written to."""

    OPEN = "open"
    ASSESSED = "assessed"
    REPORTED = "reported"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class IncidentEntry:
    """One entry: a text of a field, a state with its reason, or a file added or removed."""

    kind: str
    field: str
    text: str
    file_id: int | None
    entered_by: str
    entered: datetime


@dataclass(frozen=True, slots=True)
class Incident:
    """One incident; ``entries``: oldest first."""

    number: int
    entries: tuple[IncidentEntry, ...]

    @property
    def texts(self) -> dict[str, str]:
        """The text of each field that has one."""
        written = {one.field: one.text for one in self.entries if one.kind == "text"}
        return {name: text for name, text in written.items() if text}

    @property
    def state(self) -> IncidentState:
        """The present state."""
        return IncidentState(next(one.field for one in reversed(self.entries) if one.kind == "state"))

    @property
    def files(self) -> tuple[int, ...]:
        """The numbers of its files, in the order in which they were added."""
        kinds = {one.file_id: one.kind for one in self.entries if one.file_id is not None}
        return tuple(number for number, kind in kinds.items() if kind == "add")


def incidents(connection: sa.Connection, number: int | None = None) -> tuple[Incident, ...]:
    """Return all incidents, the newest first, or the one of a number."""
    query = sa.select(incident_entry).order_by(incident_entry.c.incident.desc(), incident_entry.c.id)
    here = incident_entry.c.incident
    query = query.where(here.is_not(None) if number is None else here == number)
    of_incident = groupby(connection.execute(query), key=lambda row: row.incident)
    return tuple(Incident(found, tuple(map(_entry, rows))) for found, rows in of_incident)


def _entry(row: Any) -> IncidentEntry:
    return IncidentEntry(row.kind, row.field, row.text, row.file_id, row.entered_by, row.entered)


def incident(connection: sa.Connection, number: int) -> Incident:
    """Return one incident.

    Raises:
        InputError: there is none of this number.
    """
    found = incidents(connection, number)
    if not found:
        message = _("incident {number}: there is none of this number", number=number)
        raise InputError(message)
    return found[0]


def write_incident(
    connection: sa.Connection,
    number: int | None,
    texts: Mapping[str, str],
    *,
    add: Sequence[int] = (),
    remove: Sequence[int] = (),
    state: IncidentState | None = None,
    reason: str = "",
    by: str,
    now: datetime,
) -> int:
    """Write texts of an incident that differ from the present ones, add and remove files, change its state.

    ``number``: None opens a new incident, of which the number is returned. Identifiers of its files in a
    text are replaced by their types; files that are reviewed blind are left out.

    Raises:
        ConflictError: it has this state already, or is not open.
        InputError: no user name, no such incident, no title, no reason of a state, a text too long, or none
            of the files may be added.
    """
    by = checked_name("by", by)
    lock_chain(connection)
    added = _listed(connection, add)
    if (add or number is None) and not added:
        message = _("files: none of them is in the list, or each is reviewed blind, by itself")
        raise InputError(message)
    if number is None:
        number = 1 + (connection.execute(sa.select(sa.func.max(incident_entry.c.incident))).scalar() or 0)
        _append(connection, number, "state", by, now, field=IncidentState.OPEN.value)
        texts = {TITLE: "", **texts}
    before = incident(connection, number)
    if (before.state is not IncidentState.OPEN) if state is None else (state is before.state):
        message = _("incident {number}: it has this state already, or is not open: reopen it", number=number)
        raise ConflictError(message)
    examined = list((_listed(connection, before.files) | added).values())
    for name, text in texts.items():
        kept = notes.masked(connection, examined, checked_text(name, text))
        if name == TITLE:
            kept = checked_name(name, checked_text(name, kept, MAX_TITLE_CHARS))
        if kept != before.texts.get(name, ""):
            _append(connection, number, "text", by, now, field=name, text=kept)
    for file_id in added.keys() - set(before.files):
        _append(connection, number, "add", by, now, file_id=file_id)
    for file_id in set(remove) & set(before.files):
        _append(connection, number, "remove", by, now, file_id=file_id)
    if state is not None:
        reason = notes.masked(connection, examined, checked_name("reason", reason))
        _append(connection, number, "state", by, now, field=state.value, text=reason)
    return number


def answers(connection: sa.Connection) -> dict[int, IncidentEntry]:
    """Return the last answer of an owner about each file."""
    query = sa.select(incident_entry).where(incident_entry.c.kind == "answer").order_by(incident_entry.c.id)
    return {row.file_id: _entry(row) for row in connection.execute(query)}


def answer(
    connection: sa.Connection, given: Mapping[int, str], reason: str, *, by: str, now: datetime
) -> None:
    """Record the answers of an owner about files, with one reason.

    Raises:
        InputError: an unknown answer, a reason that is too long, or none for a file that is to stay.
    """
    reason = checked_text("reason", reason, MAX_REASON_CHARS)
    if not set(given.values()) <= set(ANSWERS) or ("needed" in given.values() and not reason):
        message = _("answer: expected one of the list; what is to stay needs a reason")
        raise InputError(message)
    reason = notes.masked(connection, list(_listed(connection, list(given)).values()), reason)
    for file_id, word in given.items():
        _append(connection, None, "answer", by, now, field=word, text=reason, file_id=file_id)


def _listed(connection: sa.Connection, file_ids: Sequence[int]) -> dict[int, int]:
    """Return the current results of files that are in the review list and not reviewed blind, by file."""
    query = sa.select(work_item.c.file_id, work_item.c.examination_id).where(~work_item.c.blind)
    rows = connection.execute(query.where(work_item.c.file_id.in_(file_ids)).order_by(work_item.c.file_id))
    return {row.file_id: row.examination_id for row in rows}


def _append(
    connection: sa.Connection, number: int | None, kind: str, by: str, now: datetime, **given: Any
) -> None:
    """Append one entry; the log has the field or the file, never the text."""
    values = {"incident": number, "kind": kind, "field": "", "text": "", "file_id": None, **given}
    details = {"incident": number, "kind": kind, "field": values["field"], "file": values["file_id"]}
    values |= {"entered_by": by, "entered": now}
    audit.record(connection, "incident", values, details, by=by, now=now)
