"""Approximate randomization: what it needs, and what it says without it."""

import pytest

from phiscan.metrics.deidentification.randomization import randomization_test
from phiscan.metrics.deidentification.spans import InstanceCounts


def test_is_reproducible_by_its_seed() -> None:
    first = [InstanceCounts(correct=i % 4, deletion=4 - i % 4) for i in range(30)]
    second = [
        InstanceCounts(correct=(i + 1) % 4, deletion=4 - (i + 1) % 4, insertion=i % 2) for i in range(30)
    ]
    assert randomization_test(first, second, seed=4) == randomization_test(first, second, seed=4)
    assert randomization_test(first, second, seed=4) != randomization_test(first, second, seed=5)


def test_has_no_difference_without_a_rate() -> None:
    silent = [InstanceCounts(deletion=2)] * 3
    found = randomization_test(silent, [InstanceCounts(correct=2)] * 3, shuffles=9)
    assert found["precision"].difference is None
    assert found["precision"].p_value is None
    assert found["f1"].difference is None
    assert found["recall"].difference == -1.0
    nothing = randomization_test([InstanceCounts()], [InstanceCounts()], shuffles=9)
    assert all(item.difference is None for item in nothing.values())


def test_counts_ties_in_exact_arithmetic() -> None:
    # 3/10 - 1/10 and 4/10 - 2/10 are equal, though not as floating-point numbers.
    first = [InstanceCounts(correct=3, deletion=7)]
    second = [InstanceCounts(correct=1, deletion=9)]
    assert randomization_test(first, second, shuffles=99)["recall"].p_value == 1.0


def test_refuses_other_records_and_no_shuffles() -> None:
    with pytest.raises(ValueError, match="same records"):
        randomization_test([InstanceCounts(correct=1)], [InstanceCounts()])
    with pytest.raises(ValueError, match="same records"):
        randomization_test([InstanceCounts()], [])
    with pytest.raises(ValueError, match="at least 1 shuffle"):
        randomization_test([], [], shuffles=0)
