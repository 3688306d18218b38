"""Attack on a published area under the ROC curve: what it reveals about one example.

The attacker knows every example of the test set but one. Source: Boyd (2014), "Attacks on Evaluation
Metrics": the class label and the range of the score leak; Matthews & Harel (2013).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phiscan.metrics.differential_privacy import noise_scale

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class AttackResult:
    """The attacker's success rates for one release mechanism."""

    published: str
    label: float  # the class of the unknown example
    membership: float  # whether a known person is among the examples at all
    score_range: float  # mean share of scores that remain possible for the unknown example
    n: int


class _Known:
    """The examples that the attacker knows, and the areas with one more example."""

    def __init__(self, scores: Floats, labels: Bools) -> None:
        self.n, self.m = int(labels.sum()), int((~labels).sum())
        positives, negatives = np.sort(scores[labels]), np.sort(scores[~labels])
        # Distinct cases of the unknown score: each known one, and one between every two.
        known = np.unique(scores)
        between = (known[:-1] + known[1:]) / 2
        self.positions = np.sort(np.concatenate((known, between, [known[0] - 1, known[-1] + 1])))
        self._positives, self._negatives = positives, negatives
        self._pairs = float(self._below(negatives, positives).sum())

    @staticmethod
    def _below(ordered: Floats, values: Floats) -> Floats:
        left, right = (np.searchsorted(ordered, values, side=side) for side in ("left", "right"))
        return np.asarray((left + right) / 2, dtype=float)

    @property
    def area(self) -> float:
        """The area without the unknown example."""
        return self._pairs / (self.n * self.m)

    def areas(self, scores: Floats, *, positive: bool) -> Floats:
        """Return the areas with one more example of a class, for each of its possible scores."""
        if positive:
            return (self._pairs + self._below(self._negatives, scores)) / ((self.n + 1) * self.m)
        above = self.n - self._below(self._positives, scores)
        return (self._pairs + above) / (self.n * (self.m + 1))


def attack(
    scores: Floats,
    labels: Bools,
    *,
    epsilons: tuple[float, ...] = (0.1, 1.0, 10.0),
    delta: float = 1e-6,
    seed: int = 0,
) -> list[AttackResult]:
    """Attack every example once, for exact, rounded and private areas; return the attacker's success.

    The guessed class is the likelier one, given how many of its scores fit the published area and its
    frequency; the exact area usually fits one class only. For membership the attacker also knows the person's
    score and class, and a fair coin decides whether the person is among the examples.
    """
    random = np.random.default_rng(seed)
    n, m = int(labels.sum()), int((~labels).sum())
    ways: list[tuple[str, int | None, float]] = [
        ("exact", None, 0.0),
        ("4 digits", 4, 0.0),
        ("2 digits", 2, 0.0),
    ]
    ways += [
        (
            f"private, epsilon {epsilon:g}",
            None,
            noise_scale("auc_roc", n, m, epsilon=epsilon, delta=delta, noise="laplace").scale,
        )
        for epsilon in epsilons
    ]
    tally = {name: [0.0, 0.0, 0.0] for name, _, _ in ways}
    for target in range(len(scores)):
        rest = np.ones(len(scores), dtype=bool)
        rest[target] = False
        known = _Known(scores[rest], labels[rest])
        truth = float(known.areas(scores[[target]], positive=bool(labels[target]))[0])
        member = bool(random.random() < 0.5)  # noqa: PLR2004
        for name, digits, scale in ways:
            noise = float(random.laplace(0, scale)) if scale else 0.0
            shown = _publish(truth + noise, digits)
            tolerance = _SAME if digits is None else 0.5 * 10**-digits + _SAME
            right, left = _guess_label(known, shown, tolerance, scale)
            right = right == bool(labels[target])
            area = truth if member else known.area
            published = _publish(area + noise, digits)
            guess = abs(published - truth) <= abs(published - known.area)
            tally[name][0] += right
            tally[name][1] += guess == member
            tally[name][2] += left
    nothing = AttackResult("nothing", max(n, m) / len(scores), 0.5, 1.0, len(scores))
    shares = {name: [value / len(scores) for value in values] for name, values in tally.items()}
    return [
        nothing,
        *(
            AttackResult(name, values[0], values[1], values[2], len(scores))
            for name, values in shares.items()
        ),
    ]


def _publish(area: float, digits: int | None) -> float:
    return area if digits is None else round(area, digits)


def _guess_label(known: _Known, shown: float, tolerance: float, scale: float) -> tuple[bool, float]:
    """Return the guessed class, and the share of scores that remain possible."""
    gaps = {kind: np.abs(known.areas(known.positions, positive=kind) - shown) for kind in (True, False)}
    share = known.n / (known.n + known.m)
    if scale:
        weights = {kind: float(np.exp(-gaps[kind] / scale).mean()) for kind in gaps}
        return weights[True] * share > weights[False] * (1 - share), 1.0
    fits = {kind: float((gaps[kind] <= tolerance).mean()) for kind in gaps}
    guess = fits[True] * share > fits[False] * (1 - share)
    return guess, fits[guess] or 1.0
