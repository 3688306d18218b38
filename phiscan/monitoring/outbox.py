"""What a receiver was not sent yet, in order, and the note that it was.

An item is a file with its content, a decision about a file, a scan with its status, or an incident. Each
that was sent is a row, not a position: what is recorded late, by another scan or after a second verdict, is
sent then, and a file that is examined again with the same content is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import sqlalchemy as sa

from phiscan.model import Referral, Verdict
from phiscan.review.decisions.incidents import IncidentState
from phiscan.review.records.file_records import current_results, sighted_record
from phiscan.review.store import Store
from phiscan.store.tables import decision, examination, file, push_delivery, scan

Item = tuple[str, Callable[[], Any]]  # its key among those of its kind; reads the record, scan or incident
# Of files that are present: what makes them one of a kind, and what is sent once.
_FILES = {
    "findings": (examination.c.referral == Referral.REFERRED.value, examination.c.content_hash, examination),
    "decisions": (decision.c.id.is_not(None), decision.c.id, decision),
    "confirmed": (decision.c.verdict == Verdict.PHI.value, decision.c.id, decision),
}


def pending(store: Store, receiver: str, kind: str, limit: int | None) -> list[Item]:
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


def note_sent(store: Store, receiver: str, kind: str, keys: Sequence[str], now: datetime) -> None:
    """Record that a receiver took these items.

    Raises:
        StoreError: the database cannot be written.
    """
    made = push_delivery.c
    same = (made.receiver == receiver, made.kind == kind, made.item.in_(keys))
    rows = [{"receiver": receiver, "kind": kind, "item": one, "sent": now} for one in keys]

    def write(connection: sa.Connection) -> None:
        connection.execute(push_delivery.delete().where(*same))  # another program may have sent it, too
        connection.execute(push_delivery.insert(), rows)

    store.database.write(write)
