"""Draw the pictures of the four pages about scores into docs/explanation/images.

.venv/bin/python docs/explanation/draw_scores.py
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from phiscan.metrics.differential_privacy import noise_scale
from phiscan.metrics.ranking import average_precision, curve, lower_trapezoid, minimum_aucpr, rank

IMAGES = Path(__file__).parent / "images"
BLUE, RED, GREEN, GREY = "#1f4e79", "#b03a2e", "#2e7d4f", "0.55"


def save(figure: Figure, name: str) -> None:
    """Write one SVG; the same drawing gives the same bytes."""
    with mpl.rc_context({"svg.hashsalt": "phiscan", "svg.fonttype": "none"}):
        figure.savefig(IMAGES / name, format="svg", metadata={"Date": None}, bbox_inches="tight")


def draw_spans() -> None:
    """Draw gold spans above system spans, with the four outcomes."""
    figure = Figure(figsize=(8, 2.4))
    axes = figure.add_subplot()
    columns = [
        ((0, 10), (0, 10), "correct", GREEN),
        ((14, 22), (14, 26), "substitution\n(extent)", "#c77700"),
        ((30, 38), (30, 38), "substitution\n(type)", "#c77700"),
        (None, (43, 50), "insertion", RED),
        ((55, 63), None, "deletion", RED),
        ((68, 78), (68, 78), "correct", GREEN),
        (None, (68, 78), "insertion\n(duplicate)", RED),
    ]
    for index, (gold, system, label, colour) in enumerate(columns):
        shift = -0.5 if "duplicate" in label else 0.0
        for extent, level in ((gold, 2.0), (system, 1.0 + shift)):
            if extent is not None:
                axes.barh(level, extent[1] - extent[0], left=extent[0], height=0.36, color=colour, alpha=0.8)
        anchor = gold or system or (0, 0)
        middle, height = sum(anchor) / 2, 2.35
        if index == len(columns) - 1:  # the duplicate lies below the span that it repeats
            middle, height = middle - 12, 0.3
        axes.text(middle, height, label, ha="center", va="bottom", fontsize=8)
    axes.set(yticks=[1, 2], yticklabels=["system", "gold"], xticks=[], xlim=(-2, 82), ylim=(-0.1, 3.1))
    axes.spines[:].set_visible(False)
    save(figure, "span-scores.svg")


def draw_precision_recall() -> None:
    """Draw one ranking at two skews: the unachievable region grows with the share of positives."""
    figure = Figure(figsize=(8, 3.8))
    generator = np.random.default_rng(4)
    for index, (n, m) in enumerate([(40, 360), (200, 200)]):
        axes: Axes = figure.add_subplot(1, 2, index + 1)
        scores = np.concatenate([generator.normal(1, 1, n), generator.normal(0, 1, m)])
        ranking = rank(scores, np.repeat([True, False], [n, m]))
        points, skew = curve(ranking), ranking.skew
        grid = np.linspace(0, 1, 101)
        lowest = skew * grid / (1 - skew + skew * grid)
        axes.fill_between(grid, 0, lowest, color="0.82", linewidth=0)
        axes.plot([0, *points.recall], [1, *points.precision], color=BLUE, linewidth=1.2)
        axes.axhline(skew, color=GREY, linewidth=0.8, linestyle=":")
        axes.text(0.97, 0.03, f"unachievable: {minimum_aucpr(skew):.3f}", ha="right", fontsize=8)
        axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="recall", ylabel="precision")
        axes.set_title(
            f"skew {skew:.2f}: average precision {average_precision(ranking):.3f},\n"
            f"lower trapezoid {lower_trapezoid(ranking):.3f}",
            fontsize=9,
        )
    figure.tight_layout()
    save(figure, "precision-recall.svg")


def draw_private() -> None:
    """Draw how far 95 % of the noise reaches against the number of examples."""
    figure = Figure(figsize=(6, 3.8))
    axes = figure.add_subplot()
    sizes = np.unique(np.logspace(2, 6, 60).astype(int))
    lines = [
        ("accuracy", "laplace", BLUE, "-"),
        ("auc_roc", "laplace", GREEN, "-"),
        ("average_precision", "laplace", RED, "-"),
        ("auc_roc", "cauchy", GREEN, "--"),
    ]
    for metric, noise, colour, style in lines:
        reach = [
            noise_scale(
                metric, int(size) // 10, int(size) - int(size) // 10, epsilon=1, delta=1e-6, noise=noise
            ).half_width
            for size in sizes
        ]
        axes.plot(sizes, reach, color=colour, linestyle=style, label=f"{metric}, {noise}")
    axes.axhline(0.1, color=GREY, linewidth=0.8)
    axes.text(1e6, 0.11, "above: the noise drowns the figure", ha="right", fontsize=8)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="examples, one in ten positive",
        ylabel="reach of 95 % of the noise",
    )
    axes.set_title("epsilon 1, delta 0.000001", fontsize=9)
    axes.legend(fontsize=8, frameon=False)
    save(figure, "private-release.svg")


def draw_hierarchy() -> None:
    """Draw the two phenomena of CoPHE on two small families of codes."""
    figure = Figure(figsize=(7.5, 3.2))
    axes = figure.add_subplot()
    nodes = {
        "400-405": (4.5, 3, "2 | 3"),
        "401": (2, 2, "1 | 1"),
        "402": (7, 2, "1 | 2"),
        "401.1": (1, 1, "0 | 1"),
        "401.9": (3, 1, "1 | 0"),
        "402.0": (6, 1, "0 | 1"),
        "402.1": (8, 1, "1 | 1"),
    }
    edges = [
        ("401", "400-405"),
        ("402", "400-405"),
        ("401.1", "401"),
        ("401.9", "401"),
        ("402.0", "402"),
        ("402.1", "402"),
    ]
    for child, parent in edges:
        axes.plot(*zip(nodes[child][:2], nodes[parent][:2], strict=True), color="0.75", linewidth=1, zorder=0)
    for name, (x, y, counts) in nodes.items():
        gold, _, system = counts.partition(" | ")
        colour = GREEN if gold == system else RED
        axes.text(
            x,
            y,
            f"{name}\n{counts}",
            ha="center",
            va="center",
            fontsize=9,
            bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": colour},
        )
    for level, y in ((0, 1), (1, 2), (2, 3)):
        axes.text(-0.9, y, f"level {level}", va="center", fontsize=9)
    axes.text(4.5, 0.35, "gold | system counts; green: equal", ha="center", fontsize=8)
    axes.set(xlim=(-1, 9), ylim=(0.2, 3.4))
    axes.set_axis_off()
    save(figure, "hierarchies.svg")


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    draw_spans()
    draw_precision_recall()
    draw_private()
    draw_hierarchy()
