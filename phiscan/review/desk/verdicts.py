"""Verdicts of the desk, their undoing, and what was done about a file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from phiscan.model import Verdict
from phiscan.review.decisions import acts, group_verdicts, history, verdicts
from phiscan.review.decisions.acts import Act
from phiscan.review.worklist import near_duplicates
from phiscan.review.worklist.model import Decided, GroupDecision, GroupMember, HistoryEntry
from phiscan.store.database import Database

SKIP_FOR = timedelta(hours=4)  # then a skipped item comes back


class VerdictDesk:
    """Verdicts: given, taken back, skipped, and their history."""

    _database: Database

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
            lambda connection: group_verdicts.decide_group(
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

    def decide_chosen(
        self,
        file_ids: Collection[int],
        verdict: Verdict,
        *,
        reviewer: str,
        now: datetime,
        token: str = "",
        reason: str = "",
        note: str = "",
    ) -> GroupDecision:
        """Record one verdict for chosen files, for those that are undecided; one act, undone as a whole.

        Blind items are left out: they are to be looked at by themselves.

        Raises:
            InputError: more than ``MAX_AT_ONCE`` files, none is in the list; see ``decide``.
        """
        return self._database.write(
            lambda connection: group_verdicts.decide_chosen(
                connection,
                file_ids,
                verdict,
                reviewer=reviewer,
                now=now,
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

    def undo_last(self, *, by: str, now: datetime) -> Act:
        """Undo the last act of ``by`` as a whole (one verdict, or that on a group), and return it.

        Raises:
            ConflictError: there is none, or it does not hold any more.
        """
        return self._database.write(
            lambda connection: acts.undo_last(connection, by=by, now=now), durable=True
        )

    def redo_last(self, *, by: str, now: datetime) -> Act:
        """Give the verdicts again that ``by`` undid last, and return them.

        Raises:
            ConflictError: nothing was undone since their last verdict, or somebody else has decided.
        """
        return self._database.write(
            lambda connection: acts.redo_last(connection, by=by, now=now), durable=True
        )

    def last_act(self, *, by: str) -> Act | None:
        """Return the last act of ``by`` that can be undone."""
        with self._database.read() as connection:
            return acts.last_given(connection, by)

    def last_undone(self, *, by: str) -> Act | None:
        """Return what ``by`` undid last and can redo."""
        with self._database.read() as connection:
            return acts.last_undone(connection, by)

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
