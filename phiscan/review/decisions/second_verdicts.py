"""State of second reviews by content: the draw, the second verdict, and who must judge next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from phiscan.store.sql_batches import listed
from phiscan.store.tables import (
    adjudication,
    decision_undo,
    second_review,
    second_verdict,
)

NOBODY, FIRST, SECOND, LEAD = "nobody", "first", "second", "lead"
"""Which verdict an item awaits: the values of ``work_item.awaits``."""

_OF_CONTENT = sa.select(second_review).where(
    second_review.c.file_id == sa.bindparam("file"), second_review.c.content_hash == sa.bindparam("content")
)
_OF_FILES = sa.select(second_review).where(second_review.c.file_id.in_(listed("files")))
_SECONDS = (
    sa.select(second_verdict)
    .outerjoin(decision_undo, decision_undo.c.second_verdict_id == second_verdict.c.id)
    .where(second_verdict.c.second_review_id.in_(listed("reviews")), decision_undo.c.id.is_(None))
    .order_by(second_verdict.c.id)
)
_SETTLED = (
    sa.select(adjudication)
    .outerjoin(decision_undo, decision_undo.c.decision_id == adjudication.c.decision_id)
    .where(adjudication.c.second_review_id.in_(listed("reviews")), decision_undo.c.id.is_(None))
    .order_by(adjudication.c.id)
)


def drawn_for(connection: sa.Connection, file_id: int, content_hash: str) -> sa.Row[Any] | None:
    """Return the second review of a content, if there is one."""
    return connection.execute(_OF_CONTENT, {"file": file_id, "content": content_hash}).first()


def current_second_verdicts(connection: sa.Connection, review_ids: Sequence[int]) -> dict[int, sa.Row[Any]]:
    """Return the second verdict of each of these second reviews."""
    return {row.second_review_id: row for row in connection.execute(_SECONDS, {"reviews": review_ids})}


def settlements(connection: sa.Connection, review_ids: Sequence[int]) -> dict[int, sa.Row[Any]]:
    """Return the adjudication of each of these second reviews."""
    return {row.second_review_id: row for row in connection.execute(_SETTLED, {"reviews": review_ids})}


def awaited(
    connection: sa.Connection, contents: Mapping[int, str], verdicts: Mapping[int, sa.Row[Any]]
) -> dict[int, str]:
    """Return which verdict each decided content awaits, by file.

    Args:
        connection: connection to the database.
        contents: content hash by file.
        verdicts: the current decision (verdict, reviewer) by file, of decided files.
    """
    whom = dict.fromkeys(verdicts, NOBODY)
    if not verdicts:
        return whom
    reviews = {
        row.file_id: row.id
        for row in connection.execute(_OF_FILES, {"files": list(verdicts)})
        if contents[row.file_id] == row.content_hash
    }
    if not reviews:
        return whom
    seconds = current_second_verdicts(connection, list(reviews.values()))
    settled = settlements(connection, list(reviews.values()))
    for file_id, review_id in reviews.items():
        if review_id in settled:
            continue
        given, first = seconds.get(review_id), verdicts[file_id]
        # A user's own verdict is not a second one: it became the first when the other was undone.
        if given is None or given.reviewer == first.reviewer:
            whom[file_id] = SECOND
        elif given.verdict != first.verdict:
            whom[file_id] = LEAD
    return whom
