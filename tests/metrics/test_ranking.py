"""Rankings: ties, ends, and what is refused."""

import numpy as np
import pytest

from papers.areas import (
    area_estimates,
    binormal,
    binormal_area,
    interpolated_area,
    interpolated_precision,
    normalised_aucpr,
)
from papers.intervals import bootstrap_interval, cross_validation_interval, lift, n_folds
from phiscan.metrics.ranking import (
    average_precision,
    logit_interval,
    minimum_aucpr,
    minimum_average_precision,
    rank,
)


def test_is_independent_of_the_order_of_rows_and_of_tied_rows() -> None:
    scores, labels = [3, 2, 2, 2, 1, 1], [1, 0, 1, 0, 1, 0]
    expected = area_estimates(rank(scores, labels))
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(6)
        assert area_estimates(rank(np.array(scores)[order], np.array(labels)[order])) == expected


def test_starts_low_when_a_negative_ranks_first() -> None:
    areas = area_estimates(rank([2, 1], [0, 1]))
    assert areas.lower_trapezoid == 0.25  # from (0, 0) to (1, 1/2)
    assert areas.upper_trapezoid == 0.75  # from (0, 1) to (1, 1/2)
    assert areas.interpolated_median == 0.5


def test_takes_the_points_after_the_last_positive_into_the_median() -> None:
    # Recall 1 has the precisions 1, 1/2 and 1/3.
    assert area_estimates(rank([3, 2, 1], [1, 0, 0])).interpolated_median == 0.5
    assert area_estimates(rank([3, 2, 1], [1, 0, 0])).interpolated_mean == pytest.approx(11 / 18)


def test_fits_no_normal_distribution_to_equal_scores() -> None:
    # The mean of three times 0.1 is not 0.1 in floating point.
    assert binormal(rank([0.1, 0.1, 0.1, 0.3, 0.05, 0.2], [1, 1, 1, 0, 0, 0])) is None


def test_fits_normal_distributions_in_any_unit() -> None:
    scores, labels = [0.9, 0.4, 0.5, 0.1, 0.2], [1, 1, 0, 0, 0]
    usual = binormal(rank(scores, labels))
    for unit in (1e-300, 1e200, 1e308):
        assert binormal(rank([score * unit for score in scores], labels)) == pytest.approx(usual, rel=1e-9)
    assert binormal(rank([1e308, 5e307, -1e308, 0], [1, 1, 0, 0])) is not None


def test_integrates_extreme_binormal_curves() -> None:
    assert binormal_area(0.5, -5, 0.01) == pytest.approx(minimum_aucpr(0.5), abs=1e-6)  # all positives below
    assert binormal_area(0.5, 50, 1) == pytest.approx(1, abs=1e-12)
    assert binormal_area(1e-6, 0, 1) == pytest.approx(1e-6, rel=1e-9)


def test_interpolates_flat_from_recall_zero() -> None:
    assert interpolated_precision(0, (0, 1), (0.5, 0.25)) == 0.25
    assert interpolated_precision(0.25, (0, 1), (0.5, 0.25)) == pytest.approx(0.25)
    assert interpolated_area((0, 1), (0.5, 0.25)) == 0.125


def test_uses_as_many_folds_as_the_rarer_class_allows() -> None:
    assert n_folds(rank(range(40), [index < 12 for index in range(40)])) == 10
    few = rank([4, 3, 2, 1], [1, 0, 0, 0])
    assert n_folds(few) == 1
    assert cross_validation_interval(few).ends is None
    assert logit_interval(1.0, 3).reason
    assert bootstrap_interval(few, replicates=0).ends is None


def test_matches_a_bootstrap_that_resamples_rows() -> None:
    generator = np.random.default_rng(2)
    scores = np.concatenate([generator.normal(1, 1, 30), generator.normal(0, 1, 120)])
    labels = np.repeat([True, False], [30, 120])
    naive = []
    for _ in range(2_000):
        rows = np.concatenate([generator.integers(0, 30, 30), generator.integers(30, 150, 120)])
        naive.append(average_precision(rank(scores[rows], labels[rows])))
    ends = bootstrap_interval(rank(scores, labels), replicates=2_000).ends
    assert ends is not None
    assert ends == pytest.approx(tuple(np.quantile(naive, [0.025, 0.975])), abs=0.02)


def test_measures_lift_and_the_share_of_what_can_be_achieved() -> None:
    assert lift(0.3, 0.1) == pytest.approx(3)
    assert normalised_aucpr(1.0, 0.4) == 1
    assert normalised_aucpr(1.0, 1.0) is None


def test_refuses_impossible_numbers_of_examples() -> None:
    with pytest.raises(ValueError, match="at least one positive"):
        minimum_average_precision(0, 5)
    assert minimum_average_precision(3, 0) == 1.0


def test_resamples_many_distinct_scores_like_few() -> None:
    generator = np.random.default_rng(6)
    scores = np.concatenate([generator.normal(1, 1, 1_500), generator.normal(0, 1, 13_500)])
    labels = np.repeat([True, False], [1_500, 13_500])
    by_row = bootstrap_interval(rank(scores, labels), replicates=200).ends
    by_count = bootstrap_interval(rank(scores.round(3), labels), replicates=200).ends
    assert by_row is not None
    assert by_row == pytest.approx(by_count, abs=0.006)


@pytest.mark.parametrize(
    ("scores", "labels", "words"),
    [
        ([1, float("nan")], [0, 1], "finite"),
        ([1, float("inf")], [0, 1], "finite"),
        ([1, 2], [1, 1], "one positive and one negative"),
        ([1, 2], [0, 0], "one positive and one negative"),
        ([1, 2], [0], "as many labels"),
    ],
)
def test_refuses_what_is_no_ranking(scores: list[float], labels: list[int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        rank(scores, labels)
