"""The number of people of a table from a random sample of its rows."""

import random

import pytest

from phiscan.pipeline.windows.people_estimate import WindowCount, estimate_from_rows

N_PEOPLE = 5_000
N_DRAWN = 1_500
N_WINDOWS = 12
N_SAMPLES = 25


def _visits(shape: str, rng: random.Random) -> int:
    """Return how many rows one person has."""
    if shape == "unequal":
        return 1 + int(rng.expovariate(1 / 3))
    return 1 + int(4 * (rng.paretovariate(1.5) - 1)) if shape == "a few with many" else int(shape)


@pytest.mark.parametrize("shape", ["1", "3", "10", "unequal", "a few with many"])
def test_the_interval_holds_the_people_of_all_rows(shape: str) -> None:
    rng = random.Random(f"rows {shape}")
    rows = [str(person) for person in range(N_PEOPLE) for _ in range(_visits(shape, rng))]
    n_held, estimates = 0, []
    for _ in range(N_SAMPLES):
        drawn = rng.sample(rows, N_DRAWN)
        windows = []
        for number in range(N_WINDOWS):
            named = frozenset(drawn[number::N_WINDOWS])
            windows.append(WindowCount(len(named), 10 * len(drawn[number::N_WINDOWS]), {"MRN": named}, True))
        people = estimate_from_rows(windows, 10 * len(rows))
        assert people.interval is not None
        n_held += people.interval[0] <= N_PEOPLE <= people.interval[1]
        estimates.append(people.n_people / N_PEOPLE)
    assert n_held >= N_SAMPLES - 2
    bounds = (0.95, 1.05) if shape == "1" else (0.5, 2.5)
    assert bounds[0] < sum(estimates) / N_SAMPLES < bounds[1]


def test_a_sample_without_people_does_not_say_that_there_are_none() -> None:
    windows = [WindowCount(0, 100, {}, True) for _ in range(10)]
    people = estimate_from_rows(windows, 100_000)
    assert people.n_people == 0
    assert people.interval is not None
    assert people.interval[0] == 0
    assert people.interval[1] > 100


def test_windows_that_were_chosen_count_only_whom_they_name() -> None:
    drawn = [WindowCount(1, 100, {"MRN": frozenset({str(number)})}, True) for number in range(10)]
    chosen = [WindowCount(30, 100, {"MRN": frozenset(f"chosen {number}" for number in range(30))}, False)]
    alone, both = estimate_from_rows(drawn, 2_000), estimate_from_rows([*chosen, *drawn], 2_000)
    assert alone.n_people == 20
    assert both.n_people == 40


def test_all_rows_are_counted() -> None:
    windows = [WindowCount(2, 100, {"MRN": frozenset({"a", "b"})}, True) for _ in range(3)]
    assert estimate_from_rows(windows, 300).interval is None
    assert estimate_from_rows(windows, 300).n_people == 2
