"""The review store: what scans found, what reviewers decided, and the log of both.

One object over one database. Every method is one short transaction, so a scan may write while people
review; a failure is a ``StoreError`` of one line, and a wrong argument of the user an ``InputError``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from phiscan.model import FileResult, Verdict
from phiscan.review.decisions import writing as deciding
from phiscan.review.integrity import scan_digests, verification
from phiscan.review.records import early_results, folders, recording, reuse, slowest, summaries
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
from phiscan.review.worklist import filtering, near_duplicates, queue
from phiscan.review.worklist.model import WorkFilter
from phiscan.review.worklist.rows import rebuild
from phiscan.store.database import Database, open_database
from phiscan.store.sql_batches import Run

if TYPE_CHECKING:  # a scan asks for neither
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
        """Open the database at an SQLAlchemy URL; with ``create`` make it, or bring it up to date.

        ``audit_key``: the file of the key that signs the end of the audit log; it is made if it is missing.

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
        """The database underneath, for the modules of this room that a screen or command calls itself."""
        return self._database

    @cached_property
    def desk(self) -> Desk:
        """The officer's desk over this database."""
        from phiscan.review.desk.desk import Desk  # noqa: PLC0415 (a scan need not load it)

        return Desk(self._database)

    @cached_property
    def users(self) -> Users:
        """The people who review."""
        from phiscan.review.accounts.users import Users  # noqa: PLC0415 (a scan need not load it)

        return Users(self._database)

    @property
    def is_new(self) -> bool:
        """Whether opening it made the database."""
        return self._database.is_new

    # Scanning

    def begin_scan(
        self,
        roots: Sequence[bytes],
        *,
        versions: Mapping[str, str],
        options: Mapping[str, Any],
        now: datetime,
    ) -> ScanState:
        """Go on with the unfinished scan of exactly these roots, versions and options, else begin one."""
        return self._database.write(
            lambda connection: scanning.begin_scan(
                connection, roots, versions=versions, options=options, now=now
            )
        )

    def has_scanned_with(self, versions: Mapping[str, str]) -> bool:
        """Tell whether a scan by exactly these versions came to its end."""
        with self._database.read() as connection:
            return scanning.has_scanned_with(connection, versions)

    def known(self, root: bytes, paths: Sequence[bytes], *, after: int = 0) -> dict[bytes, KnownFile]:
        """Return the latest examination of each of these paths that was crawled before.

        Asking for paths in the order of the crawl is cheapest, each time ``after`` the highest number that
        the time before gave.
        """
        with self._database.read() as connection:
            return scanning.known(connection, root, paths, after=after)

    def folders(self, root: bytes, place: bytes, *, limit: int) -> list[FolderState]:
        """Return what is noted of folders of a root from a place on, in the order of the crawl."""
        with self._database.read() as connection:
            return folders.following(connection, root, place, limit=limit)

    def duplicates(
        self, sizes: Sequence[int], versions_key: str, *, scan_id: int | None = None
    ) -> dict[int, tuple[str, ...]]:
        """Return by size the contents that these versions screened, of all scans or of one."""
        with self._database.read() as connection:
            return reuse.duplicates(connection, sizes, versions_key, scan_id=scan_id)

    def present_below(self, root: bytes, folder: bytes) -> list[int]:
        """Return the numbers of the files present in a folder of a root (b"" = the root itself), in order."""
        with self._database.read() as connection:
            return recording.present_below(connection, root, folder)

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

        ``early``: results that cannot be recorded yet, kept for a resumed scan. Recording the same file in
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

    def early_results(self, scan_id: int) -> dict[tuple[bytes, bytes], FileResult]:
        """Return by root and path the results of a scan that it could not record before it was stopped."""
        with self._database.read() as connection:
            return early_results.kept(connection, scan_id)

    def finish_scan(
        self,
        scan_id: int,
        *,
        status: Literal["complete", "stopped"],
        seconds: float,
        now: datetime,
        whole: bool = True,
    ) -> None:
        """Close a scan; a stopped one stays resumable. The seconds of its parts add up.

        ``whole``: it looked at all of its roots, so that what it did not find is gone.
        """
        self._database.write(
            lambda connection: scanning.finish_scan(
                connection, scan_id, status=status, seconds=seconds, now=now, whole=whole
            )
        )
        if status == "complete":
            near_duplicates.regroup_all(self._database)

    def digest_scan(self, scan_id: int, *, whole: bool, now: datetime) -> None:
        """Write the digests of a complete scan, by which a later change of its results is found."""
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

    def scans(self) -> list[ScanHead]:
        """Return one line per scan, oldest first."""
        with self._database.read() as connection:
            return summaries.scans(connection)

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
        """Return referred files by falling risk, then by path.

        ``second_look``: the second list instead: not referred, but marked by a detector or the table of
        cases. ``by_probability``: the most probable first.

        ``scan_id`` None = the files present now on every root ever scanned, so that a scan of one share
        does not hide what is undecided on another. ``verdicts`` keeps items with one of these verdicts,
        None standing for undecided. ``wanted`` narrows to files that pass a filter now, whatever its state.
        ``conceal``: what awaits a blind second verdict is undecided, as for anybody who could give it.

        Raises:
            StoreError: there is no such scan.
        """
        with self._database.read() as connection:
            number = None if scan_id is None else summaries.chosen_scan(connection, scan_id)
            within = None if wanted is None else filtering.matching(wanted, None)
            return queue.queue(
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
            return queue.count(connection, scan_id, verdicts, conceal=conceal)

    def item(self, file_id: int, *, conceal: bool = False) -> ItemDetail:
        """Return one file with everything that explains its referral.

        ``conceal``: without what somebody who is to judge it blind must not see.

        Raises:
            InputError: there is no such file.
        """
        with self._database.read() as connection:
            return queue.item(connection, file_id, conceal=conceal)

    def find(self, path_display: str) -> int:
        """Return the number of the file with this path (relative to its root, or absolute) or number.

        Raises:
            InputError: no file or several files answer to it.
        """
        with self._database.read() as connection:
            return queue.find(connection, path_display)

    def rows(self, scan_id: int | None = None, *, conceal: bool = False) -> Iterator[FileRow]:
        """Yield one row per file that the scan (None = the latest) crawled, by root and path; see ``queue``.

        Raises:
            StoreError: there is no such scan.
        """
        with self._database.read() as connection:
            number = summaries.chosen_scan(connection, scan_id)
            yield from queue.rows(connection, summaries.require_rows(connection, number), conceal=conceal)

    def slowest_files(self, scan_id: int) -> list[slowest.SlowFile]:
        """Return the ten files that took a worker longest in a scan, the slowest first."""
        with self._database.read() as connection:
            return slowest.slowest_files(connection, scan_id)

    def present_rows(self, *, conceal: bool = False) -> Iterator[FileRow]:
        """Yield one row per file present now on every root, whichever scan saw it last; see ``queue``."""
        with self._database.read() as connection:
            yield from queue.rows(connection, None, conceal=conceal)

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

    def decide_all(
        self,
        verdicts: Sequence[tuple[int, Verdict]],
        *,
        reviewer: str,
        reason: str = "",
        note: str = "",
        now: datetime,
    ) -> list[Decision]:
        """Append many decisions in one transaction, all or none; see ``decide``."""
        return self._database.write(
            lambda connection: deciding.decide(
                connection, verdicts, reviewer=reviewer, reason=reason, note=note, now=now
            ),
            durable=True,
        )

    def assign(self, file_id: int, assignee: str, *, by: str, now: datetime) -> None:
        """Append who shall decide about a file ("" = no person any more); ``InputError``: unknown file."""
        self.assign_all([file_id], assignee, by=by, now=now)

    def assign_all(self, file_ids: Sequence[int], assignee: str, *, by: str, now: datetime) -> None:
        """Append many assignments in one transaction, all or none; see ``assign``."""
        self._database.write(
            lambda connection: deciding.assign(connection, file_ids, assignee, by=by, now=now), durable=True
        )

    # Proving

    def verify_audit(self, *, head: str = "") -> AuditCheck:
        """Check the audit log and everything against it; ``head``: a hash noted earlier."""
        with self._database.read() as connection:
            return verification.verify_to(connection, head)
