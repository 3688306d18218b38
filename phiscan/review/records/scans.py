"""Start and end of a scan, and the known results of its files from earlier scans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

import sqlalchemy as sa

from phiscan.errors import StoreError
from phiscan.review import integrity
from phiscan.review.decisions import writing as deciding
from phiscan.review.maintenance import key_rotation
from phiscan.review.records import recording
from phiscan.review.worklist import rows as work_rows
from phiscan.store import seals
from phiscan.store.column_types import canonical_json
from phiscan.store.database import inserted_id
from phiscan.store.sql_batches import chunks, listed, rows_in
from phiscan.store.tables import departure, examination, file, root, scan, scan_root, sighting, work_item


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
    values = {"scan_key": scan_key, "status": "running", "started": now, "seconds": 0.0}
    values |= {"versions": dict(versions), "options": dict(options)}
    recording.forget_roots(connection, root_ids)  # of scans that will not be resumed
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
        .values(status=status, ended=now, seconds=scan.c.seconds + seconds)
    )
    if changed.rowcount != 1:
        message = f"scan {scan_id}: there is no such scan"
        raise StoreError(message)
    if status == "complete":
        recording.forget_scan(connection, scan_id)
    if status == "complete" and whole:
        moved = note_departures(connection, scan_id)
        of_scan = sa.select(scan_root.c.root_id).where(scan_root.c.scan_id == scan_id)
        connection.execute(root.update().where(root.c.id.in_(of_scan)).values(complete_scan_id=scan_id))
        work_rows.drop_departed(connection, scan_id)
        deciding.keep_assignees(connection, moved, now=now)
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
    query = _known_files()
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


def _known_files() -> sa.Select[Any]:
    """Select the columns of ``KnownFile``, in its order."""
    of_result = KnownFile._fields[2:-1]
    return (
        sa.select(file.c.path, file.c.id, *(examination.c[name] for name in of_result), file.c.seen_scan_id)
        .join(sighting, (sighting.c.scan_id == file.c.seen_scan_id) & (sighting.c.file_id == file.c.id))
        .join(examination, examination.c.id == sighting.c.examination_id)
    )


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
            .where(
                examination.c.scan_id == scan_id,
                examination.c.content_hash.in_(batch),
                ~earlier.exists(),
            )
            .order_by(examination.c.file_id)
        )
        for content_hash, file_id in connection.execute(query):
            found[content_hash].append(file_id)
    return found
