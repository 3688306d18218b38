"""Error of private releases by epsilon and number of examples, on the Adult data or synthetic data.

Procedure of Boyd (2014), "Private Evaluation Experiments": logistic regression on one half of the data, the
metric on subsets of the other half, private against exact. The noise is seeded, since nothing is released.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

from papers.evaluation.adult import Examples
from phiscan.metrics.differential_privacy import noise_scale
from phiscan.metrics.ranking import auc_roc, average_precision, rank

Floats = npt.NDArray[np.float64]
METRICS = ("accuracy", "sensitivity", "specificity", "auc_roc", "average_precision")
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
SIZES = (250, 1_000, 4_000, 16_000)
THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class Scored:
    """Probabilities and labels of the test half."""

    scores: Floats
    labels: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PrivateError:
    """The error of one release over its repetitions."""

    metric: str
    noise: str
    examples: int
    epsilon: float
    rmse: float  # of the released figure clipped to [0, 1]
    median_error: float  # of the same figure; Cauchy noise has no variance before clipping


def scored_half(examples: Examples, seed: int = 0) -> Scored:
    """Train on a random half and return the scores of the other one."""
    order = np.random.default_rng(seed).permutation(len(examples.y))
    first, second = np.array_split(order, 2)
    model = LogisticRegression(max_iter=500).fit(examples.x[first], examples.y[first])
    return Scored(model.predict_proba(examples.x[second])[:, 1], examples.y[second])


def exact(metric: str, scores: Floats, labels: npt.NDArray[np.bool_]) -> float:
    """Return the metric itself; rates and accuracy at a threshold of one half."""
    right = (scores >= THRESHOLD) == labels
    if metric == "accuracy":
        return float(right.mean())
    if metric in {"sensitivity", "specificity"}:
        return float(right[labels if metric == "sensitivity" else ~labels].mean())
    ranked = rank(scores.tolist(), labels.tolist())
    return auc_roc(ranked) if metric == "auc_roc" else average_precision(ranked)


def private_errors(
    scored: Scored,
    *,
    sizes: Sequence[int] = SIZES,
    epsilons: Sequence[float] = EPSILONS,
    delta: float = 1e-6,
    repetitions: int = 200,
    seed: int = 0,
) -> list[PrivateError]:
    """Return the error for each metric, mechanism, number of examples and epsilon."""
    random = np.random.default_rng(seed)
    errors = []
    for size in sizes:
        subsets = [random.choice(len(scored.labels), size, replace=False) for _ in range(20)]
        for metric in METRICS:
            figures = [
                (exact(metric, scored.scores[s], scored.labels[s]), int(scored.labels[s].sum()))
                for s in subsets
            ]
            for noise in ("laplace", "cauchy"):
                for epsilon in epsilons:
                    gaps = []
                    for value, n in figures:
                        scale = noise_scale(
                            metric, n, size - n, epsilon=epsilon, delta=delta, noise=noise
                        ).scale
                        count = -(-repetitions // len(figures))
                        unit = (
                            random.laplace(size=count)
                            if noise == "laplace"
                            else random.standard_cauchy(count)
                        )
                        gaps.append(np.clip(value + scale * unit, 0, 1) - value)
                    gap = np.concatenate(gaps)
                    errors.append(
                        PrivateError(
                            metric,
                            noise,
                            size,
                            epsilon,
                            float(np.sqrt(np.mean(gap**2))),
                            float(np.median(np.abs(gap))),
                        )
                    )
    return errors
