"""Reading of the desk's records, file locations and the previous scan; in the transaction of the report.

Free text of users (purposes, reasons, notes) and shapes of values are not selected, so that they cannot
be shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.review.audit import log_pages
from phiscan.review.decisions import corrections, second_review, second_verdicts, suppressions
from phiscan.review.decisions.reveals import purpose_shown
from phiscan.review.decisions.suppressions import Suppression
from phiscan.review.worklist import hidden_items as hiding
from phiscan.store.column_types import iso
from phiscan.store.sql_batches import chunks
from phiscan.store.tables import (
    access,
    audit_log,
    decision_undo,
    examination,
    file,
    finding,
    health_term,
    reveal,
    root,
    scan,
    scan_root,
    sighting,
    work_item,
)
from phiscan.store.tables import second_review as second_review_table


@dataclass(frozen=True, slots=True)
class Place:
    """A file at this scan: its result, and the metadata from the share."""

    examination_id: int
    content_hash: str
    referral: str | None
    outcome: str
    size: int
    mtime_ns: int
    mode: int
    uid: int
    owner: str
    readers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Before:
    """A file at the previous scan."""

    root: str
    path: str
    content_hash: str
    referral: str | None
    outcome: str


@dataclass(frozen=True, slots=True)
class PreviousScan:
    """The previous complete scan of the same folders."""

    id: int
    ended: datetime | None
    versions: Mapping[str, str]
    files: Mapping[int, Before]


@dataclass(frozen=True, slots=True)
class Revealed:
    """A reveal; ``purpose`` is one of the desk's list, or a note that it was free text."""

    id: int
    file_id: int
    revealed_by: str
    revealed: datetime
    purpose: str


@dataclass(frozen=True, slots=True)
class Contents:
    """Of one confirmed file: (findings, distinct values) by type, and occurrences by health concept."""

    types: Mapping[str, tuple[int, int]]
    concepts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class StoredDesk:
    """The records of the desk; mappings are by file number, of the files of one scan."""

    places: Mapping[int, Place]
    undone: frozenset[int]  # undone decisions
    previous: PreviousScan | None
    reveals: tuple[Revealed, ...]
    suppressions: tuple[tuple[Suppression, int | None], ...]  # each with the number of items it hides now
    hidden_now: int
    sign_offs: tuple[log_pages.LogReview, ...]
    last_entry: int  # of the log
    log_heads: Mapping[int, str]  # hash by number, of the entries that were signed off
    gold: tuple[corrections.GoldFile, ...]
    topic_gold: tuple[corrections.TopicGold, ...]
    n_concealed: int  # files whose verdict is hidden until the blind second one is recorded
    drawn: int
    ratings: tuple[second_review.Rating, ...]
    confirmed: Mapping[int, Contents]


def read_desk(
    connection: sa.Connection,
    scan_id: int,
    *,
    confirmed: Collection[int],
    concealed: Collection[tuple[int, str]],
    now: datetime,
) -> StoredDesk:
    """Read the records of the files of one scan.

    Args:
        connection: connection in the transaction that reads the rest.
        scan_id: number of the scan.
        confirmed: files that reviewers confirmed as PHI.
        concealed: files and contents whose verdicts and corrections must not be read.
        now: date of the report; it decides which suppressions have ended.
    """
    places = _places(connection, scan_id)
    contents = {(number, place.content_hash) for number, place in places.items()}
    shown = contents - set(concealed)
    signed = log_pages.reviews(connection)
    heads = sa.select(audit_log.c.id, audit_log.c.hash).where(
        audit_log.c.id.in_([one.n_entries for one in signed])
    )
    drawn = connection.execute(
        sa.select(second_review_table.c.file_id, second_review_table.c.content_hash)
    ).all()
    return StoredDesk(
        places=places,
        undone=frozenset(
            connection.execute(
                sa.select(decision_undo.c.decision_id).where(decision_undo.c.decision_id.is_not(None))
            ).scalars()
        ),
        previous=_previous(connection, scan_id),
        reveals=_reveals(connection, scan_id),
        suppressions=_suppressions(connection, scan_id, now),
        hidden_now=_hidden_now(connection, scan_id, now),
        sign_offs=tuple(signed),
        last_entry=connection.execute(sa.select(sa.func.max(audit_log.c.id))).scalar() or 0,
        log_heads={row.id: row.hash for row in connection.execute(heads)},
        gold=tuple(one for one in corrections.gold(connection) if (one.file_id, one.content_hash) in shown),
        topic_gold=tuple(
            one
            for one in corrections.topic_gold(connection)
            if one.file_id in places and (one.file_id, places[one.file_id].content_hash) in shown
        ),
        n_concealed=len(contents & set(concealed)),
        drawn=sum((row.file_id, row.content_hash) in contents for row in drawn),
        ratings=tuple(
            one for one in second_review.ratings(connection) if (one.file_id, one.content_hash) in shown
        ),
        confirmed=_confirmed(
            connection, {number: places[number].examination_id for number in confirmed if number in places}
        ),
    )


def _places(connection: sa.Connection, scan_id: int) -> dict[int, Place]:
    query = (
        sa.select(
            sighting.c.file_id,
            examination.c.id,
            examination.c.content_hash,
            examination.c.referral,
            examination.c.outcome,
            examination.c.size,
            examination.c.mtime_ns,
            examination.c.mode,
            examination.c.uid,
            access.c.owner,
            access.c.readers,
        )
        .join(examination, examination.c.id == sighting.c.examination_id)
        .outerjoin(access, access.c.examination_id == examination.c.id)
        .where(sighting.c.scan_id == scan_id)
    )
    return {
        row.file_id: Place(
            examination_id=row.id,
            content_hash=row.content_hash,
            referral=row.referral,
            outcome=row.outcome,
            size=row.size,
            mtime_ns=row.mtime_ns,
            mode=row.mode,
            uid=row.uid,
            owner=row.owner or "",
            readers=tuple(row.readers or ()),
        )
        for row in connection.execute(query)
    }


def _previous(connection: sa.Connection, scan_id: int) -> PreviousScan | None:
    roots: dict[int, set[int]] = defaultdict(set)
    for row in connection.execute(sa.select(scan_root.c.scan_id, scan_root.c.root_id)):
        roots[row.scan_id].add(row.root_id)
    complete = sa.select(scan).where(scan.c.id < scan_id, scan.c.status == "complete")
    for row in connection.execute(complete.order_by(scan.c.id.desc())).all():
        if roots[row.id] == roots[scan_id]:
            return PreviousScan(row.id, row.ended, dict(row.versions), _before(connection, row.id))
    return None


def _before(connection: sa.Connection, scan_id: int) -> dict[int, Before]:
    query = (
        sa.select(
            file.c.id,
            root.c.display.label("root"),
            file.c.display.label("path"),
            examination.c.content_hash,
            examination.c.referral,
            examination.c.outcome,
        )
        .select_from(sighting)
        .join(file, file.c.id == sighting.c.file_id)
        .join(root, root.c.id == file.c.root_id)
        .join(examination, examination.c.id == sighting.c.examination_id)
        .where(sighting.c.scan_id == scan_id)
    )
    return {
        row.id: Before(row.root, row.path, row.content_hash, row.referral, row.outcome)
        for row in connection.execute(query)
    }


def _reveals(connection: sa.Connection, scan_id: int) -> tuple[Revealed, ...]:
    query = (
        sa.select(reveal.c.id, reveal.c.file_id, reveal.c.revealed_by, reveal.c.revealed, reveal.c.purpose)
        .join(sighting, sighting.c.file_id == reveal.c.file_id)
        .where(sighting.c.scan_id == scan_id)
        .order_by(reveal.c.id.desc())
    )
    return tuple(
        Revealed(row.id, row.file_id, row.revealed_by, row.revealed, purpose_shown(row.purpose))
        for row in connection.execute(query)
    )


def _suppressions(
    connection: sa.Connection, scan_id: int, now: datetime
) -> tuple[tuple[Suppression, int | None], ...]:
    here = sa.select(scan_root.c.root_id).where(scan_root.c.scan_id == scan_id)
    roots = {None, *connection.execute(here).scalars()}
    return tuple(
        (one, _hides_now(connection, scan_id, one, now) if one.status == "active" else None)
        for one in suppressions.suppressions(connection, now=now)
        if one.scope.root_id in roots
    )


def _hidden(scan_id: int, now: datetime) -> sa.Select[Any]:
    """Select the items of the review list that are undecided files of this scan and hidden now."""
    return (
        sa.select(work_item.c.root_id, file.c.display.label("path"))
        .join(file, file.c.id == work_item.c.file_id)
        .join(sighting, (sighting.c.file_id == work_item.c.file_id) & (sighting.c.scan_id == scan_id))
        .where(work_item.c.hidden_until > iso(now), work_item.c.awaits == second_verdicts.FIRST)
    )


def _hidden_now(connection: sa.Connection, scan_id: int, now: datetime) -> int:
    query = sa.select(sa.func.count()).select_from(_hidden(scan_id, now).subquery())
    return int(connection.execute(query).scalar_one())


def _hides_now(connection: sa.Connection, scan_id: int, one: Suppression, now: datetime) -> int:
    """Count the hidden items with a finding that a suppression matches."""
    scope = one.scope
    has_one = sa.exists().where(
        finding.c.examination_id == work_item.c.examination_id,
        hiding.is_named(scope.kind.value, scope.target),
    )
    hider = hiding.Hider(scope.kind.value, scope.target, scope.root_id, scope.folder, "")
    rows = connection.execute(_hidden(scan_id, now).where(has_one))
    return sum(hider.covers(row.root_id, row.path) for row in rows)


def _confirmed(connection: sa.Connection, examinations: Mapping[int, int]) -> dict[int, Contents]:
    """Read the findings in the confirmed files, referred or not."""
    types: dict[int, dict[str, tuple[int, int]]] = defaultdict(dict)
    concepts: dict[int, dict[str, int]] = defaultdict(dict)
    for some in chunks(dict.fromkeys(examinations.values())):
        found = (
            sa.select(
                finding.c.examination_id,
                finding.c.entity_type,
                sa.func.count().label("n"),
                sa.func.count(finding.c.identity.distinct()).label("n_distinct"),
            )
            .where(finding.c.examination_id.in_(some))
            .group_by(finding.c.examination_id, finding.c.entity_type)
        )
        for row in connection.execute(found):
            types[row.examination_id][row.entity_type] = (row.n, row.n_distinct)
        terms = (
            sa.select(
                health_term.c.examination_id,
                health_term.c.concept,
                sa.func.sum(health_term.c.n_hits).label("n"),
            )
            .where(health_term.c.examination_id.in_(some))
            .group_by(health_term.c.examination_id, health_term.c.concept)
        )
        for row in connection.execute(terms):
            concepts[row.examination_id][row.concept] = int(row.n)
    return {
        number: Contents(types.get(examined, {}), concepts.get(examined, {}))
        for number, examined in examinations.items()
    }
