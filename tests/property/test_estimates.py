"""What must hold for any counts."""

import math
from fractions import Fraction

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from phiscan.metrics.agreement import agreement, krippendorff_alpha
from phiscan.metrics.capture_recapture.captures import CaptureTable
from phiscan.metrics.capture_recapture.coverage import chao_lower_bound, sample_coverage
from phiscan.metrics.capture_recapture.loglinear import fit_models
from phiscan.metrics.capture_recapture.model_names import hierarchical_models, model_name, parse_model
from phiscan.metrics.capture_recapture.two_list import lincoln_petersen
from phiscan.metrics.elusion import (
    at_most,
    elusion,
    hypergeometric_upper,
    probability,
    sample_size,
    sequential_upper,
)
from phiscan.metrics.independence import mutual_information
from phiscan.metrics.intervals import binomial_lower, binomial_upper, clopper_pearson
from phiscan.metrics.screening import relative, tdp_frp
from phiscan.metrics.verification import Verified, begg_greenes

COUNT = st.integers(0, 10**9)
SMALL = st.integers(0, 40)


def exact_at_most(x: int, population: int, marked: int, sample: int) -> Fraction:
    ways = sum(
        math.comb(marked, k) * math.comb(population - marked, sample - k)
        for k in range(max(0, sample + marked - population), min(x, marked, sample) + 1)
    )
    return Fraction(ways, math.comb(population, sample))


def exact_binomial_at_most(x: int, n: int, share: Fraction) -> Fraction:
    return sum((math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(x + 1)), Fraction(0))


@st.composite
def samples(draw: st.DrawFn, largest: int = 60) -> tuple[int, int, int]:
    population = draw(st.integers(1, largest))
    sample = draw(st.integers(0, population))
    return population, sample, draw(st.integers(0, sample))


@given(COUNT, COUNT, COUNT)
def test_adds_up_screened_positives(phi: int, not_phi: int, rest: int) -> None:
    found = tdp_frp(phi, not_phi, rest)
    assume(found.tdp.value is not None and found.frp.value is not None)
    assert found.tdp.value + found.frp.value == pytest.approx((phi + not_phi) / found.n)
    for figure in (found.tdp, found.frp, found.ppv):
        if figure.value is not None:
            assert figure.ci95 is not None
            assert 0 <= figure.ci95[0] <= figure.value <= figure.ci95[1] <= 1


@given(st.integers(0, 25), st.integers(1, 25))
def test_inverts_the_exact_binomial(hits: int, n: int) -> None:
    assume(hits <= n)
    low, high = clopper_pearson(hits, n)
    if hits < n:
        assert float(exact_binomial_at_most(hits, n, Fraction(high))) == pytest.approx(0.025, rel=1e-9)
    if hits > 0:
        assert float(1 - exact_binomial_at_most(hits - 1, n, Fraction(low))) == pytest.approx(0.025, rel=1e-9)


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_mirrors_binomial_bounds(hits: int, n: int) -> None:
    assume(hits <= n)
    assert 1 - binomial_lower(n - hits, n, 0.05) == pytest.approx(binomial_upper(hits, n, 0.05), rel=1e-9)


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.data())
def test_narrows_ratios_as_overlap_grows(first: int, other: int, data: st.DataObject) -> None:
    both = data.draw(st.integers(0, min(first, other)))
    loose = relative((first, 1), (other, 1), both=(0, 0)).rtdp
    tight = relative((first, 1), (other, 1), both=(both, 0)).rtdp
    assert loose.ci95 is not None
    assert (tight.ci95 is None) == (first == other == both)
    if tight.ci95 is None:
        return
    assert tight.value is not None
    assert tight.ci95[1] <= loose.ci95[1]
    assert tight.ci95[0] <= tight.value * (1 + 1e-12)


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.integers(1, 10**9))
def test_fits_two_lists_as_a_poisson_model_does(both: int, first: int, second: int) -> None:
    # The independence model of two lists is saturated: its variance is the delta-method one.
    found = lincoln_petersen(both, first, second)
    missed = first * second / both
    assert found.missed == pytest.approx(missed)
    assert found.se == pytest.approx(math.sqrt(missed + missed**2 * (1 / both + 1 / first + 1 / second)))


@given(st.sampled_from(["[12,3]", "[13,23]", "[12,34]", "[123,4]", "[123,234]", "[12,13,14]", "[134,24]"]))
def test_reads_back_the_names_it_writes(text: str) -> None:
    n_lists = 3 if "4" not in text else 4
    assert model_name(parse_model(text, n_lists)) == text


@settings(max_examples=40)
@given(st.lists(st.integers(1, 10**8), min_size=7, max_size=7))
@example([213445, 213446, 168, 907, 168, 169, 169])  # rounding moves the top by more than a ten-millionth
def test_matches_closed_forms(cells: list[int]) -> None:
    counts = (0, *cells)
    table = CaptureTable(3, counts)
    models = [parse_model(text, 3) for text in ("[12,3]", "[13,23]", "[12,13,23]")]
    fits = fit_models(table, models)
    # [12,3]: collapse lists 1 and 2. [13,23]: 1 and 2 are independent where list 3 missed (Fienberg 1972).
    in_both = counts[5] + counts[6] + counts[7]
    expected = [
        (counts[1] + counts[2] + counts[3]) * counts[4] / in_both,
        counts[1] * counts[2] / counts[3],
        counts[7] * counts[1] * counts[2] * counts[4] / (counts[3] * counts[5] * counts[6]),
    ]
    for fit, missed in zip(fits, expected, strict=True):
        assert fit.missed == pytest.approx(missed, rel=1e-8)
        if fit.ci95 is None:  # cells of very different sizes: the interval is refused, with the reason
            assert "largest numbers" in str(fit.reason)
        else:
            assert table.n_found <= fit.ci95[0] <= fit.ci95[1]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=15, max_size=15), st.permutations(range(4)))
def test_does_not_depend_on_the_order_of_lists(cells: list[int], order: list[int]) -> None:
    counts = [0, *cells]
    moved = [0] * 16
    models = list(hierarchical_models(4))[::6]

    def rename(term: int) -> int:
        return sum(1 << order[position] for position in range(4) if term >> position & 1)

    renamed = [frozenset(rename(term) for term in model) for model in models]
    for history, count in enumerate(counts):
        moved[rename(history)] = count
    before = fit_models(CaptureTable(4, tuple(counts)), models)
    after = fit_models(CaptureTable(4, tuple(moved)), renamed)
    for one, other in zip(before, after, strict=True):
        assert one.outcome == other.outcome
        if one.total is not None:
            assert one.total == pytest.approx(other.total, rel=1e-6)
            assert one.ci95 == pytest.approx(other.ci95, rel=1e-5)


@given(st.lists(SMALL, min_size=7, max_size=7))
def test_bounds_the_total_below(cells: list[int]) -> None:
    table = CaptureTable(3, (0, *cells))
    bound, coverage = chao_lower_bound(table), sample_coverage(table)
    assert bound.reason if bound.total is None else bound.total >= table.n_found
    if coverage.coverage is not None:
        assert 0 <= coverage.coverage <= 1
    if coverage.total is None:
        assert coverage.reason


@given(samples(), st.data())
def test_computes_exact_hypergeometric_tails(sample: tuple[int, int, int], data: st.DataObject) -> None:
    population, drawn, found = sample
    marked = data.draw(st.integers(0, population))
    exact = exact_at_most(found, population, marked, drawn)
    ours = at_most(found, population, np.array([marked]), drawn)[0]
    assert ours == pytest.approx(float(exact), rel=1e-11, abs=1e-300)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 10**9), st.data())
def test_sums_to_one_for_huge_populations(population: int, data: st.DataObject) -> None:
    drawn = data.draw(st.integers(0, min(population, 300)))
    marked = data.draw(st.integers(0, population))
    whole = math.fsum(probability(np.arange(drawn + 1), population, marked, drawn))
    assert whole == pytest.approx(1, rel=1e-11)


@given(samples(40), st.sampled_from([Fraction(1, 20), Fraction(1, 10), Fraction(1, 100)]))
def test_finds_the_bound_of_a_full_search(sample: tuple[int, int, int], tail: Fraction) -> None:
    population, drawn, found = sample
    possible = range(found, population - drawn + found + 1)
    exact = max((k for k in possible if exact_at_most(found, population, k, drawn) > tail), default=found)
    assert hypergeometric_upper(population, drawn, found, tail) == exact


@given(samples(40), st.sampled_from([Fraction(1, 20), Fraction(1, 5)]))
def test_finds_the_sequential_bound_of_a_full_search(sample: tuple[int, int, int], tail: Fraction) -> None:
    population, drawn, found = sample
    kept = []
    for k in range(found, population - drawn + found + 1):
        likelihood = Fraction(
            math.comb(k, found) * math.comb(population - k, drawn - found), math.comb(population, drawn)
        )
        evidence = Fraction(1, drawn + 1)
        # prior/posterior = evidence/likelihood
        if evidence < likelihood / tail:
            kept.append(k)
    assert sequential_upper(population, drawn, found, tail) == max(kept)


@given(st.integers(1, 300), st.sampled_from([0.01, 0.05, 0.1, 0.2]))
def test_plans_the_smallest_sample_that_shows_the_target(population: int, target: float) -> None:
    n = sample_size(target, population=population)
    limit = Fraction(repr(target)) * population
    assert elusion(population, n, 0).upper_hypergeometric <= limit
    if n > 0:
        assert elusion(population, n - 1, 0).upper_hypergeometric > limit


def test_covers_the_truth_at_every_look() -> None:
    generator = np.random.default_rng(20)
    population, tail, misses, runs = 120, Fraction(1, 5), 0, 150
    for _ in range(runs):
        marked = int(generator.integers(0, population + 1))
        order = generator.permutation(population) < marked
        found = np.cumsum(order)
        misses += any(
            sequential_upper(population, n, int(found[n - 1]), tail) < marked for n in range(1, population, 7)
        )
    assert misses / runs <= 0.2


LABELS = st.sampled_from(["phi", "not_phi", "unsure"])


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=30))
def test_agrees_the_same_either_way_round(pairs: list[tuple[str, str]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    forward, backward = agreement(first, second), agreement(second, first)
    assert forward.kappa.value == backward.kappa.value
    assert forward.positive_agreement.value == backward.positive_agreement.value
    if forward.kappa.value is not None:
        assert -1 <= forward.kappa.value <= 1


@given(st.lists(st.lists(st.one_of(st.none(), LABELS), min_size=3, max_size=3), min_size=2, max_size=15))
def test_agrees_with_the_krippendorff_package(rows: list[list[str | None]]) -> None:
    ours = krippendorff_alpha(rows).value
    used = {label for row in rows if sum(label is not None for label in row) > 1 for label in row if label}
    assume(len(used) > 1)
    codes = {"phi": 1.0, "not_phi": 2.0, "unsure": 3.0}
    data = np.array([[np.nan if label is None else codes[label] for label in row] for row in rows]).T
    assert ours == pytest.approx(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal"))


@given(SMALL, SMALL, SMALL, SMALL)
def test_corrects_nothing_when_everything_was_verified(a: int, b: int, c: int, d: int) -> None:
    found = begg_greenes(Verified(a, b, 0), Verified(c, d, 0))
    for name in ("sensitivity", "specificity"):
        naive, corrected = getattr(found.naive, name).value, getattr(found.corrected, name).value
        assert naive == pytest.approx(corrected) if naive is not None else corrected is None
    if found.missed is not None:
        assert found.missed == c


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=40))
def test_bounds_mutual_information_by_entropy(pairs: list[tuple[int, int]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    nats = mutual_information(first, second)
    assert -1e-12 <= nats <= mutual_information(first, first) + 1e-12
    assert nats == pytest.approx(mutual_information(second, first), abs=1e-12)
