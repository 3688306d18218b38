"""Fit many Poisson log-linear models at once by Newton's method on stacked designs.

Shapes: m models, t terms, c cells. Designs are stacked terms first, (m, t, c), so that one gather builds
them. A cell with weight 0 is outside the model's support: its fitted count is exactly 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

MAX_STEPS = 100
# Newton's method converges quadratically: after a step this small only rounding errors remain.
_LAST_STEP = 1e-9
_LARGEST_STEP = 4.0
# Keeps a nearly singular matrix (a cell tending to zero) solvable.
_RIDGE = 4e-16
_STRONG_RIDGE = 1e-10
_HALVINGS = 12
_ROUNDING = 1e-13
_SMALLEST_GAIN = 1e-13
_SHORT_STEP = 1e-6
_LARGEST_LOG = 700.0
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Fits:
    """Fits of m models: coefficients (m, t), fitted counts (m, c), whether Newton's method converged (m,)."""

    beta: Floats
    fitted: Floats
    converged: Flags


def fit(
    designs: Floats, support: Floats, counts: Floats, *, steps: int = MAX_STEPS, start: Floats | None = None
) -> Fits:
    """Return the maximum likelihood fit of every model.

    Args:
        designs: (m, t, c), zeros and ones.
        support: (m, c), 1 inside the model's support, 0 outside.
        counts: (m, c), 0 outside the support.
        steps: Newton steps at most.
        start: (m, t), coefficients to begin with; those of the logarithms of the counts by default.

    Source: Green (1984), JRSS B 46:149 (iteratively reweighted least squares).
    """
    n_models = len(designs)
    if start is None:
        weight = (counts + 0.5) * support
        right = np.einsum("mtc,mc->mt", designs, weight * np.log(counts + 0.5))
        start = solve_information(designs, weight, right[:, :, None])[:, :, 0]
    beta = start.copy()
    converged = np.zeros(n_models, dtype=bool)
    fitted = fitted_counts(designs, support, beta)
    # Minus the log-likelihood, up to constants.
    height = _height(designs, counts, fitted, beta)
    active = np.arange(n_models)
    for _ in range(steps):
        part, mu, y = designs[active], fitted[active], counts[active]
        gradient = np.einsum("mtc,mc->mt", part, y - mu)
        step = solve_information(part, mu, gradient[:, :, None])[:, :, 0]
        change = np.abs(np.einsum("mtc,mt->mc", part, step) * support[active]).max(axis=1)
        # A long step from a poor start can overshoot; a short one cannot.
        length = np.minimum(1.0, _LARGEST_STEP / np.maximum(change, _LAST_STEP))
        before = height[active]
        for _ in range(_HALVINGS):
            moved = beta[active] + step * length[:, None]
            new = fitted_counts(part, support[active], moved)
            after = _height(part, y, new, moved)
            worse = after > before + _ROUNDING * np.abs(before)
            if not worse.any():
                break
            length = np.where(worse, length / 2, length)
        beta[active], fitted[active], height[active] = moved, new, after
        # Done when the step is short, or when its possible gain is below rounding.
        gain = np.abs(np.einsum("mt,mt->m", gradient, step))
        done = (change < _LAST_STEP) | ((gain < _SMALLEST_GAIN) & (change < _SHORT_STEP))
        converged[active[done]] = True
        active = active[~done]
        if len(active) == 0:
            break
    return Fits(beta, fitted, converged)


def solve_information(designs: Floats, weights: Floats, right: Floats) -> Floats:
    """Solve (X' W X) B = R for every model; shapes (m, t, c), (m, c), (m, t, r)."""
    information = np.matmul(designs * weights[:, None, :], designs.transpose(0, 2, 1))
    diagonal = np.arange(information.shape[1])
    information[:, diagonal, diagonal] *= 1 + _RIDGE
    try:
        return np.asarray(np.linalg.solve(information, right))
    except np.linalg.LinAlgError:
        # A cell tending to zero leaves a direction undetermined: any value will do.
        information[:, diagonal, diagonal] *= 1 + _STRONG_RIDGE
        return np.asarray(np.linalg.solve(information, right))


def fitted_counts(designs: Floats, support: Floats, beta: Floats) -> Floats:
    """Return exp(X beta) inside the support and 0 outside, shape (m, c)."""
    linear = np.einsum("mtc,mt->mc", designs, beta)
    return np.asarray(np.exp(np.minimum(linear, _LARGEST_LOG)) * support)


def intercept_variance(designs: Floats, fitted: Floats) -> Floats:
    """Return the variance of every model's first coefficient, shape (m,)."""
    unit = np.zeros((*designs.shape[:2], 1))
    unit[:, 0, 0] = 1.0
    return solve_information(designs, fitted, unit)[:, 0, 0]


def deviance(counts: Floats, fitted: Floats) -> Floats:
    """Return 2 sum(y log(y/mu) - y + mu) over the last axis, without cancellation for large counts."""
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.where(counts > 0, (fitted - counts) / np.where(counts > 0, counts, 1.0), 0.0)
        # e - log1p(e) for small e by its series; the difference itself loses all digits there.
        series = excess**2 * (
            1 / 2 - excess * (1 / 3 - excess * (1 / 4 - excess * (1 / 5 - excess * (1 / 6 - excess / 7))))
        )
        # Far below the count, 1 + e has no digits left; the quotient has.
        log = np.where(excess < -_HALF, np.log(fitted / counts), np.log1p(np.maximum(excess, -_HALF)))
        gap = np.where(np.abs(excess) < 1e-3, series, excess - log)  # noqa: PLR2004 (7 terms)
    return np.asarray(2 * np.where(counts > 0, counts * gap, fitted).sum(axis=-1))


def saturated_log_likelihood(counts: Floats) -> float:
    """Return the Poisson log-likelihood of fitted = observed, with all constants.

    A cell gives y log y - y - log y!, which is -log(2 pi y)/2 minus Stirling's remainder: exact for 10^9.
    """
    positive = counts[counts > 0]
    return float(-factorial_remainder(positive).sum())


def factorial_remainder(values: Floats) -> Floats:
    """Return log x! - x log x + x for x >= 0, from Stirling's series where it is exact.

    >>> float(factorial_remainder(np.array([0.0]))[0])
    0.0
    """
    large = values > 30  # noqa: PLR2004 (the first term left out is below 1e-15 there)
    big = np.where(large, values, 100.0)
    series = (
        0.5 * np.log(2 * np.pi * big)
        + (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / (1188 * big**2)) / big**2) / big**2) / big**2)
        / big
    )
    small = np.where(large, 1.0, values)
    direct = special.gammaln(small + 1) - special.xlogy(small, small) + small
    return np.asarray(np.where(large, series, direct))


def _height(designs: Floats, counts: Floats, fitted: Floats, beta: Floats) -> Floats:
    sufficient = np.einsum("mtc,mc->mt", designs, counts)
    return np.asarray(fitted.sum(axis=1) - np.einsum("mt,mt->m", sufficient, beta))
