"""Begg-Greenes and the stopping rule of the report: from the counts that the page shows."""

from collections.abc import Callable

from phiscan.metrics.elusion import sequential_upper, tail_of
from phiscan.metrics.verification import Verified, begg_greenes
from phiscan.model import Referral, Verdict
from phiscan.report.data.report import ReportData
from phiscan.report.gather import gather
from phiscan.report.pack import pack
from phiscan.review.store import Store
from tests.report.page import visible_text
from tests.report.synthetic import NOW, Made, screened

Fill = Callable[..., Made]


def sampled(filled: Fill, n_referred: int, phi: int, not_phi: int, sample: list[Verdict]) -> Made:
    kinds = [Referral.REFERRED] * n_referred + [Referral.CLEAR] * 60
    made = filled([screened(f"{n}.txt", kind, number=n) for n, kind in enumerate(kinds)])
    store = Store(made.database)
    verdicts = [Verdict.PHI] * phi + [Verdict.NOT_PHI] * not_phi
    if verdicts:
        store.decide_all(list(enumerate(verdicts, start=1)), reviewer="A", now=NOW)
    order = data_of(made).elusion_sample
    some = [(row.file, verdict) for row, verdict in zip(order, sample, strict=False)]
    if some:
        store.decide_all(some, reviewer="A", now=NOW)
    return made


def data_of(made: Made) -> ReportData:
    return gather(made.database, now=NOW).data


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
        expected.missed,
    ]
    assert found.estimates[0].ci95 == expected.corrected.sensitivity.ci95
    a, b, referred, c, d, others = found.estimates[0].inputs.values()
    caught, missed = referred * a / (a + b), others * c / (c + d)
    assert abs(caught / (caught + missed) - (values[0] or 0)) < 1e-12
    assert found.open == 4
    assert "4 referred files are not verified" in text_of(made)


def test_corrects_nothing_without_a_random_sample(filled: Fill) -> None:
    made = sampled(filled, 10, 8, 2, [])
    found = data_of(made).verification
    assert found.estimates == ()
    assert found.reason == "no screened negative file was verified"
    assert found.reason in text_of(made)


def test_stops_once_the_limit_is_what_the_target_allows(filled: Fill) -> None:
    made = sampled(filled, 100, 95, 5, [Verdict.NOT_PHI] * 60)
    found = data_of(made).stopping
    assert found.limit is not None
    assert found.limit <= found.allowed == 5
    assert (found.stop, found.recall_lower) == (True, 95 / (95 + found.limit))
    assert "Yes, for a recall of 95.0%" in text_of(made)


def test_does_not_stop_before(filled: Fill) -> None:
    made = sampled(filled, 30, 19, 11, [Verdict.NOT_PHI] * 30)
    found = data_of(made).stopping
    limit = sequential_upper(60, 30, 0, tail_of(0.95))
    assert limit > 1
    assert (found.limit, found.allowed, found.stop) == (limit, 1, False)
    assert found.recall_lower == 19 / (19 + limit)
    assert "Not yet, for a recall of 95.0%" in text_of(made)


def test_has_no_rule_without_a_sample(filled: Fill) -> None:
    found = data_of(sampled(filled, 10, 8, 2, [])).stopping
    assert found.stop is found.limit is found.recall_lower is None
    assert found.reason
