"""Privacy incidents (files that are one breach, what is written about them), and remediation tasks.

An incident is its entries, which are never changed: of several about one field or file the last one applies.

Remediation tasks follow from the records: a verdict of PHI opens one, and a complete scan closes it when the
file is missing or fewer users may read it than when it was confirmed. Nothing is written to a share.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from itertools import groupby
from typing import Any

import sqlalchemy as sa

from phiscan.errors import ConflictError, InputError
from phiscan.language import gettext as _
from phiscan.language import lazy_gettext
from phiscan.model import Label, Verdict
from phiscan.review.audit import log as audit
from phiscan.review.decisions import writing
from phiscan.review.decisions.writing import checked_name, checked_text
from phiscan.review.records.file_records import standing_decision
from phiscan.review.worklist.model import SECOND, Exposure, exposure_of
from phiscan.store.database import lock_chain
from phiscan.store.sql_batches import as_value, chunks
from phiscan.store.tables.desk import decision, incident_entry, work_item
from phiscan.store.tables.scans import access, departure, examination, file, root, scan

MAX_TITLE_CHARS = 200
TITLE, DISCOVERED, COUNTED = "title", "discovered", "counted"
FIRST_DAY = date(1990, 1, 1)  # of a discovery; no rule of a regulator is older
_EARLIEST_ZONE = timedelta(hours=14)  # the day begins there first
_COUNT = re.compile(r"[0-9]{1,9}|[0-9]{1,3}(?:[\s,][0-9]{3}){1,2}")  # a space may be of another kind
MAX_REASON_CHARS, MAX_FIELD_CHARS = 1_000, 200
MAX_EXCEPTION = timedelta(days=731)
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
    """One entry, about an incident or a file: a text of a field, a state with its reason, an answer."""

    id: int
    kind: str
    field: str
    text: str
    file_id: int | None
    entered_by: str
    entered: datetime


@dataclass(frozen=True, slots=True)
class Incident:
    """One incident; ``entries``: oldest first; ``moved``: files that moved, each with its new number."""

    number: int
    entries: tuple[IncidentEntry, ...]
    moved: Mapping[int, int] = field(default_factory=dict)

    def until(self, entry_id: int) -> Incident:
        """Return the incident as it was after this entry."""
        return replace(self, entries=tuple(one for one in self.entries if one.id <= entry_id))

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
    def places(self) -> tuple[int, ...]:
        """The numbers of its files at every place where they were, in the order in which they were added."""
        kinds = {one.file_id: one.kind for one in self.entries if one.file_id is not None}
        added = [number for number, kind in kinds.items() if kind == "add"]
        return tuple(dict.fromkeys(place for number in added for place in _followed(number, self.moved)))

    @property
    def files(self) -> tuple[int, ...]:
        """The numbers of its files at their present places."""
        return tuple(number for number in self.places if number not in self.moved)


def incidents(connection: sa.Connection, number: int | None = None) -> tuple[Incident, ...]:
    """Return all incidents, the newest first, or the one of a number."""
    query = sa.select(incident_entry).order_by(incident_entry.c.incident.desc(), incident_entry.c.id)
    here = incident_entry.c.incident
    query = query.where(here.is_not(None) if number is None else here == number)
    of_incident = groupby(connection.execute(query), key=lambda row: row.incident)
    moved = _moved(connection)
    return tuple(
        Incident(found, tuple(as_value(IncidentEntry, row) for row in rows), moved)
        for found, rows in of_incident
    )


def _followed(number: int, moved: Mapping[int, int]) -> Iterator[int]:
    yield number
    while number in moved:  # ends: a file moves to one that only a later scan has seen
        yield (number := moved[number])


def _places(files: sa.Select[Any]) -> sa.Select[Any]:
    """Select the numbers of files, and those of all places that they moved to."""
    here = files.cte(recursive=True)
    file_id = here.c[0]
    onward = sa.select(departure.c.moved_to).join(here, departure.c.file_id == file_id)
    every = here.union(onward.where(departure.c.moved_to.is_not(None)))
    return sa.select(every.c[0])


def _moved(connection: sa.Connection) -> dict[int, int]:
    """Return the files of entries that moved, and are not back at their old place, by their new number."""
    entered = sa.select(incident_entry.c.file_id).where(incident_entry.c.file_id.is_not(None))
    query = (
        sa.select(departure.c.file_id, departure.c.moved_to)
        .join(file, file.c.id == departure.c.file_id)
        .where(departure.c.scan_id > file.c.seen_scan_id, departure.c.moved_to.is_not(None))
        .where(departure.c.file_id.in_(_places(entered)))
    )
    return {row.file_id: row.moved_to for row in connection.execute(query)}


def files_of(*which: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Select the numbers of the files that are in the incidents of a condition, at all their places."""
    newest = sa.select(sa.func.max(incident_entry.c.id)).group_by(
        incident_entry.c.incident, incident_entry.c.file_id
    )
    standing = incident_entry.c.id.in_(newest) & (incident_entry.c.kind == "add")
    return _places(sa.select(incident_entry.c.file_id).where(standing, *which))


def not_closed() -> sa.Select[Any]:
    """Select the numbers of the incidents that are not closed."""
    states = incident_entry.alias()
    newest = sa.select(sa.func.max(states.c.id)).where(states.c.kind == "state").group_by(states.c.incident)
    return sa.select(states.c.incident).where(
        states.c.id.in_(newest), states.c.field != IncidentState.CLOSED.value
    )


def incident(connection: sa.Connection, number: int) -> Incident:
    """Return one incident.

    Raises:
        InputError: there is none of this number.
    """
    found = incidents(connection, number)
    if not found:
        raise InputError(_("incident {number}: there is none of this number", number=number))
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
    seen: int | None = None,
    by: str,
    now: datetime,
) -> int:
    """Write texts of an incident that differ from the present ones, add and remove files, change its state.

    ``number``: None opens a new incident, of which the number is returned. Identifiers of its files in a
    text are replaced by their types; files that are reviewed blind are left out. ``seen``: the last entry
    that the writer saw; a text that is still the one they saw is not theirs, and is not written.

    Raises:
        ConflictError: it has this state already, is not open, or was changed after the writer saw it.
        InputError: no user name, no such incident, no title, no reason of a state, a text too long, no day
            or number where one is expected, or none of the files may be added.
    """
    by = checked_name("by", by)
    lock_chain(connection)
    added = listed_files(connection, add)
    if (add or number is None) and not added:
        raise InputError(_("files: none of them is in the list, or each is reviewed blind, by itself"))
    if number is None:
        number = 1 + (connection.execute(sa.select(sa.func.max(incident_entry.c.incident))).scalar() or 0)
        append(connection, number, "state", by, now, field=IncidentState.OPEN.value)
        texts = {**texts, TITLE: checked_name(TITLE, texts.get(TITLE, ""))}
    before = incident(connection, number)
    if (before.state is not IncidentState.OPEN) if state is None else (state is before.state):
        message = _("incident {number}: it has this state already, or is not open: reopen it", number=number)
        raise ConflictError(message)
    for file_id in sorted(added - set(before.places)):
        append(connection, number, "add", by, now, file_id=file_id)
    for name, text in _changes(connection, before, texts, seen, now).items():
        append(connection, number, "text", by, now, field=name, text=text)
    if state is not None:
        if seen is not None and before.entries[-1].id > seen:
            raise _conflict(before)
        reason = _checked(connection, number, "reason", checked_name("reason", reason), now)
        append(connection, number, "state", by, now, field=state.value, text=reason)
    for file_id in before.places:
        if {*_followed(file_id, before.moved)} & set(remove):
            append(connection, number, "remove", by, now, file_id=file_id)
    return number


def _changes(
    connection: sa.Connection, before: Incident, texts: Mapping[str, str], seen: int | None, now: datetime
) -> dict[str, str]:
    """Return the texts that the writer changed; a conflict: somebody changed the same after ``seen``."""
    present, known = before.texts, (before if seen is None else before.until(seen)).texts
    stored = {name: {present.get(name, ""), known.get(name, "")} for name in texts}
    given = {name: checked_text(name, text) for name, text in texts.items()}
    typed = {name: text for name, text in given.items() if text not in stored[name]}
    kept = {name: _checked(connection, before.number, name, text, now) for name, text in typed.items()}
    changed = {name: text for name, text in kept.items() if text not in stored[name]}
    if any(present.get(name) != known.get(name) for name in changed):
        raise _conflict(before)
    return changed


def _conflict(found: Incident) -> ConflictError:
    return ConflictError(_("incident {number}: somebody changed it after you opened it", number=found.number))


def _checked(connection: sa.Connection, number: int, name: str, text: str, now: datetime) -> str:
    """Return a text of an incident as it is stored: a day, a number, or a text without identifiers."""
    if name in {DISCOVERED, COUNTED}:
        return text and str(day_of(text, now) if name == DISCOVERED else count_of(text))
    results = sa.select(examination.c.id).where(
        examination.c.file_id.in_(files_of(incident_entry.c.incident == number))
    )
    kept = writing.masked(connection, results, text)
    return checked_name(name, checked_text(name, kept, MAX_TITLE_CHARS)) if name == TITLE else kept


def last_day(now: datetime) -> date:
    """Return the last day that has begun somewhere on earth."""
    return (now + _EARLIEST_ZONE).date()


def day_of(text: str, now: datetime) -> date:
    """Return the day of a discovery, written as year-month-day.

    Raises:
        InputError: it is no day, before ``FIRST_DAY``, or has begun nowhere yet.
    """
    last = last_day(now)
    with suppress(ValueError):
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text) and FIRST_DAY <= (day := date.fromisoformat(text)) <= last:
            return day
    message = _(
        "Day of the discovery: expected year-month-day, from {first} to {last}", first=FIRST_DAY, last=last
    )
    raise InputError(message)


def count_of(text: str) -> int:
    """Return a number of people; thousands may be separated.

    Raises:
        InputError: it is no whole number of at most nine digits.
    """
    if _COUNT.fullmatch(text):
        return int(re.sub(r"\D", "", text))
    raise InputError(_("People affected: expected a whole number of at most nine digits, such as 1204"))


def about_files(connection: sa.Connection, *kinds: str) -> dict[int, list[IncidentEntry]]:
    """Return the entries of some kinds about each file, oldest first; a file that moved keeps them."""
    query = sa.select(incident_entry).where(incident_entry.c.kind.in_(kinds)).order_by(incident_entry.c.id)
    moved, found = _moved(connection), defaultdict[int, list[IncidentEntry]](list)
    for row in connection.execute(query):
        for place in _followed(row.file_id, moved):
            found[place].append(as_value(IncidentEntry, row))
    return dict(found)


def answers(connection: sa.Connection) -> dict[int, IncidentEntry]:
    """Return the last answer of an owner about each file."""
    return {number: entries[-1] for number, entries in about_files(connection, "answer").items()}


def annotate(
    connection: sa.Connection,
    kind: str,
    file_ids: Collection[int],
    *,
    field: str = "",
    text: str = "",
    by: str,
    now: datetime,
) -> None:
    """Record one entry about each of some files: an answer, assignee, note or exception.

    ``field``: the answer, or the last day of an exception, "" ends it. Identifiers of the files in a text
    are replaced by their types.

    Raises:
        InputError: an unknown answer, no day to come, a missing or overlong text.
    """
    field, text = checked_text("field", field, MAX_FIELD_CHARS), checked_text("text", text, MAX_REASON_CHARS)
    problem = ""
    if kind == "answer" and (field not in ANSWERS or (field == "needed" and not text)):
        problem = _("answer: expected one of the list; what is to stay needs a reason")
    elif kind == "exception" and field and not (text and _is_to_come(field, now)):
        problem = _("exception: expected a reason, and a last day within two years (year-month-day)")
    if problem:
        raise InputError(problem)
    for batch in chunks(file_ids) if kind != "assignee" else ():
        results = sa.select(examination.c.id).where(examination.c.file_id.in_(batch))
        text = writing.masked(connection, results, text)
    for file_id in file_ids:
        append(connection, None, kind, by, now, field=field, text=text, file_id=file_id)


def _is_to_come(day: str, now: datetime) -> bool:
    with suppress(ValueError):
        return now.date() < date.fromisoformat(day) <= now.date() + MAX_EXCEPTION
    return False


@dataclass(frozen=True, slots=True)
class Owners:
    """Who owns which folders, by assignment; names of owners in addresses and reminders are folded."""

    folders: Mapping[tuple[int, str], str]  # root and folder -> owner
    addresses: Mapping[str, str]
    reminded: Mapping[str, datetime]  # the last time

    def of(self, root_id: int, path: str) -> str:
        """Return the owner of the deepest folder above a file; "" = none is assigned."""
        parts = path.split("/")[:-1]
        above = ("/".join(parts[:n]) for n in range(len(parts), -1, -1))
        return next((owner for one in above if (owner := self.folders.get((root_id, one), ""))), "")


def owners(connection: sa.Connection) -> Owners:
    """Return the assigned owners of folders, the addresses of owners, and when each was reminded."""
    of_owners = incident_entry.c.kind.in_(("owner", "address", "reminder"))
    rows = connection.execute(sa.select(incident_entry).where(of_owners).order_by(incident_entry.c.id)).all()
    places = {row.field.partition("/")[::2]: row.text for row in rows if row.kind == "owner"}
    return Owners(
        {(int(root), folder): owner for (root, folder), owner in places.items() if owner},
        {row.field: row.text for row in rows if row.kind == "address"},
        {row.field: row.entered for row in rows if row.kind == "reminder" and row.text},
    )


def write_owner(
    connection: sa.Connection, kind: str, about: str, text: str = "", *, by: str, now: datetime
) -> None:
    """Record the owner of a folder (kind "owner", about ROOT/FOLDER), an address of one, or a "reminder".

    A reminder without a text was attempted; with the number of files it was sent.
    """
    about, text = (checked_text(kind, one, MAX_FIELD_CHARS) for one in (about, text))
    append(connection, None, kind, by, now, field=about if kind == "owner" else about.casefold(), text=text)


def listed_files(connection: sa.Connection, file_ids: Sequence[int]) -> set[int]:
    """Return the files that are in the review list and not reviewed blind."""
    query = sa.select(work_item.c.file_id).where(~work_item.c.blind)
    batches = (query.where(work_item.c.file_id.in_(batch)) for batch in chunks(file_ids))
    return {number for one in batches for number in connection.execute(one).scalars()}


def append(
    connection: sa.Connection, number: int | None, kind: str, by: str, now: datetime, **given: Any
) -> None:
    """Append one entry; the log has the field or the file, never the text."""
    values = {"incident": number, "kind": kind, "field": "", "text": "", "file_id": None, **given}
    details = {"incident": number, "kind": kind, "field": values["field"], "file": values["file_id"]}
    values = {"entered_by": by, "entered": now, **values}
    audit.record(connection, "incident", values, details, by=by, now=now)


DAYS_TO_ACT = {Exposure.EVERYONE: 1, Exposure.UNKNOWN: 7, Exposure.GROUP: 14, Exposure.OWNER: 30}
"""Days from the verdict to the end of a task, by who may read the file."""
_BREADTH = {Exposure.OWNER: 0, Exposure.GROUP: 1, Exposure.UNKNOWN: 2, Exposure.EVERYONE: 2}


class TaskState(StrEnum):
    """The state of a task."""

    OPEN = "open"
    OVERDUE = "overdue"
    GONE = "gone"  # a complete scan did not find the file
    RESTRICTED = "restricted"  # fewer users may read it than when it was confirmed
    CHANGED = "changed"  # the content has changed; it must be reviewed again
    EXCEPTED = "excepted"  # it may stay until a day, for a reason


@dataclass(frozen=True, slots=True)
class Task:
    """The task of one confirmed file."""

    file_id: int
    examination_id: int  # as it was confirmed
    content_hash: str
    root_id: int
    root: str
    path: str
    owner: str  # as assigned to the folder, else from the share, else the user id; "" = not known
    exposure: Exposure  # when it was confirmed
    exposure_now: Exposure | None  # None = the file is missing
    n_people: int
    confirmed: datetime
    due: datetime
    state: TaskState
    proof_scan: int | None  # the scan that proves it; None while open
    proved: datetime | None
    assignee: str = ""
    note: str = ""
    until: date | None = None  # last day of an exception, past or to come
    why: str = ""  # reason of the exception
    labels: tuple[Label, ...] = ()  # sensitivity labels that it carries now

    @property
    def is_open(self) -> bool:
        """Whether something is still to be done."""
        return self.state in {TaskState.OPEN, TaskState.OVERDUE}

    def has_label(self, label: str) -> bool:
        """Return whether it carries the sensitivity label of this name or id."""
        return any(label in one for one in self.labels)


def tasks(connection: sa.Connection, *, now: datetime, cleaned: bool = False) -> tuple[Task, ...]:
    """Return a task for each file whose current verdict is PHI, open tasks first, earliest deadline first.

    Files that await a blind second verdict are excluded: their verdict must not be visible yet.
    ``cleaned``: a file with another content now, which is not PHI, has the task of the content that was.
    """
    rows = connection.execute(_CONFIRMED)
    of_file = (row for row in rows if not cleaned or row.verdict == Verdict.PHI.value)
    standing: dict[int, Any] = {row.file_id: row for row in of_file}
    about, assigned = about_files(connection, "assignee", "note", "exception"), owners(connection)
    found = [
        _task(row, {entry.kind: entry for entry in about.get(row.file_id, ())}, assigned, now)
        for row in standing.values()
        if row.verdict == Verdict.PHI.value
    ]
    return tuple(sorted(found, key=lambda one: (not one.is_open, one.due, one.root, one.path)))


_then, _now, _seen = examination.alias("then"), examination.alias("now"), examination.alias("seen")
_access_then, _access_now = access.alias("access_then"), access.alias("access_now")
_moved_here, _moved_away = departure.alias("moved_here"), departure.alias("moved_away")
# The file as it was confirmed: the last examination of that content begun before the verdict. A file that
# moved since is compared with its earlier place, an identical file with its own first examination.
_confirmed_id = sa.func.coalesce(
    sa.select(sa.func.max(examination.c.id))
    .join(scan, scan.c.id == examination.c.scan_id)
    .where(
        examination.c.file_id == _seen.c.file_id,
        examination.c.content_hash == decision.c.content_hash,
        scan.c.started <= decision.c.decided,
    )
    .correlate(decision, _seen)
    .scalar_subquery(),
    sa.case((sa.exists().where(_moved_here.c.moved_to == _seen.c.file_id), decision.c.examination_id)),
    sa.select(sa.func.min(examination.c.id))
    .where(examination.c.file_id == _seen.c.file_id, examination.c.content_hash == decision.c.content_hash)
    .correlate(decision, _seen)
    .scalar_subquery(),
)
_last = examination.alias("last")
_latest_id = sa.select(sa.func.max(_last.c.id)).where(_last.c.file_id == _seen.c.file_id)
_complete = scan.alias("complete")
_CONFIRMED = (
    sa.select(
        file.c.id.label("file_id"),
        _then.c.id.label("examination_id"),
        decision.c.verdict,
        decision.c.decided,
        decision.c.content_hash,
        root.c.id.label("root_id"),
        root.c.display.label("root"),
        root.c.complete_scan_id,
        file.c.display.label("path"),
        file.c.seen_scan_id,
        _then.c.mode.label("mode_then"),
        _then.c.uid,
        _then.c.n_people,
        _access_then.c.readers.label("readers_then"),
        _access_then.c.owner,
        _now.c.mode.label("mode_now"),
        _now.c.content_hash.label("content_now"),
        _now.c.scan_id.label("scan_now"),
        _now.c.labels,
        _access_now.c.readers.label("readers_now"),
        _complete.c.ended,
    )
    .select_from(_seen)
    .join(decision, decision.c.id == standing_decision(_seen))
    .join(file, file.c.id == _seen.c.file_id)
    .join(root, root.c.id == file.c.root_id)
    .join(_then, _then.c.id == _confirmed_id)
    .join(_now, _now.c.id == _latest_id.correlate(_seen).scalar_subquery())
    .outerjoin(_access_then, _access_then.c.examination_id == _then.c.id)
    .outerjoin(_access_now, _access_now.c.examination_id == _now.c.id)
    .outerjoin(_complete, _complete.c.id == root.c.complete_scan_id)
    .outerjoin(work_item, work_item.c.file_id == file.c.id)
    .where(_seen.c.content_hash.in_(sa.select(decision.c.content_hash).correlate(None)))
    .where(sa.or_(work_item.c.awaits.is_(None), work_item.c.awaits != SECOND))
    # The task of a file that moved is that of its new place.
    .where(
        ~sa.exists().where(
            _moved_away.c.file_id == file.c.id,
            _moved_away.c.moved_to.is_not(None),
            _moved_away.c.scan_id > file.c.seen_scan_id,
        )
    )
    .order_by(decision.c.id)
)


def _task(row: Any, last: Mapping[str, IncidentEntry], assigned: Owners, now: datetime) -> Task:
    """Return the task of a confirmed file; ``last``: the last entry about it of each kind."""
    then = exposure_of(row.mode_then, row.readers_then or ())
    present = exposure_of(row.mode_now, row.readers_now or ())
    is_gone = row.seen_scan_id < (row.complete_scan_id or 0)
    texts = {kind: entry.text for kind, entry in last.items()}
    granted = last.get("exception")
    until = date.fromisoformat(granted.field) if granted and granted.field else None
    due = row.decided + timedelta(days=DAYS_TO_ACT[then])
    proof = None
    if is_gone:
        state, proof = TaskState.GONE, row.complete_scan_id
    elif row.content_now != row.content_hash:
        state, proof = TaskState.CHANGED, row.scan_now
    elif _BREADTH[present] < _BREADTH[then]:
        state, proof = TaskState.RESTRICTED, row.scan_now
    else:
        due = due if until is None else max(due, datetime.combine(until + timedelta(days=1), time(), UTC))
        is_excepted = until is not None and now.date() <= until
        state = TaskState.EXCEPTED if is_excepted else TaskState.OVERDUE if due < now else TaskState.OPEN
    shared = row.owner or (lazy_gettext("no. {number}", number=row.uid) if row.uid is not None else "")
    return as_value(
        Task,
        row,
        owner=assigned.of(row.root_id, row.path) or shared,
        exposure=then,
        exposure_now=None if is_gone else present,
        confirmed=row.decided,
        due=due,
        state=state,
        proof_scan=proof,
        proved=row.ended if proof else None,
        assignee=texts.get("assignee", ""),
        note=texts.get("note", ""),
        until=until,
        why=texts["exception"] if until else "",
        labels=tuple((number, name) for number, name in row.labels),
    )
