"""Log-linear models of capture histories: the number of PHI files that all detectors missed.

Conventions: the total is n + exp(intercept) of the Poisson fit to the observed cells; its variance is
m + m^2 var(intercept) with m = exp(intercept); AIC has the full Poisson constants and counts every term of
the model; BIC uses the logarithm of the number of files found.

A fit has a maximum with finite terms only if no direction in its terms leaves all positive cells unchanged
and lowers some empty cell. If there is one, the likelihood increases without bound along it and the fitted
counts of those empty cells tend to zero.

Source: Fienberg (1972), Biometrika 59:591; Cormack (1989), Biometrics 45:395; Rivest & Baillargeon (2007).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from phiscan.language import lazy_gettext as _
from phiscan.metrics.capture_recapture import poisson
from phiscan.metrics.capture_recapture import profile_likelihood as profile
from phiscan.metrics.capture_recapture.captures import CaptureTable
from phiscan.metrics.capture_recapture.model_names import Model, model_name

ASSUMPTION = _(
    "The dependence among the detectors is what the model's terms say, with none of all "
    "of them together; PHI files that are alike in everything else are equally easy to "
    "find, and verdicts are right."
)
SOURCE = _(
    "Mane et al. (2004); Fienberg (1972); Cormack (1989, 1992); existence: Fienberg & "
    "Rinaldo (2012), Chan, Silverman & Vincent (2021)"
)

# A converged fit with no smaller count proves that the maximum exists; otherwise linear programming decides.
_CLEARLY_POSITIVE = 1e-6
_BATCH = 1024
_PATIENCE = 25
# A cell's slack in the programme is 0 or 1 at the optimum; anything between is rounding.
_HALF = 0.5
_RANK_TOLERANCE = 1e-9

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ModelFit:
    """One fitted model, or a rejected one with the reason; numbers are None where they do not exist."""

    model: str
    df: int
    outcome: Literal["ok", "refused"]
    total: float | None = None
    missed: float | None = None
    se: float | None = None
    ci95: tuple[float, float] | None = None
    deviance: float | None = None
    aic: float | None = None
    bic: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Plan:
    """A model that can be fitted: the terms that stay finite, and the cells that stay positive."""

    index: int
    terms: tuple[int, ...]
    support: Flags
    certain: bool  # the maximum is known to exist; otherwise the fit must prove it


def fit_models(
    table: CaptureTable, models: Iterable[Model], *, intervals: bool = True
) -> tuple[ModelFit, ...]:
    """Fit log-linear models to a table of capture histories.

    Args:
        table: counts of files by capture history, three lists or more.
        models: sets of terms, see :mod:`phiscan.metrics.capture_recapture.model_names`.
        intervals: compute the profile-likelihood intervals too; without them ci95 is None.

    Returns:
        one ModelFit per model, in the order given. Rejected: a model whose number of missed files is
        infinite, not unique, or tends to zero.

    >>> from phiscan.metrics.capture_recapture.captures import capture_table
    >>> from phiscan.metrics.capture_recapture.model_names import parse_model
    >>> rows = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1)]
    >>> table = capture_table(rows, [60, 49, 4, 247, 112, 142, 12])
    >>> round(fit_models(table, [parse_model("[12,13,23]", 3)])[0].missed, 3)
    0.036
    """
    return _Fitting(table, list(models), intervals=intervals).run()


class _Fitting:
    """One table and the models to fit to it."""

    def __init__(self, table: CaptureTable, models: Sequence[Model], *, intervals: bool) -> None:
        self.table = table
        self.models = models
        self.intervals = intervals
        n_cells = len(table.counts) - 1
        cells = np.arange(1, n_cells + 1)
        # Row: a term (0 is the intercept); column: an observed history. 1 where the history includes the
        # term.
        self.design = np.array([(cells & term) == term for term in range(n_cells + 1)], dtype=float)
        self.counts = np.array(table.counts[1:], dtype=float)
        self.margins = self.design @ self.counts
        self.n_cells = n_cells
        self.fits: list[ModelFit | None] = [None] * len(models)

    def run(self) -> tuple[ModelFit, ...]:
        if self.table.n_found == 0:
            return tuple(
                self._refused(model, _("no file was found by any detector")) for model in self.models
            )
        unproven = self._fit(self._first_plan(index) for index in range(len(self.models)))
        plans = (self._plan_on_face(index) for index in unproven)
        self._fit(plan for plan in plans if plan is not None)
        return tuple(fit for fit in self.fits if fit is not None)

    def _first_plan(self, index: int) -> _Plan:
        """Plan the usual case: only terms of lists that never overlap tend to minus infinity."""
        terms = (0, *sorted(self.models[index]))
        empty = [term for term in terms if self.margins[term] == 0]
        support = np.asarray(~(self.design[empty] > 0).any(axis=0))
        retained = tuple(term for term in terms if self.margins[term] > 0)
        return _Plan(index, retained, support, certain=bool((self.counts[support] > 0).all()))

    def _plan_on_face(self, index: int) -> _Plan | None:
        """Find the cells that tend to zero; reject the model if the total is then undetermined."""
        model = self.models[index]
        terms = (0, *sorted(model))
        design = self.design[list(terms)].T
        support = ~vanishing_cells(design, self.counts > 0)
        if not intercept_is_unique(design[support]):
            self.fits[index] = self._refused(model, _NOT_FIXED)
            return None
        retained: list[int] = []
        for term in terms:
            columns = self.design[[*retained, term]][:, support]
            if np.linalg.matrix_rank(columns) == len(retained) + 1:
                retained.append(term)
        return _Plan(index, tuple(retained), support, certain=True)

    def _fit(self, plans: Iterable[_Plan]) -> list[int]:
        """Fit in batches of equal numbers of terms; return the models whose maximum was not proved."""
        groups: dict[tuple[int, bool], list[_Plan]] = defaultdict(list)
        unproven = []
        for plan in plans:
            if len(plan.terms) > plan.support.sum():
                unproven.append(plan.index)
            else:
                groups[len(plan.terms), plan.certain].append(plan)
        for group in groups.values():
            for start in range(0, len(group), _BATCH):
                unproven.extend(self._fit_batch(group[start : start + _BATCH]))
        return sorted(unproven)

    def _fit_batch(self, plans: list[_Plan]) -> list[int]:
        support = np.array([plan.support for plan in plans], dtype=float)
        designs = self.design[np.array([plan.terms for plan in plans])] * support[:, None, :]
        counts = np.broadcast_to(self.counts, support.shape) * support
        ranks_ok = np.array([plan.certain and plan.support.all() for plan in plans])
        rest = ~ranks_ok
        if rest.any():
            ranks_ok[rest] = np.linalg.matrix_rank(designs[rest]) == designs.shape[1]
        unproven = [plan.index for plan, ok in zip(plans, ranks_ok, strict=True) if not ok]
        if not ranks_ok.any():
            return unproven
        plans = [plan for plan, ok in zip(plans, ranks_ok, strict=True) if ok]
        designs, support, counts = designs[ranks_ok], support[ranks_ok], counts[ranks_ok]
        # Where the maximum may not exist, Newton's method diverges: linear programming decides instead.
        fits = poisson.fit(
            designs, support, counts, steps=poisson.MAX_STEPS if plans[0].certain else _PATIENCE
        )
        smallest = np.where(support > 0, fits.fitted, np.inf).min(axis=1)
        proven = np.array([plan.certain for plan in plans]) | (
            fits.converged & (smallest > _CLEARLY_POSITIVE)
        )
        unproven.extend(plan.index for plan, ok in zip(plans, proven, strict=True) if not ok)
        if proven.any():
            self._record(
                [plan for plan, ok in zip(plans, proven, strict=True) if ok],
                designs[proven],
                support[proven],
                counts[proven],
                poisson.Fits(fits.beta[proven], fits.fitted[proven], fits.converged[proven]),
            )
        return unproven

    def _record(
        self, plans: list[_Plan], designs: Floats, support: Floats, counts: Floats, fits: poisson.Fits
    ) -> None:
        missed = np.exp(fits.beta[:, 0])
        se = np.sqrt(missed + missed**2 * poisson.intercept_variance(designs, fits.fitted))
        deviance = poisson.deviance(counts, fits.fitted)
        lower = upper = None
        if self.intervals:
            lower, upper = profile.intervals(designs, support, counts, fits.beta, se)
        saturated = poisson.saturated_log_likelihood(self.counts)
        n_found = self.table.n_found
        for row, plan in enumerate(plans):
            n_terms = len(self.models[plan.index]) + 1
            minus_two = float(deviance[row]) - 2 * saturated
            ends, reason = None, None
            if lower is not None and upper is not None:
                ends = (float(lower[row]), float(upper[row]))
            if ends is not None and not (math.isfinite(ends[0]) and math.isfinite(ends[1])):
                ends, reason = (
                    None,
                    _("the profile likelihood does not fall by 1.92 within the largest numbers"),
                )
            self.fits[plan.index] = ModelFit(
                model=model_name(self.models[plan.index]),
                df=self.n_cells - n_terms,
                outcome="ok",
                total=n_found + float(missed[row]),
                missed=float(missed[row]),
                se=float(se[row]),
                ci95=ends,
                deviance=float(deviance[row]),
                aic=minus_two + 2 * n_terms,
                bic=minus_two + math.log(n_found) * n_terms,
                reason=reason,
            )

    def _refused(self, model: Model, reason: str) -> ModelFit:
        return ModelFit(model_name(model), self.n_cells - len(model) - 1, "refused", reason=reason)


_NOT_FIXED = _("the maximum does not exist or is not unique: these counts fix no number of missed files")


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
        message = f"the existence programme was not solved: {solved.message}"
        raise ArithmeticError(message)
    marked[empty] = solved.x[n_terms:] > _HALF
    return marked


def intercept_is_unique(design: Floats) -> bool:
    """Return whether the first column's coefficient is the same in all solutions with equal fitted cells."""
    left = design[:, 1:]
    return bool(
        np.linalg.matrix_rank(design, tol=_RANK_TOLERANCE) > np.linalg.matrix_rank(left, tol=_RANK_TOLERANCE)
    )
