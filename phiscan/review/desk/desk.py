"""The officer's desk: review list, verdicts and undo, corrections, second review, suppressions, reveals.

``Store.desk`` is one of these. Like the store's, every method is one short transaction; a wrong argument of
the user is an ``InputError``, what somebody else did meanwhile a ``ConflictError`` (an ``InputError`` too).
Names of people are those of their accounts; who may do what is for the caller to check, but that a second
reviewer is not the first, and a lead neither, is checked here.
"""

from __future__ import annotations

from phiscan.review.desk.corrections import CorrectionDesk
from phiscan.review.desk.samples import SampleDesk
from phiscan.review.desk.second_review import SecondReviewDesk
from phiscan.review.desk.suppressions import SuppressionDesk
from phiscan.review.desk.verdicts import VerdictDesk
from phiscan.review.desk.worklist import ListDesk
from phiscan.review.worklist.finding_cache import FindingCache
from phiscan.store.database import Database


class Desk(ListDesk, VerdictDesk, CorrectionDesk, SecondReviewDesk, SuppressionDesk, SampleDesk):
    """The officer's desk over one review database; each of its subjects is a class of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._floors = {}
        self._findings = FindingCache()

    def forget(self) -> None:
        """Drop what is kept in memory of files that were looked at."""
        self._findings.clear()
