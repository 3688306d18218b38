"""``phiscan score private``: one figure with differential privacy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from papers.commands.scores_file import read_scores
from phiscan.cli.output import Answer, answers, lines_of, print_message
from phiscan.config import load_config
from phiscan.errors import InputError
from phiscan.metrics.differential_privacy import METRICS, NOISES, Spent, laplace_library, noise_scale, release
from phiscan.metrics.ranking import auc_roc, average_precision, rank
from phiscan.report.private.release import DEFAULT_DELTA, DEFAULT_EPSILON, Charge, charge, data_set_id

_NAME_MAX = 64


@click.command()
@click.argument("scores_path", metavar="SCORES.csv", type=click.Path(path_type=Path))
@click.option(
    "--epsilon", type=float, required=True, help="Privacy loss of this release; smaller is more private."
)
@click.option(
    "--delta", type=float, default=0.0, show_default=True, help="Needed by Laplace noise; e.g. 1e-6."
)
@click.option("--metric", type=click.Choice(METRICS), required=True, help="The figure to release.")
@click.option("--noise", type=click.Choice(NOISES), default="laplace", show_default=True, help="Mechanism.")
@click.option(
    "--threshold",
    type=float,
    default=0.5,
    show_default=True,
    help="Of accuracy and rates: positive from here on.",
)
@click.option(
    "--data-set", "data_set", help="Name that joins several score files on the same examples in one budget."
)
@click.option("--budget-epsilon", type=float, help=f"Total of this data set; at first {DEFAULT_EPSILON:g}.")
@click.option("--budget-delta", type=float, help=f"Total of this data set; at first {DEFAULT_DELTA:g}.")
@click.option("--show-scale", is_flag=True, help="Also print sensitivity and scale: for the owner only.")
@answers
def private(
    config_path: str | None,
    scores_path: Path,
    epsilon: float,
    delta: float,
    metric: str,
    noise: str,
    threshold: float,
    data_set: str | None,
    budget_epsilon: float | None,
    budget_delta: float | None,
    show_scale: bool,
) -> Answer:
    """Release accuracy, a rate, AUCROC or average precision with noise; the true figure is never printed.

    Every release is charged to a ledger under PHISCAN_HOME, and refused once the budget is spent.

    \b
    Example:
      phiscan score private scores.csv --epsilon 0.5 --delta 1e-6 --metric auc_roc --json
    """  # noqa: D301 (click reads the character)
    scores, labels = read_scores(scores_path, both_classes=metric != "accuracy")
    n = sum(labels)
    m = len(labels) - n
    # Cauchy noise and the plain Laplace mechanism of accuracy need no delta, and none is charged.
    charged_delta = delta if noise == "laplace" and metric != "accuracy" else 0.0
    try:
        noise_needed = noise_scale(metric, n, m, epsilon=epsilon, delta=delta, noise=noise)
        # The least noise of any data set of this size: public, as the size is.
        public = min(
            (
                noise_scale(metric, size, n + m - size, epsilon=epsilon, delta=delta, noise=noise)
                for size in {0, (n + m) // 2, n + m}
            ),
            key=lambda item: item.scale,
        )
        budget = _budget(budget_epsilon, budget_delta)
    except ValueError as error:
        message = f"phiscan score private: {error}"
        raise InputError(message) from None
    home = load_config(Path(config_path) if config_path else None).home
    name = _checked_name(data_set) if data_set else data_set_id(home, zip(scores, labels, strict=True))
    if noise == "laplace":
        laplace_library()
    spent = charge(home, name, Charge(metric, noise, epsilon, charged_delta), budget)
    payload: dict[str, Any] = {
        "value": release(_true_value(metric, scores, labels, threshold), noise_needed.scale, noise),
        "epsilon": epsilon,
        "delta": charged_delta,
        "mechanism": noise,
        "metric": metric,
        "spent": {"epsilon": spent.epsilon, "delta": spent.delta},
    }
    if public.drowns:
        # Decided from public numbers alone: a warning that depends on the data would leak.
        payload["warning"] = "the noise drowns the figure: too few examples for this epsilon"
    if noise_needed.drowns:
        print_message("warning, for the owner only: the noise drowns the figure; see --show-scale")
    if show_scale:
        payload["sensitivity"] = noise_needed.sensitivity
        payload["scale"] = noise_needed.scale
        payload["notice"] = "sensitivity and scale depend on the data and must not be published"
        print_message(
            "for the owner only: sensitivity and scale depend on the data and must not be published"
        )
    return payload, lines_of(payload)


def _true_value(metric: str, scores: Sequence[float], labels: Sequence[bool], threshold: float) -> float:
    if metric in {"accuracy", "sensitivity", "specificity"}:
        truth = np.asarray(labels)
        right = (np.asarray(scores) >= threshold) == truth
        among = {"accuracy": np.ones_like(truth), "sensitivity": truth, "specificity": ~truth}[metric]
        return float(np.mean(right[among]))
    ranked = rank(scores, labels)
    return auc_roc(ranked) if metric == "auc_roc" else average_precision(ranked)


def _budget(epsilon: float | None, delta: float | None) -> Spent | None:
    if epsilon is None and delta is None:
        return None
    total = Spent(DEFAULT_EPSILON if epsilon is None else epsilon, DEFAULT_DELTA if delta is None else delta)
    if not (0 < total.epsilon < float("inf") and 0 <= total.delta < 1):
        message = "expected a budget of epsilon above 0 and delta from 0 to below 1"
        raise ValueError(message)
    return total


def _checked_name(name: str) -> str:
    if not (
        0 < len(name) <= _NAME_MAX and name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    ):
        message = f"--data-set: expected up to {_NAME_MAX} letters, digits, '-' and '_'"
        raise InputError(message)
    return f"named-{name}"
