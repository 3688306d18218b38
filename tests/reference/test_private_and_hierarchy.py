"""Figures of Boyd (2014), chapter 5, Nissim et al. (2007) and Falis et al. (2021)."""

import math
from typing import Any

import pytest

from phiscan.metrics.differential_privacy import (
    local_sensitivity_auc_roc,
    local_sensitivity_average_precision,
    noise_scale,
    smooth_sensitivity,
    smoothness,
)
from phiscan.metrics.hierarchy import Hierarchy, overlap, score_hierarchy
from phiscan.metrics.rates import OverlapCounts


@pytest.mark.parametrize(
    ("n", "m", "expected"), [(10, 40, 1 / 10), (40, 10, 1 / 10), (2, 2, 0.5), (1, 99, 1), (99, 1, 1)]
)
def test_gives_the_local_sensitivity_of_auc_roc(n: int, m: int, expected: Any) -> None:
    assert local_sensitivity_auc_roc(n, m) == expected


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (1, 1.0),
        (2, 9 / 4 + (9 + math.log(2)) / 8),
        (100, 2 * math.log(101) / 100),
        (10, (9 + math.log(9)) / 36 + (9 + math.log(10)) / 40),
    ],
)
def test_gives_the_local_sensitivity_of_average_precision(n: int, expected: Any) -> None:
    assert local_sensitivity_average_precision(n) == pytest.approx(expected, rel=1e-15)


def test_gives_the_smoothness_of_both_mechanisms() -> None:
    assert smoothness(1.0, 1e-6, "laplace") == pytest.approx(1 / (2 * math.log(2e6)), rel=1e-15)
    assert smoothness(1.5, 0.0, "cauchy") == 0.25  # epsilon/(2 (gamma + 1)), gamma = 2


def _search(metric: str, n: int, m: int, beta: float) -> float:
    best = 0.0
    for size in range(n + m + 1):
        local = (
            local_sensitivity_auc_roc(size, n + m - size)
            if metric == "auc_roc"
            else min(local_sensitivity_average_precision(size), 1.0)
        )
        best = max(best, local * math.exp(-beta * abs(size - n)))
    return best


@pytest.mark.parametrize("metric", ["auc_roc", "average_precision"])
@pytest.mark.parametrize("beta", [0.001, 0.0345, 0.25, 3.0])
@pytest.mark.parametrize(("n", "m"), [(1, 5), (2, 2), (7, 300), (300, 7), (50, 50), (400, 900)])
def test_gives_the_smooth_sensitivity_that_a_search_over_all_data_sets_finds(
    metric: str, beta: float, n: int, m: int
) -> None:
    assert smooth_sensitivity(metric, n, m, beta) == pytest.approx(_search(metric, n, m, beta), rel=1e-12)


def test_gives_the_scales_of_both_mechanisms() -> None:
    laplace = noise_scale("auc_roc", 5_000, 5_000, epsilon=0.5, delta=1e-6, noise="laplace")
    assert (laplace.sensitivity, laplace.scale) == (1 / 5_000, pytest.approx(4 / 5_000))
    cauchy = noise_scale("accuracy", 30, 70, epsilon=2.0, delta=0.0, noise="cauchy")
    assert (cauchy.sensitivity, cauchy.scale) == (0.01, pytest.approx(0.03))


def test_stays_exact_for_a_thousand_million_examples() -> None:
    assert smooth_sensitivity("auc_roc", 10**9, 10**9, 0.01) == 1e-9


ICD = Hierarchy(
    {
        "401.1": ["401"],
        "401.9": ["401"],
        "402.00": ["402.0"],
        "402.01": ["402.0"],
        "402.0": ["402"],
        "410.01": ["410.0"],
        "410.02": ["410.0"],
        "410.11": ["410.1"],
        "410.0": ["410"],
        "410.1": ["410"],
    }
)


def test_matches_the_parent_of_mismatched_leaves_of_figure_4() -> None:
    levels, _ = score_hierarchy(ICD, {"d": {"401.9": 1}}, {"d": {"401.1": 1}})
    assert levels[0].count_preserving == OverlapCounts(0, 1, 1)
    assert levels[1].count_preserving == OverlapCounts(1, 0, 0)


def test_sees_the_overprediction_of_figure_4() -> None:
    levels, _ = score_hierarchy(ICD, {"d": {"402.01": 1}}, {"d": {"402.00": 1, "402.01": 1}})
    assert levels[1].count_preserving == OverlapCounts(tp=1, fp=1, fn=0)
    assert levels[1].set_based == OverlapCounts(tp=1, fp=0, fn=0)
    # The caption says "parent 402" and "402.0": the over-prediction is the same one level further up.
    assert levels[2].count_preserving == OverlapCounts(tp=1, fp=1, fn=0)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [(1, 1, (1, 0, 0)), (1, 0, (0, 1, 0)), (0, 1, (0, 0, 1)), (2, 1, (1, 1, 0)), (1, 3, (1, 0, 2))],
)
def test_redefines_true_and_false_for_counts(x: int, y: int, expected: Any) -> None:
    # The first three rows are the standard definitions for binary counts.
    assert overlap({"f": x} if x else {}, {"f": y} if y else {}) == OverlapCounts(*expected)


def test_scores_a_sibling_above_a_cousin_above_a_stranger() -> None:
    # The motivation's example: 410.01 is closer to 410.02 than to 410.11, and closest to neither 401.9.
    f1 = []
    for predicted in ("410.02", "410.11", "401.9"):
        _, overall = score_hierarchy(ICD, {"d": {"410.01": 1}}, {"d": {predicted: 1}})
        f1.append(overall.count_preserving.rates.f1)
    assert f1 == [4 / 6, 2 / 6, 0.0]


def test_keeps_counts_of_a_thousand_million_exact() -> None:
    levels, overall = score_hierarchy(ICD, {"d": {"401.9": 10**9}}, {"d": {"401.9": 10**9 - 1, "401.1": 1}})
    assert levels[0].count_preserving == OverlapCounts(10**9 - 1, 1, 1)
    assert levels[1].count_preserving == OverlapCounts(10**9, 0, 0)
    assert overall.count_preserving.tp == 2 * 10**9 - 1
