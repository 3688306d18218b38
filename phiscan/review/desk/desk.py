"""The review desk: review list, verdicts and undo, corrections, second review, suppressions, reveals.

``Store.desk`` is one of these. Every method is one transaction of the function that it names, with the
function's arguments after the connection; an invalid argument is an ``InputError``, a concurrent change by
another user a ``ConflictError`` (an ``InputError`` too). Users are named by their accounts; permissions are
checked by the caller, except that a second reviewer is not the first, and a lead is neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from phiscan.model.frame import FrameCounts
from phiscan.review.decisions import corrections as span_corrections
from phiscan.review.decisions import history as file_history
from phiscan.review.decisions import incidents as breaches
from phiscan.review.decisions import remedies, reveals, second_review, verdicts
from phiscan.review.decisions import second_verdicts as desk_policy
from phiscan.review.decisions import suppressions as list_suppressions
from phiscan.review.decisions.corrections import GoldFile, TopicGold
from phiscan.review.transactions import Reading, Writing
from phiscan.review.worklist import folder_totals, near_duplicates, sampling
from phiscan.review.worklist import reading as work_list
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.model import FileRecord, Progress
from phiscan.review.worklist.queue import FindingCache
from phiscan.review.worklist.sampling import SampleDraw
from phiscan.store.database import Database


class Desk:
    """The review desk over one database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._floors: dict[str, tuple[datetime, int]] = {}  # see ``file_history.progress``
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
    folder = Reading(folder_totals.level)
    group = Reading(near_duplicates.members)
    rebuild = Writing(work_rows.rebuild, durable=False)

    def detail(self, file_id: int, *, viewer: str, now: datetime) -> FileRecord:
        """Return one item with its evidence, long lists of findings from the cache.

        Raises:
            InputError: the file is not in the list.
        """
        with self.database.read() as connection:
            return work_list.detail(connection, file_id, viewer=viewer, now=now, read=self._findings.read)

    def progress(self, *, since: datetime) -> Progress:
        """Count the decisions since a moment by reviewer; blind second verdicts are included."""
        with self.database.read() as connection:
            return file_history.progress(connection, since=since, floors=self._floors)

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
    tasks = Reading(remedies.tasks)

    # Incidents

    incidents = Reading(breaches.incidents)
    incident = Reading(breaches.incident)
    write_incident = Writing(breaches.write_incident)
    answers = Reading(breaches.answers)
    about_files = Reading(breaches.about_files)
    annotate = Writing(breaches.annotate)
    owners = Reading(breaches.owners)
    write_owner = Writing(breaches.write_owner)

    # Corrections of spans and topics, the gold standard of the scores

    correct = Writing(span_corrections.correct)
    complete_spans = Writing(span_corrections.complete_spans)
    correct_topics = Writing(span_corrections.correct_topics)
    corrections = Reading(span_corrections.corrections)

    def gold(self) -> Iterator[GoldFile]:
        """Yield the files whose spans were all checked, with the spans of reviewers and of the machine."""
        with self.database.read() as connection:
            yield from span_corrections.gold(connection)

    def topic_gold(self) -> Iterator[TopicGold]:
        """Yield the files with topics of a reviewer, with the concepts that the machine found."""
        with self.database.read() as connection:
            yield from span_corrections.topic_gold(connection)

    # Second review, random sample, policy

    disagreements = Reading(second_review.disagreements)
    adjudicate = Writing(second_review.adjudicate)
    ratings = Reading(second_review.ratings)
    second_verdicts = Reading(second_review.verdicts_by)
    second_review_counts = Reading(second_review.counts)
    policy = Reading(desk_policy.policy)
    set_policy = Writing(desk_policy.set_policy)
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

    reveal = Writing(reveals.reveal)
    examined = Reading(reveals.examined)
