"""The totals next to the log-linear models: bounds, coverage, kinds of files, and formats.

All start from the same capture histories with different assumptions; together they show how much of the
result depends on the assumption.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from phiscan.language import lazy_gettext as _
from phiscan.metrics.capture_recapture import coverage as coverage_estimates
from phiscan.metrics.capture_recapture import latent_class as classes
from phiscan.metrics.capture_recapture import loglinear, strata
from phiscan.metrics.capture_recapture.captures import CaptureTable, capture_table
from phiscan.metrics.capture_recapture.missed import AIC_WINDOW, MAX_LISTS_ALL_MODELS, MissedFiles
from phiscan.report.data.estimates import Estimate, StratumTotal
from phiscan.report.words import FORMATS, plain

N_KINDS = 2
MIN_STRATA = 2
_AVERAGE_SOURCE = _("Burnham & Anderson (2002), section 4.3; Buckland, Burnham & Augustin (1997)")
_BOUND = _(
    "On each file the detectors act independently; the files themselves may differ in "
    "how easily they are found, and then the total is larger than this."
)
_PAIRS = _(
    "Detectors depend on each other in pairs only, as their overlaps show. For a "
    "coverage below 55% the authors advise the one-step total, as a lower bound."
)
_SAMPLE_COVERAGE = _("Chao & Tsay (1998), eq. 2.3 to 2.7; Chao et al. (2001), eq. 9, 12 and 13")


def totals(table: CaptureTable, names: Sequence[str], models: MissedFiles) -> tuple[Estimate, ...]:
    """Return every total for three detectors or more, each with its inputs."""
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
        values = {_("missed"): fit.missed, "AIC": fit.aic, "BIC": fit.bic} if fit else {}
        inputs: dict[str, float] = {_("n (found)"): models.n_observed}
        inputs |= {name: value for name, value in values.items() if value is not None}
        found.append(
            _total(
                _("Total PHI, model of the lowest {criterion}: {model}", criterion=criterion, model=fit.model)
                if fit
                else _("Total PHI, model of the lowest {criterion}", criterion=criterion),
                fit.total if fit else None,
                _("n + exp(intercept) of that log-linear model"),
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
    inputs: dict[str, float] = {_("models with an estimate"): len(usable)}
    near: dict[str, float] = {_("models within"): sum(aic - best <= AIC_WINDOW for aic in usable)}
    if usable:
        inputs[_("lowest AIC")] = near[_("lowest AIC")] = best
    averaged = models.averaged
    low, high = models.model_range or (None, None)
    spread = [
        _total(
            _("{which} total within 10 AIC units of the best", which=which),
            value,
            formula,
            near,
            assumption=_("The data rule out none of these models; the truth may lie outside all of them."),
            source=_("Burnham & Anderson (2002), section 2.6"),
            reason=models.reason,
        )
        for which, value, formula in ((_("Smallest"), low, _("min N")), (_("Largest"), high, _("max N")))
    ]
    return [
        _total(
            _("Total PHI, averaged over the models"),
            averaged.total if averaged else None,
            _("Σ w N / Σ w with w = exp(-(AIC - lowest AIC) / 2)"),
            inputs,
            assumption=_("One of the models is right, and their AIC says how likely each is."),
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
        _("Total PHI at least, Chao's lower bound"),
        bound.total,
        "n + f₁² / (2 f₂)",
        {_("n (found)"): table.n_found, _("f₁ (by one detector)"): once, _("f₂ (by two)"): twice},
        assumption=_BOUND,
        source=_("Chao (1987), eq. 5"),
        reason=bound.reason,
    )


def _coverage(table: CaptureTable, names: Sequence[str], models: MissedFiles) -> list[Estimate]:
    found = models.coverage
    singles = [1 << position for position in range(table.n_lists)]
    inputs: dict[str, float] = {}
    for single, name in zip(singles, names, strict=True):
        inputs |= {
            _("found by {name}", name=plain(name)): table.margin(single),
            _("by {name} alone", name=plain(name)): table.only(single),
        }
    built: dict[str, float] = {
        "D": table.n_found - sum(table.only(single) for single in singles) / table.n_lists
    }
    if found.coverage is not None:
        built["C"] = found.coverage
    low = found.coverage is not None and found.coverage < coverage_estimates.LOW_COVERAGE
    share = Estimate(
        _("Sample coverage C"),
        found.coverage,
        None,
        "share",
        _("1 - mean over the detectors of (found by it alone / found by it)"),
        inputs,
        _("What another detector confirms of each one's files is the share of all PHI that they cover."),
        _SAMPLE_COVERAGE,
        found.reason if found.coverage is None else None,
    )
    kinds = (
        (
            _("independent detectors"),
            found.independent_total,
            _("D / C, with D = n - mean found by one alone"),
        ),
        (
            _("corrected for dependence; not advised here") if low else _("corrected for dependence"),
            found.total,
            (
                _(
                    "the N that solves N = D / C + Σ over pairs of (files of these two alone) (N n₁₂ / "
                    "(n₁ n₂) - 1) / (t C)"
                )
            ),
        ),
        (
            _("one-step, advised here") if low else _("one-step"),
            found.one_step_total,
            _("the same correction, applied twice from D / C on"),
        ),
    )
    return [
        share,
        *(
            _total(
                _("Total PHI by sample coverage, {kind}", kind=kind),
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
    """Return the total of the latent-class model, if there are enough cells to identify two classes."""
    n_terms, n_cells = N_KINDS * table.n_lists + N_KINDS - 1, (1 << table.n_lists) - 2
    inputs: dict[str, float] = {_("kinds"): N_KINDS, _("terms"): n_terms, _("free cells"): n_cells}
    value, reason = None, None
    if n_terms > n_cells:
        reason = _(
            "two kinds of files need {n_terms} terms, and {n_lists} detectors give {n_cells} cells",
            n_terms=n_terms,
            n_lists=table.n_lists,
            n_cells=n_cells,
        )
    else:
        fitted = classes.latent_class(table, N_KINDS)
        value, reason = fitted.total, fitted.reason
        inputs[_("restarts that agree")] = fitted.runs_agreeing
    return _total(
        _("Total PHI, two latent kinds of files"),
        value,
        _("n + n p₀ / (1 - p₀), with p₀ the chance that no detector finds a file; fitted by EM"),
        inputs,
        assumption=classes.ASSUMPTION,
        source=_("Goodman (1974); Agresti (1994)"),
        reason=reason,
    )


def by_format(confirmed: Sequence[tuple[str, tuple[int, ...]]]) -> tuple[tuple[StratumTotal, ...], Estimate]:
    """Estimate within every format with confirmed files, and add the estimates.

    Args:
        confirmed: media type and capture history of each confirmed file that a detector found.

    Source: Sekar & Deming (1949), section 6.
    """
    cells: dict[str, Counter[tuple[int, ...]]] = {}
    for media_type, history in confirmed:
        cells.setdefault(FORMATS.get(media_type, media_type) or _("not known"), Counter())[history] += 1
    n_lists = max((len(history) for _, history in confirmed), default=0)
    if len(cells) < MIN_STRATA:
        return (), _sum_of_formats(None, (), _("the confirmed files are of fewer than two formats"))
    if n_lists > MAX_LISTS_ALL_MODELS:
        return (), _sum_of_formats(None, (), _("more than five detectors: too many models for each format"))
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
        _("Total PHI, sum over the formats"),
        value,
        _("Σ N of each format; variances add up, log-transformed interval"),
        {_("formats"): len(parts), _("n (found)"): sum(part.found for part in parts)},
        assumption=strata.ASSUMPTION + _(" A format without confirmed files adds nothing."),
        source=strata.SOURCE,
        ci95=ci95,
        reason=reason,
    )
