"""The results of the experiment as JSON, as Markdown and as plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from papers.cost_curves import brier_score
from papers.drawing import COLOURS, new_figure, plot_curves, save
from papers.evaluation.adult import Examples
from papers.evaluation.attack import AttackResult, attack
from papers.evaluation.private import (
    METRICS,
    PrivateError,
    Scored,
    exact,
    private_errors,
    scored_half,
)
from phiscan.metrics.differential_privacy import smooth_sensitivity

Shape = dict[str, Any]
_N_ATTACKED = 300
_LOCAL = 1e6  # so large a beta leaves the local sensitivity


def run(examples: Examples, *, repetitions: int, seed: int, folder: Path | None = None) -> Shape:
    """Train, attack, and measure the error of private releases; write the plots to a folder."""
    scored = scored_half(examples, seed)
    random = np.random.default_rng(seed)
    some = random.choice(len(scored.labels), min(_N_ATTACKED, len(scored.labels)), replace=False)
    # Scores of few features have ties; the attack uses a ranking without ties, as of a finer model.
    jitter = random.normal(0, 1e-7, len(some))
    attacked = attack(scored.scores[some] + jitter, scored.labels[some], seed=seed)
    sizes = tuple(size for size in (250, 1_000, 4_000, 16_000) if size <= len(scored.labels))
    errors = private_errors(scored, sizes=sizes, repetitions=repetitions, seed=seed)
    shape: Shape = {
        "data": {
            "source": examples.source,
            "sha256": list(examples.sha256),
            "examples": len(examples.y),
            "positives": int(examples.y.sum()),
        },
        "exact": {metric: exact(metric, scored.scores, scored.labels) for metric in METRICS},
        "brier_score": brier_score(scored.scores, scored.labels.tolist()),
        "attack": [asdict(result) for result in attacked],
        "errors": [asdict(error) for error in errors],
    }
    if folder is not None:
        _plot_all(scored, errors, attacked, folder)
    return shape


def markdown(shape: Shape) -> list[str]:
    """Return the tables as Markdown lines."""
    data = shape["data"]
    lines = [
        f"Data: {data['source']}; {data['examples']:,} examples, {data['positives']:,} positive.",
        *(f"SHA-256 {digest}" for digest in data["sha256"]),
        "",
        "### What a published AUCROC says about one example",
        "",
        "| published | class guessed right | membership guessed right | scores left possible |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {row['published']} | {row['label']:.2f} | {row['membership']:.2f} | {row['score_range']:.3f} |"
        for row in shape["attack"]
    ]
    lines += [
        "",
        "### RMSE of the private figure, cut to [0, 1], against epsilon",
        "",
        "| metric | noise | examples | " + " | ".join(f"{epsilon:g}" for epsilon in _epsilons(shape)) + " |",
        "| --- | --- | --- |" + " --- |" * len(_epsilons(shape)),
    ]
    groups: dict[tuple[str, str, int], list[float]] = {}
    for row in shape["errors"]:
        groups.setdefault((row["metric"], row["noise"], row["examples"]), []).append(row["rmse"])
    lines += [
        f"| {metric} | {noise} | {size:,} | " + " | ".join(f"{value:.4f}" for value in values) + " |"
        for (metric, noise, size), values in groups.items()
    ]
    return [*lines, ""]


def page_lines(shape: Shape) -> list[str]:
    """Return the tables of the page: the attack, and the RMSE of two metrics with Laplace noise."""
    lines = [
        f"| published AUCROC ({shape['data']['source']}) | class guessed right | membership guessed right |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {r['published']} | {r['label']:.2f} | {r['membership']:.2f} |" for r in shape["attack"]]
    shown = [epsilon for epsilon in _epsilons(shape) if epsilon in {0.1, 1.0}]
    lines += ["", "| RMSE, Laplace noise | examples | " + " | ".join(f"epsilon {e:g}" for e in shown) + " |"]
    lines += ["| --- | --- |" + " --- |" * len(shown)]
    errors = {
        (e["metric"], e["examples"], e["epsilon"]): e["rmse"]
        for e in shape["errors"]
        if e["noise"] == "laplace"
    }
    for metric in ("auc_roc", "average_precision", "accuracy"):
        for size in sorted({examples for _, examples, _ in errors}):
            cells = " | ".join(f"{errors[metric, size, epsilon]:.4f}" for epsilon in shown)
            lines.append(f"| {metric} | {size:,} | {cells} |")
    return lines


def _epsilons(shape: Shape) -> list[float]:
    return sorted({row["epsilon"] for row in shape["errors"]})


def _plot_all(
    scored: Scored, errors: Sequence[PrivateError], attacked: Sequence[AttackResult], folder: Path
) -> None:
    """Draw RMSE against epsilon, the attack, smooth sensitivity against class sizes, and the curves."""
    metrics = list(dict.fromkeys(error.metric for error in errors))
    figure = new_figure(3.4 * len(metrics), 3.4)
    for axes, metric in zip(figure.subplots(1, len(metrics), sharey=True), metrics, strict=True):
        sizes = sorted({error.examples for error in errors})
        for colour, size in zip(COLOURS, sizes, strict=False):
            for noise, style in (("laplace", "-"), ("cauchy", ":")):
                line = [e for e in errors if (e.metric, e.noise, e.examples) == (metric, noise, size)]
                axes.plot(
                    [e.epsilon for e in line],
                    [e.rmse for e in line],
                    style,
                    color=colour,
                    label=f"{size:,}" if noise == "laplace" else None,
                )
        axes.set(xscale="log", yscale="log", xlabel="epsilon", title=metric)
        axes.legend(fontsize=7, frameon=False, title="examples", title_fontsize=7)
    save(figure, folder / "rmse.svg")
    figure = new_figure(6.4, 3.6)
    axes = figure.add_subplot()
    places = np.arange(len(attacked))
    axes.bar(places - 0.2, [row.label for row in attacked], 0.4, color=COLOURS[0], label="class")
    axes.bar(places + 0.2, [row.membership for row in attacked], 0.4, color=COLOURS[1], label="membership")
    axes.set_xticks(places, [row.published for row in attacked], rotation=20, ha="right", fontsize=8)
    axes.set(ylim=(0, 1), ylabel="guessed right", title="What a published AUCROC says about one example")
    axes.legend(fontsize=8, frameon=False)
    save(figure, folder / "attack.svg")
    figure = new_figure(9.0, 3.6)
    total, counts = 1_000, list(range(1, 1_000))
    for axes, metric in zip(
        figure.subplots(1, 2, sharey=True), ("auc_roc", "average_precision"), strict=True
    ):
        for colour, beta in zip(COLOURS, (0.01, 0.05, 0.2, _LOCAL), strict=False):
            values = [smooth_sensitivity(metric, n, total - n, beta) for n in counts]
            label = "local" if beta == _LOCAL else f"beta {beta:g}"
            axes.plot(counts, values, color=colour, label=label)
        axes.set(yscale="log", xlabel=f"positives of {total:,}", title=metric)
    axes.legend(fontsize=8, frameon=False)
    save(figure, folder / "sensitivity.svg")
    plot_curves(scored.scores.tolist(), scored.labels.tolist(), folder / "curves.svg")
