"""Latent-class model of capture histories: a few classes of PHI files, independent lists within each class.

If some files are easy to find for all detectors and others for none, this heterogeneity appears as
dependence of the lists; the classes model it.

Source: Goodman (1974), Biometrika 61:215; for capture-recapture: Agresti (1994), Biometrics 50:494.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phiscan.language import lazy_gettext
from phiscan.metrics.capture_recapture.captures import CaptureTable

ASSUMPTION = lazy_gettext(
    "Within each of a few kinds of PHI files, the detectors find files independently of each other."
)

Floats = NDArray[np.float64]
# Above this multiple of the files found, the number missed is taken to diverge.
_RUNAWAY = 1e6


@dataclass(frozen=True, slots=True)
class LatentClass:
    """The best of several EM runs; numbers are None where the model was rejected.

    ``shares`` are class shares of all PHI files, largest first; ``rates`` capture rates, (classes, lists).
    ``runs_agreeing`` counts the restarts that reached the same likelihood; if few did, the fit is unreliable.
    """

    n_classes: int
    total: float | None
    missed: float | None
    log_likelihood: float | None
    aic: float | None
    bic: float | None
    shares: tuple[float, ...]
    rates: tuple[tuple[float, ...], ...]
    runs_agreeing: int
    reason: str | None = None


def latent_class(
    table: CaptureTable, n_classes: int = 2, *, restarts: int = 20, seed: int = 0, steps: int = 20_000
) -> LatentClass:
    """Fit the model by EM from random starts and estimate the number of files that no list found.

    The likelihood is the multinomial one of the observed cells given capture; the missed files are then
    n p0/(1 - p0). AIC and BIC (logarithm of the number found) are those of this likelihood.

    Raises:
        ValueError: the model has more parameters than cells, or an argument is below 1.

    Source: Goodman (1974); conditional likelihood: Sanathanan (1972), Ann. Math. Stat. 43:142.
    """
    n_lists, n = table.n_lists, table.n_found
    n_terms = n_classes * n_lists + n_classes - 1
    if n_classes < 1 or restarts < 1 or n_terms > (1 << n_lists) - 2:
        raise ValueError(
            f"n_classes: expected at most as many terms as free cells, got {n_classes} for {n_lists} lists"
        )
    nothing = LatentClass(
        n_classes, None, None, None, None, None, (), (), 0, lazy_gettext("no file was found by any detector")
    )
    if n == 0:
        return nothing
    cells = np.arange(1 << n_lists)
    seen = ((cells[:, None] >> np.arange(n_lists)) & 1).astype(float)
    counts = np.array(table.counts, dtype=float)
    generator = np.random.default_rng(seed)
    runs = [_climb(counts, seen, n_classes, generator, steps) for _ in range(restarts)]
    best = max(runs, key=lambda run: run[0])
    likelihood, missed, shares, rates = best
    agreeing = sum(abs(run[0] - likelihood) < 1e-4 * max(1.0, abs(likelihood)) for run in runs)
    if missed > _RUNAWAY * n:
        reason = lazy_gettext("the maximum does not exist: the number of missed files runs to infinity")
        return LatentClass(n_classes, None, None, None, None, None, (), (), agreeing, reason)
    order = np.argsort(-shares)
    return LatentClass(
        n_classes=n_classes,
        total=n + missed,
        missed=missed,
        log_likelihood=likelihood,
        aic=2 * n_terms - 2 * likelihood,
        bic=np.log(n).item() * n_terms - 2 * likelihood,
        shares=tuple(shares[order].tolist()),
        rates=tuple(tuple(row) for row in rates[order].tolist()),
        runs_agreeing=agreeing,
    )


def _climb(
    counts: Floats, seen: Floats, n_classes: int, generator: np.random.Generator, steps: int
) -> tuple[float, float, Floats, Floats]:
    """Run EM once: impute the unobserved cell, distribute the cells over the classes, refit."""
    n = counts.sum()
    shares = generator.dirichlet(np.ones(n_classes))
    rates = generator.uniform(0.05, 0.95, size=(n_classes, seen.shape[1]))
    filled = counts.copy()
    previous = -np.inf
    likelihood, missed = previous, 0.0
    for _ in range(steps):
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = seen @ np.log(rates).T + (1 - seen) @ np.log1p(-rates).T
            joint = np.exp(np.nan_to_num(logs, nan=-np.inf)) * shares
        cell = joint.sum(axis=1)
        unseen = cell[0]
        likelihood = float(
            (counts[1:] * np.log(np.maximum(cell[1:], 1e-300))).sum() - n * np.log(max(1 - unseen, 1e-300))
        )
        missed = float(n * unseen / max(1 - unseen, 1e-300))
        if likelihood - previous < 1e-12 * max(1.0, abs(likelihood)) or missed > 10 * _RUNAWAY * n:
            break
        previous = likelihood
        filled[0] = missed
        weight = np.where(cell[:, None] > 0, joint / np.maximum(cell[:, None], 1e-300), 0.0) * filled[:, None]
        size = weight.sum(axis=0)
        shares = size / size.sum()
        rates = np.clip((weight.T @ seen) / np.maximum(size[:, None], 1e-300), 1e-12, 1 - 1e-12)
    return likelihood, missed, shares, rates
