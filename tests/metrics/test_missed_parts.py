"""The parts around the log-linear models: selection, strata, dependence, existence."""

import numpy as np
import pytest

from phiscan.metrics.capture_recapture.captures import CaptureTable
from phiscan.metrics.capture_recapture.loglinear import fit_models, intercept_is_unique, vanishing_cells
from phiscan.metrics.capture_recapture.missed import average, estimate_missed, forward_selection, total_range
from phiscan.metrics.capture_recapture.model_names import hierarchical_models, parse_model
from phiscan.metrics.capture_recapture.strata import stratified_total


def drawn(n: int, rates: list[list[float]], seed: int) -> CaptureTable:
    """Draw files of equally large classes; list j finds a file of class i with rates[i][j]."""
    generator = np.random.default_rng(seed)
    of_class = np.array(rates)[np.arange(n) % len(rates)]
    histories = (generator.random(of_class.shape) < of_class) @ (1 << np.arange(of_class.shape[1]))
    counts = np.bincount(histories, minlength=1 << of_class.shape[1])
    return CaptureTable(of_class.shape[1], (0, *(int(count) for count in counts[1:])))


def test_averages_between_the_models() -> None:
    found = estimate_missed(drawn(2000, [[0.4, 0.5, 0.3, 0.6]], 1))
    totals = [fit.total for fit in found.models if fit.total is not None]
    assert found.averaged is not None
    assert min(totals) <= found.averaged.total <= max(totals)
    assert found.averaged.ci95[0] < 2000 < found.averaged.ci95[1]
    assert found.model_range is not None
    assert found.model_range[0] <= found.averaged.total <= found.model_range[1]


def test_gives_the_best_model_the_largest_weight() -> None:
    fits = fit_models(drawn(500, [[0.4, 0.5, 0.3]], 2), hierarchical_models(3))
    alone = average(fits[:1], 100)
    assert alone is not None
    assert alone.missed == pytest.approx(fits[0].missed)
    assert alone.se == pytest.approx(fits[0].se)
    assert average([], 100) is None
    assert total_range([]) is None


def test_reaches_the_best_pairwise_model_by_steps() -> None:
    # Lists 1 and 2 depend strongly on each other, nothing else does.
    table = drawn(6000, [[0.8, 0.8, 0.4, 0.5, 0.3, 0.4], [0.2, 0.2, 0.4, 0.5, 0.3, 0.4]], 3)
    found = estimate_missed(table)
    assert found.selected_bic == "[12,3,4,5,6]"
    assert found.averaged is not None
    assert found.averaged.total == pytest.approx(6000, rel=0.05)
    assert len({fit.model for fit in found.models}) == len(found.models)


def test_selects_forward_no_better_than_all_models_do() -> None:
    table = drawn(800, [[0.5, 0.4, 0.3, 0.4], [0.2, 0.3, 0.3, 0.1]], 4)
    every = min(fit.aic for fit in estimate_missed(table).models if fit.aic is not None)
    stepped = min(fit.aic for fit in forward_selection(table) if fit.aic is not None)
    assert stepped >= every - 1e-9


def test_keeps_a_model_whose_total_is_unique_though_other_terms_run_away() -> None:
    # List 1 found nothing that list 2 missed: term 12 runs to plus infinity, term 1 to minus infinity, but
    # lists 1 and 2 together against list 3 are an ordinary two-list estimate.
    table = CaptureTable(3, (0, 0, 30, 20, 25, 0, 10, 8))
    fit = fit_models(table, [parse_model("[12,3]", 3)])[0]
    assert fit.outcome == "ok"
    assert fit.missed == pytest.approx((30 + 20) * 25 / (10 + 8), rel=1e-9)


@pytest.mark.parametrize("empty", [7, 3, 1])
def test_refuses_a_model_whose_total_runs_away(empty: int) -> None:
    counts = [0, 9, 8, 7, 6, 5, 4, 3]
    counts[empty] = 0
    fit = fit_models(CaptureTable(3, tuple(counts)), [parse_model("[12,13,23]", 3)])[0]
    assert fit.outcome == "refused"
    assert "fix no number of missed files" in (fit.reason or "")


def test_finds_the_cells_that_vanish() -> None:
    design = np.array([[1.0, 0.0], [1.0, 1.0]])
    assert vanishing_cells(design, np.array([True, False])).tolist() == [False, True]
    assert vanishing_cells(design, np.array([True, True])).tolist() == [False, False]
    assert intercept_is_unique(design)
    assert not intercept_is_unique(design[1:])


def test_takes_dependence_by_format_away_with_strata() -> None:
    easy, hard = drawn(3000, [[0.9, 0.9]], 5), drawn(3000, [[0.2, 0.2]], 6)
    pooled = CaptureTable(2, tuple(a + b for a, b in zip(easy.counts, hard.counts, strict=True)))
    split = stratified_total({"easy": easy, "hard": hard}).combined
    whole = stratified_total({"all": pooled}).combined
    assert split.total is not None
    assert whole.total is not None
    assert split.ci95 is not None
    assert split.ci95[0] < 6000 < split.ci95[1]
    assert whole.total < 5000


def test_has_no_sum_when_a_stratum_has_none() -> None:
    found = stratified_total({"a": drawn(500, [[0.5, 0.5, 0.5]], 7), "b": CaptureTable(3, (0,) * 8)})
    assert found.strata["a"].total is not None
    assert found.combined.total is None
    assert "stratum b" in (found.combined.reason or "")
