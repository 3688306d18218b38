"""Time of fitting all log-linear models: python -m pytest benchmarks/bench_models.py -m bench -s."""

import time

import numpy as np
import pytest

from phiscan.metrics.capture_recapture.captures import CaptureTable
from phiscan.metrics.capture_recapture.missed import estimate_missed
from phiscan.metrics.elusion import elusion

pytestmark = pytest.mark.bench


def made(n_lists: int, mean: float) -> CaptureTable:
    generator = np.random.default_rng(11)
    return CaptureTable(n_lists, (0, *(int(count) for count in generator.poisson(mean, (1 << n_lists) - 1))))


def test_prints_how_long_all_models_take() -> None:
    print("\n| lists | mean count | models | refused | seconds |\n| --- | --- | --- | --- | --- |")
    for n_lists in (3, 4, 5):
        for mean in (60, 2):
            start = time.perf_counter()
            found = estimate_missed(made(n_lists, mean))
            seconds = time.perf_counter() - start
            refused = sum(fit.outcome == "refused" for fit in found.models)
            print(f"| {n_lists} | {mean} | {len(found.models)} | {refused} | {seconds:.2f} |")
            assert found.models


def test_prints_how_long_forward_selection_takes() -> None:
    print("\n| lists | models tried | seconds |\n| --- | --- | --- |")
    for n_lists in (6, 7, 8, 9):
        start = time.perf_counter()
        found = estimate_missed(made(n_lists, 20))
        print(f"| {n_lists} | {len(found.models)} | {time.perf_counter() - start:.2f} |")
        assert found.models


def test_prints_how_long_elusion_bounds_take() -> None:
    print("\n| population | sample | found | seconds |\n| --- | --- | --- | --- |")
    for population, sample, found in ((10**6, 3000, 2), (10**9, 3000, 2), (10**9, 5 * 10**8, 2 * 10**8)):
        start = time.perf_counter()
        bounds = elusion(population, sample, found, sequential=True)
        print(f"| {population} | {sample} | {found} | {time.perf_counter() - start:.3f} |")
        assert bounds.upper_hypergeometric >= found
