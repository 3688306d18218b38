"""The officer's desk: review list, verdicts and undo, corrections, second review, suppressions, reveals.

``Store.desk`` is one of these. Like the store's, every method is one short transaction; a wrong argument of
the user is an ``InputError``, what somebody else did meanwhile a ``ConflictError`` (an ``InputError`` too).
Names of people are those of their accounts; who may do what is for the caller to check, but that a second
reviewer is not the first, and a lead neither, is checked here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta

from phiscan.model import EntityType, Span, Verdict
from phiscan.review import (
    corrections,
    desk_policy,
    history,
    near_duplicates,
    reveals,
    sampling,
    second_review,
    suppressions,
    verdicts,
    work_list,
    work_rows,
)
from phiscan.review.corrections import Correction, GoldFile, ItemCorrections, Mark, TopicGold
from phiscan.review.database import Database
from phiscan.review.desk_policy import DeskPolicy
from phiscan.review.reveals import Examined, Reveal
from phiscan.review.sampling import LeftCounts, SampleDraw
from phiscan.review.second_review import Disagreement, Rating, SecondReviewCounts
from phiscan.review.suppressions import Suppression, SuppressionPreview, SuppressionScope
from phiscan.review.work import (
    Choices,
    Decided,
    GroupDecision,
    GroupMember,
    HistoryEntry,
    Progress,
    WorkCounts,
    WorkDetail,
    WorkFilter,
    WorkItem,
    WorkOrder,
    WorkPage,
)

SKIP_FOR = timedelta(hours=4)  # then a skipped item comes back


class Desk:
    """The officer's desk over one review database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # The list

    def items(
        self,
        wanted: WorkFilter | None = None,
        *,
        viewer: str,
        now: datetime,
        order: WorkOrder = WorkOrder.RISK,
        limit: int = 50,
        cursor: str = "",
    ) -> WorkPage:
        """Return a part of the list as ``viewer`` may see it, from a cursor that a page before gave.

        Raises:
            InputError: the cursor is none of this order.
        """
        with self._database.read() as connection:
            return work_list.page(
                connection,
                wanted or WorkFilter(),
                viewer=viewer,
                now=now,
                order=order,
                limit=limit,
                cursor=cursor,
            )

    def size(self, wanted: WorkFilter | None = None, *, viewer: str, now: datetime) -> int:
        """Count what ``items`` returns over all its pages."""
        with self._database.read() as connection:
            return work_list.size(connection, wanted or WorkFilter(), viewer=viewer, now=now)

    def item(self, file_id: int, *, viewer: str, now: datetime) -> WorkItem:
        """Return one line of the list.

        Raises:
            InputError: the file is not in the list (any more).
        """
        with self._database.read() as connection:
            return work_list.item(connection, file_id, viewer=viewer, now=now)

    def detail(self, file_id: int, *, viewer: str, now: datetime) -> WorkDetail:
        """Return one item with what explains it, as far as ``viewer`` may see it.

        Raises:
            InputError: the file is not in the list (any more).
        """
        with self._database.read() as connection:
            return work_list.detail(connection, file_id, viewer=viewer, now=now)

    def next_after(
        self,
        file_id: int,
        wanted: WorkFilter | None = None,
        *,
        viewer: str,
        now: datetime,
        order: WorkOrder = WorkOrder.RISK,
    ) -> int | None:
        """Return the item that follows ``file_id`` in a list, whether that is still in it or not.

        None = it was the last; the list may have items before it all the same.
        """
        with self._database.read() as connection:
            return work_list.next_after(
                connection, file_id, wanted or WorkFilter(), viewer=viewer, now=now, order=order
            )

    def before(
        self,
        file_id: int,
        wanted: WorkFilter | None = None,
        *,
        viewer: str,
        now: datetime,
        order: WorkOrder = WorkOrder.RISK,
    ) -> int | None:
        """Return the item before ``file_id`` in a list; None = it was the first, or has no place there."""
        with self._database.read() as connection:
            return work_list.next_after(
                connection,
                file_id,
                wanted or WorkFilter(),
                viewer=viewer,
                now=now,
                order=order,
                backward=True,
            )

    def counts(self, *, viewer: str, now: datetime) -> WorkCounts:
        """Count the items by state."""
        with self._database.read() as connection:
            return work_list.counts(connection, viewer=viewer, now=now)

    def progress(self, *, since: datetime) -> Progress:
        """Count what was decided since a moment, by whom; blind second verdicts are among them."""
        with self._database.read() as connection:
            return history.progress(connection, since=since)

    def choices(self) -> Choices:
        """Return the values that filters can be set to."""
        with self._database.read() as connection:
            return work_list.choices(connection)

    # Verdicts

    def decide(
        self,
        file_id: int,
        verdict: Verdict,
        *,
        reviewer: str,
        now: datetime,
        token: str = "",
        seen: int | None = None,
        override: bool = False,
        reason: str = "",
        note: str = "",
    ) -> Decided:
        """Record a verdict, once per form.

        When the item awaits a blind second verdict from somebody else, this is that verdict: the caller need
        not know, and its answer does not tell.

        Args:
            file_id: the file.
            verdict: phi, not_phi or unsure.
            reviewer: who decides.
            now: when.
            token: random text of the form; the same token again adds nothing and answers the same.
            seen: ``WorkItem.examination_id`` of what the reviewer saw.
            override: also when somebody else has decided it since.
            reason: a name of ``REASONS``, or own words; at most 200 characters.
            note: free text, at most ``MAX_NOTE_CHARS`` characters.

        Raises:
            ConflictError: the content has changed since it was seen, or somebody else has decided it.
            InputError: unknown or never read file, no reviewer, a text too long, a token of another form.
        """
        return self._database.write(
            lambda connection: verdicts.decide(
                connection,
                file_id,
                verdict,
                reviewer=reviewer,
                now=now,
                token=token,
                seen=seen,
                override=override,
                reason=reason,
                note=note,
            ),
            durable=True,
        )

    def decide_all(
        self,
        given: Sequence[tuple[int, Verdict]],
        *,
        reviewer: str,
        now: datetime,
        reason: str = "",
        note: str = "",
    ) -> int:
        """Record a verdict for each of some files, all or none, and return how many.

        As ``decide`` with ``override``: what awaits a blind second verdict gets it, and the answer does not
        tell which files these were.

        Raises:
            InputError: unknown or never read file, no reviewer, or two others disagree about one.
        """
        return self._database.write(
            lambda connection: verdicts.decide_all(
                connection, given, reviewer=reviewer, now=now, reason=reason, note=note
            ),
            durable=True,
        )

    def decide_group(
        self,
        group_id: int,
        verdict: Verdict,
        *,
        reviewer: str,
        now: datetime,
        exceptions: Collection[int] = (),
        token: str = "",
        reason: str = "",
        note: str = "",
    ) -> GroupDecision:
        """Record one verdict for every undecided file of a near-duplicate group but the exceptions.

        Blind items are left out: they are to be looked at by themselves.

        Raises:
            InputError: there is no such group; see ``decide``.
        """
        return self._database.write(
            lambda connection: verdicts.decide_group(
                connection,
                group_id,
                verdict,
                reviewer=reviewer,
                now=now,
                exceptions=exceptions,
                token=token,
                reason=reason,
                note=note,
            ),
            durable=True,
        )

    def undo(self, file_id: int, *, by: str, now: datetime, lead: bool = False) -> None:
        """Take back the last verdict that ``by`` gave about the content; what stood before stands again.

        With ``lead``, also a verdict that somebody else gave.

        Raises:
            ConflictError: nothing of theirs stands, or it was settled by a lead meanwhile.
        """
        self._database.write(
            lambda connection: verdicts.undo(connection, file_id, by=by, now=now, lead=lead), durable=True
        )

    def undo_last(self, *, by: str, now: datetime) -> int:
        """Take back the very last verdict that ``by`` gave, and return its file.

        Raises:
            ConflictError: there is none, or it does not stand any more.
        """
        return self._database.write(
            lambda connection: verdicts.undo_last(connection, by=by, now=now), durable=True
        )

    def skip(self, file_id: int, *, reviewer: str, now: datetime, until: datetime | None = None) -> None:
        """Pass over an item for now; it comes back to this reviewer after four hours, or then."""
        self._database.write(
            lambda connection: verdicts.skip_item(
                connection, file_id, reviewer=reviewer, until=until or now + SKIP_FOR
            )
        )

    def history(self, file_id: int, *, viewer: str) -> tuple[HistoryEntry, ...]:
        """Return what was done about a file, oldest first, as far as ``viewer`` may see it."""
        with self._database.read() as connection:
            return history.history(connection, file_id, viewer=viewer)

    def group(self, group_id: int, *, viewer: str) -> tuple[GroupMember, ...]:
        """Return the files of a near-duplicate group, the first file of the group first."""
        with self._database.read() as connection:
            return near_duplicates.members(connection, group_id, viewer=viewer)

    # Corrections

    def correct(
        self,
        file_id: int,
        mark: Mark,
        *,
        seen: int,
        reviewer: str,
        now: datetime,
        position: int | None = None,
        span: Span | None = None,
        entity_type: EntityType | None = None,
    ) -> Correction:
        """Say what is right of one span; what is not given is taken from the finding.

        Args:
            file_id: the file.
            mark: ``wrong_type`` needs the right ``entity_type``, ``wrong_extent`` the right ``span``,
                ``missed`` both and no ``position``; ``withdrawn`` takes back what was said of a position, or
                of the missed ``span``.
            seen: the examination whose findings were shown.
            reviewer: who says so.
            now: when.
            position: place of the finding in ``ItemDetail.findings``.
            span: code points of the extracted text.
            entity_type: type of the identifier.

        Raises:
            ConflictError: the file was examined anew since it was shown.
            InputError: no such finding, or the mark lacks something, or the span reaches beyond the text.
        """
        return self._database.write(
            lambda connection: corrections.correct(
                connection,
                file_id,
                mark,
                seen=seen,
                reviewer=reviewer,
                now=now,
                position=position,
                span=span,
                entity_type=entity_type,
            ),
            durable=True,
        )

    def complete_spans(
        self, file_id: int, *, seen: int, reviewer: str, now: datetime, complete: bool = True
    ) -> None:
        """Say that every span of a file was gone through (or not after all): it becomes gold.

        Raises:
            ConflictError: the file was examined anew since it was shown.
        """
        self._database.write(
            lambda connection: corrections.complete_spans(
                connection, file_id, seen=seen, reviewer=reviewer, now=now, complete=complete
            ),
            durable=True,
        )

    def correct_topics(
        self, file_id: int, labels: Sequence[str], *, seen: int, reviewer: str, now: datetime
    ) -> None:
        """Say which ICD chapters and blocks a file is about; none = about none.

        Raises:
            ConflictError: the file was examined anew since it was shown.
            InputError: a label is empty, too long, or there are too many.
        """
        self._database.write(
            lambda connection: corrections.correct_topics(
                connection, file_id, labels, seen=seen, reviewer=reviewer, now=now
            ),
            durable=True,
        )

    def corrections(self, file_id: int, *, viewer: str | None = None) -> ItemCorrections:
        """Return what stands about the spans and topics of a file's present content.

        Without a ``viewer`` all of it; with one, as far as that person may see it.
        """
        with self._database.read() as connection:
            return corrections.corrections(connection, file_id, viewer=viewer)

    def gold(self) -> Iterator[GoldFile]:
        """Yield the files whose spans were gone through, what is there and what the machine found."""
        with self._database.read() as connection:
            yield from corrections.gold(connection)

    def topic_gold(self) -> Iterator[TopicGold]:
        """Yield the files whose topics a reviewer gave, with the concepts that the machine found."""
        with self._database.read() as connection:
            yield from corrections.topic_gold(connection)

    # Second review

    def disagreements(self, *, lead: str) -> tuple[Disagreement, ...]:
        """Return what this lead may settle: both verdicts are by others; oldest first."""
        with self._database.read() as connection:
            return second_review.disagreements(connection, lead=lead)

    def adjudicate(
        self,
        second_review_id: int,
        verdict: Verdict,
        *,
        lead: str,
        now: datetime,
        reason: str = "",
        note: str = "",
    ) -> Decided:
        """Settle a disagreement: the lead's verdict stands.

        Raises:
            ConflictError: it is settled already, or there is no disagreement any more.
            InputError: no such second review, or the lead gave one of the two verdicts.
        """
        return self._database.write(
            lambda connection: second_review.adjudicate(
                connection, second_review_id, verdict, lead=lead, now=now, reason=reason, note=note
            ),
            durable=True,
        )

    def ratings(self) -> tuple[Rating, ...]:
        """Return the pairs of verdicts of all second reviews, for ``phiscan.metrics.agreement``."""
        with self._database.read() as connection:
            return second_review.ratings(connection)

    def second_verdicts(self, *, reviewer: str) -> dict[int, Verdict]:
        """Return by file the second verdicts of one person that stand on the present contents."""
        with self._database.read() as connection:
            return second_review.verdicts_by(connection, reviewer)

    def second_review_counts(self) -> SecondReviewCounts:
        """Count how far the second review has come."""
        with self._database.read() as connection:
            return second_review.counts(connection)

    # Suppressions

    def preview_suppression(self, scope: SuppressionScope, *, now: datetime) -> SuppressionPreview:
        """Say how many items a suppression would hide, and whether it needs a lead's approval.

        Raises:
            InputError: the scope names nothing.
        """
        with self._database.read() as connection:
            return suppressions.preview(connection, scope, now=now)

    def suppress(
        self, scope: SuppressionScope, *, reason: str, until: datetime, by: str, now: datetime
    ) -> Suppression:
        """Make a suppression; a broad one waits for ``approve_suppression``.

        Raises:
            InputError: the scope names nothing, no reason, or the end is not in the future.
        """
        return self._database.write(
            lambda connection: suppressions.suppress(
                connection, scope, reason=reason, until=until, by=by, now=now
            ),
            durable=True,
        )

    def approve_suppression(self, suppression_id: int, *, lead: str, now: datetime) -> None:
        """Let a broad suppression hold.

        Raises:
            ConflictError: it holds already, was lifted or has ended.
            InputError: there is none, or the lead made it.
        """
        self._database.write(
            lambda connection: suppressions.approve(connection, suppression_id, lead=lead, now=now),
            durable=True,
        )

    def lift_suppression(self, suppression_id: int, *, by: str, now: datetime, reason: str = "") -> None:
        """Take a suppression back; what it hid is in the list again.

        Raises:
            ConflictError: it was lifted before.
            InputError: there is none.
        """
        self._database.write(
            lambda connection: suppressions.lift(connection, suppression_id, by=by, now=now, reason=reason),
            durable=True,
        )

    def suppressions(self, *, now: datetime) -> tuple[Suppression, ...]:
        """Return every suppression ever made, the newest first."""
        with self._database.read() as connection:
            return suppressions.suppressions(connection, now=now)

    # Samples and policy

    def policy(self) -> DeskPolicy:
        """Return how the desk works."""
        with self._database.read() as connection:
            return desk_policy.policy(connection)

    def set_policy(self, *, second_review: float, hide_limit: int, by: str, now: datetime) -> DeskPolicy:
        """Say how the desk works from now on; nothing is added when it stands so already.

        Raises:
            InputError: a number out of range.
        """
        return self._database.write(
            lambda connection: desk_policy.set_policy(
                connection, share=second_review, hide_limit=hide_limit, by=by, now=now
            ),
            durable=True,
        )

    def draw_sample(
        self, *, n_queued: int, n_unreferred: int, by: str, now: datetime, seed: str = ""
    ) -> SampleDraw:
        """Draw undecided referred files and unreferred files at random, to be judged blind among the others.

        A draw takes the place of the one before. Without a seed a secret one is made.

        Raises:
            InputError: a size is negative.
        """
        with self._database.read() as connection:  # all files are looked at: nobody waits for that
            planned = sampling.plan(connection, n_queued=n_queued, n_unreferred=n_unreferred, seed=seed)
        return self._database.write(
            lambda connection: sampling.draw(connection, planned, by=by, now=now), durable=True
        )

    def last_draw(self) -> SampleDraw | None:
        """Return the draw that stands; None = none was made."""
        with self._database.read() as connection:
            return sampling.last_draw(connection)

    def left(self) -> LeftCounts:
        """Count what ``phiscan.report.remaining`` estimates from how much PHI is left in the list."""
        with self._database.read() as connection:
            return sampling.left(connection)

    # Reveals

    def reveal(self, file_id: int, *, purpose: str, by: str, now: datetime) -> Reveal:
        """Record that a person asks to see a file's text, and what for; then it may be read.

        Raises:
            InputError: unknown or never read file, or no purpose.
        """
        return self._database.write(
            lambda connection: reveals.reveal(connection, file_id, purpose=purpose, by=by, now=now),
            durable=True,
        )

    def examined(self, file_id: int) -> Examined:
        """Return a file as it was examined, to be read again without showing its text.

        Raises:
            InputError: unknown or never read file.
        """
        with self._database.read() as connection:
            return reveals.examined(connection, file_id)

    # Upkeep

    def rebuild(self) -> int:
        """Make the review list again from all other tables, and return its length."""
        return self._database.write(work_rows.rebuild)

    def group_near_duplicates(self) -> int:
        """Find the groups of near-duplicates anew, and return how many there are (also after each scan)."""
        with self._database.read() as connection:
            groups = near_duplicates.find_groups(connection)
        return self._database.write(lambda connection: near_duplicates.regroup(connection, groups))
