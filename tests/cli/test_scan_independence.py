"""The dependence of the detectors as a scan says it: exact, among what a third one found."""

import numpy as np
import pytest

from phiscan.cli.scan.output import independence, independence_lines
from phiscan.metrics.independence import mutual_information, verdict_dependence

NAMES = ("patterns", "names", "text")


def history(code: str) -> tuple[tuple[str, bool], ...]:
    return tuple((name, bit == "1") for name, bit in zip(NAMES, code, strict=False))


def test_the_exact_p_value_is_what_shuffling_finds() -> None:
    first, second = np.arange(50) < 30, np.array([True] * 22 + [False] * 8 + [True] * 9 + [False] * 11)
    exact = verdict_dependence(22, 8, 9, 11)
    assert exact.nats == pytest.approx(mutual_information(first.tolist(), second.tolist()))
    generator = np.random.default_rng(0)
    shuffled = [
        mutual_information(first.tolist(), generator.permutation(second).tolist()) for _ in range(4000)
    ]
    reached = sum(nats >= exact.nats - 1e-12 for nats in shuffled)
    assert exact.p_value == pytest.approx((reached + 1) / 4001, abs=0.03)
    assert verdict_dependence(5, 5, 5, 5).p_value == pytest.approx(1.0)
    assert verdict_dependence(7, 0, 0, 0).nats == 0.0


def test_millions_of_files_are_counted_at_once() -> None:
    assert verdict_dependence(400_000, 100_000, 100_000, 400_000).p_value < 1e-300


def test_a_scan_compares_a_pair_where_the_third_found_something() -> None:
    counts = {"111": 40, "101": 5, "011": 4, "001": 11, "110": 9, "100": 3, "000": 900}
    pairs = independence({history(code): count for code, count in counts.items()})
    first = pairs[0]
    assert (first["first"], first["second"], first["files"]) == ("patterns", "names", 60)
    assert first["nats"] == pytest.approx(verdict_dependence(40, 5, 4, 11).nats)
    assert len(independence_lines(pairs)) == 4
    assert np.isfinite([pair["p_value"] for pair in pairs]).all()


def test_what_cannot_be_compared_is_null_with_a_reason() -> None:
    pairs = independence({history("000"): 10, history("10"): 5})
    assert all(pair["nats"] is None and pair["reason"] for pair in pairs)
    assert independence({}) == []
    assert independence_lines([]) == []
