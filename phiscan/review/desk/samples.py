"""Samples, policy, reveals and upkeep of the desk."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from phiscan.review.accounts import owner_mails
from phiscan.review.decisions import policy as desk_policy
from phiscan.review.decisions import remedies, reveals
from phiscan.review.decisions.policy import DeskPolicy
from phiscan.review.decisions.remedies import Task
from phiscan.review.decisions.reveals import Examined, Reveal
from phiscan.review.worklist import near_duplicates, sampling
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.sampling import LeftCounts, SampleDraw
from phiscan.store.database import Database


class SampleDesk:
    """Random samples and what is left, policy, reveals, upkeep."""

    _database: Database

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

    def tasks(self, *, due_days: int, now: datetime) -> tuple[Task, ...]:
        """Return what is to be done about the confirmed files, open tasks first."""
        with self._database.read() as connection:
            return remedies.tasks(connection, due_days=due_days, now=now)

    def owner_mails(self) -> Mapping[int, tuple[tuple[datetime, str], ...]]:
        """Return when and at which address the owners of files were written to, by file."""
        with self._database.read() as connection:
            return owner_mails.sent(connection)

    def rebuild(self) -> int:
        """Make the review list again from all other tables, and return its length."""
        return self._database.write(work_rows.rebuild)

    def group_near_duplicates(self) -> int:
        """Find the groups of near-duplicates anew, and return how many there are (also after each scan)."""
        return near_duplicates.regroup_all(self._database)
