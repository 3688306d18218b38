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
from phiscan.review.records import openings, recording
from phiscan.review.records import scans as scanning
from phiscan.review.records.recording import Further
from phiscan.review.records.scans import KnownFile, ScanHead, ScanState, ScanSummary
from phiscan.review.transactions import reading, writing
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
        self._kept: sampling.Kept = {}

    # The review list

    items = reading(work_list.page)
    size = reading(work_list.size)
    numbers = reading(work_list.numbers)
    item = reading(work_list.item)
    is_listed = reading(work_list.is_listed)
    adjacent = reading(work_list.adjacent)
    place = reading(work_list.place)
    counts = reading(work_list.counts)
    choices = reading(work_list.choices)
    folder = reading(work_list.level)
    group = reading(near_duplicates.members)
    rebuild = writing(work_rows.rebuild, durable=False)

    detail = reading(work_list.detail)
    progress = reading(file_history.progress)

    # Verdicts

    decide = writing(verdicts.decide)
    decide_all = writing(verdicts.decide_all)
    decide_group = writing(verdicts.decide_group)
    decide_chosen = writing(verdicts.decide_chosen)
    undo = writing(verdicts.undo)
    undo_last = writing(verdicts.undo_last)
    redo_last = writing(verdicts.redo_last)
    last_act = reading(verdicts.last_action)
    last_undone = reading(verdicts.last_undone)
    skip = writing(verdicts.skip_item, durable=False)
    history = reading(file_history.history)
    decision_times = reading(file_history.times)
    tasks = reading(breaches.tasks)

    # Incidents

    incidents = reading(breaches.incidents)
    incident = reading(breaches.incident)
    write_incident = writing(breaches.write_incident)
    answers = reading(breaches.answers)
    about_files = reading(breaches.about_files)
    annotate = writing(breaches.annotate)
    owners = reading(breaches.owners)
    write_owner = writing(breaches.write_owner)

    # Discussion of items

    comment = writing(discussion.comment)
    tag = writing(discussion.tag)
    known_tags = reading(discussion.known_tags)
    take_back = writing(discussion.take_back)
    mentions = reading(discussion.mentions)
    n_open_mentions = reading(discussion.n_open_mentions)

    # Corrections of spans and topics, the gold standard of the scores

    correct = writing(learning.correct)
    complete_spans = writing(learning.complete_spans)
    correct_topics = writing(learning.correct_topics)
    corrections = reading(learning.corrections)

    gold = reading(learning.gold)
    topic_gold = reading(learning.topic_gold)

    # Second review, random sample, policy

    disagreements = reading(verdicts.disagreements)
    adjudicate = writing(verdicts.adjudicate)
    ratings = reading(verdicts.ratings)
    second_verdicts = reading(verdicts.verdicts_by)
    second_review_counts = reading(verdicts.counts)
    policy = reading(deciding.policy)
    set_policy = writing(deciding.set_policy)
    last_draw = reading(sampling.last_draw)
    sample_weights = reading(sampling.weights)

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

    preview_suppression = reading(list_suppressions.preview)
    suppressed_types = reading(list_suppressions.entity_types)
    template_of = reading(list_suppressions.template_of)
    suppress = writing(list_suppressions.suppress)
    approve_suppression = writing(list_suppressions.approve)
    lift_suppression = writing(list_suppressions.lift)
    suppressions = reading(list_suppressions.suppressions)

    # Reveals

    reveal = writing(deciding.reveal)
    examined = reading(deciding.examined)


class Store:
    """An open review database; a context manager."""

    def __init__(self, database: Database) -> None:
        self.database = database

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
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @cached_property
    def desk(self) -> Desk:
        """The review desk over this database."""
        return Desk(self.database)

    @cached_property
    def users(self) -> Users:
        """The accounts of the desk."""
        from phiscan.review.accounts.users import Users  # noqa: PLC0415 (a scan need not load it)

        return Users(self.database)

    # Scanning

    begin_scan = writing(scanning.begin_scan, durable=False)
    has_scanned_with = reading(scanning.has_scanned_with)
    read_again = writing(integrity.read_again)
    known = reading(scanning.known)
    folders = reading(recording.folders_of)
    duplicates = reading(recording.duplicates)
    present_below = reading(recording.present_below)

    def record(
        self, scan_id: int, versions_key: str, results: Sequence[FileResult], **further: Unpack[Further]
    ) -> None:
        """Record results, and what belongs to them, all or nothing.

        Recording the same file in the same scan twice replaces the first.
        """
        self.database.write(
            lambda connection: recording.record(connection, scan_id, versions_key, results, **further),
            derived=not (results or further.get("folders") or further.get("early")),
            lock="shared",
        )

    early_results = reading(recording.stored_results)

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
        self.database.write(
            lambda connection: scanning.finish_scan(
                connection, scan_id, status=status, seconds=seconds, now=now, whole=whole
            )
        )
        if status == "complete":
            near_duplicates.regroup_all(self.database)

    digest_scan = writing(integrity.make)

    # Reading

    summary = reading(scanning.summary)
    scans = reading(scanning.scans)

    queue = reading(work_queue.queue)
    queue_size = reading(work_queue.size)
    item = reading(work_queue.item)
    find = reading(work_queue.find)
    sampled = reading(work_queue.sampled)
    openings_together = reading(openings.openings_together)
    blind = reading(work_queue.blind)

    def rows(self, scan_id: int | None = None, *, conceal: bool = False) -> Iterator[FileRecord]:
        """Yield one row per file that the scan (None = the latest) crawled, by root and path; see ``queue``.

        Raises:
            StoreError: there is no such scan.
        """
        with self.database.read() as connection:
            number = scanning.chosen_scan(connection, scan_id)
            yield from work_queue.rows(connection, scanning.require_rows(connection, number), conceal=conceal)

    def present_rows(self, *, conceal: bool = False) -> Iterator[FileRecord]:
        """Yield one row per file present now on every root, with its last scan; see ``queue``."""
        with self.database.read() as connection:
            yield from work_queue.rows(connection, None, conceal=conceal)

    # Reviewing

    decide_all = writing(deciding.decide)

    assign_all = writing(deciding.assign)

    # Verification

    verify_audit = reading(integrity.verify_to)
