"""The numbers of a scan, counted from its rows on each request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.errors import StoreError
from phiscan.model import OCR_PENDING, FailReason, Outcome, Referral, Search
from phiscan.review.records.file_records import detectors_of, outcome_in_scan, people_at_risk
from phiscan.review.worklist.model import Detectors
from phiscan.store import seals
from phiscan.store.column_types import iso
from phiscan.store.sql_batches import as_value, count
from phiscan.store.tables import (
    departure,
    examination,
    file,
    reuse,
    root,
    scan,
    scan_root,
    scan_totals,
    sighting,
    stage_time,
    unread_part,
)

N_SLOWEST = 10


@dataclass(frozen=True, slots=True)
class ScanHead:
    """One line about a scan."""

    id: int
    roots: tuple[str, ...]
    status: str  # "running", "stopped" or "complete"
    started: datetime
    ended: datetime | None
    n_crawled: int


@dataclass(frozen=True, slots=True)
class ScanSummary:
    """The numbers of one scan; crawled = screened + unchanged + skipped + failed.

    Unchanged is a file whose earlier screening is current; one that still cannot be read, or is still
    skipped, counts as failed or skipped again, so that no later scan looks cleaner than it is.
    ``screened_positive``, ``referred``, ``people_at_risk`` and ``by_detector`` count all files present,
    unchanged ones with their current result. ``bytes`` are those that this scan read, including failed files;
    where the system does not count them, the size of the screened files. They are summed from rows like all
    the rest, so that an interruption changes nothing.
    """

    scan: int
    roots: tuple[str, ...]
    status: str
    started: str  # UTC, ISO 8601
    ended: str | None
    crawled: int
    screened: int
    unchanged: int
    skipped: Mapping[str, int]
    failed: Mapping[str, int]
    bytes: int
    seconds: float
    screened_positive: int  # files with PII: referred or pii_only
    referred: int
    people_at_risk: int  # in referred files not decided as not PHI, identical ones counted once; an estimate
    histories: Mapping[Detectors, int]  # files by the results of the detectors
    versions: Mapping[str, str]
    n_unread_parts: int
    n_ocr_files: int = 0  # waiting for OCR
    n_ocr_parts: int = 0  # pages and pictures in them
    n_copies: int = 0  # of the screened: results reused from an equal content
    second_look: int = 0  # not referred, but marked by a detector
    n_deleted: int = 0  # present at the last complete scan, missing at this one
    n_moved: int = 0  # of the missing ones: found at a new path
    n_sampled_files: int = 0  # referred by samples of a long text; the rest of it was left out

    not_covered: Mapping[str, int] = field(default_factory=dict)  # by language: files with a part not read
    n_by_name: int = 0  # of the referred: by the names of file, folder or member alone

    # What the cascade skipped, and the results of its audit sample: the arguments of ``metrics.cascade``.
    searches: Mapping[str, int] = field(default_factory=dict)

    @property
    def has_unread(self) -> bool:
        """Whether a file, or a part of one, was not read, or is in a language that is not covered."""
        return bool(self.failed or self.n_unread_parts or self.not_covered)

    @property
    def by_detector(self) -> dict[str, int]:
        """Count the files that each detector classifies as PHI."""
        found: dict[str, int] = {}
        for history, n_files in self.histories.items():
            for name, is_phi in history:
                found[name] = found.get(name, 0) + n_files * is_phi
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the object of the contract (``scan --json``), with status and unread parts added."""
        plain = {name: _plain(getattr(self, name)) for name in _SAME}
        return plain | {name: _plain(getattr(self, attribute)) for name, attribute in _RENAMED.items()}


_SAME = (
    *("scan", "roots", "status", "started", "ended", "crawled", "screened", "unchanged", "skipped", "failed"),
    *("bytes", "seconds", "screened_positive", "referred", "second_look", "people_at_risk", "by_detector"),
    *("versions", "not_covered"),
)
_RENAMED = {
    "unread_parts": "n_unread_parts",
    "sampled_files": "n_sampled_files",
    "by_name": "n_by_name",
    "copies": "n_copies",
    "deleted": "n_deleted",
    "moved": "n_moved",
}


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class SlowFile:
    """A file that a scan read, and the seconds of each stage in its worker."""

    root: str
    path: str
    media_type: str
    size: int
    n_chars: int
    total_s: float
    seconds: tuple[tuple[str, float], ...]

    @property
    def slowest_stage(self) -> tuple[str, float]:
        """The stage that took longest, and its share of the total."""
        stage, spent = max(self.seconds, key=lambda item: item[1])
        return stage, spent / self.total_s if self.total_s else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the object of ``slowest`` in ``phiscan scan --json``."""
        stage, part = self.slowest_stage
        return {
            "root": self.root,
            "path": self.path,
            "media_type": self.media_type,
            "size": self.size,
            "chars": self.n_chars,
            "seconds": self.total_s,
            "stage_seconds": dict(self.seconds),
            "slowest_stage": stage,
            "slowest_stage_share": round(part, 3),
        }


def slowest_files(connection: sa.Connection, scan_id: int, n_files: int = N_SLOWEST) -> list[SlowFile]:
    """Return the files that took a worker longest in one scan, slowest first."""
    query = (
        sa.select(root.c.display.label("root"), file.c.display.label("path"), stage_time.c.total_s)
        .add_columns(
            examination.c.media_type, examination.c.size, examination.c.n_chars, stage_time.c.seconds
        )
        .join(examination, examination.c.id == stage_time.c.examination_id)
        .join(file, file.c.id == examination.c.file_id)
        .join(root, root.c.id == file.c.root_id)
        .where(examination.c.scan_id == scan_id)
        .order_by(stage_time.c.total_s.desc(), examination.c.id)
        .limit(n_files)
    )
    rows = connection.execute(query)
    return [as_value(SlowFile, row, seconds=tuple((stage, s) for stage, s in row.seconds)) for row in rows]


_WITH_PARTS = sa.exists().where(
    unread_part.c.examination_id == examination.c.id, unread_part.c.detail == OCR_PENDING
)
_IS_PENDING = sa.or_(
    sa.and_(examination.c.outcome == Outcome.FAILED.value, examination.c.detail == OCR_PENDING), _WITH_PARTS
)
_IS_OPEN = sa.func.coalesce(examination.c.referral, "") != Referral.REFERRED.value


def pending_files(connection: sa.Connection) -> frozenset[int]:
    """Return the numbers of the files whose current result waits for OCR; referred ones need none."""
    query = (
        sa.select(file.c.id)
        .join(sighting, (sighting.c.scan_id == file.c.seen_scan_id) & (sighting.c.file_id == file.c.id))
        .join(examination, examination.c.id == sighting.c.examination_id)
        .where(_IS_PENDING, _IS_OPEN)
    )
    return frozenset(connection.execute(query).scalars())


def count_pending(connection: sa.Connection, scan_id: int) -> tuple[int, int]:
    """Return how many files of a scan wait for OCR, and the number of their pages and pictures."""
    standing = examination.join(sighting, sighting.c.examination_id == examination.c.id)
    parts = standing.join(unread_part, unread_part.c.examination_id == examination.c.id)
    here = (sighting.c.scan_id == scan_id, _IS_OPEN)
    n_parts = count(connection, parts, *here, unread_part.c.detail == OCR_PENDING)
    n_whole = count(connection, standing, *here, _IS_PENDING, ~_WITH_PARTS)
    return count(connection, standing, *here, _IS_PENDING), n_parts + n_whole


def referred_folders(connection: sa.Connection, scan_id: int) -> frozenset[tuple[bytes, bytes]]:
    """Return root and folder of each file that is referred in a scan."""
    query = (
        sa.select(root.c.path, file.c.path)
        .join(file, file.c.root_id == root.c.id)
        .join(sighting, sighting.c.file_id == file.c.id)
        .join(examination, examination.c.id == sighting.c.examination_id)
        .where(sighting.c.scan_id == scan_id, examination.c.referral == Referral.REFERRED.value)
    )
    return frozenset((top, path.rpartition(b"/")[0]) for top, path in connection.execute(query))


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
        examination.c.by_name,
        sa.case((examination.c.covered, ""), else_=examination.c.language).label("not_covered"),
    )
    n_read = sa.func.coalesce(sa.func.sum(_bytes_read(scan_id)), 0)
    n_files_of = sa.func.count().label("n_files")
    counted = of_scan.with_only_columns(*kinds, n_files_of, n_read.label("n_read")).group_by(*kinds)
    counts: Counter[Outcome] = Counter()
    reasons: dict[Outcome, Counter[str]] = {Outcome.SKIPPED: Counter(), Outcome.FAILED: Counter()}
    referrals: Counter[Referral] = Counter()
    histories: Counter[Detectors] = Counter()
    n_bytes = n_second = n_by_name = 0
    searches: Counter[str] = Counter()
    not_covered: Counter[str] = Counter()
    rows = _in_stretches(connection, scan_id, counted)
    for row in rows:
        n_files: int = row.n_files
        outcome = outcome_in_scan(row.outcome, examined_in=row.new, sighted_in=1)
        counts[outcome] += n_files
        if outcome in reasons:
            reasons[outcome][row.reason] += n_files
        n_bytes += int(row.n_read)
        n_by_name += n_files * bool(row.by_name)
        if row.not_covered:
            not_covered[row.not_covered] += n_files
        if row.referral is not None:
            referrals[Referral(row.referral)] += n_files
            n_second += n_files * bool(row.second_look)
            if row.outcome == Outcome.SCREENED:  # the others are referred by their names alone
                histories[detectors_of(row.detectors)] += n_files
            if row.search == Search.LEFT_OUT:
                searches["n_left_out"] += n_files
                searches["n_left_out_identified"] += n_files * (row.referral == Referral.PII_ONLY)
    crawled = count(connection, sa.select(sighting).where(sighting.c.scan_id == scan_id).subquery())
    if crawled != counts.total():
        message = f"scan {scan_id}: {crawled} files crawled, but {counts.total()} outcomes recorded"
        raise StoreError(message)
    parts = _of(unread_part, scan_id)
    n_parts = count(connection, parts.where(unread_part.c.reason != FailReason.SAMPLED.value).subquery())
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
        people_at_risk=people_at_risk(connection, sa.select().where(_is_current_in(scan_id)))[()],
        histories=dict(sorted(histories.items())),
        versions=head.versions,
        searches={**searches, **_audited(connection, scan_id)},
        n_unread_parts=n_parts,
        n_ocr_files=n_ocr_files,
        n_ocr_parts=n_ocr_parts,
        not_covered=dict(sorted(not_covered.items())),
        n_by_name=n_by_name,
        n_copies=count(connection, _of(reuse, scan_id).where(examination.c.scan_id == scan_id).subquery()),
        n_deleted=count(connection, _missing(scan_id).where(departure.c.moved_to.is_(None)).subquery()),
        n_sampled_files=count(
            connection, parts.where(unread_part.c.reason == FailReason.SAMPLED.value).distinct().subquery()
        ),
        n_moved=count(connection, _missing(scan_id).where(departure.c.moved_to.is_not(None)).subquery()),
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
    seals.insert(connection, scan_totals, [{"scan_id": scan_id, "summary": stored}])


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


def _roots(connection: sa.Connection, scan_id: int) -> tuple[str, ...]:
    query = (
        sa.select(root.c.display)
        .join(scan_root, scan_root.c.root_id == root.c.id)
        .where(scan_root.c.scan_id == scan_id)
        .order_by(scan_root.c.position)
    )
    return tuple(connection.execute(query).scalars())
