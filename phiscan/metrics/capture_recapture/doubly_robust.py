"""Doubly robust two-list capture-recapture with covariates: a one-step estimator.

Given the covariates x of a file (format, size, folder), the two detectors are assumed independent. With
q1, q2 and q12 the probabilities that list 1, list 2 and both found a file, given that one of them did,

    gamma(x) = q12(x) / (q1(x) q2(x))

is the probability to be found at all. The total is the number found times the mean of 1/gamma over the
files found, corrected for the error in the learned q.

Source: Das, Kennedy & Jewell (2024), "Doubly robust capture-recapture methods for estimating population
size", JASA 119:1309, section 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phiscan.metrics.intervals import Z95

ASSUMPTION = (
    "Files with the same covariates are found by the two detectors independently of each other, and every"
    " kind of file has a chance to be found by both."
)

Floats = NDArray[np.float64]
# A lower limit of estimated overlap probabilities, so that no single file dominates the estimate.
_SMALLEST_OVERLAP = 0.005
_STEPS = 100
_NESTED = "one detector found nothing that the other did not find: nothing is estimated as missed"


@dataclass(frozen=True, slots=True)
class DoublyRobust:
    """The corrected total with its interval, and the plug-in total for comparison."""

    n_found: int
    total: float | None
    missed: float | None
    se: float | None
    ci95: tuple[float, float] | None
    plug_in_total: float | None
    reason: str | None = None


def doubly_robust(
    first: ArrayLike, second: ArrayLike, covariates: ArrayLike, *, folds: int = 2, seed: int = 0
) -> DoublyRobust:
    """Return the estimated total from two lists and the covariates of every file found.

    The probabilities are fitted by multinomial logistic regression with cross-fitting.
    There is no interval where one list holds all files of the other, as for two lists without covariates.

    Args:
        first: (files,) of 0/1, whether the first detector found the file.
        second: the same for the second; every file was found by at least one.
        covariates: (files, columns) of finite numbers; categories as 0/1 columns.
        folds: parts for cross-fitting; 1 learns and uses on the same files.
        seed: of the random folds.

    Raises:
        ValueError: shapes differ, a value is not 0/1 or not finite, or a file was found by neither.

    Source: Das, Kennedy & Jewell (2024), eq. 5 (influence function) and eq. 9 (interval).
    """
    y1, y2, x = _checked(first, second, covariates)
    n = len(y1)
    if n == 0 or not (y1 * y2).any():
        reason = "no file was found by both detectors" if n else "no file was found by any detector"
        return DoublyRobust(n, None, None, None, None, None, reason)
    # Cells: both, only the first, only the second.
    cell = np.where(y1 * y2 == 1, 0, np.where(y1 == 1, 1, 2))
    folds = min(folds, n)  # every fold learns from one file at least
    part = np.random.default_rng(seed).permutation(n) % max(folds, 1)
    q = np.empty((n, 3))
    for fold in range(max(folds, 1)):
        learn = part != fold if folds > 1 else np.ones(n, dtype=bool)
        q[part == fold] = _predict(_learn(x[learn], cell[learn]), x[part == fold])
    both = np.maximum(q[:, 0], _SMALLEST_OVERLAP)
    one, two = q[:, 0] + q[:, 1], q[:, 0] + q[:, 2]
    inverse = one * two / both
    influence = inverse * (y1 / one + y2 / two - y1 * y2 / both)
    total = float(influence.sum())
    plug_in = float(inverse.sum())
    if total < n:
        return DoublyRobust(
            n, None, None, None, None, plug_in, "the corrected total is below the number found"
        )
    # Variance of the mean influence, plus the binomial one of being captured at all.
    share = n / total
    variance = total * (share * float(influence.var()) + (1 - share) / share)
    se = math.sqrt(variance)
    if (y1 <= y2).all() or (y2 <= y1).all():
        return DoublyRobust(n, total, total - n, se, None, plug_in, _NESTED)
    return DoublyRobust(n, total, total - n, se, (max(total - Z95 * se, n), total + Z95 * se), plug_in)


def _checked(first: ArrayLike, second: ArrayLike, covariates: ArrayLike) -> tuple[Floats, Floats, Floats]:
    y1, y2 = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    x = np.asarray(covariates, dtype=float)
    if y1.ndim != 1 or y1.shape != y2.shape or x.ndim != 2 or len(x) != len(y1):  # noqa: PLR2004 (a matrix)
        message = f"expected lists of one length and a row of covariates each, got {y1.shape}, {x.shape}"
        raise ValueError(message)
    if not np.isin(y1, (0, 1)).all() or not np.isin(y2, (0, 1)).all() or not np.isfinite(x).all():
        message = "expected lists of 0 and 1 and finite covariates"
        raise ValueError(message)
    if ((y1 + y2) == 0).any():
        message = "expected every file to be found by at least one detector"
        raise ValueError(message)
    return y1, y2, x


def _learn(x: Floats, cell: NDArray[np.intp]) -> tuple[Floats, Floats, Floats]:
    """Fit a multinomial logistic regression by Newton's method, with a slight ridge against separation."""
    centre, scale = x.mean(axis=0), x.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    z = np.column_stack([np.ones(len(x)), (x - centre) / scale])
    width = z.shape[1]
    target = (cell[:, None] == np.array([1, 2])).astype(float)
    beta = np.zeros((2, width))
    ridge = np.full(2 * width, 1e-3)
    for _ in range(_STEPS):
        p = _softmax(z, beta)[:, 1:]
        gradient = ((target - p).T @ z).ravel() - ridge * beta.ravel()
        information = np.zeros((2 * width, 2 * width))
        for a in range(2):
            for b in range(2):
                weight = p[:, a] * ((a == b) - p[:, b])
                block = (z * weight[:, None]).T @ z
                information[a * width : (a + 1) * width, b * width : (b + 1) * width] = block
        step = np.linalg.solve(information + np.diag(ridge), gradient)
        beta += np.clip(step, -2, 2).reshape(2, width)
        if np.abs(step).max() < 1e-10:  # noqa: PLR2004 (Newton's error squares at each step)
            break
    return beta, centre, scale


def _predict(fitted: tuple[Floats, Floats, Floats], x: Floats) -> Floats:
    beta, centre, scale = fitted
    return _softmax(np.column_stack([np.ones(len(x)), (x - centre) / scale]), beta)


def _softmax(z: Floats, beta: Floats) -> Floats:
    """Return (rows, 3) probabilities; the first cell has score 0."""
    scores = np.column_stack([np.zeros(len(z)), z @ beta.T])
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
