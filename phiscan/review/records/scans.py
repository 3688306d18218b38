"""Scans: their start and end, the known results of their files, and their numbers, counted from the rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

import sqlalchemy as sa

from phiscan.errors import StoreError
from phiscan.model import OCR_PENDING, FailReason, Outcome, Referral, Search
from phiscan.review import integrity
from phiscan.review.decisions import discussion
from phiscan.review.decisions import writing as deciding
from phiscan.review.maintenance import key_rotation
from phiscan.review.records import recording
from phiscan.review.records.file_records import detectors_of, outcome_in_scan, people_at_risk
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.model import Detectors
from phiscan.store import seals
from phiscan.store.column_types import canonical_json, iso
from phiscan.store.database import inserted_id
from phiscan.store.sql_batches import as_value, chunks, count, listed, rows_in
from phiscan.store.tables.desk import work_item
from phiscan.store.tables.integrity import scan_totals
from phiscan.store.tables.scans import (
    departure,
    early_result,
    examination,
    file,
    reuse,
    root,
    scan,
    scan_root,
    sighting,
    unread_part,
)


@dataclass(frozen=True, slots=True)
class ScanState:
    """A scan that was begun or resumed."""

    id: int
    resumed: bool
    started: datetime
    n_refused: int = 0  # stored results that this program did not write: their files are read again


class KnownFile(NamedTuple):
    """The latest examination of a file; a tuple, because a rescan makes so many."""

    path: bytes
    file_id: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    content_hash: str
    outcome: str  # an Outcome
    reason: str
    versions_key: str
    scan_id: int  # the scan that made the examination
    seen_scan_id: int  # the scan that saw the file last


@dataclass(frozen=True, slots=True)
class LastScan:
    """A root and its last scan."""

    path: bytes
    display: str
    scan_id: int
    started: datetime


def last_scans(connection: sa.Connection) -> list[LastScan]:
    """Return the last scan of each root, newest first."""
    last = (
        sa.select(scan_root.c.root_id, sa.func.max(scan_root.c.scan_id).label("scan_id"))
        .group_by(scan_root.c.root_id)
        .subquery()
    )
    query = (
        sa.select(root.c.path, root.c.display, scan.c.id, scan.c.started)
        .join(last, last.c.root_id == root.c.id)
        .join(scan, scan.c.id == last.c.scan_id)
        .order_by(scan.c.id.desc(), root.c.path)
    )
    return [LastScan(*row) for row in connection.execute(query)]


_RECENT = 20  # completed scans whose versions are compared


def begin_scan(
    connection: sa.Connection,
    roots: Sequence[bytes],
    *,
    versions: Mapping[str, str],
    options: Mapping[str, Any],
    now: datetime,
) -> ScanState:
    """Resume the unfinished scan of these roots, versions and options, or begin one.

    Only the last scan of a root is resumed: after a later one the results of its files are known anyway.

    Raises:
        ConfigError: the key among the versions is not the key of the stored hashes.
    """
    if "key" in versions:
        key_rotation.require(connection, versions["key"], now=now)
    root_ids = [recording.root_id_of(connection, path) for path in roots]
    described = [[path.hex() for path in roots], dict(versions), dict(options)]
    scan_key = sha256(canonical_json(described).encode()).hexdigest()
    last_of_roots = (
        sa.select(sa.func.max(scan_root.c.scan_id)).where(scan_root.c.root_id.in_(root_ids)).scalar_subquery()
    )
    unfinished = connection.execute(
        sa.select(scan.c.id, scan.c.started).where(
            scan.c.scan_key == scan_key, scan.c.status != "complete", scan.c.id == last_of_roots
        )
    ).first()
    if unfinished is not None:
        connection.execute(scan.update().where(scan.c.id == unfinished.id).values(status="running"))
        n_refused = recording.refuse_forged_early(connection, unfinished.id)
        n_refused += integrity.refuse_forged(connection, unfinished.id)
        return ScanState(unfinished.id, resumed=True, started=unfinished.started, n_refused=n_refused)
    values = {"scan_key": scan_key, "status": "running", "started": now, "seconds": 0.0, "reading": ""}
    values |= {"versions": dict(versions), "options": dict(options)}
    seals.remove(connection, early_result, early_result.c.root_id.in_(root_ids))  # these are not resumed
    scan_id = inserted_id(connection, scan, values)
    links = [
        {"scan_id": scan_id, "position": position, "root_id": root_id}
        for position, root_id in enumerate(root_ids)
    ]
    if links:
        connection.execute(scan_root.insert(), links)
    return ScanState(scan_id, resumed=False, started=now)


def finish_scan(
    connection: sa.Connection, scan_id: int, *, status: str, seconds: float, now: datetime, whole: bool
) -> None:
    """Close a scan, or mark it as stopped; the durations of its parts are added up.

    ``whole``: it crawled all of its roots, so that files that it did not find are missing.

    Raises:
        StoreError: there is no such scan.
    """
    changed = connection.execute(
        scan.update()
        .where(scan.c.id == scan_id)
        .values(status=status, ended=now, seconds=scan.c.seconds + seconds, reading="")
    )
    if changed.rowcount != 1:
        message = f"scan {scan_id}: there is no such scan"
        raise StoreError(message)
    if status == "complete":
        seals.remove(connection, early_result, early_result.c.scan_id == scan_id)
    if status == "complete" and whole:
        moved = note_departures(connection, scan_id)
        of_scan = sa.select(scan_root.c.root_id).where(scan_root.c.scan_id == scan_id)
        connection.execute(root.update().where(root.c.id.in_(of_scan)).values(complete_scan_id=scan_id))
        work_rows.drop_departed(connection, scan_id)
        work_rows.refresh_opened(connection, moved)
        deciding.keep_assignees(connection, moved, now=now)
        discussion.keep(connection, moved, now=now)
    if status == "complete":
        deciding.log_carried(connection, work_item.c.arrived == scan_id, now=now)


def has_scanned_with(connection: sa.Connection, versions: Mapping[str, str]) -> bool:
    """Return whether a scan with exactly these versions was completed."""
    finished = sa.select(scan.c.versions).where(scan.c.status == "complete").order_by(scan.c.id.desc())
    return any(row.versions == dict(versions) for row in connection.execute(finished.limit(_RECENT)))


def known(
    connection: sa.Connection, root_path: bytes, paths: Sequence[bytes], *, after: int = 0
) -> dict[bytes, KnownFile]:
    """Return the latest examination of each path that was crawled before.

    Files are numbered in the order of their first crawl: those that follow the number ``after`` are most
    likely the requested ones, and reading them in that order is far cheaper than looking up each path.
    """
    root_id = connection.execute(sa.select(root.c.id).where(root.c.path == root_path)).scalar()
    if root_id is None:
        return {}
    of_result = KnownFile._fields[2:-1]
    query = (
        sa.select(file.c.path, file.c.id, *(examination.c[name] for name in of_result), file.c.seen_scan_id)
        .join(sighting, (sighting.c.scan_id == file.c.seen_scan_id) & (sighting.c.file_id == file.c.id))
        .join(examination, examination.c.id == sighting.c.examination_id)
    )
    # The sum keeps SQLite from the index of the root, by which it would sort all of its files each time.
    following = query.where(file.c.root_id + 0 == root_id, file.c.id > after).order_by(file.c.id)
    following = following.limit(len(paths))
    query = query.where(file.c.root_id == root_id)
    requested = frozenset(paths)
    results = [KnownFile._make(row) for row in connection.execute(following)]
    rest = query.where(file.c.path.in_(listed("paths")))
    missing = requested.difference(result.path for result in results)
    results += [KnownFile._make(row) for row in rows_in(connection, rest, "paths", missing)]
    return {result.path: result for result in results if result.path in requested}


def note_departures(connection: sa.Connection, scan_id: int) -> dict[int, int]:
    """Record the files that were present at the last complete scan of these roots and are missing now.

    A missing file whose content this scan found at a new path has moved there. Called when a scan is
    complete, before its roots are marked with it. Returns the moved files, each with its new one.
    """
    missing = connection.execute(
        sa.select(file.c.id, examination.c.content_hash)
        .join(root, root.c.id == file.c.root_id)
        .join(scan_root, (scan_root.c.root_id == root.c.id) & (scan_root.c.scan_id == scan_id))
        .join(sighting, (sighting.c.scan_id == file.c.seen_scan_id) & (sighting.c.file_id == file.c.id))
        .join(examination, examination.c.id == sighting.c.examination_id)
        .where(file.c.seen_scan_id < scan_id, file.c.seen_scan_id >= root.c.complete_scan_id)
        .order_by(file.c.id)
    ).all()
    arrived = _arrived(connection, scan_id, [row.content_hash for row in missing if row.content_hash])
    rows = []
    for row in missing:
        places = arrived.get(row.content_hash)
        rows.append({"scan_id": scan_id, "file_id": row.id, "moved_to": places.pop(0) if places else None})
    for batch in chunks(rows):
        seals.insert(connection, departure, batch)
    return {row["file_id"]: row["moved_to"] for row in rows if row["moved_to"] is not None}


def _arrived(connection: sa.Connection, scan_id: int, content_hashes: Sequence[str]) -> dict[str, list[int]]:
    """Return by content hash the files that no earlier scan had seen."""
    found: dict[str, list[int]] = defaultdict(list)
    earlier = sa.select(sighting.c.file_id).where(
        sighting.c.file_id == examination.c.file_id, sighting.c.scan_id < scan_id
    )
    for batch in chunks(dict.fromkeys(content_hashes)):
        query = (
            sa.select(examination.c.content_hash, examination.c.file_id)
            .where(examination.c.scan_id == scan_id, examination.c.content_hash.in_(batch), ~earlier.exists())
            .order_by(examination.c.file_id)
        )
        for content_hash, file_id in connection.execute(query):
            found[content_hash].append(file_id)
    return found


@dataclass(frozen=True, slots=True)
class ScanHead:
    """One line about a scan."""

    id: int
    roots: tuple[str, ...]
    status: str  # "running", "stopped" or "complete"
    started: datetime
    ended: datetime | None
    n_crawled: int
    reading: str  # path of the file that is read now; "" = none


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
        as_value(ScanHead, row, roots=_roots(connection, row.id), n_crawled=purged.get(row.id, row.n))
        for row in connection.execute(query).all()
    ]


def summary(connection: sa.Connection, scan_id: int | None = None) -> ScanSummary:
    """Count one scan (None = the latest) from its rows.

    Raises:
        StoreError: there is no such scan, or its rows break crawled = screened + unchanged + skipped +
            failed.
    """
    scan_id = chosen_scan(connection, scan_id)
    head = connection.execute(sa.select(scan).where(scan.c.id == scan_id)).one()
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
    rows = [*_in_stretches(connection, scan_id, counted)]

    def tally(kind: Callable[[Any], Any]) -> Counter[Any]:
        """Count files by what a function says of their group; None is left out."""
        found: Counter[Any] = Counter()
        for row in rows:
            if (value := kind(row)) is not None:
                found[value] += row.n_files
        return found

    counts = tally(lambda row: outcome_in_scan(row.outcome, examined_in=row.new, sighted_in=1))
    reasons = sorted(tally(lambda row: (row.outcome, row.reason)).items())
    skipped, failed = (
        {reason: n_files for (outcome, reason), n_files in reasons if outcome == wanted}
        for wanted in (Outcome.SKIPPED, Outcome.FAILED)
    )
    referrals = tally(lambda row: row.referral)
    histories = tally(
        # The others are referred by their names alone.
        lambda row: detectors_of(row.detectors) if row.referral and row.outcome == Outcome.SCREENED else None
    )
    not_covered = tally(lambda row: row.not_covered or None)
    left_out = tally(lambda row: row.referral if row.search == Search.LEFT_OUT else None)
    searches = {"n_left_out": left_out.total(), "n_left_out_identified": left_out[Referral.PII_ONLY]}
    crawled = count(connection, sa.select(sighting).where(sighting.c.scan_id == scan_id).subquery())
    if crawled != counts.total():
        message = f"scan {scan_id}: {crawled} files crawled, but {counts.total()} outcomes recorded"
        raise StoreError(message)
    parts = _of(unread_part, scan_id)
    n_parts = count(connection, parts.where(unread_part.c.reason != FailReason.SAMPLED.value).subquery())
    may_wait = n_parts or FailReason.NEEDS_OCR in failed
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
        skipped=skipped,
        failed=failed,
        bytes=sum(int(row.n_read) for row in rows),
        seconds=head.seconds,
        screened_positive=referrals[Referral.REFERRED] + referrals[Referral.PII_ONLY],
        referred=referrals[Referral.REFERRED],
        second_look=tally(lambda row: (row.second_look and row.referral) or None).total(),
        people_at_risk=people_at_risk(connection, sa.select().where(_is_current_in(scan_id)))[()],
        histories=dict(sorted(histories.items())),
        versions=head.versions,
        searches={**(searches if left_out else {}), **_audited(connection, scan_id)},
        n_unread_parts=n_parts,
        n_ocr_files=n_ocr_files,
        n_ocr_parts=n_ocr_parts,
        not_covered=dict(sorted(not_covered.items())),
        n_by_name=tally(lambda row: row.by_name or None).total(),
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
