"""Legal holds: while one is active, nothing about its file or root is purged, and nothing of the log.

Nothing about the files of an incident that is not closed is purged either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.review.audit import log as audit
from phiscan.review.decisions.incidents import files_of, not_closed
from phiscan.store.tables import examination, file, incident_entry, legal_hold, root


@dataclass(frozen=True, slots=True)
class Hold:
    """An active hold."""

    id: int
    root: str
    path: str  # "" = the whole root
    reason: str
    set_by: str
    set_at: datetime


def held_files() -> sa.Select[Any]:
    """Select the numbers of all files that are kept.

    A hold names them or their root, an incident that is not closed has them, or they are identical to one
    that is named or of such an incident.
    """
    held = examination.alias()
    named = _standing(legal_hold.c.file_id).union(files_of(incident_entry.c.incident.in_(not_closed())))
    contents = sa.select(held.c.content_hash).where(held.c.file_id.in_(named), held.c.content_hash != "")
    identical = sa.select(examination.c.file_id).where(examination.c.content_hash.in_(contents))
    return sa.select(file.c.id).where(
        sa.or_(
            file.c.id.in_(named),
            file.c.id.in_(identical),
            file.c.root_id.in_(_standing(legal_hold.c.root_id)),
        )
    )


def holds(connection: sa.Connection) -> list[Hold]:
    """Return the active holds, oldest first."""
    newest = sa.or_(
        legal_hold.c.id.in_(_newest(legal_hold.c.file_id)), legal_hold.c.id.in_(_newest(legal_hold.c.root_id))
    )
    of_file = root.alias()
    query = (
        sa.select(
            legal_hold,
            sa.func.coalesce(root.c.display, of_file.c.display).label("root"),
            sa.func.coalesce(file.c.display, "").label("path"),
        )
        .outerjoin(root, root.c.id == legal_hold.c.root_id)
        .outerjoin(file, file.c.id == legal_hold.c.file_id)
        .outerjoin(of_file, of_file.c.id == file.c.root_id)
        .where(newest, legal_hold.c.state == "placed")
        .order_by(legal_hold.c.id)
    )
    return [
        Hold(row.id, row.root, row.path, row.reason, row.set_by, row.set_at)
        for row in connection.execute(query)
    ]


def set_holds(
    connection: sa.Connection,
    *,
    state: str,
    files: Sequence[int] = (),
    roots: Sequence[str] = (),
    reason: str,
    by: str,
    now: datetime,
) -> None:
    """Place or lift holds on files, by number, and on roots, by their path in display form.

    Raises:
        InputError: no reason or no user name, an unknown file or root, or a hold to lift that is not active.
    """
    for field, value in (("reason", reason), ("by", by)):
        if not value.strip():
            message = f"{field}: expected a text"
            raise InputError(message)
    targets: list[tuple[sa.Column[Any], int]] = []
    for number in files:
        if connection.execute(sa.select(file.c.id).where(file.c.id == number)).first() is None:
            message = f"file {number}: no such file; expected a number that `phiscan queue list` shows"
            raise InputError(message)
        targets.append((legal_hold.c.file_id, number))
    targets += [(legal_hold.c.root_id, _root_number(connection, path)) for path in roots]
    for column, number in targets:
        stands = connection.execute(sa.select(sa.literal(number).in_(_standing(column)))).scalar()
        if state == "lifted" and not stands:
            message = f"{column.name.removesuffix('_id')} {number}: it has no hold"
            raise InputError(message)
        values = {column.name: number, "state": state, "reason": reason, "set_by": by, "set_at": now}
        audit.record(connection, "hold", values, {column.name: number, "state": state}, by=by, now=now)


def _root_number(connection: sa.Connection, path: str) -> int:
    numbers = {row.display: int(row.id) for row in connection.execute(sa.select(root.c.id, root.c.display))}
    if path not in numbers:
        path_as_shown = path.rstrip("/")  # a shell completes a folder's name with a slash
        if path_as_shown not in numbers:
            known = ", ".join(sorted(numbers)) or "none yet"
            message = f"{path}: no such root; expected one that was scanned: {known}"
            raise InputError(message)
        path = path_as_shown
    return numbers[path]


def _newest(column: sa.Column[Any]) -> sa.Select[Any]:
    return sa.select(sa.func.max(legal_hold.c.id)).where(column.is_not(None)).group_by(column)


def _standing(column: sa.Column[Any]) -> sa.Select[Any]:
    return sa.select(column).where(legal_hold.c.id.in_(_newest(column)), legal_hold.c.state == "placed")
