"""Send each receiver what it was not sent yet, in order, in batches; what fails is sent the next time.

An item is a file with its content, a decision about a file, a scan with its status, or an incident. Each
that was sent is a row, not a position: what is recorded late, by another scan or after a second verdict, is
sent then, and a file that is examined again with the same content is not. A batch is sent, then noted in the
database: a program that is killed between the two sends it again, with the same ids. Nothing holds a value of
a document or a reviewer's name. A file is its number and a keyed hash, unless the receiver has ``paths``,
because a file's name may be a patient's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from phiscan.model import Referral, Verdict
from phiscan.monitoring.events import EVENTS
from phiscan.monitoring.receivers import Receiver
from phiscan.monitoring.senders import problem_of, retried
from phiscan.review.decisions.incidents import Incident, IncidentState
from phiscan.review.records.file_records import current_results, sighted_record
from phiscan.review.store import FileRecord, Store
from phiscan.schedule.running import only_one
from phiscan.store.identity import Key, keyed_hashes
from phiscan.store.tables.desk import decision, push_delivery
from phiscan.store.tables.scans import examination, file, scan

Item = tuple[str, Callable[[], Any]]  # its key among those of its kind; reads the record, scan or incident
# Of files that are present: what makes them one of a kind, and what is sent once.
_FILES = {
    "findings": (examination.c.referral == Referral.REFERRED.value, examination.c.content_hash, examination),
    "decisions": (decision.c.id.is_not(None), decision.c.id, decision),
    "confirmed": (decision.c.verdict == Verdict.PHI.value, decision.c.id, decision),
}
_BATCH: Final = 100  # events; a ticket is a message of its own
AFTER_SCAN_S: Final = 60.0  # for one receiver that takes everything; the rest goes at the next run
_EVENT, _FILE = "PUSHED_EVENT", "PUSHED_FILE"  # types of the keyed hashes


@dataclass(frozen=True, slots=True)
class Pushed:
    """What one receiver was sent, by kind, what waits, and why; "" = nothing failed."""

    receiver: str
    sent: Mapping[str, int]
    waiting: Mapping[str, int]
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the object of ``phiscan push --json``."""
        return asdict(self) | {"problem": self.problem or None}


def push(
    store: Store,
    receivers: Sequence[Receiver],
    key: Key,
    *,
    home: Path,
    now: datetime,
    limit_s: float = float("inf"),
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Pushed]:
    """Send to each receiver, and yield what it was sent; one that fails costs no other one.

    ``limit_s``: the time after which a receiver gets no further batch.
    """
    for receiver in receivers:
        sent, problem = dict.fromkeys(receiver.kinds, 0), ""
        until = clock() + limit_s
        try:
            with only_one(home, "push", "another program of this home is sending"):
                for kind in receiver.kinds:
                    while clock() < until and (
                        items := _pending(store, receiver.name, kind, 1 if receiver.template else _BATCH)
                    ):
                        texts = dict(_event(receiver, kind, *item, key, store, now) for item in items)
                        retried(receiver.send, kind, texts, now, sleep=sleep, clock=clock)
                        _note_sent(store, receiver.name, kind, [item for item, _ in items], now)
                        sent[kind] += len(items)
        except Exception as error:  # noqa: BLE001 (a server's message may quote data)
            problem = problem_of(error)
        yield replace(waiting(store, receiver), sent=sent, problem=problem)


def waiting(store: Store, receiver: Receiver) -> Pushed:
    """Return how much of each kind a receiver was not sent yet."""
    found = {kind: len(_pending(store, receiver.name, kind, None)) for kind in receiver.kinds}
    return Pushed(receiver.name, {}, {kind: n for kind, n in found.items() if n})


def failures(pushed: Iterable[Pushed]) -> Iterator[str]:
    """Yield a line for each receiver that could not be sent everything."""
    for one in pushed:
        n = sum(one.waiting.values())
        if n or one.problem:
            yield f"push to {one.receiver}: {one.problem or 'not done yet'}; {n:,} wait for the next run"


def _pending(store: Store, receiver: str, kind: str, limit: int | None) -> list[Item]:
    """Return what of a kind a receiver was not sent yet, at most a number of items."""
    made = push_delivery.c
    sent = sa.select(made.item).where(made.receiver == receiver, made.kind == kind)
    with store.database.read() as connection:
        if kind in _FILES:
            chosen, once, table = _FILES[kind]
            key = sa.cast(file.c.id, sa.Text) + " " + sa.cast(once, sa.Text)
            query = current_results(scan_id=None, conceal=True).add_columns(key.label("item"))
            query = query.where(chosen, ~sent.where(made.item == key).exists())
            rows = connection.execute(query.order_by(table.c.id, file.c.id).limit(limit))
            return [(row.item, partial(sighted_record, row)) for row in rows]
        known = set(connection.execute(sent).scalars())
    found = _scans(store, known) if kind == "scans" else _incidents(store)
    return [item for item in found if item[0] not in known][:limit]


def _scans(store: Store, known: set[str]) -> list[Item]:
    """Return scans that ended since the first one that was sent; the last one alone, if none was."""
    ended = sa.select(scan.c.id, scan.c.status).where(scan.c.status != "running").order_by(scan.c.id)
    with store.database.read() as connection:
        rows = connection.execute(ended).all()
    first = min((int(one.split()[0]) for one in known), default=rows[-1].id if rows else 0)
    return [(f"{row.id} {row.status}", partial(store.summary, row.id)) for row in rows if row.id >= first]


def _incidents(store: Store) -> list[Item]:
    """Return incidents that are not closed, the oldest first."""
    found = [one for one in reversed(store.desk.incidents()) if one.state is not IncidentState.CLOSED]
    return [(str(one.number), partial(store.desk.incident, one.number)) for one in found]


def _note_sent(store: Store, receiver: str, kind: str, keys: Sequence[str], now: datetime) -> None:
    """Record that a receiver took these items."""
    made = push_delivery.c
    same = (made.receiver == receiver, made.kind == kind, made.item.in_(keys))
    rows = [{"receiver": receiver, "kind": kind, "item": one, "sent": now} for one in keys]

    def write(connection: sa.Connection) -> None:
        connection.execute(push_delivery.delete().where(*same))  # another program may have sent it, too
        connection.execute(push_delivery.insert(), rows)

    store.database.write(write)


def _event(  # noqa: PLR0917 (what an event is made of)
    receiver: Receiver, kind: str, item: str, read: Callable[[], Any], key: Key, store: Store, now: datetime
) -> tuple[str, str]:
    """Return the id of an event or ticket, the same each time that it is sent, and its text."""
    found = read()
    is_file, link = isinstance(found, FileRecord), receiver.link
    place = f"{found.root.rstrip('/')}/{found.path}" if is_file else ""
    event_uid, file_uid = keyed_hashes(key, [(_EVENT, f"{kind}/{item}"), (_FILE, place)])
    if is_file and not receiver.table.paths:
        found = replace(found, root=f"share-{found.root_id}", path=f"file-{found.file_id}")
    uid = event_uid[:32]
    if isinstance(found, Incident):
        query = current_results(scan_id=None, conceal=True).where(file.c.id.in_(found.files))
        with store.database.read() as connection:
            files: dict[int, Any] = {row.file_id: row for row in connection.execute(query)}
        files |= {one.file_id: one for one in store.desk.tasks(now=now) if one.file_id in set(found.files)}
        people = sum({one.content_hash or number: one.n_people for number, one in files.items()}.values())
        values = {"incident": found.number, "files": len(set(found.files)), "people": people}
        text = receiver.ticket({**values, "link": link and f"{link}/incidents/{found.number}"})
    elif receiver.template:
        text = receiver.ticket({**_about_file(found), "link": link and f"{link}/items/{found.file_id}"})
    else:
        text = EVENTS[receiver.table.form](found, now, uid, file_uid[:32] if is_file else "")
    return uid, text


def _about_file(row: FileRecord) -> dict[str, str | int]:
    return {
        "file_id": row.file_id,
        "root": row.root,
        "path": row.path,
        "people": row.n_people,
        "case": row.case,
        "identifiers": " ".join(row.vector.names),
        "label": "; ".join(name or number for number, name in row.labels),
    }
