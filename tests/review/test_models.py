"""What a version may be learned from: the verdicts that stand."""

from dataclasses import replace

from phiscan.model import Verdict, WindowBag
from phiscan.review.decisions.learning import reviewed_files
from phiscan.review.store import Store
from tests.review.desk import share
from tests.review.results import NOW, later, scan


def test_a_verdict_that_was_taken_back_is_not_learned(store: Store) -> None:
    scan(store, [replace(result, window=WindowBag(500, (("C0011849", 2),))) for result in share(2)])
    desk = store.desk
    desk.decide(1, Verdict.NOT_PHI, reviewer="ana", now=NOW)
    desk.decide(2, Verdict.PHI, reviewer="ana", now=NOW)
    desk.decide(2, Verdict.NOT_PHI, reviewer="ana", now=later(1))
    desk.undo(1, by="ana", now=later(2))
    desk.undo(2, by="ana", now=later(2))
    assert [(one.file_id, one.is_phi) for one in reviewed_files(store.database)] == [(2, True)]
