"""Decided files act near themselves, on their own side of the threshold, and within bounds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.decision.decided_examples import (
    CONTRIBUTIONS,
    MAX_SHIFT,
    NOTHING_LEARNED,
    DecidedExamples,
    LearnedDecision,
    Line,
    point_of,
    stored_point,
)

LIMIT = -4.0
POINT = {"words": 1.0, "size": 8.0}


def learned(*files: tuple[dict[str, float], bool, bool], line: Line | None = None) -> LearnedDecision:
    points, is_phi, is_above = zip(*files, strict=True) if files else ((), (), ())
    return LearnedDecision(LIMIT, DecidedExamples.of(points, is_phi, is_above), line or Line())


def near(
    n_files: int, *, is_phi: bool = False, is_above: bool = True
) -> list[tuple[dict[str, float], bool, bool]]:
    return [({**POINT, "size": 8.2 + 0.2 * number}, is_phi, is_above) for number in range(n_files)]


def test_files_like_those_called_not_phi_are_lowered_and_others_are_not() -> None:
    version = learned(*near(3))
    assert version.corrected(-3.5, POINT) < LIMIT
    assert version.corrected(-3.5, {**POINT, "size": 8.0 - CONTRIBUTIONS.radius - 0.1}) == -3.5
    assert version.corrected(-3.5, {**POINT, "text_detector": CONTRIBUTIONS.radius}) == -3.5


def test_one_phi_file_among_them_keeps_the_referral() -> None:
    assert learned(*near(3), *near(1, is_phi=True)).corrected(-3.5, POINT) >= LIMIT


def test_near_copies_count_once() -> None:
    copies = learned(*[(POINT, False, True)] * 9)
    assert copies.corrected(-3.5, POINT) == pytest.approx(
        learned((POINT, False, True)).corrected(-3.5, POINT)
    )


def test_decisions_on_referred_files_change_nothing_below_the_threshold() -> None:
    version = learned(*near(5, is_phi=True), line=Line(0.5, LIMIT * 0.5, LIMIT))
    assert version.needed_for(LIMIT) == LIMIT
    for log_odds in (LIMIT - 0.001, -5.0, -9.0):
        assert version.corrected(log_odds, POINT) == log_odds


def test_phi_that_was_found_below_the_threshold_raises_files_alike() -> None:
    version = learned(*near(1, is_phi=True, is_above=False))
    assert version.corrected(-5.0, {**POINT, "size": 8.2}) >= LIMIT
    assert version.corrected(-5.0, {**POINT, "size": 9.0}) == -5.0
    assert version.needed_for(LIMIT) == LIMIT - MAX_SHIFT


@given(
    st.floats(-12, 6),
    st.lists(st.tuples(st.floats(-3, 3), st.booleans(), st.booleans()), max_size=12),
    st.floats(0.1, 8),
)
def test_no_decision_moves_a_file_further_than_the_bound(
    log_odds: float, files: list[tuple[float, bool, bool]], slope: float
) -> None:
    made = [({"words": at}, is_phi, is_above) for at, is_phi, is_above in files]
    plain = learned(*made)
    assert abs(plain.corrected(log_odds, {"words": 0.0}) - log_odds) <= MAX_SHIFT + 1e-9
    # A line that begins at the threshold moves no file across it.
    lined = learned(*made, line=Line(slope, LIMIT * (1 - slope), LIMIT))
    same_side = (plain.corrected(log_odds, {"words": 0.0}) >= LIMIT) == (
        lined.corrected(log_odds, {"words": 0.0}) >= LIMIT - 1e-9
    )
    assert same_side
    for version in (plain, lined, learned(*made, line=Line(slope, 1.0))):
        if version.corrected(log_odds, {"words": 0.0}) >= LIMIT + 1e-9:
            assert log_odds >= version.needed_for(LIMIT) - 1e-9


def test_a_number_of_inputs_that_changed_is_a_distance() -> None:
    version = learned(*near(3))
    assert version.examples.distances({**POINT, "new": 3.0}).min() == pytest.approx(math.hypot(0.2, 3.0))
    assert NOTHING_LEARNED.corrected(-3.0, POINT) == -3.0


def test_a_version_is_read_as_it_was_written() -> None:
    version = learned(*near(3), *near(2, is_phi=True, is_above=False), line=Line(1.5, 0.25, None))
    again = LearnedDecision.from_json(version.to_json())
    for log_odds in (-5.0, -3.5, 0.0):
        assert again.corrected(log_odds, POINT) == pytest.approx(version.corrected(log_odds, POINT))
    assert np.array_equal(again.examples.is_above, version.examples.is_above)
    assert point_of(dict(stored_point(POINT | {"none": 0.0}, -3.5, 0.0))) == POINT
