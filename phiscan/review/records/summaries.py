"""The numbers of a scan, counted from its rows on each request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import sqlalchemy as sa

from phiscan.errors import StoreError
from phiscan.model import FailReason, Outcome, Referral, Search
from phiscan.review.records.current_results import detectors_of, outcome_in_scan
from phiscan.review.records.items import Detectors, ScanHead, ScanSummary
from phiscan.review.records.pending_ocr import count_pending
from phiscan.review.records.reuse import same_people
from phiscan.store.column_types import iso
from phiscan.store.tables import (
    departure,
    examination,
    reuse,
    root,
    scan,
    scan_root,
    scan_totals,
    sighting,
    unread_part,
)

STRETCH = 10_000  # file numbers whose rows are grouped by one statement


def latest_scan(connection: sa.Connection) -> int:
    """Return the scan that was started or ended last.

    Raises:
        StoreError: there is none.
    """
    recent = sa.func.coalesce(scan.c.ended, scan.c.started)
    found = connection.execute(
        sa.select(scan.c.id).order_by(recent.desc(), scan.c.id.desc()).limit(1)
    ).scalar()
    if found is None:
        message = "the database holds no scan yet; `phiscan scan ROOT` makes one"
        raise StoreError(message)
    return int(found)


def chosen_scan(connection: sa.Connection, scan_id: int | None) -> int:
    """Return a scan's number; None = the latest.

    Raises:
        StoreError: there is no such scan.
    """
    if scan_id is None:
        return latest_scan(connection)
    if connection.execute(sa.select(scan.c.id).where(scan.c.id == scan_id)).first() is None:
        message = f"scan {scan_id}: there is no such scan"
        raise StoreError(message)
    return scan_id


def scans(connection: sa.Connection) -> list[ScanHead]:
    """Return every scan, oldest first."""
    counted = (
        sa.select(sighting.c.scan_id, sa.func.count().label("n")).group_by(sighting.c.scan_id).subquery()
    )
    purged = {row.scan_id: int(row.summary["crawled"]) for row in connection.execute(sa.select(scan_totals))}
    query = (
        sa.select(scan, sa.func.coalesce(counted.c.n, 0).label("n"))
        .outerjoin(counted, counted.c.scan_id == scan.c.id)
        .order_by(scan.c.id)
    )
    return [
        ScanHead(
            row.id, _roots(connection, row.id), row.status, row.started, row.ended, purged.get(row.id, row.n)
        )
        for row in connection.execute(query).all()
    ]


def summary(connection: sa.Connection, scan_id: int) -> ScanSummary:
    """Count one scan.

    Raises:
        StoreError: there is no such scan, or its rows break crawled = screened + unchanged + skipped +
            failed.
    """
    head = connection.execute(sa.select(scan).where(scan.c.id == scan_id)).first()
    if head is None:
        message = f"scan {scan_id}: there is no such scan"
        raise StoreError(message)
    if (kept := cached_totals(connection, scan_id)) is not None:
        return kept
    of_scan = (
        sa.select(sighting.c.scan_id)
        .join(examination, examination.c.id == sighting.c.examination_id)
        .where(sighting.c.scan_id == scan_id)
    )
    new = sa.case((examination.c.scan_id == scan_id, 1), else_=0).label("new")
    kinds = (
        examination.c.outcome,
        examination.c.reason,
        new,
        examination.c.referral,
        examination.c.detectors,
        examination.c.second_look,
        examination.c.search,
    )
    n_read = sa.func.coalesce(sa.func.sum(_bytes_read(scan_id)), 0)
    counted = of_scan.with_only_columns(*kinds, sa.func.count(), n_read).group_by(*kinds)
    counts: Counter[Outcome] = Counter()
    reasons: dict[Outcome, Counter[str]] = {Outcome.SKIPPED: Counter(), Outcome.FAILED: Counter()}
    referrals: Counter[Referral] = Counter()
    histories: Counter[Detectors] = Counter()
    n_bytes = n_second = 0
    searches: Counter[str] = Counter()
    rows = _in_stretches(connection, scan_id, counted)
    for stored, reason, is_new, referral, detectors, second, search, n_files, n_read_of in rows:
        outcome = outcome_in_scan(stored, examined_in=is_new, sighted_in=1)
        counts[outcome] += n_files
        if outcome in reasons:
            reasons[outcome][reason] += n_files
        n_bytes += int(n_read_of)
        if referral is not None:
            referrals[Referral(referral)] += n_files
            n_second += n_files * bool(second)
            histories[detectors_of(detectors)] += n_files
            if search == Search.LEFT_OUT:
                searches["n_left_out"] += n_files
                searches["n_left_out_identified"] += n_files * (referral == Referral.PII_ONLY)
    crawled = _count(connection, sa.select(sighting).where(sighting.c.scan_id == scan_id))
    if crawled != counts.total():
        message = f"scan {scan_id}: {crawled} files crawled, but {counts.total()} outcomes recorded"
        raise StoreError(message)
    parts = _of(unread_part, scan_id)
    n_parts = _count(connection, parts.where(unread_part.c.reason != FailReason.SAMPLED.value))
    may_wait = n_parts or FailReason.NEEDS_OCR in reasons[Outcome.FAILED]
    n_ocr_files, n_ocr_parts = count_pending(connection, scan_id) if may_wait else (0, 0)
    return ScanSummary(
        scan=scan_id,
        roots=_roots(connection, scan_id),
        status=head.status,
        started=iso(head.started),
        ended=iso(head.ended) if head.ended else None,
        crawled=crawled,
        screened=counts[Outcome.SCREENED],
        unchanged=counts[Outcome.UNCHANGED],
        skipped=dict(sorted(reasons[Outcome.SKIPPED].items())),
        failed=dict(sorted(reasons[Outcome.FAILED].items())),
        bytes=n_bytes,
        seconds=head.seconds,
        screened_positive=referrals[Referral.REFERRED] + referrals[Referral.PII_ONLY],
        referred=referrals[Referral.REFERRED],
        second_look=n_second,
        people_at_risk=_people(connection, scan_id),
        histories=dict(sorted(histories.items())),
        versions=head.versions,
        searches={**searches, **_audited(connection, scan_id)},
        n_unread_parts=n_parts,
        n_ocr_files=n_ocr_files,
        n_ocr_parts=n_ocr_parts,
        n_copies=_count(connection, _of(reuse, scan_id).where(examination.c.scan_id == scan_id)),
        n_deleted=_count(connection, _missing(scan_id).where(departure.c.moved_to.is_(None))),
        n_sampled_files=_count(
            connection, parts.where(unread_part.c.reason == FailReason.SAMPLED.value).distinct()
        ),
        n_moved=_count(connection, _missing(scan_id).where(departure.c.moved_to.is_not(None))),
    )


def _audited(connection: sa.Connection, scan_id: int) -> dict[str, int]:
    """Count the audit sample of a scan: the draw is by content, so that copies are not counted again."""
    query = (
        sa.select(examination.c.referral, sa.func.count(examination.c.content_hash.distinct()))
        .join(sighting, sighting.c.examination_id == examination.c.id)
        .where(sighting.c.scan_id == scan_id, examination.c.search == Search.AUDIT.value)
        .group_by(examination.c.referral)
    )
    counts = {Referral(referral): int(n_contents) for referral, n_contents in connection.execute(query)}
    n_referred = counts.get(Referral.REFERRED, 0)
    return {
        "n_audit": sum(counts.values()),
        "n_audit_referred": n_referred,
        "n_audit_identified": n_referred + counts.get(Referral.PII_ONLY, 0),
    }


def _bytes_read(scan_id: int) -> sa.ColumnElement[int]:
    """Return the bytes that a scan read of a file; if not counted, the size of screened files."""
    size = sa.case((examination.c.outcome == Outcome.SCREENED.value, examination.c.size), else_=0)
    counted = sa.func.coalesce(examination.c.bytes_read, size)
    return sa.case((examination.c.scan_id == scan_id, counted), else_=0)


def cached_totals(connection: sa.Connection, scan_id: int) -> ScanSummary | None:
    """Return the stored numbers of a scan that lost rows to a purge; None = it lost none."""
    query = sa.select(scan_totals.c.summary).where(scan_totals.c.scan_id == scan_id)
    stored = connection.execute(query).scalar()
    if stored is None:
        return None
    histories = {detectors_of(history): n_files for history, n_files in stored["histories"]}
    return ScanSummary(**{**stored, "roots": tuple(stored["roots"]), "histories": histories})


def cache_totals(connection: sa.Connection, scan_id: int) -> None:
    """Store the numbers of a scan that is about to lose rows, unless they are stored already."""
    if cached_totals(connection, scan_id) is not None:
        return
    counted = summary(connection, scan_id)
    stored = {item.name: getattr(counted, item.name) for item in fields(ScanSummary)}
    stored["histories"] = [[history, n_files] for history, n_files in counted.histories.items()]
    connection.execute(scan_totals.insert().values(scan_id=scan_id, summary=stored))


def require_rows(connection: sa.Connection, scan_id: int) -> int:
    """Return the scan's number if all its rows are there.

    Raises:
        StoreError: some were purged, and the rest would look like all of them.
    """
    if cached_totals(connection, scan_id) is not None:
        message = f"scan {scan_id}: its rows were purged by policy; its summary is kept"
        raise StoreError(message)
    return scan_id


def _in_stretches(connection: sa.Connection, scan_id: int, query: sa.Select[Any]) -> Iterator[Any]:
    """Yield the rows of a grouping query over a scan's sightings, for one range of files after another.

    A database sorts before it groups: a million files at once would need as much memory as they have rows.
    """
    here = sa.select(sighting.c.file_id).where(sighting.c.scan_id == scan_id).limit(1)
    first = connection.execute(here.order_by(sighting.c.file_id)).scalar()
    last = connection.execute(here.order_by(sighting.c.file_id.desc())).scalar()
    if first is None or last is None:
        return
    for low in range(first, last + 1, STRETCH):
        yield from connection.execute(query.where(sighting.c.file_id.between(low, low + STRETCH - 1)))


def _people(connection: sa.Connection, scan_id: int) -> int:
    """Sum the people at risk in referred files; copies of one content put the same people at risk."""
    referred = examination.c.referral == Referral.REFERRED.value
    per_content = (
        sa.select(sa.func.max(examination.c.n_people).label("n"))
        .where(referred, _is_current_in(scan_id))
        .group_by(same_people())
        .subquery()
    )
    return int(connection.execute(sa.select(sa.func.coalesce(sa.func.sum(per_content.c.n), 0))).scalar_one())


def _of(child: sa.Table, scan_id: int) -> sa.Select[Any]:
    """Select the rows of a child table of examination whose examination is current in a scan."""
    joined = child.join(examination, examination.c.id == child.c.examination_id)
    return sa.select(child.c.examination_id).select_from(joined).where(_is_current_in(scan_id))


def _is_current_in(scan_id: int) -> sa.ColumnElement[bool]:
    """Return the condition that an examination is current in a scan.

    For rare rows: written so that the database does not check every file of the scan.
    """
    return sa.exists().where(
        sighting.c.scan_id == scan_id,
        sighting.c.file_id == examination.c.file_id,
        sighting.c.examination_id == examination.c.id,
    )


def _missing(scan_id: int) -> sa.Select[Any]:
    return sa.select(departure.c.file_id).where(departure.c.scan_id == scan_id)


def _count(connection: sa.Connection, query: sa.Select[Any]) -> int:
    counted = sa.select(sa.func.count()).select_from(query.subquery())
    return int(connection.execute(counted).scalar_one())


def _roots(connection: sa.Connection, scan_id: int) -> tuple[str, ...]:
    query = (
        sa.select(root.c.display)
        .join(scan_root, scan_root.c.root_id == root.c.id)
        .where(scan_root.c.scan_id == scan_id)
        .order_by(scan_root.c.position)
    )
    return tuple(connection.execute(query).scalars())
