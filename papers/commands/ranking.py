"""``phiscan score ranking`` and ``phiscan score simulate``: scores that rank files."""

from __future__ import annotations

from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import click

from papers.areas import area_estimates, normalised_aucpr
from papers.commands.scores_file import read_scores
from papers.cost_curves import brier_score
from papers.intervals import binomial_interval, bootstrap_interval, cross_validation_interval, lift, n_folds
from papers.needs import library_versions
from papers.simulation import DISTRIBUTIONS, Simulation
from papers.simulation import simulate as run_simulation
from phiscan.cli.output import Answer, answers_alone, lines_of, print_message
from phiscan.errors import InputError
from phiscan.metrics.ranking import (
    Interval,
    Ranking,
    auc_roc,
    curve,
    logit_interval,
    minimum_aucpr,
    minimum_average_precision,
    minimum_precision,
    rank,
)

_PATH = click.Path(path_type=Path)
_SEED = click.IntRange(min=0)


@click.command()
@click.argument("scores_path", metavar="SCORES.csv", type=_PATH)
@click.option("--bootstrap", type=click.IntRange(min=1), default=1_000, show_default=True, help="Resamples.")
@click.option("--seed", type=_SEED, default=0, show_default=True, help="Of bootstrap and folds.")
@click.option("--plot", "plot_path", type=_PATH, help="Draw the curve: FILE.svg or FILE.png.")
@click.option(
    "--curves", "curves_path", type=_PATH, help="Draw ROC, PR, lift, cost, Brier curves: FILE.svg or .png."
)
@answers_alone
def ranking(
    scores_path: Path,
    bootstrap: int,
    seed: int,
    plot_path: Path | None,
    curves_path: Path | None,
) -> Answer:
    """Score a ranking: AUCROC, every estimate of the area under the PR curve, and the unachievable region.

    SCORES.csv has the columns score (higher = more likely positive) and label (1 or 0).

    \b
    Example:
      phiscan score ranking scores.csv --bootstrap 2000 --plot curve.svg --json
    """  # noqa: D301 (click reads the character)
    scores, labels = read_scores(scores_path)
    ranked = rank(scores, labels)
    if curves_path:
        from papers.drawing import plot_curves  # noqa: PLC0415 (matplotlib is slow to load)

        plot_curves(scores, labels, curves_path)
        print_message(f"plot written to {curves_path}")
    if plot_path:
        from papers.drawing import plot_precision_recall  # noqa: PLC0415 (matplotlib is slow to load)

        plot_precision_recall(ranked, plot_path)
        print_message(f"plot written to {plot_path}")
    payload = ranking_payload(ranked, bootstrap=bootstrap, seed=seed)
    payload["brier_score"] = None
    try:
        payload["brier_score"] = brier_score(scores, labels)
    except ValueError as error:
        payload["reason"] = f"brier_score: {error}"
    return payload, lines_of(payload | {"points": len(payload["points"])})


def ranking_payload(ranked: Ranking, *, bootstrap: int, seed: int) -> dict[str, Any]:
    """Return the JSON object of ``score ranking``."""
    areas = area_estimates(ranked)
    average = areas.average_precision
    aucpr: dict[str, Any] = asdict(areas)
    if areas.binormal is None:
        aucpr["reason"] = "binormal: each class needs two examples with different scores"
    n, skew = ranked.n, ranked.skew
    lowest_area, lowest_average = minimum_aucpr(skew), minimum_average_precision(n, ranked.m)
    points = curve(ranked)
    return {
        "n": n,
        "m": ranked.m,
        "skew": skew,
        "auc_roc": auc_roc(ranked),
        "aucpr": aucpr,
        "ci95": _intervals(
            {
                "binomial": binomial_interval(average, n),
                "logit": logit_interval(average, n),
                "bootstrap": bootstrap_interval(ranked, replicates=bootstrap, seed=seed),
                "cross_validation": cross_validation_interval(ranked, seed=seed),
            }
        ),
        "minimum": {"aucpr": lowest_area, "average_precision": lowest_average},
        "normalised": {
            "lower_trapezoid": normalised_aucpr(areas.lower_trapezoid, lowest_area),
            "average_precision": normalised_aucpr(average, lowest_average),
        },
        "bootstrap_replicates": bootstrap,
        "cross_validation_folds": n_folds(ranked),
        "seed": seed,
        "points": [
            {
                "recall": recall,
                "precision": precision,
                "minimum_precision": minimum_precision(recall, skew),
                "lift": lift(precision, skew),
                "score": score,
            }
            for recall, precision, score in zip(
                points.recall.tolist(), points.precision.tolist(), ranked.scores.tolist(), strict=True
            )
        ],
    }


def _intervals(found: dict[str, Interval]) -> dict[str, Any]:
    shape: dict[str, Any] = {
        name: None if interval.ends is None else list(interval.ends) for name, interval in found.items()
    }
    reasons = [f"{name}: {interval.reason}" for name, interval in found.items() if interval.ends is None]
    if reasons:
        shape["reason"] = "; ".join(reasons)
    return shape


@click.command()
@click.option(
    "--distribution",
    "distributions",
    type=click.Choice(DISTRIBUTIONS),
    multiple=True,
    help="Repeatable; all three by default.",
)
@click.option(
    "--examples",
    "sizes",
    type=click.IntRange(min=4),
    multiple=True,
    default=(200, 500, 1_000, 2_000, 5_000),
    show_default=True,
    help="n + m; repeatable.",
)
@click.option(
    "--skew",
    "skews",
    type=float,
    multiple=True,
    default=(0.1,),
    show_default=True,
    help="Share of positives; repeatable.",
)
@click.option("--replicates", type=click.IntRange(min=1), default=1_000, show_default=True, help="Data sets.")
@click.option("--bootstrap", type=click.IntRange(min=0), default=200, show_default=True, help="Resamples.")
@click.option("--seed", type=_SEED, default=0, show_default=True, help="Of all draws.")
@click.option(
    "--plot", "plot_path", type=_PATH, help="Draw bias, coverage, width, location: FILE.svg or .png."
)
@answers_alone
def simulate(
    distributions: tuple[str, ...],
    sizes: tuple[int, ...],
    skews: tuple[float, ...],
    replicates: int,
    bootstrap: int,
    seed: int,
    plot_path: Path | None,
) -> Answer:
    """Measure bias of the area estimators and coverage of their intervals where the truth is known.

    \b
    Example:
      phiscan score simulate --distribution binormal --examples 200 --examples 2000 --replicates 500 --json
    """  # noqa: D301 (click reads the character)
    runs = []
    for distribution, size, skew in product(distributions or DISTRIBUTIONS, sizes, skews):
        try:
            run = run_simulation(
                distribution,
                n_examples=size,
                skew=skew,
                replicates=replicates,
                bootstrap=bootstrap,
                seed=seed,
            )
        except ValueError as error:
            message = f"--examples {size} --skew {skew:g}: {error}"
            raise InputError(message) from None
        runs.append(run)
        print_message(f"{distribution}, {size} examples, skew {skew:g}: done")
    if plot_path:
        from papers.drawing import plot_simulations  # noqa: PLC0415 (matplotlib is slow to load)

        plot_simulations(runs, plot_path)
        print_message(f"plot written to {plot_path}")
    answer = {"versions": library_versions(), "simulations": [asdict(run) for run in runs]}
    return answer, [line for run in runs for line in simulation_table(run)]


def simulation_table(run: Simulation) -> list[str]:
    """Return one scenario as the lines of two Markdown tables."""
    title = f"{run.distribution}: n = {run.n}, m = {run.m}, true area {run.true_area:.4f}"
    out = [
        f"### {title}",
        "",
        "| estimator | mean | bias | mean / true | sd |",
        "| --- | --- | --- | --- | --- |",
    ]
    out += [
        f"| {e.estimator} | {e.mean:.4f} | {e.bias:+.4f} | {e.ratio:.3f} | {e.sd:.4f} |"
        for e in run.estimators
    ]
    out += ["", "| interval | around | coverage | mean width | location |", "| --- | --- | --- | --- | --- |"]
    out += [
        f"| {i.interval} | {i.estimator} | {i.coverage:.3f} | {i.mean_width:.4f} |"
        f" {'-' if i.location is None else f'{i.location:.2f}'} |"
        for i in run.intervals
    ]
    return [*out, ""]
