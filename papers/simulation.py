"""Bias of area estimators and coverage of their intervals, where the true area is known.

Source: Boyd (2014), chapter 4, "Simulation Setup": scores drawn from two known distributions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import integrate, stats

from papers.areas import area_estimates, binormal_area
from papers.intervals import binomial_interval, bootstrap_interval, cross_validation_interval
from phiscan.metrics.ranking import Floats, Interval, logit_interval, rank

Sampler = Callable[[np.random.Generator, int], Floats]

# Negatives and positives of each scenario, with the thesis' parameters.
_DRAWS: dict[str, tuple[Sampler, Sampler]] = {
    "binormal": (lambda g, k: g.normal(0, 1, k), lambda g, k: g.normal(1, 1, k)),
    "bibeta": (lambda g, k: g.beta(2, 5, k), lambda g, k: g.beta(5, 2, k)),
    "offset_uniform": (lambda g, k: g.uniform(0, 1, k), lambda g, k: g.uniform(0.5, 1.5, k)),
}
DISTRIBUTIONS = tuple(_DRAWS)
RECOMMENDED = ("average_precision", "lower_trapezoid", "interpolated_median")


@dataclass(frozen=True, slots=True)
class EstimatorResult:
    """The result of one estimator; ``bias`` is mean minus truth, ``ratio`` mean over truth."""

    estimator: str
    mean: float
    bias: float
    ratio: float
    sd: float


@dataclass(frozen=True, slots=True)
class IntervalResult:
    """Coverage and mean width of one interval around one estimator."""

    estimator: str
    interval: str
    coverage: float
    mean_width: float
    location: float | None  # of the intervals that miss the true area, the share above it; None: none misses
    n_existing: int  # replicates in which the interval exists; the others count as misses


@dataclass(frozen=True, slots=True)
class Simulation:
    """One scenario: its truth, its estimators and its intervals."""

    distribution: str
    n: int
    m: int
    replicates: int
    seed: int
    true_area: float
    estimators: tuple[EstimatorResult, ...]
    intervals: tuple[IntervalResult, ...]

    @property
    def skew(self) -> float:
        """The share of positive examples."""
        return self.n / (self.n + self.m)


def true_area(distribution: str, skew: float) -> float:
    """Return the area under the true PR curve for a share of positives.

    Raises:
        ValueError: unknown distribution, or a share outside (0, 1).

    >>> round(true_area("offset_uniform", 0.1), 6)
    0.657905
    """
    if not 0 < skew < 1:
        message = f"expected a share of positives between 0 and 1, got {skew}"
        raise ValueError(message)
    if distribution == "binormal":
        return binormal_area(skew, 1.0, 1.0)
    if distribution == "bibeta":
        positive, negative = stats.beta(5, 2), stats.beta(2, 5)
    elif distribution == "offset_uniform":
        positive, negative = stats.uniform(0.5, 1), stats.uniform(0, 1)
    else:
        message = f"expected one of {', '.join(DISTRIBUTIONS)}, got {distribution}"
        raise ValueError(message)

    def precision(recall: float) -> float:
        threshold = positive.isf(recall)
        marked = skew * recall + (1 - skew) * negative.sf(threshold)
        return float(skew * recall / marked) if marked > 0 else 1.0

    return float(integrate.quad(precision, 0, 1, points=[0.5], epsabs=1e-10, limit=200)[0])


def simulate(
    distribution: str,
    *,
    n_examples: int,
    skew: float = 0.1,
    replicates: int = 1_000,
    bootstrap: int = 200,
    seed: int = 0,
) -> Simulation:
    """Draw data sets, estimate the area under the PR curve of each, and compare with the truth.

    Of ``n_examples``, the whole part of ``skew`` times their number is positive, in every data set. The
    binomial and logit intervals are put around the three recommended estimators, the bootstrap (with
    ``bootstrap`` resamples; 0 leaves it out) and cross-validation around average precision.

    Source: Boyd (2014), chapter 4.

    Raises:
        ValueError: fewer than two positives or negatives, or no replicates.
    """
    n = int(round(skew * n_examples, 9))
    m = n_examples - n
    if n < 2 or m < 2 or replicates < 1:  # noqa: PLR2004 (a binormal fit needs two of each)
        message = f"expected two of each class and one replicate at least, got {n}, {m}, {replicates}"
        raise ValueError(message)
    truth = true_area(distribution, n / n_examples)
    draw_negative, draw_positive = _DRAWS[distribution]
    generator = np.random.default_rng(seed)
    labels = np.repeat([True, False], [n, m])
    areas: dict[str, list[float]] = {}
    intervals: dict[tuple[str, str], list[Interval]] = {}
    for replicate in range(replicates):
        scores = np.concatenate([draw_positive(generator, n), draw_negative(generator, m)])
        ranking = rank(scores, labels)
        estimates = asdict(area_estimates(ranking))
        for name, area in estimates.items():
            areas.setdefault(name, []).append(float("nan") if area is None else area)
        for name in RECOMMENDED:
            intervals.setdefault((name, "binomial"), []).append(binomial_interval(estimates[name], n))
            intervals.setdefault((name, "logit"), []).append(logit_interval(estimates[name], n))
        crossed = cross_validation_interval(ranking, seed=seed + replicate)
        intervals.setdefault(("average_precision", "cross_validation"), []).append(crossed)
        if bootstrap:
            resampled = bootstrap_interval(ranking, replicates=bootstrap, seed=seed + replicate)
            intervals.setdefault(("average_precision", "bootstrap"), []).append(resampled)
    return Simulation(
        distribution,
        n,
        m,
        replicates,
        seed,
        truth,
        tuple(_estimator_result(name, np.array(values), truth) for name, values in areas.items()),
        tuple(_interval_result(*key, found, truth) for key, found in intervals.items()),
    )


def _estimator_result(name: str, values: Floats, truth: float) -> EstimatorResult:
    finite = values[np.isfinite(values)]
    mean = float(finite.mean())
    return EstimatorResult(name, mean, mean - truth, mean / truth, float(finite.std()))


def _interval_result(estimator: str, name: str, found: list[Interval], truth: float) -> IntervalResult:
    ends = [interval.ends for interval in found if interval.ends is not None]
    n_hits = sum(low <= truth <= high for low, high in ends)
    width = sum(high - low for low, high in ends) / len(ends) if ends else 0.0
    above, below = sum(low > truth for low, _ in ends), sum(high < truth for _, high in ends)
    location = above / (above + below) if above + below else None
    return IntervalResult(estimator, name, n_hits / len(found), width, location, len(ends))


def page_lines(shape: dict[str, Any]) -> list[str]:
    """Return the table of the page: bias by estimator; coverage, width and location by interval."""
    intervals = "logit, binomial, cross-validation, bootstrap"
    lines = [
        f"| distribution | examples | skew | mean / true | coverage: {intervals} | width | location |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for run in shape["simulations"]:
        ratio = {item["estimator"]: item["ratio"] for item in run["estimators"]}
        around = {i["interval"]: i for i in run["intervals"] if i["estimator"] == "average_precision"}
        found = [around[name] for name in ("logit", "binomial", "cross_validation", "bootstrap")]
        examples = run["n"] + run["m"]
        cells = [
            run["distribution"].replace("_", " "),
            f"{examples:,}",
            f"{run['n'] / examples:g}",
            ", ".join(f"{ratio[name]:.3f}" for name in RECOMMENDED),
            ", ".join(f"{item['coverage']:.2f}" for item in found),
            ", ".join(f"{item['mean_width']:.2f}" for item in found),
            ", ".join("-" if item["location"] is None else f"{item['location']:.2f}" for item in found),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines
