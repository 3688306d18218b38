"""Send each receiver what it was not sent yet, in order, in batches; what fails is sent the next time.

A batch is sent, then noted in the database: a program that is killed between the two sends it again, with the
same ids. Nothing holds a value of a document or a reviewer's name. A file is its number and a keyed hash,
unless the receiver has ``paths``, because a file's name may be a patient's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from phiscan.monitoring.events import EVENTS
from phiscan.monitoring.outbox import note_sent, pending
from phiscan.monitoring.receivers import Receiver
from phiscan.monitoring.senders import problem_of, retried
from phiscan.review.decisions.incidents import Incident
from phiscan.review.store import FileRecord, Store
from phiscan.schedule.running import only_one
from phiscan.store.identity import Key, keyed_hashes

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
                        items := pending(store, receiver.name, kind, 1 if receiver.template else _BATCH)
                    ):
                        texts = dict(_event(receiver, kind, *item, key, store, now) for item in items)
                        retried(receiver.send, kind, texts, now, sleep=sleep, clock=clock)
                        note_sent(store, receiver.name, kind, [item for item, _ in items], now)
                        sent[kind] += len(items)
        except Exception as error:  # noqa: BLE001 (a server's message may quote data)
            problem = problem_of(error)
        yield replace(waiting(store, receiver), sent=sent, problem=problem)


def waiting(store: Store, receiver: Receiver) -> Pushed:
    """Return how much of each kind a receiver was not sent yet."""
    found = {kind: len(pending(store, receiver.name, kind, None)) for kind in receiver.kinds}
    return Pushed(receiver.name, {}, {kind: n for kind, n in found.items() if n})


def failures(pushed: Iterable[Pushed]) -> Iterator[str]:
    """Yield a line for each receiver that could not be sent everything."""
    for one in pushed:
        n = sum(one.waiting.values())
        if n or one.problem:
            yield f"push to {one.receiver}: {one.problem or 'not done yet'}; {n:,} wait for the next run"


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
        files = set(found.files)
        people = sum(one.n_people for one in store.desk.tasks(now=now) if one.file_id in files)
        values = {"incident": found.number, "files": len(files), "people": people}
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
