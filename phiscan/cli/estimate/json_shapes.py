"""The JSON objects of ``phiscan estimate``: one function per dataclass, as in the contract."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from phiscan.metrics.agreement import Agreement, agreement, krippendorff_alpha
from phiscan.metrics.capture_recapture.loglinear import ModelFit
from phiscan.metrics.capture_recapture.missed import MissedFiles
from phiscan.metrics.capture_recapture.two_list import Total
from phiscan.metrics.elusion import Elusion, Stratum, hypergeometric_upper
from phiscan.metrics.intervals import Figure
from phiscan.metrics.screening import RelativeScreening
from phiscan.metrics.verification import Accuracy, BeggGreenes, Prevalence

Shape = dict[str, Any]


def figure(found: Figure) -> Shape:
    """A number with its interval."""
    return _fields(found, "value", "ci95")


def relative(found: RelativeScreening, *, paired: bool) -> Shape:
    """Two characteristics compared; intervals only when their overlap was given."""
    ratios = {"rtdp": found.rtdp, "rfrp": found.rfrp}
    shape: Shape = {name: ratio.value for name, ratio in ratios.items()}
    if paired:
        shape |= {f"{name}_ci95": _pair(ratio.ci95) for name, ratio in ratios.items()}
    return _with_reason(
        shape,
        [
            ratio.reason and f"{name}: {ratio.reason}"
            for name, ratio in ratios.items()
            if paired or ratio.value is None
        ],
    )


def total(found: Total) -> Shape:
    """A total of two lists, or of a stratum."""
    return _fields(found, "total", "missed", "se", "ci95")


def model(fit: ModelFit) -> Shape:
    """One log-linear model."""
    names = ("model", "total", "missed", "se", "ci95", "deviance", "df", "aic", "bic", "outcome")
    return _fields(fit, *names)


def missed(found: MissedFiles) -> Shape:
    """All models of three lists or more, and what follows from them."""
    averaged, bound, coverage = found.averaged, found.lower_bound, found.coverage
    shape: Shape = {
        "n_observed": found.n_observed,
        "models": [model(fit) for fit in found.models],
        "selected": _with_reason({"aic": found.selected_aic, "bic": found.selected_bic}, [found.reason]),
        "averaged": averaged.total if averaged else None,
        "range": _pair(found.model_range),
        "chao_lower_bound": bound.total,
        "sample_coverage": _fields(coverage, "coverage", "total", "independent_total", "one_step_total"),
    }
    if averaged:
        shape["averaged_by_aic"] = _fields(averaged, "missed", "se", "ci95")
    reasons = [
        found.reason and f"averaged, range: {found.reason}",
        bound.reason and f"chao_lower_bound: {bound.reason}",
    ]
    return _with_reason(shape, reasons)


def elusion(found: Elusion, recall: float | None, no_recall: str | None) -> Shape:
    """Bounds on what is left among the unreferred files."""
    missed_shape: Shape = {
        "value": found.missed,
        "upper_hypergeometric": found.upper_hypergeometric,
        "upper_binomial": found.upper_binomial,
    }
    if found.upper_sequential is not None:
        missed_shape["upper_sequential"] = found.upper_sequential
    return _with_reason(
        {
            "rate": _with_reason({"value": found.rate, "upper": found.rate_upper}, [found.reason]),
            "missed": _with_reason(missed_shape, [found.reason]),
            "recall_lower": recall,
        },
        [no_recall],
    )


def strata(parts: Sequence[Stratum], *, tail: Fraction) -> list[Shape]:
    """The bounds of every stratum, each at its share of the error."""
    return [
        _fields(part, "name", "population", "sample", "found")
        | {"upper_hypergeometric": hypergeometric_upper(part.population, part.sample, part.found, tail)}
        for part in parts
    ]


def reviewers(names: Sequence[str], columns: Sequence[Sequence[str | None]]) -> Shape:
    """Agreement of two reviewers and alpha of all; with more than two, every pair on its own as well."""
    alpha = krippendorff_alpha(list(zip(*columns, strict=True)))
    if len(names) == 2:  # noqa: PLR2004 (kappa is about two)
        return _pair_shape(agreement(columns[0], columns[1]), {"krippendorff_alpha": alpha})
    several = Figure(None, None, "defined for two reviewers; see pairs")
    shape = _pair_shape(Agreement(0, several, several, several), {"krippendorff_alpha": alpha})
    del shape["n_both"]
    shape["pairs"] = [
        {"reviewers": [names[first], names[second]]}
        | _pair_shape(agreement(columns[first], columns[second]), {})
        for first, second in combinations(range(len(names)), 2)
    ]
    return shape


def _pair_shape(found: Agreement, more: dict[str, Figure]) -> Shape:
    figures = {name: getattr(found, name) for name in ("kappa", "positive_agreement", "pabak")} | more
    return _figures(figures, always=True) | {"n_both": found.n_both}


def _figures(figures: dict[str, Figure], *, always: bool) -> Shape:
    """Figures by name: values, intervals and reasons; reasons of known values only if ``always``."""
    shape: Shape = {name: found.value for name, found in figures.items()}
    shape["ci95"] = {name: _pair(found.ci95) for name, found in figures.items() if found.ci95}
    reasons = {name: found.reason for name, found in figures.items() if always or found.value is None}
    return _with_reason(shape, [reason and f"{name}: {reason}" for name, reason in reasons.items()])


def verified(found: BeggGreenes) -> Shape:
    """Accuracy from verified files, naive and corrected."""
    shape = {"naive": _accuracy(found.naive), "corrected": _accuracy(found.corrected)}
    return shape | _fields(found, "prevalence", "missed")


def prevalence(found: Prevalence) -> Shape:
    """A prevalence corrected for imperfect reviewers."""
    shape = _fields(found, "apparent", "prevalence", "se", "ci95")
    return (shape | {"warning": found.warning}) if found.warning else shape


def lines(shape: Shape, prefix: str = "") -> Iterable[str]:
    """Format an object as ``name: value`` lines for users; models one per line."""
    for name, value in shape.items():
        if isinstance(value, dict):
            yield from lines(value, f"{prefix}{name}.")
        elif name == "models":
            for fit in value:
                what = f"refused: {fit['reason']}" if fit["outcome"] == "refused" else _model_line(fit)
                yield f"model {fit['model']}: {what}"
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for row in value:
                yield f"{prefix}{name}: " + ", ".join(f"{key} {_text(cell)}" for key, cell in row.items())
        else:
            yield f"{prefix}{name}: {_text(value)}"


def _model_line(fit: Shape) -> str:
    return (
        f"total {_text(fit['total'])} ({_text(fit['ci95'])}), deviance {_text(fit['deviance'])} on"
        f" {fit['df']}, AIC {_text(fit['aic'])}, BIC {_text(fit['bic'])}"
    )


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1 else f"{value:.2f}"
    if isinstance(value, list):
        return " to ".join(_text(part) for part in value)
    return "unknown" if value is None else str(value)


def _accuracy(found: Accuracy) -> Shape:
    figures = {"sensitivity": found.sensitivity, "specificity": found.specificity}
    return _figures(figures, always=False)


def _fields(found: Any, *names: str) -> Shape:
    """The fields of a result, pairs as lists, and the reason if it has one."""
    shape = {name: getattr(found, name) for name in names}
    shape = {name: list(value) if isinstance(value, tuple) else value for name, value in shape.items()}
    return _with_reason(shape, [getattr(found, "reason", None)])


def _pair(ends: tuple[float, float] | None) -> list[float] | None:
    return None if ends is None else list(ends)


def _with_reason(shape: Shape, reasons: Iterable[str | None]) -> Shape:
    """Add the reasons if there are any, each once."""
    distinct = list(dict.fromkeys(reason for reason in reasons if reason))
    if distinct:
        shape["reason"] = "; ".join(distinct)
    return shape
