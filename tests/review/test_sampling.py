"""The blind sample: drawn like the report's elusion sample, dealt out evenly, every reviewed item counted."""

from dataclasses import replace
from itertools import pairwise

import pytest

from phiscan.errors import InputError
from phiscan.metrics import elusion as bounds
from phiscan.model import Verdict
from phiscan.report.remaining import remaining, sample_upper
from phiscan.report.sections import elusion
from phiscan.review.store import Store
from phiscan.review.worklist.model import WorkState
from phiscan.review.worklist.sampling import LeftCounts, SampleReview, Stratum
from phiscan.store.tables import sample_member
from tests.review.desk import ANY, agrees_with_the_truth, line, listed, rows, share
from tests.review.results import NOW, clear, later, pii_only, referred, scan


@pytest.fixture
def desk(store: Store) -> Store:
    """Forty referred files and thirty that were not."""
    scan(store, [*share(40), *(clear(f"clear/{n:02}.txt") for n in range(29)), pii_only("staff.csv")])
    return store


def members(store: Store, *, referred: bool) -> list[int]:
    with store._database.read() as connection:
        query = sample_member.select().where(sample_member.c.referred.is_(referred))
        return [
            row.file_id for row in connection.execute(query.order_by(sample_member.c.draw_id.desc(), "place"))
        ]


def test_the_unreferred_part_is_the_beginning_of_the_reports_order(desk: Store) -> None:
    made = desk.desk.draw_sample(n_queued=5, n_unreferred=8, by="lead", now=NOW, seed="secret")
    order = elusion.sample_order(elusion.unreferred(desk.present_rows()), made.seed)
    assert members(desk, referred=False) == [row.file_id for row in order[:8]]
    for number in members(desk, referred=False)[:3]:
        desk.desk.decide(number, Verdict.NOT_PHI, reviewer="ana", now=later(1))
    counted = elusion.estimate([*elusion.unreferred(desk.present_rows())], 0, made.seed, n_read=70)
    left = desk.desk.left().unreferred
    assert left is not None
    assert (left.population, left.drawn, left.reviewed, left.phi) == (30, 8, 3, 0)
    assert (counted.population, counted.sample, counted.found) == (30, 3, 0)


def test_the_seed_is_secret_and_another_draw_is_another_sample(desk: Store) -> None:
    first = desk.desk.draw_sample(n_queued=10, n_unreferred=10, by="lead", now=NOW)
    before = members(desk, referred=True)
    second = desk.desk.draw_sample(n_queued=10, n_unreferred=10, by="lead", now=later(1))
    assert first.seed != second.seed
    assert first.seed not in repr(first)
    assert members(desk, referred=True)[:10] != before
    assert sum(row.blind for row in rows(desk)) == 20  # the first draw's items are ordinary ones again
    assert desk.desk.last_draw() == second
    assert agrees_with_the_truth(desk)


def test_blind_items_are_dealt_evenly_over_the_list(desk: Store) -> None:
    desk.desk.draw_sample(n_queued=3, n_unreferred=3, by="lead", now=NOW)
    items = desk.desk.items(viewer="ana", now=NOW, limit=500).items
    places = [place for place, item in enumerate(items) if item.blind]
    assert len(places) == 6
    gaps = [after - before for before, after in pairwise(places)]
    assert max(gaps) <= 14


def test_every_reviewed_item_counts_as_in_the_report(desk: Store) -> None:
    desk.desk.draw_sample(n_queued=6, n_unreferred=0, by="lead", now=NOW)
    first, second, third, *_ = members(desk, referred=True)
    desk.desk.decide(third, Verdict.PHI, reviewer="ana", now=later(1))
    left = desk.desk.left()
    assert left.queued is not None
    assert (left.queued.reviewed, left.queued.phi, left.queued.found) == (1, 1, 1)
    assert left.queued.verdicts == (None, None, True, None, None, None)
    desk.desk.decide(first, Verdict.UNSURE, reviewer="ana", now=later(2))
    desk.desk.decide(second, Verdict.NOT_PHI, reviewer="ana", now=later(3))
    left = desk.desk.left()
    assert left.queued is not None
    assert (left.queued.reviewed, left.queued.phi, left.queued.found) == (3, 2, 1)
    assert (left.undecided, left.found) == (37, 1)
    assert sum(one.n for one in left.strata) == 40
    assert sum(one.n_decided for one in left.strata) == 3


def test_a_file_that_is_referred_after_all_is_an_ordinary_item(desk: Store) -> None:
    desk.desk.draw_sample(n_queued=0, n_unreferred=30, by="lead", now=NOW)
    number = desk.find("clear/00.txt")
    assert line(desk, number).blind
    scan(desk, [referred("clear/00.txt")], minutes=1, complete=False)
    assert (line(desk, number).blind, line(desk, number).n_people) == (False, 1)
    assert agrees_with_the_truth(desk)


def test_a_sample_item_that_is_decided_stays_in_the_list(desk: Store) -> None:
    desk.desk.draw_sample(n_queued=0, n_unreferred=1, by="lead", now=NOW)
    (number,) = members(desk, referred=False)
    desk.desk.decide(number, Verdict.PHI, reviewer="ana", now=NOW)
    assert line(desk, number).state is WorkState.PHI
    assert number in listed(desk, replace(ANY, state=WorkState.PHI))
    assert desk.queue_size(verdicts=[Verdict.PHI]) == 0  # it was not referred


@pytest.mark.parametrize(("n_queued", "n_unreferred"), [(-1, 0), (0, -1)])
def test_refuses_a_negative_size(desk: Store, n_queued: int, n_unreferred: int) -> None:
    with pytest.raises(InputError, match="expected sizes from 0"):
        desk.desk.draw_sample(n_queued=n_queued, n_unreferred=n_unreferred, by="lead", now=NOW)


def test_the_draw_is_logged(desk: Store) -> None:
    desk.desk.draw_sample(n_queued=2, n_unreferred=2, by="lead", now=NOW)
    check = desk.verify_audit()
    assert (check.ok, check.n_rows) == (True, 1)


STRATA = (Stratum(0.5, 0.6, 100, 20, 2), Stratum(0.9, 1.0, 50, 50, 45))


def test_what_is_left_by_the_scores() -> None:
    told = remaining(LeftCounts(80, 47, STRATA, None, None))
    assert told.by_score.expected == pytest.approx(80 * 2 / 20)
    assert told.by_score.upper is not None
    assert 8 < told.by_score.upper < 40
    assert (told.by_sample.expected, told.safe) == (None, False)
    assert "no random sample was drawn" in told.why


def test_what_is_left_by_the_sample() -> None:
    sample = SampleReview(population=1000, drawn=100, found=0, verdicts=(False,) * 100)
    told = remaining(LeftCounts(900, 400, STRATA, sample, None))
    assert (told.by_sample.expected, told.by_sample.upper) == (
        0.0,
        69,
    )  # Waudby-Smith & Ramdas, as in metrics
    assert told.recall_lower == pytest.approx(400 / 469)
    assert not told.safe
    assert remaining(LeftCounts(900, 2000, STRATA, sample, None)).safe


def test_a_gap_counts_as_phi_and_does_not_hide_what_follows() -> None:
    """The desk's bound is the report's: PHI after an item without a verdict is in it."""
    order = (False,) * 39 + (None,) + (False,) * 17 + (True,) + (None,) * 20
    sample = SampleReview(population=1000, drawn=78, found=0, verdicts=order)
    told = remaining(LeftCounts(900, 400, STRATA, sample, None))
    known = bounds.elusion(1000, 58, 2, sequential=True)
    assert told.by_sample.upper == min(known.upper_sequential or 0, 900)
    assert told.by_sample.expected == pytest.approx(1000 / 57)
    hidden = SampleReview(population=1000, drawn=78, found=0, verdicts=order[:39])
    assert (told.by_sample.upper or 0) > sample_upper(hidden, 900)


def test_nothing_left_is_safe_and_nothing_decided_is_not() -> None:
    assert remaining(LeftCounts(0, 3, (), None, None)).safe
    told = remaining(LeftCounts(9, 0, (Stratum(0.5, 0.6, 9, 0, 0),), None, None))
    assert (told.by_score.reason, told.safe) == ("nothing has been decided yet", False)
    half = remaining(LeftCounts(9, 0, (Stratum(0.5, 0.6, 9, 0, 0), Stratum(0.6, 0.7, 5, 5, 1)), None, None))
    assert half.by_score.expected is None
    assert "1 of 2 ranges" in str(half.by_score.reason)
