"""The history of a file by user and action, and the number of decisions since a moment."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

import sqlalchemy as sa

from phiscan.model import Verdict
from phiscan.review.decisions.reveals import purpose_shown
from phiscan.review.decisions.second_verdicts import FIRST, SECOND
from phiscan.review.worklist import counts as work_tallies
from phiscan.review.worklist.model import HistoryEntry, Progress
from phiscan.store.tables import (
    adjudication,
    assignment,
    decision,
    decision_undo,
    file,
    reveal,
    second_review,
    second_verdict,
    span_correction,
    topic_correction,
    work_item,
)

_WHEN = {"decide": 0, "adjudicate": 0, "second_verdict": 1, "undo": 2}


def history(connection: sa.Connection, file_id: int, *, viewer: str) -> tuple[HistoryEntry, ...]:
    """Return the history of a file, oldest first.

    A reviewer who is to give a blind second verdict does not see entries of others on the present content.
    """
    current = connection.execute(sa.select(work_item).where(work_item.c.file_id == file_id)).first()
    content = current.content_hash if current else None
    entries = [
        *_verdicts(connection, file_id, content, current.decision_id if current else None),
        *_undone(connection, file_id, content),
        *_others(connection, file_id, content),
    ]
    if current is not None and current.awaits == SECOND and current.reviewer != viewer:
        entries = [one for one in entries if one.who == viewer or not one.same_content]
    return tuple(sorted(entries, key=lambda one: (one.at, _WHEN.get(one.what, 1))))


def progress(
    connection: sa.Connection, *, since: datetime, floors: dict[str, tuple[datetime, int]]
) -> Progress:
    """Count the decisions since a moment that are not undone, and the items of the list.

    ``floors``: by table, the last queried moment and the first row to count from; a cache of the caller,
    valid because rows are only appended.
    """
    by_reviewer: Counter[str] = Counter()
    for table, undone in (
        (decision, decision_undo.c.decision_id),
        (second_verdict, decision_undo.c.second_verdict_id),
    ):
        moment, floor = floors.get(table.name, (None, 0))
        if moment != since:
            floor = _first_since(connection, table, since)
            floors[table.name] = since, floor
        query = (
            sa.select(table.c.reviewer, sa.func.count())
            .where(table.c.id >= floor, table.c.decided >= since)
            .where(~sa.exists().where(undone == table.c.id))
            .group_by(table.c.reviewer)
        )
        for reviewer, n in connection.execute(query):
            by_reviewer[reviewer] += n
    awaits: Counter[str] = Counter()
    for whom, *_, n in work_tallies.statuses(connection):
        awaits[whom] += n
    return Progress(by_reviewer.total(), dict(by_reviewer.most_common()), awaits.total(), awaits[FIRST])


def _first_since(connection: sa.Connection, table: sa.Table, since: datetime) -> int:
    """Return a row number before which nothing was decided since a moment, by bisection.

    Rows are numbered in the order of writing, and their times ascend except for small clock differences: the
    search stops a hundred rows early.
    """
    last, first_decision = _by_number(table)
    low, high = 0, int(connection.execute(last).scalar() or 0) + 1
    while low < high:
        middle = (low + high) // 2
        when = connection.execute(first_decision, {"number": middle}).scalar()
        if when is not None and when < since:
            low = middle + 1
        else:
            high = middle
    return max(low - 100, 0)


@cache
def _by_number(table: sa.Table) -> tuple[sa.Select[Any], sa.Select[Any]]:
    """Select the last number of a table, and the time of the first decision from a row number on."""
    first_decision = sa.select(table.c.decided).where(table.c.id >= sa.bindparam("number"))
    return sa.select(sa.func.max(table.c.id)), first_decision.order_by(table.c.id).limit(1)


def _about(table: sa.Table, file_id: int, content: str | None) -> sa.ColumnElement[bool]:
    """Return the condition of what was done with a file, or with any file of its present content."""
    here = table.c.file_id == file_id
    return here | (decision.c.content_hash == content) if content else here


def _verdicts(
    connection: sa.Connection, file_id: int, content: str | None, standing: int | None
) -> list[HistoryEntry]:
    given = sa.select(
        decision, file.c.display, adjudication.c.id.label("settled"), decision_undo.c.id.label("undo_id")
    )
    query = (
        given.join(file, file.c.id == decision.c.file_id)
        .outerjoin(decision_undo, decision_undo.c.decision_id == decision.c.id)
        .outerjoin(adjudication, adjudication.c.decision_id == decision.c.id)
        .where(_about(decision, file_id, content))
    )
    entries = [
        _verdict(row, file_id, "decide" if row.settled is None else "adjudicate", content, row.id == standing)
        for row in connection.execute(query)
    ]
    seconds = (
        sa.select(
            second_verdict, decision.c.content_hash, file.c.display, decision_undo.c.id.label("undo_id")
        )
        .join(file, file.c.id == second_verdict.c.file_id)
        .join(second_review, second_review.c.id == second_verdict.c.second_review_id)
        .join(decision, decision.c.id == second_review.c.decision_id)
        .outerjoin(decision_undo, decision_undo.c.second_verdict_id == second_verdict.c.id)
        .where(_about(second_verdict, file_id, content))
    )
    return entries + [
        _verdict(row, file_id, "second_verdict", content, row.undo_id is None and row.content_hash == content)
        for row in connection.execute(seconds)
    ]


def _verdict(
    row: sa.Row[Any], file_id: int, what: str, content: str | None, is_current: bool
) -> HistoryEntry:
    return HistoryEntry(
        at=row.decided,
        who=row.reviewer,
        what=what,
        verdict=Verdict(row.verdict),
        reason=row.reason,
        note=row.note,
        is_current=is_current,
        same_content=row.content_hash == content,
        path=row.display if row.file_id != file_id else "",
        is_undone=row.undo_id is not None,
    )


def _undone(connection: sa.Connection, file_id: int, content: str | None) -> list[HistoryEntry]:
    query = (
        sa.select(decision_undo, decision.c.content_hash)
        .outerjoin(decision, decision.c.id == decision_undo.c.decision_id)
        .where(_about(decision_undo, file_id, content))
    )
    return [
        _plain(row.undone, row.undone_by, "undo", same_content=row.content_hash in {content, None})
        for row in connection.execute(query)
    ]


def _others(connection: sa.Connection, file_id: int, content: str | None) -> list[HistoryEntry]:
    assigned = sa.select(assignment).where(assignment.c.file_id == file_id)
    entries = [
        replace(_plain(row.assigned, row.assigned_by, "assign", same_content=False), reason=row.assignee)
        for row in connection.execute(assigned)
    ]
    seen_texts = sa.select(reveal).where(reveal.c.file_id == file_id)
    entries += [
        replace(
            _plain(row.revealed, row.revealed_by, "reveal", same_content=row.content_hash == content),
            reason=purpose_shown(row.purpose),
        )
        for row in connection.execute(seen_texts)
    ]
    for table, when, who, what in (
        (span_correction, span_correction.c.corrected, span_correction.c.reviewer, "correct"),
        (topic_correction, topic_correction.c.corrected, topic_correction.c.reviewer, "topic"),
    ):
        query = sa.select(when, who, table.c.content_hash).where(table.c.file_id == file_id)
        entries += [
            _plain(at, person, what, same_content=seen == content)
            for at, person, seen in connection.execute(query)
        ]
    return entries


def _plain(at: datetime, who: str, what: str, *, same_content: bool) -> HistoryEntry:
    return HistoryEntry(at, who, what, None, "", "", is_current=False, same_content=same_content)


def times(connection: sa.Connection, *, since: datetime) -> dict[str, list[datetime]]:
    """Return when each reviewer decided since a moment, in order; blind second verdicts are included."""
    found: dict[str, list[datetime]] = {}
    for table in (decision, second_verdict):
        query = sa.select(table.c.reviewer, table.c.decided).where(table.c.decided >= since)
        for reviewer, decided in connection.execute(query):
            found.setdefault(reviewer, []).append(decided)
    return {reviewer: sorted(decided) for reviewer, decided in sorted(found.items())}
