"""Begg-Greenes and the answer whether to stop in the report: from the counts that the page shows."""

from phiscan.metrics.elusion import sequential_upper, tail_of
from phiscan.metrics.remaining import remaining
from phiscan.metrics.verification import Verified, begg_greenes
from phiscan.model import Referral, Verdict
from phiscan.report.gather import gather
from phiscan.report.pack import pack
from phiscan.review.store import Store
from tests.report.page import visible_text
from tests.report.synthetic import NOW, Fill, Made, data_of, screened
from tests.review.samples import members


def sampled(filled: Fill, n_referred: int, phi: int, not_phi: int, sample: list[Verdict]) -> Made:
    kinds = [Referral.REFERRED] * n_referred + [Referral.CLEAR] * 60
    made = filled([screened(f"{n}.txt", kind, number=n) for n, kind in enumerate(kinds)])
    store = Store(made.database)
    verdicts = [Verdict.PHI] * phi + [Verdict.NOT_PHI] * not_phi
    if verdicts:
        store.decide_all(list(enumerate(verdicts, start=1)), reviewer="A", now=NOW)
    if sample:
        store.desk.draw_sample(n_queued=0, n_unreferred=60, by="B", now=NOW)
        order = members(made.database, referred=False)
        store.decide_all(list(zip(order, sample, strict=False)), reviewer="A", now=NOW)
    return made


def text_of(made: Made) -> str:
    return visible_text(pack(gather(made.database, now=NOW))["report.html"])


def test_takes_the_correction_from_the_metrics(filled: Fill) -> None:
    made = sampled(filled, 30, 20, 6, [Verdict.PHI, Verdict.NOT_PHI, Verdict.UNSURE] + [Verdict.NOT_PHI] * 17)
    found = data_of(made).verification
    expected = begg_greenes(Verified(20, 6, 4), Verified(2, 18, 40))
    values = [e.value for e in found.estimates]
    assert values == [
        expected.corrected.sensitivity.value,
        expected.corrected.specificity.value,
        expected.naive.sensitivity.value,
        expected.naive.specificity.value,
        expected.prevalence,
    ]
    assert found.estimates[0].ci95 == expected.corrected.sensitivity.ci95
    a, b, referred, c, d, others = found.estimates[0].inputs.values()
    caught, missed = referred * a / (a + b), others * c / (c + d)
    assert abs(caught / (caught + missed) - (values[0] or 0)) < 1e-12
    assert found.open == 4
    assert "4 referred files are not verified" in text_of(made)


def test_without_a_random_sample_nothing_is_corrected_and_each_file_of_the_rest_counts_as_phi(
    filled: Fill,
) -> None:
    made = sampled(filled, 10, 8, 2, [])
    data = data_of(made)
    assert data.verification.estimates == ()
    assert data.verification.reason == "no screened negative file was verified"
    assert data.verification.reason in text_of(made)
    assert (data.remaining.missed_in_rest.upper, data.remaining.missed_in_rest.expected) == (60, None)
    assert data.headlines[-1].value == 60
    assert "each counts as PHI" in data.headlines[-1].sentence


def test_the_review_may_stop_by_the_same_answer_as_at_the_desk(filled: Fill) -> None:
    made = sampled(filled, 100, 95, 5, [Verdict.NOT_PHI] * 60)
    known = data_of(made).remaining
    assert known == remaining(Store(made.database).desk.left())
    assert (known.safe, known.missed_in_rest.upper, known.left_in_list.upper) == (True, 0, 0)
    text = text_of(made)
    assert "It is safe to stop." in text
    assert known.left_in_list.words in text
    assert known.missed_in_rest.words in text


def test_does_not_stop_before(filled: Fill) -> None:
    made = sampled(filled, 30, 19, 11, [Verdict.NOT_PHI] * 30)
    data = data_of(made)
    limit = sequential_upper(60, 30, 0, tail_of(0.95))
    assert limit > 1
    assert (data.remaining.missed_in_rest.upper, data.remaining.safe) == (limit, False)
    assert data.elusion.recall_lower == 19 / (19 + limit)
    assert (data.elusion.population, data.elusion.drawn, data.elusion.reviewed) == (60, 60, 30)
    assert f"At most {limit} of the 30 files of the rest are PHI" in text_of(made)
