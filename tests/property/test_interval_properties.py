"""Intervals lie inside the range of their figure, contain the estimate and have a width, or do not exist."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from papers.intervals import binomial_interval, bootstrap_interval, cross_validation_interval
from phiscan.metrics.agreement import agreement
from phiscan.metrics.capture_recapture.captures import CaptureTable
from phiscan.metrics.capture_recapture.loglinear import fit_models
from phiscan.metrics.capture_recapture.missed import average
from phiscan.metrics.capture_recapture.model_names import hierarchical_models
from phiscan.metrics.capture_recapture.strata import stratified_total
from phiscan.metrics.capture_recapture.two_list import chapman, lincoln_petersen, log_interval
from phiscan.metrics.cascade import cascade_loss
from phiscan.metrics.elusion import elusion
from phiscan.metrics.intervals import Figure, clopper_pearson
from phiscan.metrics.ranking import Interval, logit_interval, rank
from phiscan.metrics.screening import coverage, relative, tdp_frp
from phiscan.metrics.verification import Verified, begg_greenes, rogan_gladen
from phiscan.pipeline.windows.people_estimate import WindowCount, estimate_people

SMALL = st.integers(0, 30)
RATE = st.integers(50, 100).map(lambda percent: percent / 100)
FLOAT_ERROR = 1e-9


def check(
    value: float | None,
    ends: tuple[float, float] | None,
    reason: str | None,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> None:
    if value is None or ends is None:
        assert reason
        return
    low, high = ends
    assert bounds[0] <= low <= value + FLOAT_ERROR
    assert value - FLOAT_ERROR <= high <= bounds[1]
    assert high - low > FLOAT_ERROR


def check_figure(figure: Figure, bounds: tuple[float, float] = (0.0, 1.0)) -> None:
    check(figure.value, figure.ci95, figure.reason, bounds)


@given(SMALL, SMALL, SMALL)
def test_of_screened_positives(phi: int, not_phi: int, rest: int) -> None:
    found = tdp_frp(phi, not_phi, rest)
    for figure in (found.tdp, found.frp, found.ppv, coverage(phi, not_phi, rest)):
        check_figure(figure)


@given(SMALL, SMALL, st.data())
def test_of_ratios_of_two_characteristics(first: int, other: int, data: st.DataObject) -> None:
    both = data.draw(st.integers(0, min(first, other)))
    check_figure(relative((first, 0), (other, 0), both=(both, 0)).rtdp, (0.0, float("inf")))


def test_two_characteristics_that_marked_the_same_files_have_no_interval() -> None:
    found = relative((5, 1), (5, 2), both=(5, 1)).rtdp
    assert found.value == 1.0
    assert found.ci95 is None
    assert "no width" in (found.reason or "")


@given(st.lists(st.tuples(*[st.sampled_from(["phi", "no", "unsure"])] * 2), min_size=1, max_size=12))
def test_of_agreement(pairs: list[tuple[str, str]]) -> None:
    found = agreement([a for a, _ in pairs], [b for _, b in pairs])
    check_figure(found.positive_agreement)
    for figure in (found.kappa, found.pabak):
        check_figure(figure, (-1.0, 1.0))


@given(*[st.builds(Verified, SMALL, SMALL, SMALL)] * 2)
def test_of_partly_verified_files(positive: Verified, negative: Verified) -> None:
    found = begg_greenes(positive, negative)
    for accuracy in (found.naive, found.corrected):
        check_figure(accuracy.sensitivity)
        check_figure(accuracy.specificity)


@given(SMALL, st.integers(1, 30), RATE, RATE)
def test_of_the_corrected_prevalence(found: int, more: int, sensitivity: float, specificity: float) -> None:
    one = rogan_gladen(found, found + more, sensitivity, specificity)
    check(one.prevalence, one.ci95, one.reason)


def test_a_prevalence_of_nothing_found_has_the_exact_upper_bound() -> None:
    exact = clopper_pearson(0, 50)[1]
    found = rogan_gladen(0, 50, 0.8, 1.0)
    assert found.prevalence == 0.0
    assert found.ci95 == pytest.approx((0.0, exact / 0.8))
    everything = rogan_gladen(50, 50, 1.0, 0.9)
    assert everything.ci95 == pytest.approx((1 - exact / 0.9, 1.0))


@given(SMALL, SMALL, SMALL)
def test_of_totals_of_two_lists(both: int, first: int, second: int) -> None:
    n_found = both + first + second
    for found in (lincoln_petersen(both, first, second), chapman(both, first, second)):
        check(found.total, found.ci95, found.reason, (n_found, float("inf")))
        assert found.total is None or found.total == pytest.approx(n_found + found.missed)
    if n_found:
        table = CaptureTable(2, (0, first, second, both))
        whole = stratified_total({"a": table, "b": table}).combined
        check(whole.total, whole.ci95, whole.reason, (2 * n_found, float("inf")))
    assert log_interval(n_found, 3.0, 0.0) is None


@given(st.integers(1, 40), st.data())
def test_of_the_cascade(n_left_out: int, data: st.DataObject) -> None:
    n_audit = data.draw(st.integers(1, 30))
    hits = data.draw(st.integers(0, n_audit))
    one = cascade_loss(n_left_out=n_left_out, n_audit=n_audit, n_audit_referred=hits).referrals
    assert one.n_files is not None
    assert one.low is not None
    assert one.high is not None
    assert 0 <= one.low <= one.n_files <= one.high <= n_left_out
    assert one.low < one.high


@given(st.integers(1, 40), st.data())
def test_of_identifiers_that_the_cascade_missed(n_left_out: int, data: st.DataObject) -> None:
    n_known = data.draw(st.integers(0, n_left_out - 1))
    n_audit = data.draw(st.integers(1, 30))
    hits = data.draw(st.integers(0, n_audit))
    one = cascade_loss(
        n_left_out=n_left_out, n_left_out_identified=n_known, n_audit=n_audit, n_audit_identified=hits
    ).identified
    check(one.n_files, None if one.low is None or one.high is None else (one.low, one.high), None,
          (0.0, n_left_out - n_known))  # fmt: skip


WINDOW = st.builds(
    lambda who, length, sampled: WindowCount(len(who), length, {"MRN": who}, sampled),
    st.frozensets(st.integers(0, 40).map(str), max_size=6), st.integers(1, 500), st.booleans(),
)  # fmt: skip


@given(st.lists(WINDOW, min_size=1, max_size=12), st.integers(1, 10_000), st.integers(0, 40))
def test_of_people_in_a_text_of_which_a_part_was_read(
    windows: list[WindowCount], unread: int, n_seen: int
) -> None:
    one = estimate_people(windows, sum(window.n_chars for window in windows) + unread)
    for found in (one, one.at_least(n_seen)):
        check(found.n_people, found.interval, None, (0.0, float("inf")))
    assert estimate_people(windows, sum(window.n_chars for window in windows)).interval is None


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([0, 0, 1, 2, 3, 5, 10]), min_size=7, max_size=7))
def test_of_totals_of_three_lists(counts: list[int]) -> None:
    table = CaptureTable(3, (0, *counts))
    bounds = (table.n_found - FLOAT_ERROR, float("inf"))
    fits = fit_models(table, hierarchical_models(3)) if table.n_found else []
    for fit in fits:
        check(fit.total, fit.ci95, fit.reason, bounds)
        if fit.outcome == "refused":
            assert fit.total is None
        else:
            assert math.isfinite(fit.total)
            assert math.isfinite(fit.se)
            assert fit.deviance >= 0
    averaged = average(fits, table.n_found)
    if averaged is not None:
        check(averaged.total, averaged.ci95, None, bounds)


@given(st.integers(1, 60), st.data())
def test_of_elusion(population: int, data: st.DataObject) -> None:
    sample = data.draw(st.integers(1, population))
    found = data.draw(st.integers(0, sample))
    one = elusion(population, sample, found)
    assert one.rate is not None
    assert one.missed is not None
    assert one.rate <= one.rate_upper <= 1
    assert one.missed - 1 < one.upper_hypergeometric <= population
    if found < sample:
        assert one.rate < one.rate_upper


@given(st.integers(0, 20), st.integers(1, 1000))
def test_of_areas(twentieths: int, n: int) -> None:
    area = twentieths / 20
    for interval in (binomial_interval(area, n), logit_interval(area, n)):
        check(area, interval.ends, interval.reason)
        assert (interval.ends is None) == (twentieths in {0, 20})


def width_or_reason(interval: Interval) -> None:
    if interval.ends is None:
        assert interval.reason
    else:
        assert 0 <= interval.ends[0] < interval.ends[1] - FLOAT_ERROR <= 1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=30), st.integers(0, 3))
def test_of_resampled_areas(examples: list[tuple[int, bool]], seed: int) -> None:
    labels = [label for _, label in examples]
    if all(labels) or not any(labels):
        labels[0] = not labels[0]
    ranking = rank([score for score, _ in examples], labels)
    for found, again in (
        [bootstrap_interval(ranking, replicates=40, seed=seed) for _ in range(2)],
        [cross_validation_interval(ranking, seed=seed) for _ in range(2)],
    ):
        width_or_reason(found)
        assert found == again


def test_a_perfect_ranking_has_no_resampled_interval() -> None:
    ranking = rank([1.0] * 5 + [0.0] * 5, [True] * 5 + [False] * 5)
    for interval in (bootstrap_interval(ranking), cross_validation_interval(ranking)):
        assert interval.ends is None
        assert "no width" in interval.reason
