"""Plots of scores as SVG or PNG files, deterministic."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from phiscan.errors import InputError
from phiscan.metrics.ranking.precision_recall import average_precision
from phiscan.metrics.ranking.ranked import Ranking, curve
from phiscan.metrics.ranking.simulation import Simulation
from phiscan.metrics.ranking.unachievable import minimum_aucpr

FORMATS = (".svg", ".png")
_MAX_POINTS = 4_000  # of a curve; more cannot be distinguished on paper
_DPI = 150


def plot_format(path: Path) -> str:
    """Return "svg" or "png", by the suffix of the file.

    Raises:
        InputError: another suffix.

    >>> plot_format(Path("curve.SVG"))
    'svg'
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        message = f"{path}: expected a file name that ends in {' or '.join(FORMATS)}"
        raise InputError(message)
    return suffix[1:]


def plot_precision_recall(ranking: Ranking, path: Path) -> None:
    """Draw the precision-recall curve with the unachievable region shaded, and its skew in the title.

    Source: Boyd (2014), recommendations of chapter 3.

    Raises:
        InputError: the file cannot be written.
    """
    kind = plot_format(path)
    figure = _figure(5.0, 4.6)
    axes = figure.add_subplot()
    skew = ranking.skew
    grid = np.linspace(0, 1, 201)
    lowest = skew * grid / (1 - skew + skew * grid)
    axes.fill_between(
        grid, 0, lowest, color="0.82", label=f"unachievable (area {minimum_aucpr(skew):.3f})", linewidth=0
    )
    points = curve(ranking)
    kept = np.unique(np.linspace(0, len(points.recall) - 1, min(_MAX_POINTS, len(points.recall))).astype(int))
    recall = np.concatenate(([0.0], points.recall[kept]))
    precision = np.concatenate(([1.0], points.precision[kept]))
    area = average_precision(ranking)
    label = f"curve (average precision {area:.3f})"
    axes.plot(recall, precision, color="#1f4e79", linewidth=1.3, label=label)
    axes.axhline(skew, color="0.45", linewidth=0.8, linestyle=":", label=f"random order ({skew:.3g})")
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="recall", ylabel="precision")
    axes.set_title(f"{ranking.n:,} positives, {ranking.m:,} negatives: skew {skew:.3g}", fontsize=10)
    axes.legend(loc="best", fontsize=8, frameon=False)
    _save(figure, path, kind)


def plot_simulations(simulations: Sequence[Simulation], path: Path) -> None:
    """Draw the bias ratio of every estimator and the coverage of every interval against the sample size.

    Source: the figures of Boyd (2014), chapter 4.

    Raises:
        InputError: the file cannot be written.
    """
    kind = plot_format(path)
    names = list(dict.fromkeys(item.distribution for item in simulations))
    figure = _figure(4.2 * len(names), 7.0)
    panels = figure.subplots(2, len(names), squeeze=False, sharex=True)
    for column, name in enumerate(names):
        runs = sorted((item for item in simulations if item.distribution == name), key=lambda s: s.n + s.m)
        sizes = [run.n + run.m for run in runs]
        bias, coverage = panels[0][column], panels[1][column]
        for index, estimator in enumerate(runs[0].estimators):
            ratios = [run.estimators[index].ratio for run in runs]
            bias.plot(sizes, ratios, marker="o", markersize=3, linewidth=1, label=estimator.estimator)
        bias.axhline(1, color="0.4", linewidth=0.8)
        bias.set(title=name.replace("_", " "), xscale="log", ylabel="mean estimate / true area")
        for index, interval in enumerate(runs[0].intervals):
            if interval.estimator == "average_precision":
                shares = [run.intervals[index].coverage for run in runs]
                coverage.plot(sizes, shares, marker="o", markersize=3, linewidth=1, label=interval.interval)
        coverage.axhline(0.95, color="0.4", linewidth=0.8)
        coverage.set(xscale="log", xlabel="examples, n + m", ylabel="coverage of 95 % intervals")
    panels[0][0].legend(fontsize=7, frameon=False)
    panels[1][0].legend(fontsize=7, frameon=False)
    figure.tight_layout()
    _save(figure, path, kind)


def _figure(width: float, height: float) -> Figure:

    # A bare Figure: no window system, no global state.
    return Figure(figsize=(width, height), layout=None)


def _save(figure: Figure, path: Path, kind: str) -> None:

    metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    # Fixed ids and no dates: reproducible output.
    with mpl.rc_context({"svg.hashsalt": "phiscan", "svg.fonttype": "none"}):
        try:
            figure.savefig(path, format=kind, dpi=_DPI, metadata=metadata, bbox_inches="tight")
        except OSError as error:
            message = f"{path}: cannot be written: {error.strerror}"
            raise InputError(message) from None
