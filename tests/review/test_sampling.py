"""The blind sample: drawn at random, dealt out evenly, judged opened or by name; the frame that it bounds."""

from dataclasses import replace
from itertools import pairwise

import pytest

from phiscan.errors import InputError
from phiscan.metrics.remaining import remaining
from phiscan.model import Verdict
from phiscan.review.store import Store
from phiscan.review.worklist.model import WorkState
from tests.review.desk import ANY, agrees_with_the_truth, line, listed, rows, share
from tests.review.results import NOW, clear, failed, later, pii_only, referred, scan
from tests.review.samples import members

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def desk(store: Store) -> Store:
    """Forty referred files and thirty that were not."""
    scan(store, [*share(40), *(clear(f"clear/{n:02}.txt") for n in range(29)), pii_only("staff.csv")])
    return store


def test_the_seed_is_secret_and_another_draw_is_another_sample(desk: Store) -> None:
    first = desk.desk.draw_sample(n_queued=10, n_unreferred=10, by="lead", now=NOW)
    before = members(desk.database, referred=True)
    second = desk.desk.draw_sample(n_queued=10, n_unreferred=10, by="lead", now=later(1))
    assert first.seed != second.seed
    assert first.seed not in repr(first)
    assert members(desk.database, referred=True)[:10] != before
    assert sum(row.blind for row in rows(desk)) == 20  # the first draw's items are ordinary ones again
    assert desk.desk.last_draw() == second
    check = desk.verify_audit()
    assert (check.ok, check.n_rows) == (True, 2)
    assert agrees_with_the_truth(desk)


def test_blind_items_are_dealt_evenly_over_the_list(desk: Store) -> None:
    desk.desk.draw_sample(n_queued=3, n_unreferred=3, by="lead", now=NOW)
    items = desk.desk.items(viewer="ana", now=NOW, limit=500).items
    places = [place for place, item in enumerate(items) if item.blind]
    assert len(places) == 6
    gaps = [after - before for before, after in pairwise(places)]
    assert max(gaps) <= 14


def test_every_reviewed_item_counts_and_an_unsure_one_as_phi(desk: Store) -> None:
    desk.desk.draw_sample(n_queued=6, n_unreferred=0, by="lead", now=NOW)
    first, second, third, *_ = members(desk.database, referred=True)
    desk.decide_all([(third, Verdict.PHI)], reviewer="ana", now=later(1))
    listed_part = desk.desk.left().listed
    assert (listed_part.population, listed_part.reviewed, listed_part.phi, listed_part.found_since) == (
        40,
        1,
        1,
        1,
    )
    assert listed_part.verdicts == (None, None, True, None, None, None)
    desk.decide_all([(first, Verdict.UNSURE)], reviewer="ana", now=later(2))
    desk.decide_all([(second, Verdict.NOT_PHI)], reviewer="ana", now=later(3))
    counts = desk.desk.left()
    assert (counts.listed.reviewed, counts.listed.phi, counts.listed.found_since) == (3, 2, 1)
    assert (counts.undecided, counts.listed.open, counts.listed.found, counts.unsure) == (37, 38, 1, 1)


def test_files_that_arrive_after_the_draw_are_covered_by_no_sample(desk: Store) -> None:
    desk.desk.draw_sample(n_queued=40, n_unreferred=30, by="lead", now=NOW)
    for referred_too in (True, False):
        for number in members(desk.database, referred=referred_too):
            desk.decide_all([(number, Verdict.NOT_PHI)], reviewer="ana", now=later(1))
    assert remaining(desk.desk.left()).safe
    arrived = [*share(12, folder="new"), clear("new/minutes.txt"), failed("new/locked.pdf")]
    scan(desk, arrived, unchanged=[row.path for row in desk.present_rows()], minutes=5)
    known = remaining(desk.desk.left())
    assert (known.undecided, known.arrived_since_sample, known.unread, known.safe) == (12, 13, 1, False)
    assert (known.left_in_list.upper, known.missed_in_rest.upper) == (12, 1)
    assert "13 files arrived since the sample" in known.why
    assert "1 file could not be read" in known.why
    desk.desk.draw_sample(n_queued=12, n_unreferred=1, by="lead", now=later(7))
    assert remaining(desk.desk.left()).arrived_since_sample == 0


def test_files_in_a_language_that_is_not_read_need_a_verdict_of_their_own(store: Store) -> None:
    notes = [replace(clear(f"notes/{n}.txt"), language="ru", covered=False) for n in range(2)]
    scan(store, [*share(4), *(clear(f"clear/{n}.txt") for n in range(3)), *notes])
    store.desk.draw_sample(n_queued=4, n_unreferred=5, by="lead", now=NOW)
    for number in members(store.database, referred=True):
        store.decide_all([(number, Verdict.NOT_PHI)], reviewer="ana", now=later(1))
    is_note = {row.file_id: row.path.startswith("notes") for row in store.present_rows()}
    n_left = 2
    for number in sorted(members(store.database, referred=False), key=lambda one: is_note[one]):
        known = remaining(store.desk.left())
        assert (known.not_covered, known.safe) == (n_left, False)
        store.decide_all([(number, Verdict.NOT_PHI)], reviewer="ana", now=later(2))
        n_left -= is_note[number]
    known = remaining(store.desk.left())
    assert (known.not_covered, known.safe) == (0, True)


def test_what_awaits_a_second_verdict_or_a_lead_is_not_final(desk: Store) -> None:
    desk.desk.set_policy(second_review=1, hide_limit=20, by="lead", now=NOW)
    desk.desk.decide(1, Verdict.PHI, reviewer="ana", now=later(1))
    counts = desk.desk.left()
    assert (counts.undecided, counts.listed.open, counts.listed.found, counts.disputes) == (40, 40, 0, 0)
    desk.desk.decide(1, Verdict.NOT_PHI, reviewer="bob", now=later(2))
    counts = desk.desk.left()
    assert (counts.undecided, counts.listed.open, counts.listed.found, counts.disputes) == (39, 40, 0, 1)
    assert "Two reviewers disagree about 1 file" in remaining(counts).why


def test_weights_are_population_over_reviewed_beginning(desk: Store) -> None:
    desk.desk.draw_sample(n_queued=4, n_unreferred=5, by="lead", now=NOW)
    queued, rest = (members(desk.database, referred=kind) for kind in (True, False))
    some = [*queued[:2], queued[3], rest[0]]
    desk.decide_all([(number, Verdict.NOT_PHI) for number in some], reviewer="ana", now=later(1))
    assert desk.desk.sample_weights() == {queued[0]: 20.0, queued[1]: 20.0, rest[0]: 30.0}


def test_a_stopped_scan_and_an_empty_database_are_not_safe(store: Store) -> None:
    assert not remaining(store.desk.left()).safe
    scan(store, [clear("a.txt")])
    store.decide_all([(1, Verdict.NOT_PHI)], reviewer="ana", now=NOW)
    assert remaining(store.desk.left()).safe
    scan(store, [], minutes=2, complete=False)
    assert "The scan is not complete" in remaining(store.desk.left()).why


def test_a_file_that_is_referred_after_all_is_an_ordinary_item(desk: Store) -> None:
    desk.desk.draw_sample(n_queued=0, n_unreferred=30, by="lead", now=NOW)
    number = desk.find("clear/00.txt")
    assert line(desk, number).blind
    scan(desk, [referred("clear/00.txt")], minutes=1, complete=False)
    assert (line(desk, number).blind, line(desk, number).n_people) == (False, 1)
    assert agrees_with_the_truth(desk)


def test_a_sample_item_that_is_decided_stays_in_the_list(desk: Store) -> None:
    desk.desk.draw_sample(n_queued=0, n_unreferred=1, by="lead", now=NOW)
    (number,) = members(desk.database, referred=False)
    desk.decide_all([(number, Verdict.PHI)], reviewer="ana", now=NOW)
    assert line(desk, number).state is WorkState.PHI
    assert number in listed(desk, replace(ANY, state=WorkState.PHI))
    assert desk.queue_size(verdicts=[Verdict.PHI]) == 0  # it was not referred


def test_refuses_a_negative_size(desk: Store) -> None:
    for sizes in ({"n_queued": -1, "n_unreferred": 0}, {"n_queued": 0, "n_unreferred": -1}):
        with pytest.raises(InputError, match="expected sizes from 0"):
            desk.desk.draw_sample(**sizes, by="lead", now=NOW)
    assert desk.verify_audit().n_rows == 0
