"""Writing of decisions and assignments: appended and logged in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext
from phiscan.model import Verdict
from phiscan.review.audit import log as audit
from phiscan.review.decisions import second_review_draw as second_draw
from phiscan.review.integrity import digests
from phiscan.review.records.current_results import last_seen
from phiscan.review.records.items import Decision
from phiscan.review.worklist import rows as work_rows
from phiscan.store.column_types import storable
from phiscan.store.database import inserted_id
from phiscan.store.sql_batches import chunks
from phiscan.store.tables import assignment, decision, file

MAX_TEXT_CHARS = 10_000


def read_file(connection: sa.Connection, file_id: int) -> sa.Row[Any]:
    """Return the last examination of a file whose content was read, so that it can be decided.

    Raises:
        InputError: there is no such file, or its content was never read.
    """
    row = last_seen(connection, file_id)
    if row is None:
        message = gettext("file {file_id}: there is no such file in the database", file_id=file_id)
        raise InputError(message)
    if not row.content_hash:
        message = gettext(
            "{path}: cannot be decided: its content was never read ({outcome}: {reason})",
            path=row.path,
            outcome=row.outcome,
            reason=row.reason,
        )
        raise InputError(message)
    return row


def decide(
    connection: sa.Connection,
    verdicts: Sequence[tuple[int, Verdict]],
    *,
    reviewer: str,
    reason: str = "",
    note: str = "",
    now: datetime,
) -> list[Decision]:
    """Append one decision per file, bound to the content of the last examination.

    Raises:
        InputError: no reviewer, an unknown file, or a file that was never screened; nothing is written.
    """
    reviewer = checked_text("reviewer", reviewer)
    reason, note = checked_text("reason", reason), checked_text("note", note)
    require_name("reviewer", reviewer)
    made, entries = [], []
    for file_id, verdict in verdicts:
        row = read_file(connection, file_id)
        values = {
            "file_id": file_id,
            "examination_id": row.id,
            "content_hash": row.content_hash,
            "verdict": Verdict(verdict).value,
            "reviewer": reviewer,
            "reason": reason,
            "note": note,
            "decided": now,
        }
        number = inserted_id(connection, decision, values)
        made.append(Decision(number, file_id, verdict, reviewer, reason, note, now, row.content_hash))
        details = {"file": file_id, "verdict": values["verdict"], "content_hash": row.content_hash}
        entries.append((number, row.id, details))
    audit_entries = _with_examined(connection, entries)
    audit.append(connection, audit_entries, actor=reviewer, at=now)
    second_draw.draw(connection, made, now=now)
    work_rows.refresh(connection, [one.file_id for one in made])
    return made


def _with_examined(
    connection: sa.Connection, entries: Sequence[tuple[int, int, dict[str, Any]]]
) -> list[audit.Entry]:
    """Add to each entry the digest of the decided result with its child rows."""
    parts: dict[int, digests.Parts] = {}
    for batch in chunks([examination_id for _, examination_id, _ in entries]):
        parts |= digests.parts_of(connection, batch)
    return [
        audit.Entry("decide", number, {**details, "examined": [row_id, digests.combined(parts[row_id])]})
        for number, row_id, details in entries
    ]


def assign(
    connection: sa.Connection, file_ids: Sequence[int], assignee: str, *, by: str, now: datetime
) -> None:
    """Append the assignee of each file; "" removes the assignment.

    Raises:
        InputError: an unknown file, or no user name; nothing is written.
    """
    assignee, by = checked_text("assignee", assignee), checked_text("by", by)
    require_name("by", by)
    entries = []
    for file_id in file_ids:
        if connection.execute(sa.select(file.c.id).where(file.c.id == file_id)).first() is None:
            message = gettext("file {file_id}: there is no such file in the database", file_id=file_id)
            raise InputError(message)
        values = {"file_id": file_id, "assignee": assignee, "assigned_by": by, "assigned": now}
        number = inserted_id(connection, assignment, values)
        entries.append(audit.Entry("assign", number, {"file": file_id, "assignee": assignee}))
    audit.append(connection, entries, actor=by, at=now)
    work_rows.refresh(connection, file_ids)


def checked_text(field: str, value: str, limit: int = MAX_TEXT_CHARS) -> str:
    """Return a text as it is stored, stripped.

    Raises:
        InputError: it is too long.
    """
    if len(value) > limit:
        message = gettext(
            "{field}: expected at most {limit} characters, got {value}",
            field=field,
            limit=limit,
            value=len(value),
        )
        raise InputError(message)
    return storable(value.strip())


def require_name(field: str, value: str) -> None:
    """Refuse an empty user name.

    Raises:
        InputError: it is empty.
    """
    if not value:
        message = gettext("{field}: expected a name, got an empty text", field=field)
        raise InputError(message)
