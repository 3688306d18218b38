"""Draw the pictures of the four pages about estimates into docs/explanation/images.

.venv/bin/python docs/explanation/draw_estimates.py

Every picture is drawn from phiscan's own functions, so that it cannot disagree with them.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from phiscan.metrics.capture_recapture.captures import capture_table
from phiscan.metrics.capture_recapture.missed import estimate_missed
from phiscan.metrics.elusion import elusion, hypergeometric_upper, sequential_upper
from phiscan.metrics.screening import tdp_frp
from phiscan.metrics.verification import Verified, begg_greenes

IMAGES = Path(__file__).parent / "images"
TABLES = {"OrganizationName": (71, 4, 48), "StreetAddress": (75, 3, 45)}
DIABETES = "0001 0010 0011 0100 0101 0110 0111 1000 1001 1010 1011 1100 1101 1110 1111".split()  # noqa: SIM905
DIABETES_COUNTS = (10, 182, 8, 74, 7, 20, 14, 709, 12, 650, 46, 104, 18, 157, 58)


def save(figure: plt.Figure, name: str) -> None:
    """Write one SVG that is the same at every run."""
    figure.tight_layout()
    figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def screened_positives() -> None:
    """The two characteristics of the paper with their exact intervals."""
    figure, axes = plt.subplots(figsize=(6.4, 2.6))
    for row, cells in enumerate(TABLES.values()):
        found = tdp_frp(*cells)
        for share, colour, label in ((found.tdp, "#1b6ca8", "TDP"), (found.frp, "#c0392b", "FRP")):
            low, high = share.ci95
            axes.plot([low, high], [row, row], color=colour, lw=2, label=label if row == 0 else None)
            axes.plot(share.value, row, "o", color=colour)
    axes.set_yticks(range(len(TABLES)), list(TABLES))
    axes.set_ylim(-0.6, len(TABLES) - 0.4)
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of all 123 files (dot), exact 95% interval (bar)")
    axes.legend(loc="upper right", frameon=False, ncols=2)
    save(figure, "screened-positives")


def capture_recapture() -> None:
    """All models of a published table: the total depends on what is assumed."""
    histories = [tuple(int(digit) for digit in history) for history in DIABETES]
    found = estimate_missed(capture_table(histories, DIABETES_COUNTS))
    usable = sorted((fit for fit in found.models if fit.outcome == "ok"), key=lambda fit: fit.aic)
    best = usable[0].aic
    near = [fit for fit in usable if fit.aic - best <= 10]  # noqa: PLR2004 (the window of the estimate)
    figure, axes = plt.subplots(figsize=(6.4, 3.4))
    for fit in near:
        axes.plot(fit.ci95, [fit.aic - best] * 2, color="#9db7c9", lw=1, zorder=1)
    axes.scatter(
        [fit.total for fit in near], [fit.aic - best for fit in near], s=14, color="#1b6ca8", zorder=2
    )
    axes.axvline(found.n_observed, color="black", lw=1)
    axes.text(found.n_observed, 10.4, " found", fontsize=8, va="bottom")
    axes.axvline(found.averaged.total, color="#c0392b", lw=1, ls="--")
    axes.text(found.averaged.total, 10.4, " average", fontsize=8, va="bottom", color="#c0392b")
    axes.set_xlim(2000, 7000)
    axes.set_xlabel("total (dot) and 95% interval (bar) of each model")
    axes.set_ylabel("AIC above the best model")
    axes.invert_yaxis()
    save(figure, "capture-recapture")


def elusion_sampling() -> None:
    """The bounds while a sample without any PHI grows."""
    population, tail = 10_000, Fraction(1, 20)
    sizes = np.unique(np.geomspace(20, population, 120).astype(int))
    figure, axes = plt.subplots(figsize=(6.4, 3.2))
    curves = {
        "at any time": [sequential_upper(population, int(n), 0, tail) for n in sizes],
        "Clopper-Pearson": [elusion(population, int(n), 0).upper_binomial for n in sizes],
        "hypergeometric": [hypergeometric_upper(population, int(n), 0, tail) for n in sizes],
    }
    for (label, values), colour in zip(curves.items(), ("#c0392b", "#8a8a8a", "#1b6ca8"), strict=True):
        axes.plot(sizes, np.array(values) + 0.5, color=colour, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("files reviewed of 10,000 unreferred ones, no PHI found")
    axes.set_ylabel("PHI files missed, at most")
    axes.legend(frameon=False)
    save(figure, "elusion-sampling")


def verification() -> None:
    """How far verifying mostly positives bends sensitivity and specificity."""
    verified = np.arange(2, 101, 2)
    figure, axes = plt.subplots(figsize=(6.4, 3.0))
    naive, fixed = [], []
    for share in verified:
        # Of 1,000 screened negatives 5% are PHI; `share` percent of them get verified.
        n = int(share) * 10
        found = begg_greenes(Verified(180, 20, 0), Verified(round(n * 0.05), n - round(n * 0.05), 1000 - n))
        naive.append(found.naive.sensitivity.value)
        fixed.append(found.corrected.sensitivity.value)
    axes.plot(verified, naive, color="#c0392b", label="sensitivity, verified files only")
    axes.plot(verified, fixed, color="#1b6ca8", label="sensitivity, corrected")
    axes.set_ylim(0.5, 1.02)
    axes.set_xlabel("percent of screened negatives that were verified")
    axes.legend(frameon=False)
    save(figure, "verification-bias")


if __name__ == "__main__":
    mpl.rcParams["svg.hashsalt"] = "phiscan"
    mpl.rcParams["svg.fonttype"] = "none"
    mpl.rcParams["font.size"] = 9
    screened_positives()
    capture_recapture()
    elusion_sampling()
    verification()
