"""The review store: results of scans, decisions of reviewers, and the audit log of both.

One object over one database. Every method is one short transaction, so a scan may write during review;
a failure is a ``StoreError`` of one line, and an invalid argument an ``InputError``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from phiscan.model import FileResult, Verdict
from phiscan.review.decisions import writing as deciding
from phiscan.review.integrity import scan_digests, verification
from phiscan.review.records import early_results as early_records
from phiscan.review.records import folders as folder_states
from phiscan.review.records import recording, reuse, slowest, summaries
from phiscan.review.records import scans as scanning
from phiscan.review.records.early_results import Early
from phiscan.review.records.folders import FolderState
from phiscan.review.records.items import (
    AuditCheck,
    Decision,
    FileRow,
    FileState,
    ItemDetail,
    KnownFile,
    QueueItem,
    ScanHead,
    ScanState,
    ScanSummary,
)
from phiscan.review.transactions import Reading, Writing
from phiscan.review.worklist import filtering, near_duplicates
from phiscan.review.worklist import queue as work_queue
from phiscan.review.worklist.model import WorkFilter
from phiscan.review.worklist.rows import rebuild
from phiscan.store.database import Database, open_database
from phiscan.store.sql_batches import Run

if TYPE_CHECKING:  # not needed by a scan
    from phiscan.review.accounts.users import Users
    from phiscan.review.desk.desk import Desk

__all__ = [
    "AuditCheck",
    "Decision",
    "FileRow",
    "FileState",
    "ItemDetail",
    "KnownFile",
    "QueueItem",
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
    def open(cls, url: str, *, create: bool = False, audit_key: Path | None = None) -> Self:
        """Open the database at an SQLAlchemy URL; with ``create``, create or migrate it.

        ``audit_key``: the file of the key that signs the end of the audit log; created if it is missing.

        Raises:
            StoreError: names the URL (password hidden): missing, foreign, corrupt, read-only, locked, or
                of another schema version.
        """
        return cls(open_database(url, create=create, derive=rebuild, audit_key=audit_key))

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
    folders = Reading(folder_states.following)
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

    def digest_scan(self, scan_id: int, *, whole: bool, now: datetime) -> None:
        """Write the digests of a complete scan, by which a later manipulation of its results is found."""
        self._database.write(
            lambda connection: scan_digests.make(connection, scan_id, whole=whole, actor="phiscan", now=now),
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

    def queue(
        self,
        scan_id: int | None = None,
        *,
        verdicts: Collection[Verdict | None] | None = None,
        limit: int | None = None,
        offset: int = 0,
        wanted: WorkFilter | None = None,
        conceal: bool = False,
        second_look: bool = False,
        by_probability: bool = False,
    ) -> list[QueueItem]:
        """Return referred files by descending risk, then by path.

        ``second_look``: the second list instead: not referred, but marked by a detector or the decision
        table. ``by_probability``: most probable first.

        ``scan_id`` None = the files present now on every root ever scanned, so that a scan of one share
        does not hide undecided files of another. ``verdicts`` selects items with one of these verdicts; None
        stands for undecided. ``wanted`` selects files that pass a filter now, in any state. ``conceal``:
        items that await a blind second verdict count as undecided.

        Raises:
            StoreError: there is no such scan.
        """
        with self._database.read() as connection:
            number = None if scan_id is None else summaries.chosen_scan(connection, scan_id)
            within = None if wanted is None else filtering.matching(wanted, None)
            return work_queue.queue(
                connection,
                number,
                verdicts=verdicts,
                limit=limit,
                offset=offset,
                within=within,
                conceal=conceal,
                second_look=second_look,
                by_probability=by_probability,
            )

    def queue_size(
        self,
        scan_id: int | None = None,
        *,
        verdicts: Collection[Verdict | None] | None = None,
        wanted: WorkFilter | None = None,
        conceal: bool = False,
        second_look: bool = False,
    ) -> int:
        """Count what ``queue`` returns without a limit."""
        if wanted is not None or second_look:
            found = self.queue(
                scan_id, verdicts=verdicts, wanted=wanted, conceal=conceal, second_look=second_look
            )
            return len(found)
        with self._database.read() as connection:
            return work_queue.count(connection, scan_id, verdicts, conceal=conceal)

    item = Reading(work_queue.item)
    find = Reading(work_queue.find)

    def rows(self, scan_id: int | None = None, *, conceal: bool = False) -> Iterator[FileRow]:
        """Yield one row per file that the scan (None = the latest) crawled, by root and path; see ``queue``.

        Raises:
            StoreError: there is no such scan.
        """
        with self._database.read() as connection:
            number = summaries.chosen_scan(connection, scan_id)
            yield from work_queue.rows(
                connection, summaries.require_rows(connection, number), conceal=conceal
            )

    slowest_files = Reading(slowest.slowest_files)

    def present_rows(self, *, conceal: bool = False) -> Iterator[FileRow]:
        """Yield one row per file present now on every root, with its last scan; see ``queue``."""
        with self._database.read() as connection:
            yield from work_queue.rows(connection, None, conceal=conceal)

    # Reviewing

    def decide(
        self,
        file_id: int,
        verdict: Verdict,
        *,
        reviewer: str,
        reason: str = "",
        note: str = "",
        now: datetime,
    ) -> Decision:
        """Append a decision about the content of a file as it was last examined.

        Raises:
            InputError: unknown or never read file, or no reviewer.
        """
        (made,) = self.decide_all([(file_id, verdict)], reviewer=reviewer, reason=reason, note=note, now=now)
        return made

    decide_all = Writing(deciding.decide)

    def assign(self, file_id: int, assignee: str, *, by: str, now: datetime) -> None:
        """Append the assignee of a file ("" = none); ``InputError``: unknown file."""
        self.assign_all([file_id], assignee, by=by, now=now)

    assign_all = Writing(deciding.assign)

    # Verification

    verify_audit = Reading(verification.verify_to)
