"""Second review: a random share of decided items is judged blind by a second user; a lead settles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.errors import ConflictError, InputError
from phiscan.language import gettext as _
from phiscan.model import Verdict
from phiscan.review.audit import log as audit
from phiscan.review.decisions import second_verdicts
from phiscan.review.decisions import writing as deciding
from phiscan.review.records.file_records import last_seen
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.model import LEAD, MAX_NOTE_CHARS, SECOND, Decided
from phiscan.store.database import lock_chain
from phiscan.store.sql_batches import as_value, count, listed, rows_in
from phiscan.store.tables import (
    adjudication,
    decision,
    decision_undo,
    file,
    root,
    second_review,
    second_verdict,
    work_item,
)

_GIVEN = ("verdict", "reviewer", "reason", "note")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two different verdicts on one content, for the lead who settles."""

    id: int  # number of the second review
    file_id: int
    root: str
    path: str
    examination_id: int
    first: Verdict
    first_reviewer: str
    first_reason: str
    first_note: str
    second: Verdict
    second_reviewer: str
    second_reason: str
    second_note: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Rating:
    """The blind pair of verdicts on one content, for agreement statistics."""

    file_id: int
    content_hash: str
    first_reviewer: str
    first: Verdict
    second_reviewer: str
    second: Verdict
    settled: Verdict | None  # by the lead; None = they agreed, or it is not settled yet


@dataclass(frozen=True, slots=True)
class SecondReviewCounts:
    """The progress of the second review."""

    drawn: int
    waiting: int
    agreed: int
    disagreed: int  # including settled ones
    settled: int


def disagreements(connection: sa.Connection, *, lead: str) -> tuple[Disagreement, ...]:
    """Return the open disagreements between two other users, oldest first."""
    query = (
        sa.select(
            *(second_review.c.id, work_item.c.file_id, work_item.c.examination_id),
            *(root.c.display.label("root"), file.c.display.label("path")),
            *(decision.c[name].label(f"first_{name}") for name in _GIVEN),
        )
        .select_from(work_item)
        .join(second_review, second_review.c.content_hash == work_item.c.content_hash)
        .join(decision, decision.c.id == work_item.c.decision_id)
        .join(file, file.c.id == work_item.c.file_id)
        .join(root, root.c.id == work_item.c.root_id)
        .where(work_item.c.awaits == LEAD)
        .order_by(second_review.c.id, work_item.c.file_id.desc())
    )
    # Identical files are one disagreement, shown with the first of them.
    rows = list({row.id: row for row in connection.execute(query)}.values())
    seconds = second_verdicts.current_second_verdicts(connection, [row.id for row in rows])
    return tuple(
        as_value(
            Disagreement,
            row,
            first=Verdict(row.first_verdict),
            second=Verdict(second.verdict),
            since=second.decided,
            **{f"second_{name}": getattr(second, name) for name in _GIVEN[1:]},
        )
        for row, second in ((row, seconds[row.id]) for row in rows)
        if lead not in {row.first_reviewer, second.reviewer}
    )


def adjudicate(
    connection: sa.Connection,
    second_review_id: int,
    verdict: Verdict,
    *,
    lead: str,
    now: datetime,
    reason: str = "",
    note: str = "",
) -> Decided:
    """Settle a disagreement by the lead's verdict.

    Raises:
        ConflictError: it is settled already, or the reviewers no longer disagree.
        InputError: no such second review, or the lead is one of the two reviewers.
    """
    lock_chain(connection)
    lead = deciding.checked_text("lead", lead)
    note = deciding.checked_text("note", note, MAX_NOTE_CHARS)
    review = connection.execute(
        sa.select(second_review).where(second_review.c.id == second_review_id)
    ).first()
    if review is None:
        message = _(
            "second review {second_review_id}: there is none of this number",
            second_review_id=second_review_id,
        )
        raise InputError(message)
    row = last_seen(connection, _shown_with(connection, review))
    given = second_verdicts.current_second_verdicts(connection, [review.id]).get(review.id)
    settled = second_verdicts.settlements(connection, [review.id])
    if (
        given is None
        or settled
        or row.content_hash != review.content_hash
        or row.verdict in {None, given.verdict}
        or row.content_hash in open_contents(connection)
    ):
        raise ConflictError(_("{path}: there is no disagreement to settle (any more)", path=row.path))
    if lead in {row.reviewer, given.reviewer}:
        raise InputError(_("lead: expected somebody who gave neither verdict, got {lead}", lead=lead))
    (made,) = deciding.decide(
        connection, [(row.file_id, Verdict(verdict))], reviewer=lead, reason=reason, note=note, now=now
    )
    values = {"second_review_id": review.id, "second_verdict_id": given.id, "decision_id": made.id}
    details = {"file": row.file_id, "verdict": made.verdict.value}
    audit.record(connection, "adjudicate", values, details, by=lead, now=now)
    work_rows.refresh_contents(connection, [(row.file_id, row.content_hash)])
    return Decided(row.file_id, made.verdict, lead, now, repeated=False)


def _shown_with(connection: sa.Connection, review: sa.Row[Any]) -> int:
    """Return the file that a disagreement is shown with: the first of the list with this content."""
    here = (work_item.c.content_hash == review.content_hash) & (work_item.c.awaits == LEAD)
    first = connection.execute(sa.select(sa.func.min(work_item.c.file_id)).where(here)).scalar()
    return int(first or review.file_id)


def ratings(connection: sa.Connection) -> tuple[Rating, ...]:
    """Return the two verdicts of every completed second review, in the order of the draw.

    The first verdict is the last one that its reviewer did not undo; a lead's verdict is neither.
    """
    return tuple(_pairs(connection))


def counts(connection: sa.Connection) -> SecondReviewCounts:
    """Count the second reviews by their state."""
    drawn = count(connection, second_review)
    pairs = list(_pairs(connection))
    disagreed = sum(pair.first is not pair.second for pair in pairs)
    waits = (work_item.c.awaits == SECOND) & work_item.c.is_open.is_(True)
    query = sa.select(sa.func.count(work_item.c.decision_id.distinct())).where(waits)
    waiting = connection.execute(query).scalar_one()
    settled = sum(pair.settled is not None for pair in pairs)
    return SecondReviewCounts(drawn, int(waiting), len(pairs) - disagreed, disagreed, settled)


def open_contents(connection: sa.Connection) -> frozenset[str]:
    """Return the contents that await a blind second verdict, or have a near-duplicate that does.

    Their verdicts must not be visible to other users.
    """
    query = sa.select(work_item.c.content_hash).where(work_item.c.awaits == SECOND)
    return frozenset(connection.execute(query).scalars())


def verdicts_by(connection: sa.Connection, reviewer: str) -> dict[int, Verdict]:
    """Return the current second verdicts of one user on the present contents, by file."""
    query = (
        sa.select(work_item.c.file_id, second_verdict.c.verdict)
        .join(second_review, second_review.c.content_hash == work_item.c.content_hash)
        .join(second_verdict, second_verdict.c.second_review_id == second_review.c.id)
        .outerjoin(decision_undo, decision_undo.c.second_verdict_id == second_verdict.c.id)
        .where(second_verdict.c.reviewer == reviewer, decision_undo.c.id.is_(None))
        .order_by(second_verdict.c.id)
    )
    return {row.file_id: Verdict(row.verdict) for row in connection.execute(query)}


def _pairs(connection: sa.Connection) -> Iterator[Rating]:
    reviews = connection.execute(sa.select(second_review).order_by(second_review.c.id)).all()
    ids = [row.id for row in reviews]
    seconds = second_verdicts.current_second_verdicts(connection, ids)
    settled = second_verdicts.settlements(connection, ids)
    firsts = _firsts(connection, [row for row in reviews if row.id in seconds])
    leads = sa.select(decision.c.id, decision.c.verdict).where(decision.c.id.in_(listed("decisions")))
    made = rows_in(connection, leads, "decisions", [one.decision_id for one in settled.values()])
    ends = {row.id: Verdict(row.verdict) for row in made}
    for review in reviews:
        second, first = seconds.get(review.id), firsts.get(review.content_hash)
        if second is None or first is None or second.reviewer == first.reviewer:
            continue
        end = settled.get(review.id)
        yield Rating(
            file_id=review.file_id,
            content_hash=review.content_hash,
            first_reviewer=first.reviewer,
            first=Verdict(first.verdict),
            second_reviewer=second.reviewer,
            second=Verdict(second.verdict),
            settled=ends[end.decision_id] if end else None,
        )


def _firsts(connection: sa.Connection, reviews: list[sa.Row[Any]]) -> dict[str, sa.Row[Any]]:
    """Return the last first verdict by content: neither undone nor a lead's."""
    query = (
        sa.select(decision)
        .where(
            decision.c.content_hash.in_(listed("contents")),
            ~sa.exists().where(decision_undo.c.decision_id == decision.c.id),
            ~sa.exists().where(adjudication.c.decision_id == decision.c.id),
        )
        .order_by(decision.c.id)
    )
    contents = [row.content_hash for row in reviews]
    return {row.content_hash: row for row in rows_in(connection, query, "contents", contents)}
