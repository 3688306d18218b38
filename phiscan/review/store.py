"""The review store: results of scans, decisions of reviewers, and the audit log of both.

One object over one database. Every method is one short transaction, so a scan may write during review;
a failure is a ``StoreError`` of one line, and an invalid argument an ``InputError``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self, Unpack

from phiscan.model import FileResult
from phiscan.model.frame import FrameCounts
from phiscan.review import integrity
from phiscan.review.audit.log import AuditCheck
from phiscan.review.decisions import discussion, learning, verdicts
from phiscan.review.decisions import history as file_history
from phiscan.review.decisions import incidents as breaches
from phiscan.review.decisions import suppressions as list_suppressions
from phiscan.review.decisions import writing as deciding
from phiscan.review.records import recording
from phiscan.review.records import scans as scanning
from phiscan.review.records.file_records import FindingCache
from phiscan.review.records.recording import Further
from phiscan.review.records.scans import KnownFile, ScanHead, ScanState, ScanSummary
from phiscan.review.transactions import Reading, Writing
from phiscan.review.worklist import near_duplicates, sampling
from phiscan.review.worklist import queue as work_queue
from phiscan.review.worklist import reading as work_list
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.model import Decision, FileRecord
from phiscan.review.worklist.rows import rebuild
from phiscan.review.worklist.sampling import SampleDraw
from phiscan.store import identity
from phiscan.store.database import Database, open_database
from phiscan.store.identity import load_key

if TYPE_CHECKING:  # not needed by a scan
    from phiscan.review.accounts.users import Users

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


class Desk:
    """The review desk over one database: review list, verdicts and undo, corrections, suppressions, reveals.

    An invalid argument is an ``InputError``, a concurrent change by another user a ``ConflictError`` (an
    ``InputError`` too). Users are named by their accounts; permissions are checked by the caller, except that
    a second reviewer is not the first, and a lead is neither.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._findings = FindingCache()
        self._kept: sampling.Kept = {}

    # The review list

    items = Reading(work_list.page)
    size = Reading(work_list.size)
    numbers = Reading(work_list.numbers)
    item = Reading(work_list.item)
    is_listed = Reading(work_list.is_listed)
    adjacent = Reading(work_list.adjacent)
    place = Reading(work_list.place)
    counts = Reading(work_list.counts)
    choices = Reading(work_list.choices)
    folder = Reading(work_list.level)
    group = Reading(near_duplicates.members)
    rebuild = Writing(work_rows.rebuild, durable=False)

    def detail(self, file_id: int, *, viewer: str, now: datetime) -> FileRecord:
        """Return one item with its evidence, long lists of findings from the cache.

        Raises:
            InputError: the file is not in the list.
        """
        with self.database.read() as connection:
            return work_list.detail(connection, file_id, viewer=viewer, now=now, read=self._findings.read)

    progress = Reading(file_history.progress)

    def forget(self) -> None:
        """Clear the cache of findings."""
        self._findings.clear()

    # Verdicts

    decide = Writing(verdicts.decide)
    decide_all = Writing(verdicts.decide_all)
    decide_group = Writing(verdicts.decide_group)
    decide_chosen = Writing(verdicts.decide_chosen)
    undo = Writing(verdicts.undo)
    undo_last = Writing(verdicts.undo_last)
    redo_last = Writing(verdicts.redo_last)
    last_act = Reading(verdicts.last_action)
    last_undone = Reading(verdicts.last_undone)
    skip = Writing(verdicts.skip_item, durable=False)
    history = Reading(file_history.history)
    decision_times = Reading(file_history.times)
    tasks = Reading(breaches.tasks)

    # Incidents

    incidents = Reading(breaches.incidents)
    incident = Reading(breaches.incident)
    write_incident = Writing(breaches.write_incident)
    answers = Reading(breaches.answers)
    about_files = Reading(breaches.about_files)
    annotate = Writing(breaches.annotate)
    owners = Reading(breaches.owners)
    write_owner = Writing(breaches.write_owner)

    # Discussion of items

    comment = Writing(discussion.comment)
    tag = Writing(discussion.tag)
    known_tags = Reading(discussion.known_tags)
    take_back = Writing(discussion.take_back)
    mentions = Reading(discussion.mentions)
    n_open_mentions = Reading(discussion.n_open_mentions)

    # Corrections of spans and topics, the gold standard of the scores

    correct = Writing(learning.correct)
    complete_spans = Writing(learning.complete_spans)
    correct_topics = Writing(learning.correct_topics)
    corrections = Reading(learning.corrections)

    gold = Reading(learning.gold)
    topic_gold = Reading(learning.topic_gold)

    # Second review, random sample, policy

    disagreements = Reading(verdicts.disagreements)
    adjudicate = Writing(verdicts.adjudicate)
    ratings = Reading(verdicts.ratings)
    second_verdicts = Reading(verdicts.verdicts_by)
    second_review_counts = Reading(verdicts.counts)
    policy = Reading(deciding.policy)
    set_policy = Writing(deciding.set_policy)
    last_draw = Reading(sampling.last_draw)
    sample_weights = Reading(sampling.weights)

    def left(self) -> FrameCounts:
        """Count the frame of what is left and what was missed, now; see ``sampling.left``."""
        with self.database.read() as connection:
            return sampling.left(connection, kept=self._kept)

    def draw_sample(
        self, *, n_queued: int, n_unreferred: int, by: str, now: datetime, seed: str = ""
    ) -> SampleDraw:
        """Draw undecided referred files and unreferred files at random, for blind judgement in the list.

        A draw replaces the previous one. Without a seed a secret one is generated.

        Raises:
            InputError: a size is negative.
        """
        with self.database.read() as connection:  # reads all files: no writer should wait for that
            planned = sampling.plan(connection, n_queued=n_queued, n_unreferred=n_unreferred, seed=seed)
        return self.database.write(
            lambda connection: sampling.draw(connection, planned, by=by, now=now), durable=True
        )

    # Suppressions

    preview_suppression = Reading(list_suppressions.preview)
    suppressed_types = Reading(list_suppressions.entity_types)
    suppress = Writing(list_suppressions.suppress)
    approve_suppression = Writing(list_suppressions.approve)
    lift_suppression = Writing(list_suppressions.lift)
    suppressions = Reading(list_suppressions.suppressions)

    # Reveals

    reveal = Writing(deciding.reveal)
    examined = Reading(deciding.examined)


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
    read_again = Writing(integrity.read_again)
    known = Reading(scanning.known)
    folders = Reading(recording.folders_of)
    duplicates = Reading(recording.duplicates)
    present_below = Reading(recording.present_below)

    def record(
        self, scan_id: int, versions_key: str, results: Sequence[FileResult], **further: Unpack[Further]
    ) -> None:
        """Record results, and what belongs to them, all or nothing.

        Recording the same file in the same scan twice replaces the first.
        """
        self._database.write(
            lambda connection: recording.record(connection, scan_id, versions_key, results, **further),
            derived=not (results or further.get("folders") or further.get("early")),
            lock="shared",
        )

    early_results = Reading(recording.stored_results)

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

    digest_scan = Writing(integrity.make)

    # Reading

    def summary(self, scan_id: int | None = None) -> ScanSummary:
        """Count one scan (None = the latest) from its rows.

        Raises:
            StoreError: there is no such scan.
        """
        with self._database.read() as connection:
            return scanning.summary(connection, scanning.chosen_scan(connection, scan_id))

    scans = Reading(scanning.scans)

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
            number = scanning.chosen_scan(connection, scan_id)
            yield from work_queue.rows(connection, scanning.require_rows(connection, number), conceal=conceal)

    slowest_files = Reading(scanning.slowest_files)

    def present_rows(self, *, conceal: bool = False) -> Iterator[FileRecord]:
        """Yield one row per file present now on every root, with its last scan; see ``queue``."""
        with self._database.read() as connection:
            yield from work_queue.rows(connection, None, conceal=conceal)

    # Reviewing

    decide_all = Writing(deciding.decide)

    assign_all = Writing(deciding.assign)

    # Verification

    verify_audit = Reading(integrity.verify_to)
