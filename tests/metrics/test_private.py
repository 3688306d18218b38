"""Private releases: what is refused, and what drowns."""

import math
from itertools import product

import pytest

from phiscan.metrics.differential_privacy import (
    local_sensitivity_rate,
    noise_scale,
    smooth_sensitivity,
)


def test_calls_a_figure_drowned_by_its_noise() -> None:
    assert noise_scale("accuracy", 10, 10, epsilon=1, delta=1e-6, noise="laplace").drowns
    assert not noise_scale("accuracy", 10_000, 10_000, epsilon=1, delta=1e-6, noise="laplace").drowns
    # The central 95 % of Cauchy noise reach tan(0.475 pi) scales far.
    wide = noise_scale("accuracy", 500, 500, epsilon=1, delta=0, noise="cauchy")
    assert wide.half_width == pytest.approx(12.7062 * wide.scale, rel=1e-5)


def test_needs_no_delta_where_the_sensitivity_is_the_same_everywhere() -> None:
    assert noise_scale("accuracy", 5, 5, epsilon=1, delta=0, noise="laplace").scale == 0.1
    with pytest.raises(ValueError, match="expected delta from 0"):
        noise_scale("accuracy", 5, 5, epsilon=1, delta=1, noise="laplace")
    with pytest.raises(ValueError, match="expected delta above 0"):
        noise_scale("auc_roc", 5, 5, epsilon=1, delta=0, noise="laplace")


def _rate(labels: tuple[int, ...], marked: tuple[int, ...], label: int) -> float:
    among = [m for lab, m in zip(labels, marked, strict=True) if lab == label]
    hits = sum(m == label for m in among)
    return hits / len(among) if among else 0.0


@pytest.mark.parametrize("label", [0, 1])
def test_bounds_every_change_of_one_example_of_a_rate(label: int) -> None:
    size, largest = 4, dict.fromkeys(range(5), 0.0)
    rows = [(lab, mark) for lab in (0, 1) for mark in (0, 1)]
    for data in product(rows, repeat=size):
        before = _rate(tuple(r[0] for r in data), tuple(r[1] for r in data), label)
        among = sum(lab == label for lab, _ in data)
        for row in rows:
            other = (row, *data[1:])
            after = _rate(tuple(r[0] for r in other), tuple(r[1] for r in other), label)
            largest[among] = max(largest[among], abs(before - after))
    for among, change in largest.items():
        assert change <= local_sensitivity_rate(among) + 1e-12
    assert largest[4] == pytest.approx(local_sensitivity_rate(4))


@pytest.mark.parametrize(("metric", "n", "m"), [("sensitivity", 12, 300), ("specificity", 300, 12)])
def test_smooths_a_rate_over_the_number_of_its_own_class(metric: str, n: int, m: int) -> None:
    beta = 0.2
    expected = max(local_sensitivity_rate(k) * math.exp(-beta * abs(12 - k)) for k in range(313))
    assert smooth_sensitivity(metric, n, m, beta) == pytest.approx(expected, rel=1e-12)
    assert noise_scale(metric, n, m, epsilon=1, delta=1e-3, noise="laplace").scale > 2 / 12
