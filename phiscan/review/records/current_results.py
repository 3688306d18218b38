"""The query common to queue, item and rows: a present file, its current result, its verdict."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import sqlalchemy as sa

from phiscan.model import Outcome, PiiBit, PiiVector, Referral, Verdict
from phiscan.review.decisions.second_verdicts import SECOND
from phiscan.review.records.items import Detectors, QueueItem
from phiscan.store.tables import (
    assignment,
    decision,
    decision_undo,
    examination,
    file,
    root,
    sighting,
    work_item,
)


def current_results(*, scan_id: int | None, conceal: bool = False) -> sa.Select[Any]:
    """Select the files that a scan saw with their result at that time; None: all files present now.

    A file is present until a complete scan of its root has not seen it; during a scan, files that it has not
    crawled yet count as present. ``conceal``: items that await a blind second verdict are selected as
    undecided.
    """
    return _narrowed(_sightings(conceal=conceal), scan_id)


def present(query: sa.Select[Any], scan_id: int | None) -> sa.Select[Any]:
    """Join file, root and examination to a query on sightings, and restrict it to the scan."""
    return _narrowed(_joined(query), scan_id)


def _narrowed(query: sa.Select[Any], scan_id: int | None) -> sa.Select[Any]:
    if scan_id is not None:
        return query.where(sighting.c.scan_id == scan_id)
    return query.where(
        sighting.c.scan_id == file.c.seen_scan_id,
        file.c.seen_scan_id >= sa.func.coalesce(root.c.complete_scan_id, 0),
    )


def _joined(query: sa.Select[Any]) -> sa.Select[Any]:
    return (
        query.join(file, file.c.id == sighting.c.file_id)
        .join(root, root.c.id == file.c.root_id)
        .join(examination, examination.c.id == sighting.c.examination_id)
    )


def _sightings(*, conceal: bool = False) -> sa.Select[Any]:
    verdict_id = (
        sa.select(sa.func.max(decision.c.id))
        .where(
            decision.c.file_id == file.c.id,
            decision.c.content_hash == examination.c.content_hash,
            ~sa.exists().where(decision_undo.c.decision_id == decision.c.id),
        )
        .correlate(file, examination)
        .scalar_subquery()
    )
    assignment_id = (
        sa.select(sa.func.max(assignment.c.id))
        .where(assignment.c.file_id == file.c.id)
        .correlate(file)
        .scalar_subquery()
    )
    query = sa.select(
        file.c.id.label("file_id"),
        root.c.display.label("root"),
        file.c.display.label("path"),
        examination,
        sighting.c.scan_id.label("sighted_in"),
        decision.c.verdict,
        decision.c.reviewer,
        assignment.c.assignee,
    ).select_from(sighting)
    return (
        _joined(query)
        .outerjoin(decision, (decision.c.id == verdict_id) & (~concealed() if conceal else sa.true()))
        .outerjoin(assignment, assignment.c.id == assignment_id)
    )


def concealed() -> sa.ColumnElement[bool]:
    """Return the condition that the verdict on this content is hidden from a second reviewer.

    Files that are missing or have another content now await nothing, and are not hidden.
    """
    return (
        sa.exists()
        .where(
            work_item.c.file_id == file.c.id,
            work_item.c.content_hash == examination.c.content_hash,
            work_item.c.awaits == SECOND,
        )
        .correlate(file, examination)
    )


def last_seen(connection: sa.Connection, file_id: int) -> sa.Row[Any] | None:
    """Return one file with its result in the last scan that saw it, present or not."""
    return connection.execute(_last_seen(), {"seen_file_id": file_id}).first()


@cache
def _last_seen() -> sa.Select[Any]:
    return _sightings().where(
        file.c.id == sa.bindparam("seen_file_id"), sighting.c.scan_id == file.c.seen_scan_id
    )


def queue_item(row: sa.Row[Any]) -> QueueItem:
    """Convert a row of this query to a queue item."""
    return QueueItem(
        file_id=row.file_id,
        root=row.root,
        path=row.path,
        media_type=row.media_type,
        size=row.size,
        vector=vector_of(row.vector),
        hamming=row.hamming,
        missing=missing_bits(row.missing),
        nearest_prototype=row.nearest_prototype,
        prototype_distance=row.prototype_distance,
        health_score=row.health_score,
        health_prototype=row.health_prototype,
        n_people=row.n_people,
        people_interval=interval_of(row.people_low, row.people_high),
        n_findings=row.n_findings,
        referral=Referral(row.referral) if row.referral else None,
        case=row.decision_case,
        probability=row.probability,
        reasons=pairs_of(row.decision_reasons),
        second_look=bool(row.second_look),
        detectors=detectors_of(row.detectors),
        detector_probabilities=pairs_of(row.detector_probabilities),
        risk=row.risk,
        verdict=Verdict(row.verdict) if row.verdict else None,
        reviewer=row.reviewer or "",
        assignee=row.assignee or "",
    )


@lru_cache(maxsize=4096)
def vector_of(packed: int) -> PiiVector:
    """Unpack a vector; cached, because a share has few different ones."""
    return PiiVector.from_int(packed)


@lru_cache(maxsize=4096)
def missing_bits(packed: int) -> tuple[PiiBit, ...]:
    """Unpack a set of bits, in bit order."""
    bits = vector_of(packed).bits
    return tuple(bit for bit in PiiBit if bit in bits)


def detectors_of(stored: list[list[Any]]) -> Detectors:
    """Read the stored results of the detectors."""
    return tuple((str(name), bool(is_phi)) for name, is_phi in stored)


def pairs_of(stored: list[list[Any]]) -> tuple[tuple[str, float], ...]:
    """Read stored pairs of name and number: the reasons of a decision, the detectors' probabilities."""
    return tuple((str(name), float(number)) for name, number in stored)


def interval_of(low: int | None, high: int | None) -> tuple[int, int] | None:
    """Read a stored interval; None if it has no bounds."""
    return None if low is None or high is None else (low, high)


def outcome_in_scan(outcome: str, *, examined_in: int, sighted_in: int) -> Outcome:
    """Return a file's outcome in the scan that saw it: unchanged, if the screening is an earlier one."""
    if outcome == Outcome.SCREENED and examined_in != sighted_in:
        return Outcome.UNCHANGED
    return Outcome(outcome)
