"""Reading of one scan from the review store, all of it in one transaction.

The transaction sees one state of the database, so that the numbers are consistent while users decide or a
scan runs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from phiscan.model import Referral, Verdict
from phiscan.report.data.desk_rows import StoredDesk, read_desk
from phiscan.review.audit import log as audit
from phiscan.review.decisions import second_review
from phiscan.review.records import summaries
from phiscan.review.records.items import AuditCheck, Decision, FileRow, QueueItem, ScanSummary
from phiscan.review.records.reuse import same_people
from phiscan.review.worklist import queue
from phiscan.store.database import Database
from phiscan.store.tables import decision, examination, finding, health_term, root, scan_root, sighting


@dataclass(frozen=True, slots=True)
class StoredScan:
    """One stored scan; mappings are by file number."""

    summary: ScanSummary
    audit: AuditCheck
    rows: tuple[FileRow, ...]
    top: tuple[QueueItem, ...]
    content_hashes: dict[int, str]
    same_people: dict[int, str]  # of referred files: equal if they put the same people at risk
    findings: dict[int, Counter[str]]  # of referred files: number by entity type
    distinct: dict[str, int]  # distinct keyed hashes in referred files, by entity type
    terms: dict[int, Counter[str]]  # of referred files: occurrences by health concept
    decisions: tuple[Decision, ...]  # about any content of the scan's files, oldest first
    desk: StoredDesk


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
        number = summaries.latest_scan(connection) if scan_id is None else scan_id
        summary = summaries.summary(connection, number)
        rows = tuple(queue.rows(connection, number, conceal=conceal))
        concealed = second_review.open_contents(connection) if conceal else frozenset()
        confirmed = [row.file_id for row in rows if row.verdict is Verdict.PHI]
        return StoredScan(
            summary=summary,
            audit=audit.verify(connection),
            rows=rows,
            top=tuple(queue.queue(connection, number, verdicts=None, limit=n_top, offset=0, conceal=conceal)),
            content_hashes=_content_hashes(connection, number),
            same_people=_same_people(connection, number),
            findings=_findings(connection, number),
            distinct=_distinct(connection, number),
            terms=_terms(connection, number),
            decisions=tuple(
                made
                for made in _decisions(connection, number)
                if (made.file_id, made.content_hash) not in concealed
            ),
            desk=read_desk(connection, number, confirmed=confirmed, concealed=concealed, now=now),
        )


def read_decided(
    database: Database, scan_id: int | None
) -> tuple[int, tuple[bytes, ...], tuple[FileRow, ...]]:
    """Read a scan's number, the paths of its roots in order, and its files, the latest scan by default.

    Files that await a blind second verdict are undecided.

    Raises:
        StoreError: there is no (such) scan, or the database cannot be read.
    """
    with database.read() as connection:
        number = summaries.latest_scan(connection) if scan_id is None else scan_id
        summaries.summary(connection, number)
        paths = (
            sa.select(root.c.path)
            .join(scan_root, scan_root.c.root_id == root.c.id)
            .where(scan_root.c.scan_id == number)
            .order_by(root.c.path)
        )
        roots = tuple(bytes(path) for path in connection.execute(paths).scalars())
        return number, roots, tuple(queue.rows(connection, number, conceal=True))


def _content_hashes(connection: sa.Connection, scan_id: int) -> dict[int, str]:
    query = (
        sa.select(sighting.c.file_id, examination.c.content_hash)
        .join(examination, examination.c.id == sighting.c.examination_id)
        .where(sighting.c.scan_id == scan_id)
    )
    return {row.file_id: row.content_hash for row in connection.execute(query)}


def _same_people(connection: sa.Connection, scan_id: int) -> dict[int, str]:
    query = (
        sa.select(sighting.c.file_id, same_people().label("people"))
        .join(examination, examination.c.id == sighting.c.examination_id)
        .where(sighting.c.scan_id == scan_id, examination.c.referral == Referral.REFERRED.value)
    )
    return {row.file_id: row.people for row in connection.execute(query)}


def _referred(scan_id: int, table: sa.Table) -> sa.Select[tuple[int]]:
    """Select the rows of a table that belong to the current results of the referred files."""
    return (
        sa.select(sighting.c.file_id)
        .join(examination, examination.c.id == sighting.c.examination_id)
        .join(table, table.c.examination_id == examination.c.id)
        .where(sighting.c.scan_id == scan_id, examination.c.referral == Referral.REFERRED.value)
    )


def _findings(connection: sa.Connection, scan_id: int) -> dict[int, Counter[str]]:
    query = (
        _referred(scan_id, finding)
        .add_columns(finding.c.entity_type, sa.func.count().label("n"))
        .group_by(sighting.c.file_id, finding.c.entity_type)
        .order_by(sighting.c.file_id, finding.c.entity_type)
    )
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for file_id, entity_type, n in connection.execute(query):
        found[file_id][entity_type] = n
    return dict(found)


def _distinct(connection: sa.Connection, scan_id: int) -> dict[str, int]:
    query = (
        _referred(scan_id, finding)
        .with_only_columns(finding.c.entity_type, sa.func.count(finding.c.identity.distinct()))
        .group_by(finding.c.entity_type)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


def _terms(connection: sa.Connection, scan_id: int) -> dict[int, Counter[str]]:
    query = _referred(scan_id, health_term).add_columns(health_term.c.concept, health_term.c.n_hits)
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for file_id, concept, n in connection.execute(query):
        found[file_id][concept] += n
    return dict(found)


def _decisions(connection: sa.Connection, scan_id: int) -> tuple[Decision, ...]:
    query = (
        sa.select(decision)
        .join(sighting, sighting.c.file_id == decision.c.file_id)
        .where(sighting.c.scan_id == scan_id)
        .order_by(decision.c.id)
    )
    return tuple(
        Decision(
            id=row.id,
            file_id=row.file_id,
            verdict=row.verdict,
            reviewer=row.reviewer,
            reason="",  # both are free text of users, and may name a patient:
            note="",  # never shown in the report, so not read
            decided=row.decided,
            content_hash=row.content_hash,
        )
        for row in connection.execute(query)
    )
