"""Second reviews at the desk: disagreements, their settlement, and the pairs of verdicts."""

from __future__ import annotations

from datetime import datetime

from phiscan.model import Verdict
from phiscan.review.decisions import second_review
from phiscan.review.decisions.second_review import Disagreement, Rating, SecondReviewCounts
from phiscan.review.worklist.model import Decided
from phiscan.store.database import Database


class SecondReviewDesk:
    """Blind second verdicts, and who settles what."""

    _database: Database

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
