"""Plots of rankings as SVG or PNG files, reproducible byte by byte."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from papers.cost_curves import brier_curve, brier_score, cost_curve, roc_points
from papers.simulation import Simulation
from phiscan.errors import InputError
from phiscan.metrics.ranking import Ranking, auc_roc, average_precision, curve, minimum_aucpr, rank

COLOURS = ("#1f4e79", "#c55a11", "#548235", "#7f6000", "#7030a0", "#a61c3c", "#3a7ca5", "0.35", "0.6")
FORMATS = (".svg", ".png")
_MAX_POINTS = 4_000  # of a curve; more cannot be distinguished on paper


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure without a window system."""
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: Path) -> None:
    """Write a figure.

    Raises:
        InputError: the file cannot be written, or has another suffix than .svg or .png.
    """
    kind = plot_format(path)
    metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    with mpl.rc_context({"svg.hashsalt": "phiscan", "svg.fonttype": "none"}):
        try:
            figure.savefig(path, format=kind, dpi=150, metadata=metadata)
        except OSError as error:
            message = f"{path}: cannot be written: {error.strerror}"
            raise InputError(message) from None


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
    figure = new_figure(5.0, 4.6)
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
    save(figure, path)


def plot_simulations(simulations: Sequence[Simulation], path: Path) -> None:
    """Draw bias, coverage, width and location against the sample size, or the skew where it varies alone.

    A row of panels for each: the mean of every estimator over the true area; of every interval around average
    precision its coverage, its mean width, and of its misses the share above the true area.
    Source: the figures of Boyd (2014), chapter 4.

    Raises:
        InputError: the file cannot be written.
    """
    names = list(dict.fromkeys(item.distribution for item in simulations))
    by_skew = len({run.n + run.m for run in simulations}) == 1 and len({run.skew for run in simulations}) > 1
    figure = new_figure(4.2 * len(names), 12.0)
    panels = figure.subplots(len(_ROWS), len(names), squeeze=False, sharex=True)
    for column, name in enumerate(names):
        panels[0][column].set_title(name.replace("_", " "))
        for row, (label, level, of) in enumerate(_ROWS):
            lines: dict[str, list[tuple[float, float]]] = {}
            for run in simulations:
                if run.distribution == name:
                    x = run.skew if by_skew else run.n + run.m
                    for text, y in of(run):
                        if y is not None:
                            series = text if by_skew else f"{text}, skew {run.skew:g}"
                            lines.setdefault(series, []).append((x, y))
            axes = panels[row][column]
            for text, points in lines.items():
                axes.plot(
                    *zip(*sorted(points), strict=True), marker="o", markersize=3, linewidth=1, label=text
                )
            if level is not None:
                axes.axhline(level, color="0.4", linewidth=0.8)
            axes.set(xscale="log", ylabel=label)
        panels[-1][column].set_xlabel("skew" if by_skew else "examples, n + m")
    for row in (0, 1):
        panels[row][0].legend(fontsize=7, frameon=False)
    save(figure, path)


def _intervals(figure: str) -> Callable[[Simulation], list[tuple[str, float | None]]]:
    return lambda run: [
        (item.interval, getattr(item, figure))
        for item in run.intervals
        if item.estimator == "average_precision"
    ]


# Rows of panels: label, level of reference, lines of a simulation.
_ROWS: tuple[tuple[str, float | None, Callable[[Simulation], list[tuple[str, float | None]]]], ...] = (
    ("mean estimate / true area", 1.0, lambda run: [(item.estimator, item.ratio) for item in run.estimators]),
    ("coverage of 95% intervals", 0.95, _intervals("coverage")),
    ("mean width", None, _intervals("mean_width")),
    ("share of misses above the truth", 0.5, _intervals("location")),
)


def plot_curves(scores: Sequence[float], labels: Sequence[bool], path: Path) -> None:
    """Draw ROC, PR, lift, cost and Brier curves; the last only where the scores are probabilities.

    Sources: Boyd (2014), "Thresholdless Metrics"; Piatetsky-Shapiro & Masand (1999); Drummond & Holte (2006);
    Ferri et al. (2011).

    Raises:
        InputError: the file cannot be written.
    """
    ranked = rank(scores, labels)
    figure = new_figure(13.0, 8.0)
    roc, pr, lifted, cost, brier, unused = figure.subplots(2, 3).ravel()
    unused.set_axis_off()
    fpr, tpr = roc_points(ranked)
    roc.plot(fpr, tpr, color=COLOURS[0])
    roc.plot([0, 1], [0, 1], ":", color="0.6")
    roc.set(
        xlabel="false positive rate", ylabel="true positive rate", title=f"ROC (area {auc_roc(ranked):.3f})"
    )
    points = curve(ranked)
    skew = ranked.skew
    recall = np.linspace(0, 1, 201)
    pr.fill_between(recall, 0, skew * recall / (1 - skew + skew * recall), color="0.85", linewidth=0)
    pr.plot(points.recall, points.precision, color=COLOURS[0])
    pr.set(xlabel="recall", ylabel="precision", ylim=(0, 1.02), title="precision-recall (grey: unachievable)")
    marked = np.cumsum(ranked.positives + ranked.negatives) / (ranked.n + ranked.m)
    lifted.plot(marked, points.precision / skew, color=COLOURS[0])
    lifted.axhline(1.0, color="0.6", linestyle=":")
    lifted.set(xlabel="share marked", ylabel="lift", ylim=(0, None), title="lift (dotted: random order)")
    grid, costs = cost_curve(ranked)
    cost.plot(grid, costs, color=COLOURS[0])
    cost.plot(grid, np.minimum(grid, 1 - grid), ":", color="0.6")
    cost.set(
        xlabel="PC(+)", ylabel="normalised expected cost", title="cost curve (dotted: all or none marked)"
    )
    if min(scores) >= 0 and max(scores) <= 1:
        c, loss = brier_curve(scores, labels)
        brier.plot(c, loss, color=COLOURS[0])
        brier.set(xlabel="cost proportion", ylabel="loss")
        brier.set_title(f"Brier curve (area {brier_score(scores, labels):.3f})")
    else:
        brier.set_title("no Brier curve: scores are not probabilities", fontsize=9)
        brier.set_axis_off()
    save(figure, path)
