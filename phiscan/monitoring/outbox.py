"""What a receiver was not sent yet, in order, and the note that it was.

An item is a file with its content, a decision about a file, a scan with its status, or an incident. Each
that was sent is a row, not a position: what is recorded late, by another scan or after a second verdict, is
sent then, and a file that is examined again with the same content is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

import sqlalchemy as sa

from phiscan.model import Referral, Verdict
from phiscan.review.decisions.incidents import IncidentState
from phiscan.review.records.file_records import current_results, sighted_record
from phiscan.review.store import Store
from phiscan.store.tables import decision, examination, file, push_delivery, scan

Item = tuple[str, Callable[[], Any]]  # its key among those of its kind; reads the record, scan or incident
_Pending = Callable[[Store, str, int | None], list[Item]]


def _key(*columns: sa.Column[Any]) -> sa.ColumnElement[str]:
    first, second = (sa.cast(column, sa.Text) for column in columns)
    return first + " " + second


def _is_sent(receiver: str, kind: str, item: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    made = push_delivery.c
    return sa.exists().where(made.receiver == receiver, made.kind == kind, made.item == item)


def _files(kind: str, store: Store, receiver: str, limit: int | None) -> list[Item]:
    """Return files that are present: referred ones, or those with a decision that nobody must not see yet."""
    if kind == "findings":
        key = _key(file.c.id, examination.c.content_hash)
        chosen, order = [examination.c.referral == Referral.REFERRED.value], [examination.c.id]
    else:
        key = _key(file.c.id, decision.c.id)
        is_phi = decision.c.verdict == Verdict.PHI.value
        chosen, order = [is_phi if kind == "confirmed" else decision.c.id.is_not(None)], [decision.c.id]
    query = current_results(scan_id=None, conceal=True).add_columns(key.label("item"))
    query = query.where(*chosen, ~_is_sent(receiver, kind, key)).order_by(*order, file.c.id).limit(limit)
    with store.database.read() as connection:
        return [(row.item, partial(sighted_record, row)) for row in connection.execute(query)]


def _scans(store: Store, receiver: str, limit: int | None) -> list[Item]:
    """Return scans that ended since the first one that was sent; the last one alone, if none was."""
    ended = sa.select(scan.c.id, scan.c.status).where(scan.c.status != "running").order_by(scan.c.id)
    with store.database.read() as connection:
        sent = _sent(connection, receiver, "scans")
        rows = connection.execute(ended).all()
    first = min((int(one.split()[0]) for one in sent), default=rows[-1].id if rows else 0)
    found = ((row.id, f"{row.id} {row.status}") for row in rows if row.id >= first)
    chosen = [(number, item) for number, item in found if item not in sent][:limit]
    return [(item, partial(store.summary, number)) for number, item in chosen]


def _incidents(store: Store, receiver: str, limit: int | None) -> list[Item]:
    """Return incidents that are not closed, the oldest first."""
    with store.database.read() as connection:
        sent = _sent(connection, receiver, "incidents")
    found = [one for one in reversed(store.desk.incidents()) if one.state is not IncidentState.CLOSED]
    items: list[Item] = [(str(one.number), partial(store.desk.incident, one.number)) for one in found]
    return [item for item in items if item[0] not in sent][:limit]


def _sent(connection: sa.Connection, receiver: str, kind: str) -> set[str]:
    made = push_delivery.c
    query = sa.select(made.item).where(made.receiver == receiver, made.kind == kind)
    return set(connection.execute(query).scalars())


KINDS: Final[Mapping[str, _Pending]] = {
    **{kind: partial(_files, kind) for kind in ("findings", "decisions", "confirmed")},
    "scans": _scans,
    "incidents": _incidents,
}
"""What can be sent: kind -> what of it a receiver was not sent yet, at most a number of items."""


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
