"""Figures of Boyd (2014), "Mitigating the Risks of Thresholdless Metrics", and independent computations."""

import itertools
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.spatial import ConvexHull
from sklearn import metrics as sk

from papers.areas import (
    area_estimates,
    binormal_area,
    interpolated_area,
    interpolated_precision,
    normalised_aucpr,
    upper_trapezoid,
)
from papers.intervals import binomial_interval
from papers.simulation import true_area
from phiscan.metrics.ranking import (
    auc_roc,
    average_precision,
    curve,
    logit_interval,
    lower_trapezoid,
    minimum_aucpr,
    minimum_average_precision,
    minimum_precision,
    rank,
)

# Slide "Scoring Classifier": eight examples.
EIGHT_SCORES = [1.0, 0.8, 0.7, 0.6, 0.5, 0.3, 0.2, 0.1]
EIGHT_LABELS = [1, 1, 0, 1, 0, 0, 1, 0]

# Slide "Empirical PR Points": 5 positives, 15 negatives; eight labels are shown, the rest is any completion.
TWENTY_LABELS = [1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
TWENTY_SCORES = [1.0 - 0.05 * index for index in range(20)]


@pytest.mark.parametrize(("threshold", "accuracy", "fpr"), [(0.75, 6 / 8, 0 / 4), (0.15, 5 / 8, 3 / 4)])
def test_gives_accuracy_and_false_positive_rate_of_the_eight_example_slide(
    threshold: float, accuracy: float, fpr: float
) -> None:
    marked = np.array(EIGHT_SCORES) >= threshold
    labels = np.array(EIGHT_LABELS, dtype=bool)
    assert (marked == labels).mean() == accuracy
    assert marked[~labels].mean() == fpr


EIGHT, TWENTY = (EIGHT_SCORES, EIGHT_LABELS), (TWENTY_SCORES, TWENTY_LABELS)


@pytest.mark.parametrize(
    ("slide", "index", "recall", "precision"),
    [
        *((EIGHT, 1, 2 / 4, 2 / 2), (EIGHT, 6, 4 / 4, 4 / 7)),  # the two confusion matrices of the slide
        *((TWENTY, 0, 1 / 5, 1 / 1), (TWENTY, 1, 1 / 5, 1 / 2), (TWENTY, 2, 1 / 5, 1 / 3)),
        *((TWENTY, 3, 2 / 5, 2 / 4), (TWENTY, 4, 3 / 5, 3 / 5), (TWENTY, 5, 3 / 5, 3 / 6)),
    ],
)
def test_gives_recall_and_precision_of_the_slides(
    slide: tuple[list[float], list[int]], index: int, recall: float, precision: float
) -> None:
    points = curve(rank(*slide))
    assert points.recall[index] == recall
    assert points.precision[index] == precision


def test_gives_the_skew_of_the_empirical_points_slide() -> None:
    assert rank(TWENTY_SCORES, TWENTY_LABELS).skew == 0.25


def test_gives_the_areas_of_the_eight_examples_worked_by_hand() -> None:
    # Precisions at the positives: 1, 1, 3/4, 4/7. Lowest at each recall: 1, 2/3, 1/2, 1/2.
    ranking = rank(EIGHT_SCORES, EIGHT_LABELS)
    assert average_precision(ranking) == pytest.approx((1 + 1 + 3 / 4 + 4 / 7) / 4, abs=1e-15)
    by_hand = ((1 + 1) + (1 + 1) + (2 / 3 + 3 / 4) + (1 / 2 + 4 / 7)) / 8
    assert lower_trapezoid(ranking) == pytest.approx(by_hand, abs=1e-15)
    by_hand = ((1 + 1) + (1 + 1) + (1 + 3 / 4) + (3 / 4 + 4 / 7)) / 8
    assert upper_trapezoid(ranking) == pytest.approx(by_hand, abs=1e-15)
    assert auc_roc(ranking) == 12 / 16


@pytest.mark.parametrize(
    ("skew", "area"),
    [
        (0.5, 1 - math.log(2)),  # theorem "Minimum AUCPR" in closed form
        (0.1, 1 + 9 * math.log(0.9)),
        (0.25, 1 + 3 * math.log(0.75)),
        (1e-6, 0.5e-6 + 1e-12 / 6 + 1e-18 / 12),  # its series: the formula itself has lost its digits here
        (1.0, 1.0),
        (0.0, 0.0),
    ],
)
def test_gives_the_minimum_area(skew: float, area: float) -> None:
    assert minimum_aucpr(skew) == pytest.approx(area, rel=1e-14, abs=0)


def test_gives_the_minimum_area_as_the_integral_of_the_lowest_precision() -> None:
    area, _ = integrate.quad(lambda r: minimum_precision(r, 0.3), 0, 1)
    assert minimum_aucpr(0.3) == pytest.approx(area, abs=1e-12)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 3), (4, 4), (5, 2)])
def test_gives_the_minimum_average_precision_of_every_order(n: int, m: int) -> None:
    lowest = min(
        average_precision(rank(range(n + m, 0, -1), [index in chosen for index in range(n + m)]))
        for chosen in itertools.combinations(range(n + m), n)
    )
    assert minimum_average_precision(n, m) == pytest.approx(lowest, rel=1e-15)


def test_sums_the_minimum_average_precision_exactly_for_large_counts() -> None:
    n, m = 300_000, 1_000_000_000
    direct = math.fsum(i / (i + m) for i in range(1, n + 1)) / n
    assert minimum_average_precision(n, m) == pytest.approx(direct, rel=1e-14)
    # n = m = 10^9: 1 - (m/n)(H(n+m) - H(m)) = 1 - ln 2 + 1/(4m), to terms in 1/m^2.
    assert minimum_average_precision(10**9, 10**9) == pytest.approx(1 - math.log(2) + 0.25e-9, rel=1e-14)


@pytest.mark.parametrize("recall", [0.3, 0.45, 0.6])
def test_interpolates_as_a_straight_line_in_roc_space(recall: float) -> None:
    start, end = (0.2, 0.9), (0.7, 0.4)
    false_start, false_end = (0.2 / 0.9 - 0.2), (0.7 / 0.4 - 0.7)
    share = (recall - 0.2) / 0.5
    expected = recall / (recall + false_start + share * (false_end - false_start))
    assert interpolated_precision(recall, start, end) == pytest.approx(expected, abs=1e-15)


def test_gives_the_interpolated_area_of_the_printed_theorem() -> None:
    (r1, p1), (r2, p2) = (0.2, 0.9), (0.7, 0.4)
    a = 1 + (1 - p2) * r2 / (p2 * (r2 - r1)) - (1 - p1) * r1 / (p1 * (r2 - r1))
    b = (1 - p1) * r1 / p1 - (1 - p2) * r1 * r2 / (p2 * (r2 - r1)) + (1 - p1) * r1**2 / (p1 * (r2 - r1))
    printed = (a * r2 - b * math.log(a * r2 + b) - a * r1 + b * math.log(a * r1 + b)) / a**2
    assert interpolated_area((r1, p1), (r2, p2)) == pytest.approx(printed, abs=1e-14)


def test_gives_the_true_areas_of_the_simulated_distributions() -> None:
    # Offset uniform, skew 0.1, by hand: 1/2 + integral of 0.1 r/(r - 0.45) over [0.5, 1].
    assert true_area("offset_uniform", 0.1) == pytest.approx(0.5 + 0.05 + 0.045 * math.log(11), abs=1e-9)
    # Equal distributions rank at random: the area is the skew.
    assert binormal_area(0.1, 0, 1) == pytest.approx(0.1, abs=1e-13)


def test_gives_the_true_binormal_area_of_a_large_sample() -> None:
    generator = np.random.default_rng(5)
    scores = np.concatenate([generator.normal(1, 1, 40_000), generator.normal(0, 1, 360_000)])
    ranking = rank(scores, np.repeat([1, 0], [40_000, 360_000]))
    assert average_precision(ranking) == pytest.approx(true_area("binormal", 0.1), abs=0.005)


def test_gives_the_parametric_intervals_worked_by_hand() -> None:
    z = 1.959963984540054
    low, high = binomial_interval(0.8, 25).ends
    assert (low, high) == pytest.approx((0.8 - z * 0.08, 0.8 + z * 0.08), abs=1e-14)
    assert binomial_interval(0.99, 5).ends[1] == 1  # cut to the range of an area
    low, high = logit_interval(0.8, 25).ends
    centre, half = math.log(4), z / math.sqrt(25 * 0.8 * 0.2)
    assert low == pytest.approx(1 / (1 + math.exp(half - centre)), abs=1e-14)
    assert high == pytest.approx(1 / (1 + math.exp(-half - centre)), abs=1e-14)


def _random_case(seed: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    n, m = generator.integers(2, 40, size=2)
    scores = np.concatenate([generator.normal(0.7, 1, n), generator.normal(0, 1, m)])
    if seed % 2:
        scores = scores.round(1)  # many ties
    return scores, np.repeat([1, 0], [n, m])


@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_scikit_learn(seed: int) -> None:
    scores, labels = _random_case(seed)
    ranking = rank(scores, labels)
    precision, recall, _ = sk.precision_recall_curve(labels, scores)
    assert average_precision(ranking) == pytest.approx(sk.average_precision_score(labels, scores), abs=1e-14)
    assert auc_roc(ranking) == pytest.approx(sk.roc_auc_score(labels, scores), abs=1e-14)
    # Straight lines through all its points are the lower trapezoid, but that ours starts with the precision
    # of the highest score where it is tied: theirs starts with a precision of 1, which no threshold has.
    first = curve(ranking)
    above = (1 - first.precision[0]) * first.recall[0] / 2
    assert lower_trapezoid(ranking) == pytest.approx(sk.auc(recall, precision) - above, abs=1e-14)


@pytest.mark.parametrize("n", [1, 3, 10])
def test_scores_that_are_all_tied_have_the_areas_of_a_random_order(n: int) -> None:
    ranking = rank([0.5] * 10 * n, [1] * n + [0] * 9 * n)
    areas = asdict(area_estimates(ranking))
    assert {name: area for name, area in areas.items() if area is not None} == pytest.approx(
        dict.fromkeys(areas.keys() - {"binormal"}, 0.1)
    )


@pytest.mark.parametrize("labels", [[0, 0, 1, 1], [0] * 9 + [1], [0, 1, 0, 1, 1]])
@pytest.mark.parametrize("tied", [False, True])
def test_no_normalised_area_is_below_zero(labels: list[int], *, tied: bool) -> None:
    scores = [-float(label) if tied else float(-index) for index, label in enumerate(labels)]
    ranking = rank(scores, labels)
    for area in asdict(area_estimates(ranking)).values():
        assert area is None or 0 <= (normalised_aucpr(area, minimum_aucpr(ranking.skew)) or 0.0) <= 1


def _brute_points(scores: list[float], labels: list[int]) -> list[tuple[int, int]]:
    """Return (true positives, false positives) at every distinct score, counted one by one."""
    points = [(0, 0)]
    for threshold in sorted(set(scores), reverse=True):
        marked = [bool(label) for score, label in zip(scores, labels, strict=True) if score >= threshold]
        points.append((sum(marked), len(marked) - sum(marked)))
    return points


def _brute_interpolation(points: list[tuple[float, float]]) -> float:
    """Integrate along straight ROC lines between (recall, false positives per positive) points."""
    total = 0.0
    for (r1, q1), (r2, q2) in itertools.pairwise(points):
        if r1 == 0:
            total += (r2 - r1) * r2 / (r2 + q2)
            continue

        def precision(r: float, r1: float = r1, q1: float = q1, r2: float = r2, q2: float = q2) -> float:
            return r / (r + q1 + (q2 - q1) * (r - r1) / (r2 - r1))

        total += integrate.quad(precision, r1, r2, epsabs=1e-13)[0]
    return total


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("name", "aggregate"),
    [("interpolated_max", max), ("interpolated_median", np.median), ("interpolated_mean", np.mean)],
)
def test_interpolated_areas_agree_with_integration_along_roc_lines(
    seed: int, name: str, aggregate: Callable[[list[float]], float]
) -> None:
    scores, labels = _random_case(seed)
    n = int(labels.sum())
    precisions = {}
    for hits, false in _brute_points(scores.tolist(), labels.tolist()):
        precisions.setdefault(hits, []).append(hits / (hits + false) if hits + false else 1.0)
    points = [(0.0, 0.0)]
    for hits in sorted(set(precisions) - {0}):
        precision = float(aggregate(precisions[hits]))
        points.append((hits / n, hits / n * (1 - precision) / precision))
    estimate = getattr(area_estimates(rank(scores, labels)), name)
    assert estimate == pytest.approx(_brute_interpolation(points), abs=1e-11)


@pytest.mark.parametrize("seed", range(8))
def test_convex_area_agrees_with_a_hull_from_scipy(seed: int) -> None:
    scores, labels = _random_case(seed)
    n, m = int(labels.sum()), int((1 - labels).sum())
    corners = [*_brute_points(scores.tolist(), labels.tolist()), (0, m)]
    hull = ConvexHull(np.array(corners, dtype=float))
    best = {}
    for index in hull.vertices:
        hits, false = corners[index]
        if (hits, false) != (0, m):
            best[hits] = min(false, best.get(hits, m))
    best[0] = 0
    points = [(hits / n, best[hits] / n) for hits in sorted(best)]
    estimate = area_estimates(rank(scores, labels)).interpolated_convex
    assert estimate == pytest.approx(_brute_interpolation(points), abs=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_binormal_area_agrees_with_integration_over_recall(seed: int) -> None:
    scores, labels = _random_case(2 * seed)
    positive, negative = scores[labels == 1], scores[labels == 0]
    shift = (positive.mean() - negative.mean()) / negative.std(ddof=1)
    scale = positive.std(ddof=1) / negative.std(ddof=1)
    skew = len(positive) / len(scores)

    def precision(recall: float) -> float:
        threshold = stats.norm.isf(recall, shift, scale)
        return skew * recall / (skew * recall + (1 - skew) * stats.norm.sf(threshold))

    expected, _ = integrate.quad(precision, 0, 1, epsabs=1e-10, limit=300)
    assert area_estimates(rank(scores, labels)).binormal == pytest.approx(expected, abs=1e-8)
