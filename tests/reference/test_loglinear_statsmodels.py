"""Log-linear fits against statsmodels' GLM, and profile intervals against a search with that GLM."""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy import optimize, special

from phiscan.metrics.capture_recapture.captures import CaptureTable
from phiscan.metrics.capture_recapture.loglinear import fit_models
from phiscan.metrics.capture_recapture.model_names import Model, hierarchical_models, parse_model

TABLES = {
    "three": (0, 44, 38, 41, 43, 39, 31, 37),
    "four": (0, 21, 33, 30, 29, 28, 34, 31, 25, 25, 31, 27, 36, 24, 29, 30),
    "sparse": (0, 9, 5, 3, 12, 1, 4, 2, 8, 3, 1, 1, 6, 2, 1, 1),
}
CASES = [
    (name, index) for name in TABLES for index in (0, 1, 3, 7, 40, 77, 101) if name != "three" or index < 8
]


def design(n_lists: int, model: Model) -> NDArray[np.float64]:
    cells = np.arange(1, 1 << n_lists)
    return np.array([[(cell & term) == term for term in (0, *sorted(model))] for cell in cells], dtype=float)


def glm(y: NDArray[np.float64], x: NDArray[np.float64]) -> sm.GLM:
    return sm.GLM(y, x, family=sm.families.Poisson()).fit(tol=1e-14, maxiter=200)


@pytest.mark.parametrize(("name", "index"), CASES)
def test_agrees_with_statsmodels(name: str, index: int) -> None:
    counts = TABLES[name]
    table = CaptureTable(len(counts).bit_length() - 1, counts)
    model = list(hierarchical_models(table.n_lists))[index]
    ours = fit_models(table, [model])[0]
    x = design(table.n_lists, model)
    theirs = glm(np.array(counts[1:], dtype=float), x)
    missed = np.exp(theirs.params[0])
    assert ours.total == pytest.approx(table.n_found + missed, rel=1e-9)
    assert ours.se == pytest.approx(np.sqrt(missed + missed**2 * theirs.cov_params()[0, 0]), rel=1e-7)
    assert ours.deviance == pytest.approx(theirs.deviance, rel=1e-8, abs=1e-8)
    assert ours.df == len(x) - x.shape[1]
    assert ours.aic == pytest.approx(theirs.aic, rel=1e-10)
    assert ours.bic == pytest.approx(-2 * theirs.llf + x.shape[1] * np.log(table.n_found), rel=1e-10)


@pytest.mark.parametrize(("name", "text"), [("three", "[1,2,3]"), ("three", "[12,3]"), ("four", "[12,34]")])
def test_agrees_with_a_search_along_the_profile(name: str, text: str) -> None:
    counts = TABLES[name]
    table = CaptureTable(len(counts).bit_length() - 1, counts)
    model = parse_model(text, table.n_lists)
    x = np.vstack([design(table.n_lists, model), [1.0] + [0.0] * len(model)])
    n = table.n_found

    def likelihood(log_unseen: float) -> float:
        unseen = np.exp(log_unseen)
        total = n + unseen
        deviance = glm(np.append(np.array(counts[1:], dtype=float), unseen), x).deviance
        constant = special.gammaln(total + 1) - total * np.log(total)
        return float(constant - special.gammaln(unseen + 1) + unseen * np.log(unseen) - deviance / 2)

    ours = fit_models(table, [model])[0]
    assert ours.missed is not None
    near = np.log(ours.missed)
    top = optimize.minimize_scalar(lambda t: -likelihood(t), bounds=(near - 2, near + 1), method="bounded")
    level = -top.fun - 3.841458820694124 / 2
    low = optimize.brentq(lambda t: likelihood(t) - level, near - 4, top.x, xtol=1e-12)
    high = optimize.brentq(lambda t: likelihood(t) - level, top.x, near + 4, xtol=1e-12)
    assert ours.ci95 == pytest.approx((n + np.exp(low), n + np.exp(high)), rel=1e-7)


def test_lets_a_pair_that_never_overlaps_run_to_minus_infinity() -> None:
    # Lists 1 and 2 never overlap; without their cells and term the rest is an ordinary fit.
    counts = (0, 30, 20, 0, 25, 12, 9, 0, 40, 15, 11, 0, 13, 6, 4, 0)
    table = CaptureTable(4, counts)
    ours = fit_models(table, [parse_model("[12,34]", 4)])[0]
    kept = [cell for cell in range(1, 16) if cell & 3 != 3]
    terms = (0, 1, 2, 4, 8, 12)
    x = np.array([[(cell & term) == term for term in terms] for cell in kept], dtype=float)
    theirs = glm(np.array([counts[cell] for cell in kept], dtype=float), x)
    assert ours.outcome == "ok"
    assert ours.missed == pytest.approx(np.exp(theirs.params[0]), rel=1e-9)
    assert ours.deviance == pytest.approx(theirs.deviance, rel=1e-9)
    # The term counts as a term: Chan, Silverman & Vincent (2021) and SparseMSE's modelfit do the same.
    assert ours.aic == pytest.approx(theirs.aic + 2, rel=1e-10)
    assert ours.df == 15 - 7
