"""State of second reviews by content: the draw, the second verdict, and who must judge next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from phiscan.review.records.reuse import is_about
from phiscan.store.sql_batches import listed
from phiscan.store.tables import (
    adjudication,
    decision,
    decision_undo,
    examination,
    second_review,
    second_verdict,
)

NOBODY, FIRST, SECOND, LEAD, OPENING = "nobody", "first", "second", "lead", "opening"
"""Which verdict an item awaits: the values of ``work_item.awaits``. Opening: it was judged by its name."""

_DRAWN = (
    sa.select(second_review, examination.c.file_id.label("of_file"))
    .select_from(second_review)
    .join(decision, decision.c.id == second_review.c.decision_id)
    .join(examination, is_about(decision, examination))
    .where(examination.c.id.in_(listed("examinations")))
)
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


def drawn_for(connection: sa.Connection, examination_id: int) -> sa.Row[Any] | None:
    """Return the second review of the content of a result, if there is one."""
    return connection.execute(_DRAWN, {"examinations": [examination_id]}).first()


def current_second_verdicts(connection: sa.Connection, review_ids: Sequence[int]) -> dict[int, sa.Row[Any]]:
    """Return the second verdict of each of these second reviews."""
    return {row.second_review_id: row for row in connection.execute(_SECONDS, {"reviews": review_ids})}


def settlements(connection: sa.Connection, review_ids: Sequence[int]) -> dict[int, sa.Row[Any]]:
    """Return the adjudication of each of these second reviews."""
    return {row.second_review_id: row for row in connection.execute(_SETTLED, {"reviews": review_ids})}


def awaited(
    connection: sa.Connection, examination_ids: Sequence[int], verdicts: Mapping[int, sa.Row[Any]]
) -> dict[int, str]:
    """Return which verdict each decided content awaits, by file.

    Args:
        connection: connection to the database.
        examination_ids: the results.
        verdicts: the current decision (verdict, reviewer) by file, of decided files.
    """
    whom = {number: OPENING if row.by_name else NOBODY for number, row in verdicts.items()}
    if not verdicts:
        return whom
    drawn = connection.execute(_DRAWN, {"examinations": list(examination_ids)})
    reviews = {row.of_file: row.id for row in drawn if row.of_file in verdicts}
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
