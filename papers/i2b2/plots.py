"""Plot figures 2 and 4 to 8 of the challenge from the replicated systems' scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from papers.drawing import COLOURS, new_figure, save
from papers.i2b2.corpus import TYPES
from papers.i2b2.ranking import SystemScore
from phiscan.metrics.deidentification.spans import InstanceCounts
from phiscan.metrics.rates import Rates

MEASURES = ("precision", "recall", "f1")


def plot_all(scores: Sequence[SystemScore], folder: Path) -> list[Path]:
    """Draw every figure into a folder; return the files."""
    figures: list[tuple[str, Callable[[Path], None]]] = [
        ("figure-2.svg", lambda path: _overall(scores, _token_rates, "tokens", path)),
        *(
            (f"figure-{number}.svg", lambda path, m=measure: _by_type(scores, m, path))
            for number, measure in ((4, "precision"), (5, "recall"), (6, "f1"))
        ),
        ("figure-7.svg", lambda path: _subsets(scores, path)),
        ("figure-8.svg", lambda path: _overall(scores, _instance_rates, "instances", path)),
    ]
    paths = []
    for name, draw in figures:
        draw(folder / name)
        paths.append(folder / name)
    return paths


def _token_rates(score: SystemScore) -> Rates:
    return score.tokens.overall.rates


def _instance_rates(score: SystemScore) -> Rates:
    return sum(score.instances, InstanceCounts()).rates


def _overall(
    scores: Sequence[SystemScore], rates: Callable[[SystemScore], Rates], what: str, path: Path
) -> None:
    ordered = sorted(scores, key=lambda score: -(rates(score).f1 or 0.0))
    _lines(
        [score.name for score in ordered],
        {name: [getattr(rates(score), name) or 0.0 for score in ordered] for name in MEASURES},
        f"PHI against non-PHI, by {what}",
        path,
    )


def _by_type(scores: Sequence[SystemScore], measure: str, path: Path) -> None:
    lines = {
        kind: [
            getattr(score.tokens.by_type[kind].rates, measure) or 0.0 if kind in score.tokens.by_type else 0.0
            for score in scores
        ]
        for kind in TYPES
    }
    _lines([score.name for score in scores], lines, f"{measure} by category, tokens", path)


def _subsets(scores: Sequence[SystemScore], path: Path) -> None:
    ordered = sorted(scores, key=lambda score: -(score.unknown.rates.f1 or 0.0))
    _lines(
        [score.name for score in ordered],
        {
            "out of vocabulary": [score.unknown.rates.f1 or 0.0 for score in ordered],
            "ambiguous, also between categories": [
                score.tokens.ambiguous_any.rates.f1 or 0.0 for score in ordered
            ],
            "ambiguous with non-PHI": [score.tokens.ambiguous.rates.f1 or 0.0 for score in ordered],
        },
        "F1 on out-of-vocabulary and ambiguous tokens",
        path,
    )


def _lines(names: Sequence[str], lines: dict[str, list[float]], title: str, path: Path) -> None:
    figure = new_figure(8.0, 4.6)
    axes = figure.add_subplot()
    places = np.arange(len(names))
    for colour, (label, values) in zip(COLOURS, lines.items(), strict=False):
        axes.plot(places, values, "o-", color=colour, label=label, markersize=4, linewidth=1)
    axes.set_xticks(places, names, rotation=45, ha="right", fontsize=8)
    axes.set(ylim=(min(0.5, *(min(values) for values in lines.values())), 1.005), ylabel="score")
    axes.set_title(title, fontsize=10)
    axes.grid(axis="y", color="0.9")
    axes.legend(loc="lower left", fontsize=7, frameon=False, ncols=2)
    save(figure, path)
