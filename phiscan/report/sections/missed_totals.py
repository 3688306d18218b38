"""The totals that stand beside the log-linear models: bounds, coverage, kinds of files, and formats.

Every one of them starts from the same capture histories and assumes something else; together they show how
much of the answer is the assumption.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from phiscan.metrics.capture_recapture import coverage as coverage_estimates
from phiscan.metrics.capture_recapture import latent_class as classes
from phiscan.metrics.capture_recapture import loglinear, strata
from phiscan.metrics.capture_recapture.captures import CaptureTable, capture_table
from phiscan.metrics.capture_recapture.missed import AIC_WINDOW, MAX_LISTS_ALL_MODELS, MissedFiles
from phiscan.report.data.estimates import Estimate, StratumTotal
from phiscan.report.words import FORMATS

N_KINDS = 2
MIN_STRATA = 2
_AVERAGE_SOURCE = "Burnham & Anderson (2002), section 4.3; Buckland, Burnham & Augustin (1997)"
_BOUND = (
    "On each file the detectors act independently; the files themselves may differ in how easily they are"
    " found, and then the total is larger than this."
)
_PAIRS = (
    "Detectors depend on each other in pairs only, as their overlaps show. For a coverage below 55% the"
    " authors advise the one-step total, as a lower bound."
)
_SAMPLE_COVERAGE = "Chao & Tsay (1998), eq. 2.3 to 2.7; Chao et al. (2001), eq. 9, 12 and 13"


def totals(table: CaptureTable, names: Sequence[str], models: MissedFiles) -> tuple[Estimate, ...]:
    """Return every total that three detectors or more allow, each with what it is made of."""
    return (
        *_selected(models),
        *_over_models(models),
        _lower_bound(table, models),
        *_coverage(table, names, models),
        _kinds(table),
    )


def _total(
    name: str,
    value: float | None,
    formula: str,
    inputs: dict[str, float],
    *,
    assumption: str,
    source: str,
    ci95: tuple[float, float] | None = None,
    reason: str | None = None,
) -> Estimate:
    return Estimate(name, value, ci95, "number", formula, inputs, assumption, source, reason)


def _selected(models: MissedFiles) -> list[Estimate]:
    fits = {fit.model: fit for fit in models.models}
    found = []
    for criterion, selected in (("AIC", models.selected_aic), ("BIC", models.selected_bic)):
        fit = fits.get(selected or "")
        values = {"missed": fit.missed, "AIC": fit.aic, "BIC": fit.bic} if fit else {}
        inputs: dict[str, float] = {"n (found)": models.n_observed}
        inputs |= {name: value for name, value in values.items() if value is not None}
        found.append(
            _total(
                f"Total PHI, model of the lowest {criterion}{f': {fit.model}' if fit else ''}",
                fit.total if fit else None,
                "n + exp(intercept) of that log-linear model",
                inputs,
                assumption=loglinear.ASSUMPTION,
                source=loglinear.SOURCE,
                ci95=fit.ci95 if fit else None,
                reason=fit.reason if fit else models.reason,
            )
        )
    return found


def _over_models(models: MissedFiles) -> list[Estimate]:
    usable = [fit.aic for fit in models.models if fit.aic is not None and fit.total is not None]
    best = min(usable, default=0.0)
    inputs: dict[str, float] = {"models with an estimate": len(usable)}
    near: dict[str, float] = {"models within": sum(aic - best <= AIC_WINDOW for aic in usable)}
    if usable:
        inputs["lowest AIC"] = near["lowest AIC"] = best
    averaged = models.averaged
    low, high = models.model_range or (None, None)
    spread = [
        _total(
            f"{which} total within 10 AIC units of the best",
            value,
            formula,
            near,
            assumption="The data rule out none of these models; the truth may lie outside all of them.",
            source="Burnham & Anderson (2002), section 2.6",
            reason=models.reason,
        )
        for which, value, formula in (("Smallest", low, "min N"), ("Largest", high, "max N"))
    ]
    return [
        _total(
            "Total PHI, averaged over the models",
            averaged.total if averaged else None,
            "Σ w N / Σ w with w = exp(-(AIC - lowest AIC) / 2)",
            inputs,
            assumption="One of the models is right, and their AIC says how likely each is.",
            source=_AVERAGE_SOURCE,
            ci95=averaged.ci95 if averaged else None,
            reason=models.reason,
        ),
        *spread,
    ]


def _lower_bound(table: CaptureTable, models: MissedFiles) -> Estimate:
    bound = models.lower_bound
    once, twice = table.frequencies[1], table.frequencies[2]
    return _total(
        "Total PHI at least, Chao's lower bound",
        bound.total,
        "n + f₁² / (2 f₂)",
        {"n (found)": table.n_found, "f₁ (by one detector)": once, "f₂ (by two)": twice},
        assumption=_BOUND,
        source="Chao (1987), eq. 5",
        reason=bound.reason,
    )


def _coverage(table: CaptureTable, names: Sequence[str], models: MissedFiles) -> list[Estimate]:
    found = models.coverage
    singles = [1 << position for position in range(table.n_lists)]
    inputs: dict[str, float] = {}
    for single, name in zip(singles, names, strict=True):
        inputs |= {f"found by {name}": table.margin(single), f"by {name} alone": table.only(single)}
    built: dict[str, float] = {
        "D": table.n_found - sum(table.only(single) for single in singles) / table.n_lists
    }
    if found.coverage is not None:
        built["C"] = found.coverage
    low = found.coverage is not None and found.coverage < coverage_estimates.LOW_COVERAGE
    share = Estimate(
        "Sample coverage C",
        found.coverage,
        None,
        "share",
        "1 - mean over the detectors of (found by it alone / found by it)",
        inputs,
        "What another detector confirms of each one's files is the share of all PHI that they cover.",
        _SAMPLE_COVERAGE,
        found.reason if found.coverage is None else None,
    )
    kinds = (
        ("independent detectors", found.independent_total, "D / C, with D = n - mean found by one alone"),
        (
            f"corrected for dependence{'; not advised here' if low else ''}",
            found.total,
            (
                "the N that solves N = D / C + Σ over pairs of (files of these two alone)"
                " (N n₁₂ / (n₁ n₂) - 1) / (t C)"
            ),
        ),
        (
            f"one-step{', advised here' if low else ''}",
            found.one_step_total,
            "the same correction, applied twice from D / C on",
        ),
    )
    return [
        share,
        *(
            _total(
                f"Total PHI by sample coverage, {kind}",
                value,
                formula,
                built,
                assumption=_PAIRS,
                source=_SAMPLE_COVERAGE,
                reason=None if value is not None else found.reason,
            )
            for kind, value, formula in kinds
        ),
    ]


def _kinds(table: CaptureTable) -> Estimate:
    """Return the total of the latent-class model, where the cells are enough to tell two kinds apart."""
    n_terms, n_cells = N_KINDS * table.n_lists + N_KINDS - 1, (1 << table.n_lists) - 2
    inputs: dict[str, float] = {"kinds": N_KINDS, "terms": n_terms, "free cells": n_cells}
    value, reason = None, None
    if n_terms > n_cells:
        reason = (
            f"two kinds of files need {n_terms} terms, and {table.n_lists} detectors give {n_cells} cells"
        )
    else:
        fitted = classes.latent_class(table, N_KINDS)
        value, reason = fitted.total, fitted.reason
        inputs["restarts that agree"] = fitted.runs_agreeing
    return _total(
        "Total PHI, two latent kinds of files",
        value,
        "n + n p₀ / (1 - p₀), with p₀ the chance that no detector finds a file; fitted by EM",
        inputs,
        assumption=classes.ASSUMPTION,
        source="Goodman (1974); Agresti (1994)",
        reason=reason,
    )


def by_format(confirmed: Sequence[tuple[str, tuple[int, ...]]]) -> tuple[tuple[StratumTotal, ...], Estimate]:
    """Estimate within every format that holds confirmed files, and add up.

    Args:
        confirmed: media type and capture history of each confirmed file that a detector found.

    Source: Sekar & Deming (1949), section 6.
    """
    cells: dict[str, Counter[tuple[int, ...]]] = {}
    for media_type, history in confirmed:
        cells.setdefault(FORMATS.get(media_type, media_type) or "not known", Counter())[history] += 1
    n_lists = max((len(history) for _, history in confirmed), default=0)
    if len(cells) < MIN_STRATA:
        return (), _sum_of_formats(None, (), "the confirmed files are of fewer than two formats")
    if n_lists > MAX_LISTS_ALL_MODELS:
        return (), _sum_of_formats(None, (), "more than five detectors: too many models for each format")
    tables = {name: capture_table(list(cell), list(cell.values())) for name, cell in sorted(cells.items())}
    estimated = strata.stratified_total(tables)
    parts = tuple(StratumTotal(name, tables[name].n_found, total) for name, total in estimated.strata.items())
    combined = estimated.combined
    return parts, _sum_of_formats((combined.total, combined.ci95), parts, combined.reason)


def _sum_of_formats(
    total: tuple[float | None, tuple[float, float] | None] | None,
    parts: Sequence[StratumTotal],
    reason: str | None,
) -> Estimate:
    value, ci95 = total or (None, None)
    return _total(
        "Total PHI, sum over the formats",
        value,
        "Σ N of each format; variances add up, log-transformed interval",
        {"formats": len(parts), "n (found)": sum(part.found for part in parts)},
        assumption=strata.ASSUMPTION + " A format without confirmed files adds nothing.",
        source=strata.SOURCE,
        ci95=ci95,
        reason=reason,
    )
