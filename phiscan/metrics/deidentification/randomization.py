"""Approximate randomization test of the difference of two systems.

Source: Noreen (1989); Chinchor (1992); Uzuner et al. (2007), "Significance Testing".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from phiscan.metrics.deidentification.spans import InstanceCounts
from phiscan.metrics.rates import OverlapCounts

Floats = npt.NDArray[np.float64]

_CHUNK = 512  # shuffles computed at once: 512 x records coins in memory
_CLOSE = 1e-9  # differences closer than this to the observed one are compared again, exactly


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of two systems and the probability of one at least as large by chance.

    ``difference`` is first minus second and None when one of the two numbers does not exist.
    """

    difference: float | None
    p_value: float | None
    shuffles: int


def randomization_test(
    first: Sequence[InstanceCounts | OverlapCounts],
    second: Sequence[InstanceCounts | OverlapCounts],
    *,
    shuffles: int = 9_999,
    seed: int = 0,
) -> dict[str, Difference]:
    """Test the differences in precision, recall and F1 of two systems, of instances or tokens, by record.

    For each shuffle a coin per record decides whether the two systems exchange all their results for it. With
    n the number of shuffles whose absolute difference is at least the observed one, the p-value is
    (n + 1)/(N + 1). The source says "greater than", which would call two equal systems significantly
    different; ties are counted here, as in Noreen (1989). Ties are decided in exact rational arithmetic.
    A pseudo-system that marks nothing has precision and F1 0.

    Raises:
        ValueError: the two systems were not scored on the same records, or ``shuffles`` is below 1.

    >>> a, b = [InstanceCounts(correct=1)] * 8, [InstanceCounts(deletion=1)] * 8
    >>> randomization_test(a, b, shuffles=999)["recall"].difference
    1.0
    """
    if shuffles < 1:
        message = f"expected at least 1 shuffle, got {shuffles}"
        raise ValueError(message)
    if [counts.n_gold for counts in first] != [counts.n_gold for counts in second]:
        message = "expected two systems scored on the same records of one gold standard"
        raise ValueError(message)
    n_gold = sum(counts.n_gold for counts in first)
    # Columns: correct and system spans of the one, then of the other. The sum of both is what stays.
    one, other = (
        np.array([(counts.correct, counts.n_system) for counts in side], dtype=float).reshape(-1, 2)
        for side in (first, second)
    )
    both = one.sum(axis=0) + other.sum(axis=0)
    swapped = other - one
    moving = np.flatnonzero(swapped.any(axis=1))  # records where the systems agree do not matter
    swapped = swapped[moving]
    generator = np.random.default_rng(seed)
    at_least = dict.fromkeys(_FRACTIONS, 0)
    observed = {name: abs(_exact(name, one.sum(axis=0), both, n_gold)) for name in _FRACTIONS}
    for begin in range(0, shuffles, _CHUNK):
        n_rows = min(_CHUNK, shuffles - begin)
        n_bytes = -(-len(moving) // 8)
        coins = np.frombuffer(generator.bytes(n_rows * n_bytes), dtype=np.uint8).reshape(n_rows, n_bytes)
        flips = np.unpackbits(coins, axis=1, count=len(moving)).astype(np.float64)
        pseudo = one.sum(axis=0) + flips @ swapped
        for name, target in observed.items():
            at_least[name] += _count_at_least(name, pseudo, both, n_gold, target)
    result = {}
    for name in _FRACTIONS:
        reference = _exact(name, one.sum(axis=0), both, n_gold)
        exists = n_gold > 0 if name == "recall" else bool(one.sum(axis=0)[1] and other.sum(axis=0)[1])
        if name == "f1":
            exists = exists and n_gold > 0
        result[name] = Difference(
            float(reference) if exists else None,
            (at_least[name] + 1) / (shuffles + 1) if exists else None,
            shuffles,
        )
    return result


# Each measure as a fraction of whole numbers, so that ties can be decided exactly: a factor of the correct
# ones above; of the marked ones and of the gold ones below.
_FRACTIONS = {"precision": (1, 1, 0), "recall": (1, 0, 1), "f1": (2, 1, 1)}


def _fraction(name: str, correct: Floats, marked: Floats, n_gold: int) -> tuple[Floats, Floats]:
    of_correct, of_marked, of_gold = _FRACTIONS[name]
    return of_correct * correct, of_marked * marked + of_gold * n_gold


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator != 0)


def _count_at_least(name: str, pseudo: Floats, both: Floats, n_gold: int, target: Fraction) -> int:
    difference = np.abs(
        _ratio(*_fraction(name, pseudo[:, 0], pseudo[:, 1], n_gold))
        - _ratio(*_fraction(name, both[0] - pseudo[:, 0], both[1] - pseudo[:, 1], n_gold))
    )
    reference = float(target)
    n_above = int((difference > reference + _CLOSE).sum())
    close = pseudo[np.abs(difference - reference) <= _CLOSE]
    rows, repeats = np.unique(close, axis=0, return_counts=True)
    return n_above + sum(
        int(count)
        for row, count in zip(rows, repeats, strict=True)
        if abs(_exact(name, row, both, n_gold)) >= target
    )


def _exact(name: str, row: Floats, both: Floats, n_gold: int) -> Fraction:
    values = []
    for correct, marked in (row, both - row):
        above, below = _fraction(name, np.array([correct]), np.array([marked]), n_gold)
        values.append(Fraction(int(above[0]), int(below[0])) if below[0] else Fraction(0))
    return values[0] - values[1]
