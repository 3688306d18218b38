"""Profile-likelihood intervals where Newton's walk is hardest: sparse tables and models that fit badly."""

from __future__ import annotations

import math
from itertools import product

import pytest
from scipy import optimize, special, stats

from phiscan.metrics.capture_recapture.captures import capture_table
from phiscan.metrics.capture_recapture.loglinear import fit_models
from phiscan.metrics.capture_recapture.model_names import parse_model

HISTORIES = [history for history in product((1, 0), repeat=3) if any(history)]
DROP = float(stats.chi2.ppf(0.95, 1)) / 2


def no_three_way_profile(counts: tuple[int, ...], unseen: float) -> float:
    """Return the multinomial log-likelihood of [12,13,23] with ``unseen`` files in the eighth cell.

    The model keeps every two-way margin, so that the fitted counts differ from the counts by one number, plus
    in the cells of odd order and minus in the others, found from the odds ratio that must be 1.
    """
    odd = [count for count, history in zip(counts, HISTORIES, strict=True) if sum(history) % 2]
    even = [count for count, history in zip(counts, HISTORIES, strict=True) if sum(history) % 2 == 0]
    even = [*even, unseen]

    def log_odds_ratio(shift: float) -> float:
        return sum(math.log(x + shift) for x in odd) - sum(math.log(x - shift) for x in even)

    tiny = 1 - 1e-13
    shift = optimize.brentq(log_odds_ratio, -min(odd) * tiny, min(even) * tiny, xtol=1e-14)
    total = sum(counts) + unseen
    fitted = [(x, x + shift) for x in odd] + [(x, x - shift) for x in even]
    coefficient = special.gammaln(total + 1) - special.gammaln(unseen + 1)
    return float(coefficient + sum(x * math.log(mu / total) for x, mu in fitted))


def no_three_way_upper_end(counts: tuple[int, ...]) -> float:
    """Return the largest total whose profile is within 1.92 of the top, by bracketing alone."""
    grid = [step / 100 for step in range(-1500, 1500)]
    top = max(grid, key=lambda place: no_three_way_profile(counts, math.exp(place)))
    best = optimize.minimize_scalar(
        lambda place: -no_three_way_profile(counts, math.exp(place)),
        bounds=(top - 0.02, top + 0.02),
        method="bounded",
        options={"xatol": 1e-12},
    )
    end = optimize.brentq(
        lambda place: -best.fun - no_three_way_profile(counts, math.exp(place)) - DROP, best.x, 15, xtol=1e-13
    )
    return sum(counts) + math.exp(end)


@pytest.mark.parametrize(
    "counts",
    [
        (12, 19, 2, 58, 56, 3, 16),
        (16, 15, 36, 13, 7, 1, 45),
        (9, 2, 1, 5, 30, 5, 2),
        (5, 2, 1, 9, 9, 30, 1),
        (30, 1, 2, 2, 9, 5, 1),
        (20, 33, 14, 25, 50, 60, 41),
    ],
)
def test_matches_bracketing_of_the_saturated_model(counts: tuple[int, ...]) -> None:
    fit = fit_models(capture_table(HISTORIES, list(counts)), [parse_model("[12,13,23]", 3)])[0]
    assert fit.ci95 is not None
    assert fit.ci95[1] == pytest.approx(no_three_way_upper_end(counts), rel=1e-6)


def test_holds_every_models_total_between_finite_ends() -> None:
    table = capture_table(HISTORIES, [30, 0, 2, 1, 30, 0, 5])
    names = ["[1,2,3]", "[12,3]", "[13,2]", "[23,1]", "[12,13]", "[12,23]", "[13,23]", "[12,13,23]"]
    for fit in fit_models(table, [parse_model(name, 3) for name in names]):
        if fit.outcome == "ok":
            assert fit.ci95 is not None
            assert fit.total is not None
            assert fit.ci95[0] <= fit.total <= fit.ci95[1] < 1000


@pytest.mark.parametrize(
    ("counts", "model"), [((1, 1, 1, 100, 0, 3, 5000), "[23,1]"), ((1, 1, 2, 20, 100, 5000, 7), "[13,23]")]
)
def test_finds_ends_where_rounding_blurs_the_top(counts: tuple[int, ...], model: str) -> None:
    fit = fit_models(capture_table(HISTORIES, list(counts)), [parse_model(model, 3)])[0]
    assert fit.ci95 is not None
    assert fit.total is not None
    assert fit.ci95[0] < fit.total < fit.ci95[1]
