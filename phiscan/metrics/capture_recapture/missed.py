"""Number of PHI files missed by three or more detectors: all log-linear models, selection and averaging."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from phiscan.language import lazy_gettext as _
from phiscan.metrics.capture_recapture.captures import CaptureTable
from phiscan.metrics.capture_recapture.coverage import (
    LowerBound,
    SampleCoverage,
    chao_lower_bound,
    sample_coverage,
)
from phiscan.metrics.capture_recapture.loglinear import ModelFit, fit_models
from phiscan.metrics.capture_recapture.model_names import (
    Model,
    addable_terms,
    hierarchical_models,
    main_effects,
)
from phiscan.metrics.intervals import Z95

# With more lists there are too many models to fit them all (7,785,062 for six).
MAX_LISTS_ALL_MODELS = 5
# Models within this distance of the best AIC have some support in the data.
AIC_WINDOW = 10.0


@dataclass(frozen=True, slots=True)
class Averaged:
    """The total averaged over the models by Akaike weights, with its unconditional standard error."""

    total: float
    missed: float
    se: float
    ci95: tuple[float, float]


@dataclass(frozen=True, slots=True)
class MissedFiles:
    """The estimates of the files that no detector found, by log-linear models and by overlap counts."""

    n_observed: int
    models: tuple[ModelFit, ...]
    selected_aic: str | None
    selected_bic: str | None
    averaged: Averaged | None
    model_range: tuple[float, float] | None
    lower_bound: LowerBound
    coverage: SampleCoverage
    reason: str | None = None


def estimate_missed(table: CaptureTable) -> MissedFiles:
    """Fit every hierarchical model (up to five lists) or those of a forward selection; return all estimates.

    There must be three lists or more.

    Source: Mane et al. (2004), section 2; Fienberg (1972); averaging: Burnham & Anderson (2002), section 4.3.
    """
    if table.n_lists <= MAX_LISTS_ALL_MODELS:
        fits = fit_models(table, hierarchical_models(table.n_lists))
    else:
        fits = forward_selection(table)
    usable = [fit for fit in fits if fit.outcome == "ok"]
    return MissedFiles(
        n_observed=table.n_found,
        models=fits,
        selected_aic=_best(usable, "aic"),
        selected_bic=_best(usable, "bic"),
        averaged=average(fits, table.n_found),
        model_range=total_range(fits),
        lower_bound=chao_lower_bound(table),
        coverage=sample_coverage(table),
        reason=None if usable else _("every model was refused"),
    )


def forward_selection(table: CaptureTable) -> tuple[ModelFit, ...]:
    """Add terms one at a time, from independence, as long as one of them lowers AIC or BIC.

    A step tries every term that keeps the model hierarchical and continues from the one with the lowest AIC
    (then once more, by BIC). Rejected models are never continued from.

    Returns:
        every model that was tried, once, in the order tried.
    """
    tried: dict[Model, ModelFit] = {}
    for criterion in ("aic", "bic"):
        current = main_effects(table.n_lists)
        _try(table, [current], tried)
        while True:
            steps = [current | {term} for term in addable_terms(current, table.n_lists)]
            _try(table, steps, tried)
            best = min(steps, key=lambda model: _score(tried[model], criterion), default=current)
            if _score(tried[best], criterion) >= _score(tried[current], criterion):
                break
            current = best
    return fit_models(table, tried)


def average(fits: Sequence[ModelFit], n_observed: int) -> Averaged | None:
    """Average the totals by Akaike weights exp(-(AIC - best)/2); None when every model was rejected.

    The standard error adds the spread between models; the interval is log-transformed.

    Source: Burnham & Anderson (2002), "Model Selection and Multimodel Inference", eq. 4.1 and 4.9; Buckland,
    Burnham & Augustin (1997), Biometrics 53:603.
    """
    parts = [
        (fit.aic, fit.missed, fit.se)
        for fit in fits
        if fit.aic is not None and fit.missed is not None and fit.se is not None
    ]
    if not parts:
        return None
    best = min(aic for aic, _, _ in parts)
    weights = [math.exp((best - aic) / 2) for aic, _, _ in parts]
    weight = math.fsum(weights)
    missed = math.fsum(w * part[1] for w, part in zip(weights, parts, strict=True)) / weight
    spread = (
        math.fsum(w * math.hypot(part[2], part[1] - missed) for w, part in zip(weights, parts, strict=True))
        / weight
    )
    factor = math.exp(Z95 * math.sqrt(math.log1p((spread / missed) ** 2)))
    return Averaged(
        total=n_observed + missed,
        missed=missed,
        se=spread,
        ci95=(n_observed + missed / factor, n_observed + missed * factor),
    )


def total_range(fits: Sequence[ModelFit]) -> tuple[float, float] | None:
    """Return the smallest and the largest total among the models within 10 AIC units of the best."""
    pairs = [(fit.aic, fit.total) for fit in fits if fit.aic is not None and fit.total is not None]
    if not pairs:
        return None
    best = min(aic for aic, _ in pairs)
    near = [total for aic, total in pairs if aic - best <= AIC_WINDOW]
    return min(near), max(near)


def _best(fits: Sequence[ModelFit], criterion: str) -> str | None:
    return min(fits, key=lambda fit: _score(fit, criterion)).model if fits else None


def _score(fit: ModelFit, criterion: str) -> float:
    value = fit.aic if criterion == "aic" else fit.bic
    return math.inf if value is None else value


def _try(table: CaptureTable, models: Sequence[Model], tried: dict[Model, ModelFit]) -> None:
    fresh = [model for model in models if model not in tried]
    tried.update(zip(fresh, fit_models(table, fresh, intervals=False), strict=True))
