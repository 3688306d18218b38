"""Reading of one scan from the review store, all of it in one transaction.

The transaction sees one state of the database, so that the numbers are consistent while users decide or a
scan runs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.model import Referral
from phiscan.model.frame import FrameCounts
from phiscan.review.audit import log as audit
from phiscan.review.audit.log import AuditCheck
from phiscan.review.decisions import history, learning, suppressions, verdicts
from phiscan.review.decisions.suppressions import Suppression
from phiscan.review.records import scans
from phiscan.review.records.file_records import decision_of, is_about, same_people, standing_decision
from phiscan.review.records.scans import ScanSummary
from phiscan.review.worklist import queue, sampling
from phiscan.review.worklist import rows as hiding
from phiscan.review.worklist.model import FIRST, Decision, FileRecord
from phiscan.store.column_types import iso
from phiscan.store.database import Database
from phiscan.store.tables.desk import audit_log, decision, decision_undo, reveal, work_item
from phiscan.store.tables.desk import second_review as second_review_table
from phiscan.store.tables.scans import (
    examination,
    file,
    finding,
    health_term,
    root,
    scan,
    scan_root,
    sighting,
)


@dataclass(frozen=True, slots=True)
class PreviousScan:
    """The previous complete scan of the same folders."""

    id: int
    ended: datetime | None
    versions: Mapping[str, str]
    files: Mapping[int, FileRecord]


def _previous(connection: sa.Connection, scan_id: int) -> PreviousScan | None:
    roots: dict[int, set[int]] = defaultdict(set)
    for row in connection.execute(sa.select(scan_root.c.scan_id, scan_root.c.root_id)):
        roots[row.scan_id].add(row.root_id)
    complete = sa.select(scan).where(scan.c.id < scan_id, scan.c.status == "complete")
    for row in connection.execute(complete.order_by(scan.c.id.desc())).all():
        if roots[row.id] == roots[scan_id]:
            files = {one.file_id: one for one in queue.rows(connection, row.id)}
            return PreviousScan(row.id, row.ended, dict(row.versions), files)
    return None


def _reveals(connection: sa.Connection, scan_id: int) -> tuple[sa.Row[Any], ...]:
    query = (
        sa.select(reveal.c.id, reveal.c.file_id, reveal.c.revealed_by, reveal.c.revealed, reveal.c.purpose)
        .join(sighting, sighting.c.file_id == reveal.c.file_id)
        .where(sighting.c.scan_id == scan_id)
        .order_by(reveal.c.id.desc())
    )
    return tuple(connection.execute(query))


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
        .where(work_item.c.hidden_until > iso(now), work_item.c.awaits == FIRST)
    )


def _hides_now(connection: sa.Connection, scan_id: int, one: Suppression, now: datetime) -> int:
    """Count the hidden items that a suppression matches."""
    scope = one.scope
    has_one = hiding.may_match(scope.kind.value, scope.target)
    hider = hiding.Hider(scope.kind.value, scope.target, scope.root_id, scope.folder, "")
    rows = connection.execute(_hidden(scan_id, now).add_columns(hiding.SIGNATURE).where(has_one))
    return sum(hider.covers(row.root_id, row.path, row.signature) for row in rows)


@dataclass(frozen=True, slots=True)
class StoredScan:
    """One stored scan with the records of the desk about its files; mappings are by file number."""

    summary: ScanSummary
    audit: AuditCheck
    rows: tuple[FileRecord, ...]
    top: tuple[FileRecord, ...]
    standing: frozenset[int]  # the decisions that stand for a file of the scan
    same_people: dict[int, str]  # of referred files: equal if they put the same people at risk
    findings: dict[int, Counter[str]]  # of referred files: number by entity type
    distinct: dict[str, int]  # distinct keyed hashes in referred files, by entity type
    terms: dict[int, Counter[str]]  # of referred files: occurrences by health concept
    decisions: tuple[Decision, ...]  # about any content of the scan's files, oldest first
    frame: FrameCounts  # of the files that are present now, whatever the scan
    undone: frozenset[int]  # undone decisions
    previous: PreviousScan | None
    reveals: tuple[sa.Row[Any], ...]  # the newest first
    suppressions: tuple[tuple[Suppression, int | None], ...]  # each with the number of items it hides now
    hidden_now: int
    sign_offs: tuple[history.LogReview, ...]
    last_entry: int  # of the log
    log_heads: Mapping[int, str]  # hash by number, of the entries that were signed off
    gold: tuple[learning.GoldFile, ...]
    topic_gold: tuple[learning.TopicGold, ...]
    n_concealed: int  # files whose verdict is hidden until the blind second one is recorded
    drawn: int
    ratings: tuple[verdicts.Rating, ...]


def read_scan(
    database: Database, scan_id: int | None, *, n_top: int, now: datetime, conceal: bool
) -> StoredScan:
    """Read one scan, the latest by default.

    ``conceal``: files that await a blind second verdict are undecided, and no verdict or correction of their
    present content is read, so that nothing in the report can depend on it.

    Raises:
        StoreError: there is no (such) scan, or the database cannot be read.
    """
    with database.read() as connection:
        number = scans.latest_scan(connection) if scan_id is None else scan_id
        summary = scans.summary(connection, number)
        rows = tuple(queue.rows(connection, number, conceal=conceal))
        concealed = verdicts.open_contents(connection) if conceal else frozenset()
        contents = {row.file_id: row.content_hash for row in rows}
        shown = {one for one in contents.items() if one[1] not in concealed}
        signed = history.log_reviews(connection)
        heads = sa.select(audit_log.c.id, audit_log.c.hash).where(
            audit_log.c.id.in_([one.n_entries for one in signed])
        )
        drawn = connection.execute(sa.select(second_review_table.c.content_hash)).scalars().all()
        standing = _sighted(number, standing_decision(examination)).distinct()
        people = _sighted(number, sighting.c.file_id, same_people().label("people")).where(_IS_REFERRED)
        return StoredScan(
            summary=summary,
            audit=audit.verify(connection),
            rows=rows,
            top=tuple(queue.queue(connection, number, limit=n_top, conceal=conceal)),
            standing=frozenset(connection.execute(standing).scalars()) - {None},
            same_people={row.file_id: row.people for row in connection.execute(people)},
            findings=_by_file(connection, number, finding.c.entity_type, sa.func.count()),
            distinct=_distinct(connection, number),
            terms=_by_file(connection, number, health_term.c.concept, sa.func.sum(health_term.c.n_hits)),
            decisions=tuple(
                made for made in _decisions(connection, number) if made.content_hash not in concealed
            ),
            frame=sampling.left(connection),
            undone=frozenset(
                connection.execute(
                    sa.select(decision_undo.c.decision_id).where(decision_undo.c.decision_id.is_not(None))
                ).scalars()
            ),
            previous=_previous(connection, number),
            reveals=_reveals(connection, number),
            suppressions=_suppressions(connection, number, now),
            hidden_now=len(connection.execute(_hidden(number, now)).all()),
            sign_offs=tuple(signed),
            last_entry=connection.execute(sa.select(sa.func.max(audit_log.c.id))).scalar() or 0,
            log_heads={row.id: row.hash for row in connection.execute(heads)},
            gold=tuple(one for one in learning.gold(connection) if (one.file_id, one.content_hash) in shown),
            topic_gold=tuple(
                one
                for one in learning.topic_gold(connection)
                if (one.file_id, contents.get(one.file_id)) in shown
            ),
            n_concealed=len(contents) - len(shown),
            drawn=sum(one in contents.values() for one in drawn),
            ratings=tuple(
                one
                for one in verdicts.ratings(connection)
                if one.content_hash in contents.values() and one.content_hash not in concealed
            ),
        )


def read_decided(
    database: Database, scan_id: int | None
) -> tuple[int, tuple[bytes, ...], tuple[FileRecord, ...]]:
    """Read a scan's number, the paths of its roots in order, and its files, the latest scan by default.

    Files that await a blind second verdict are undecided.

    Raises:
        StoreError: there is no (such) scan, or the database cannot be read.
    """
    with database.read() as connection:
        number = scans.latest_scan(connection) if scan_id is None else scan_id
        scans.summary(connection, number)
        paths = (
            sa.select(root.c.path)
            .join(scan_root, scan_root.c.root_id == root.c.id)
            .where(scan_root.c.scan_id == number)
            .order_by(root.c.path)
        )
        roots = tuple(bytes(path) for path in connection.execute(paths).scalars())
        return number, roots, tuple(queue.rows(connection, number, conceal=True))


def _sighted(scan_id: int, *columns: Any) -> sa.Select[Any]:
    """Select columns of the current results of a scan's files."""
    return (
        sa.select(*columns)
        .select_from(sighting)
        .join(examination, examination.c.id == sighting.c.examination_id)
        .where(sighting.c.scan_id == scan_id)
    )


_IS_REFERRED = examination.c.referral == Referral.REFERRED.value


def _referred(scan_id: int, table: sa.FromClause, *columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
    """Select columns of the rows of a table that belong to the current results of the referred files."""
    query = _sighted(scan_id, *columns).where(_IS_REFERRED)
    return query.join(table, table.c.examination_id == examination.c.id)


def _by_file(
    connection: sa.Connection, scan_id: int, kind: sa.Column[str], n: sa.ColumnElement[int]
) -> dict[int, Counter[str]]:
    """Count the rows of a kind in the referred files."""
    number = sighting.c.file_id
    query = _referred(scan_id, kind.table, number, kind, n).group_by(number, kind)
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for file_id, name, count in connection.execute(query.order_by(number, kind)):
        found[file_id][name] = int(count)
    return dict(found)


def _distinct(connection: sa.Connection, scan_id: int) -> dict[str, int]:
    n_distinct = sa.func.count(finding.c.identity.distinct())
    query = _referred(scan_id, finding, finding.c.entity_type, n_distinct).group_by(finding.c.entity_type)
    return {row[0]: row[1] for row in connection.execute(query)}


def _decisions(connection: sa.Connection, scan_id: int) -> tuple[Decision, ...]:
    """Read the decisions about the scan's files, each once; what moved is named by its present place."""
    about = (decision.c.file_id == examination.c.file_id) | is_about(decision, examination)
    query = (
        _sighted(scan_id, decision, examination.c.file_id.label("here"))
        .join(decision, about)
        .order_by(decision.c.id, decision.c.file_id == examination.c.file_id, examination.c.file_id.desc())
    )
    rows = {row.id: row for row in connection.execute(query)}.values()
    # Reason and note are free text of users, and may name a patient: never shown in the report.
    return tuple(decision_of(row, file_id=row.here, reason="", note="") for row in rows)
