"""Plot four curves of one classifier: ROC, precision-recall, cost and Brier."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from phiscan.benchmark.drawing import COLOURS, new_figure, save
from phiscan.metrics.cost_curves import brier_curve, brier_score, cost_curve, roc_points
from phiscan.metrics.ranking.ranked import curve, rank
from phiscan.metrics.ranking.scores import auc_roc


def plot_curves(scores: Sequence[float], labels: Sequence[bool], path: Path) -> None:
    """Draw the four curves; the Brier curve only where the scores are probabilities.

    Sources: Boyd (2014), "Thresholdless Metrics"; Drummond & Holte (2006); Ferri et al. (2011).

    Raises:
        InputError: the file cannot be written.
    """
    ranked = rank(scores, labels)
    figure = new_figure(9.0, 8.0)
    roc, pr, cost, brier = figure.subplots(2, 2).ravel()
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
