"""The beginning of a random order that bounds best: gaps count as PHI, and the bound keeps its coverage."""

import random

import pytest

from phiscan.metrics.elusion import Prefix, best_prefix, sequential_upper, tail_of

TAIL = tail_of(0.95)


def upper(population: int, prefix: Prefix) -> int:
    return sequential_upper(population, prefix.size, prefix.found + prefix.open, TAIL)


def test_refuses_more_verdicts_than_items() -> None:
    with pytest.raises(ValueError, match="verdicts"):
        best_prefix(1, [False, False])


def test_is_the_best_of_all_beginnings_that_hold_the_phi() -> None:
    chance = random.Random(5)
    for _ in range(60):
        n = chance.randint(0, 40)
        order = [chance.choice([False, False, False, None, True]) for _ in range(n)]
        found = best_prefix(60, order)
        shortest = max((i for i, v in enumerate(order, 1) if v), default=1)
        ends = [i for i, v in enumerate(order, 1) if v is not None and i >= shortest]
        if not ends:
            assert found is None
            continue
        every = [Prefix(i, order[:i].count(True), order[:i].count(None)) for i in ends]
        assert found is not None
        assert upper(60, found) == min(upper(60, one) for one in every)


def test_covers_the_truth_whatever_is_left_open_and_wherever_one_stops() -> None:
    chance = random.Random(11)
    population, marked, trials, missed = 200, 12, 400, 0
    truth = [True] * marked + [False] * (population - marked)
    for _ in range(trials):
        chance.shuffle(truth)
        # The worst reviewer: leaves PHI open more often than the rest, and stops when it suits.
        seen = [None if chance.random() < (0.5 if phi else 0.02) else phi for phi in truth]
        found = best_prefix(population, seen[: chance.randint(20, 120)])
        missed += found is not None and upper(population, found) < marked
    assert missed / trials <= 0.05
