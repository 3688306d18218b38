"""Agreement of people who decided the same files, from their latest verdicts."""

from dataclasses import replace
from datetime import timedelta

import pytest

from phiscan.metrics.agreement import agreement, krippendorff_alpha
from phiscan.model import Referral, Verdict
from phiscan.report.gather import gather
from phiscan.report.pack import pack
from phiscan.report.sections.reviewers import DoubleReview
from phiscan.review.store import Store
from tests.report.page import visible_text
from tests.report.synthetic import NOW, Fill, Made, screened

PHI, NOT, UNSURE = Verdict.PHI, Verdict.NOT_PHI, Verdict.UNSURE


def judged(filled: Fill, **verdicts: list[Verdict | None]) -> Made:
    n_files = len(next(iter(verdicts.values())))
    made = filled([screened(f"{n}.txt", Referral.REFERRED, number=n) for n in range(n_files)])
    for who, theirs in verdicts.items():
        some = [(number, verdict) for number, verdict in enumerate(theirs, start=1) if verdict]
        Store(made.database).decide_all(some, reviewer=who, now=NOW)
    return made


def review_of(made: Made) -> DoubleReview:
    return gather(made.database, now=NOW).data.double_review


def test_takes_every_figure_from_the_metrics(filled: Fill) -> None:
    first, second = [PHI, PHI, NOT, NOT, UNSURE, None], [PHI, NOT, NOT, NOT, PHI, PHI]
    found = review_of(judged(filled, A=first, B=second))
    (pair,) = found.pairs
    expected = agreement(first, second)
    assert (pair.kappa, pair.positive_agreement, pair.pabak) == (
        expected.kappa,
        expected.positive_agreement,
        expected.pabak,
    )
    assert (found.files, pair.files, pair.same, pair.both_phi) == (5, 5, 3, 1)
    assert (pair.first_phi, pair.second_phi) == (2, 2)
    assert found.alpha.value == krippendorff_alpha(list(zip(first, second, strict=True))).value


def test_a_later_verdict_of_the_same_person_replaces_the_earlier(filled: Fill) -> None:
    made = judged(filled, A=[PHI, NOT], B=[PHI, PHI])
    Store(made.database).decide_all([(2, NOT)], reviewer="B", now=NOW)
    (pair,) = review_of(made).pairs
    assert pair.kappa.value == 1
    assert review_of(made).files == 2


def test_compares_only_people_who_share_a_file(filled: Fill) -> None:
    found = review_of(judged(filled, A=[PHI, NOT, None], B=[PHI, PHI, NOT], C=[None, None, NOT]))
    assert [(pair.first, pair.second) for pair in found.pairs] == [("A", "B"), ("B", "C")]


def test_verdicts_on_different_contents_are_not_compared(filled: Fill) -> None:
    made = judged(filled, A=[PHI])
    store = Store(made.database)
    state = store.begin_scan([b"/srv/share"], versions={"rules": "2"}, options={}, now=NOW)
    store.record(state.id, "key2", [replace(made.results[0], content_hash="0" * 64)])
    store.finish_scan(state.id, status="complete", seconds=1, now=NOW + timedelta(hours=1))
    store.decide_all([(1, NOT)], reviewer="B", now=NOW)
    assert review_of(made).files == 0


@pytest.mark.parametrize("second", [[None, None], [None, PHI]])
def test_says_null_and_why_when_nobody_shares_a_file(filled: Fill, second: list[Verdict | None]) -> None:
    made = judged(filled, A=[PHI, None], B=second)
    found = review_of(made)
    assert found.pairs == ()
    assert found.alpha.value is None
    assert found.reason
    assert found.reason in visible_text(pack(gather(made.database, now=NOW))["report.html"])
