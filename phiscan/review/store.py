"""The review store: results of scans, decisions of reviewers, and the audit log of both.

One object over one database. Every method is one short transaction, so a scan may write during review;
a failure is a ``StoreError`` of one line, and an invalid argument an ``InputError``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from phiscan.model import FileResult
from phiscan.review import integrity
from phiscan.review.audit.log import AuditCheck
from phiscan.review.decisions import writing as deciding
from phiscan.review.records import early_results as early_records
from phiscan.review.records import recording, reuse, summaries
from phiscan.review.records import recording as folder_states
from phiscan.review.records import scans as scanning
from phiscan.review.records.early_results import Early
from phiscan.review.records.items import Decision, KnownFile, ScanHead, ScanState, ScanSummary
from phiscan.review.records.recording import FolderState
from phiscan.review.transactions import Reading, Writing
from phiscan.review.worklist import near_duplicates
from phiscan.review.worklist import queue as work_queue
from phiscan.review.worklist.model import FileRecord
from phiscan.review.worklist.rows import rebuild
from phiscan.store import identity
from phiscan.store.database import Database, open_database
from phiscan.store.identity import load_key
from phiscan.store.sql_batches import Run

if TYPE_CHECKING:  # not needed by a scan
    from phiscan.review.accounts.users import Users
    from phiscan.review.desk.desk import Desk

__all__ = [
    "AuditCheck",
    "Decision",
    "FileRecord",
    "KnownFile",
    "ScanHead",
    "ScanState",
    "ScanSummary",
    "Store",
]


class Store:
    """An open review database; a context manager."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(
        cls, url: str, *, create: bool = False, audit_key: Path | None = None, hash_key: Path | None = None
    ) -> Self:
        """Open the database at an SQLAlchemy URL; with ``create``, create or migrate it.

        ``audit_key``: the file of the key that signs the end of the audit log; created if it is missing.
        ``hash_key``: the file of the key of the findings, by which notes are masked, if it exists.

        Raises:
            StoreError: names the URL (password hidden): missing, foreign, corrupt, read-only, locked, or
                of another schema version.
        """
        database = open_database(url, create=create, derive=rebuild, audit_key=audit_key)
        if hash_key is not None and hash_key.exists():
            database.give_key(identity.OPTION, load_key(hash_key))
        return cls(database)

    def close(self) -> None:
        """Close every connection."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def name(self) -> str:
        """The database's URL for messages, its password hidden."""
        return self._database.name

    @property
    def database(self) -> Database:
        """The database, for commands that call modules of this package directly."""
        return self._database

    @cached_property
    def desk(self) -> Desk:
        """The review desk over this database."""
        from phiscan.review.desk.desk import Desk  # noqa: PLC0415 (a scan need not load it)

        return Desk(self._database)

    @cached_property
    def users(self) -> Users:
        """The accounts of the desk."""
        from phiscan.review.accounts.users import Users  # noqa: PLC0415 (a scan need not load it)

        return Users(self._database)

    @property
    def is_new(self) -> bool:
        """Whether opening created the database."""
        return self._database.is_new

    # Scanning

    begin_scan = Writing(scanning.begin_scan, durable=False)
    has_scanned_with = Reading(scanning.has_scanned_with)
    known = Reading(scanning.known)
    folders = Reading(folder_states.folders_of)
    duplicates = Reading(reuse.duplicates)
    present_below = Reading(recording.present_below)

    def record(
        self,
        scan_id: int,
        versions_key: str,
        results: Sequence[FileResult],
        *,
        unchanged: Sequence[int] = (),
        runs: Sequence[Run] = (),
        folders: Mapping[bytes, Sequence[FolderState]] | None = None,
        early: Early | None = None,
    ) -> None:
        """Record results, files seen again by number and by runs, and folders by root, all or nothing.

        ``early``: results that cannot be recorded yet, stored for a resumed scan. Recording the same file in
        the same scan twice replaces the first.
        """
        self._database.write(
            lambda connection: recording.record(
                connection,
                scan_id,
                versions_key,
                results,
                unchanged,
                runs=runs,
                states=folders or {},
                early=early,
            ),
            derived=not (results or folders or early),
            lock="shared",
        )

    early_results = Reading(early_records.stored_results)

    def finish_scan(
        self,
        scan_id: int,
        *,
        status: Literal["complete", "stopped"],
        seconds: float,
        now: datetime,
        whole: bool = True,
    ) -> None:
        """Close a scan; a stopped one can be resumed. The durations of its parts are added up.

        ``whole``: it crawled all of its roots, so that files that it did not find are missing.
        """
        self._database.write(
            lambda connection: scanning.finish_scan(
                connection, scan_id, status=status, seconds=seconds, now=now, whole=whole
            )
        )
        if status == "complete":
            near_duplicates.regroup_all(self._database)

    def digest_scan(self, scan_id: int, *, whole: bool, refused: int = 0, now: datetime) -> None:
        """Write the digest of a complete scan, by which a later manipulation of its results is found."""
        self._database.write(
            lambda connection: integrity.make(
                connection, scan_id, whole=whole, refused=refused, actor="phiscan", now=now
            ),
            durable=True,
        )

    # Reading

    def summary(self, scan_id: int | None = None) -> ScanSummary:
        """Count one scan (None = the latest) from its rows.

        Raises:
            StoreError: there is no such scan.
        """
        with self._database.read() as connection:
            return summaries.summary(connection, summaries.chosen_scan(connection, scan_id))

    scans = Reading(summaries.scans)

    queue = Reading(work_queue.queue)
    queue_size = Reading(work_queue.size)
    item = Reading(work_queue.item)
    find = Reading(work_queue.find)
    sampled = Reading(work_queue.sampled)
    blind = Reading(work_queue.blind)

    def rows(self, scan_id: int | None = None, *, conceal: bool = False) -> Iterator[FileRecord]:
        """Yield one row per file that the scan (None = the latest) crawled, by root and path; see ``queue``.

        Raises:
            StoreError: there is no such scan.
        """
        with self._database.read() as connection:
            number = summaries.chosen_scan(connection, scan_id)
            yield from work_queue.rows(
                connection, summaries.require_rows(connection, number), conceal=conceal
            )

    slowest_files = Reading(summaries.slowest_files)

    def present_rows(self, *, conceal: bool = False) -> Iterator[FileRecord]:
        """Yield one row per file present now on every root, with its last scan; see ``queue``."""
        with self._database.read() as connection:
            yield from work_queue.rows(connection, None, conceal=conceal)

    # Reviewing

    decide_all = Writing(deciding.decide)

    assign_all = Writing(deciding.assign)

    # Verification

    verify_audit = Reading(integrity.verify_to)
