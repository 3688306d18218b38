"""Existence of a log-linear model's maximum likelihood estimate, by linear programming.

A Poisson log-linear model has a maximum with finite terms only if no direction in its terms leaves all
positive cells unchanged and lowers some empty cell. If there is one, the likelihood increases without bound
along it and the fitted counts of those empty cells tend to zero.

Source: Fienberg & Rinaldo (2012), Annals of Statistics 40:996; for capture-recapture: Chan, Silverman &
Vincent (2021), JASA 116:1297.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# A cell's slack in the programme is 0 or 1 at the optimum; anything between is rounding.
_HALF = 0.5
_RANK_TOLERANCE = 1e-9


def vanishing_cells(design: Floats, positive: Flags) -> Flags:
    """Return which empty cells' fitted counts tend to zero; if there are none, the maximum exists.

    Args:
        design: one row per observed cell, one column per term, of shape (cells, terms).
        positive: which cells have a positive count, of shape (cells,).

    Raises:
        ArithmeticError: the programme could not be solved.

    Source: Fienberg & Rinaldo (2012), supplement, section 1.
    """
    marked = np.zeros(len(positive), dtype=bool)
    empty = ~positive
    n_empty, n_terms = int(empty.sum()), design.shape[1]
    if n_empty == 0:
        return marked
    # Unknown: a free direction in the terms, and a slack in [0, 1] per empty cell. Directions form a cone,
    # so every cell that any direction lowers reaches slack 1 when the sum of the slacks is largest.
    solved = optimize.linprog(
        np.concatenate([np.zeros(n_terms), -np.ones(n_empty)]),
        A_ub=sparse.csr_array(np.hstack([design[empty], np.eye(n_empty)])),
        b_ub=np.zeros(n_empty),
        A_eq=sparse.csr_array(np.hstack([design[positive], np.zeros((len(positive) - n_empty, n_empty))])),
        b_eq=np.zeros(len(positive) - n_empty),
        bounds=[(None, None)] * n_terms + [(0, 1)] * n_empty,
        method="highs",
    )
    if solved.status != 0:
        raise ArithmeticError(f"the existence programme was not solved: {solved.message}")
    marked[empty] = solved.x[n_terms:] > _HALF
    return marked


def intercept_is_unique(design: Floats) -> bool:
    """Return whether the first column's coefficient is the same in all solutions with equal fitted cells."""
    left = design[:, 1:]
    return bool(
        np.linalg.matrix_rank(design, tol=_RANK_TOLERANCE) > np.linalg.matrix_rank(left, tol=_RANK_TOLERANCE)
    )


def missed_direction(design: Floats, support: Flags) -> Literal["up", "down", "open"]:
    """Return the limit of a first coefficient that is not unique: plus or minus infinity, or undetermined.

    Args:
        design: one row per observed cell, one column per term.
        support: the cells that do not vanish.
    """
    n_terms = design.shape[1]
    first = np.zeros(n_terms)
    first[0] = 1.0
    vanishing = design[~support]

    def reachable(sign: float) -> bool:
        """Return whether a direction lowers every vanishing cell and changes the first term by this sign."""
        solved = optimize.linprog(
            np.zeros(n_terms),
            A_ub=np.vstack([vanishing, -sign * first]),
            b_ub=np.concatenate([-np.ones(len(vanishing)), [-1.0]]),
            A_eq=design[support],
            b_eq=np.zeros(int(support.sum())),
            bounds=[(None, None)] * n_terms,
            method="highs",
        )
        return bool(solved.status == 0)

    up, down = reachable(1.0), reachable(-1.0)
    if up == down:
        return "open"
    return "up" if up else "down"
