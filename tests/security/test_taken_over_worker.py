"""A worker that was taken over answers with anything: the process that scans runs none of it and goes on."""

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from phiscan.config import Limits
from phiscan.sandbox.answers import Fault
from phiscan.sandbox.pool import Sandbox
from tests.security import taken_over_worker
from tests.security.taken_over_worker import ATTACKS, double, lie_about_layers

LIMITS = Limits(time_s=20.0, memory_bytes=2 * 1024**3)


@pytest.mark.parametrize("attack", ATTACKS, ids=[one.__name__ for one in ATTACKS])
def test_nothing_that_a_worker_sends_is_run_or_ends_the_scan(
    attack: Callable[[str], object], tmp_path: Path
) -> None:
    marker = tmp_path / "made-by-the-parent"
    with Sandbox(1, LIMITS, preload=(taken_over_worker.__name__,)) as sandbox:
        ((_, answer),) = sandbox.run(attack, [str(marker)])
        assert not marker.exists()
        assert isinstance(answer, Fault)
        assert [found for _, found in sandbox.run(double, [1, 2])] == [2, 4]


def test_the_bomb_runs_in_whoever_unpickles_it(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(taken_over_worker.Bomb(str(tmp_path / "made"))))  # noqa: S301 (the attack)
    assert (tmp_path / "made").exists()


def test_what_a_worker_says_of_its_layers_is_no_command_for_a_terminal() -> None:
    with Sandbox(1, LIMITS, preload=(taken_over_worker.__name__,)) as sandbox:
        # An answer of the right form, with lines of the worker's choice.
        assert [found for _, found in sandbox.run(lie_about_layers, [""])] == [5]
        assert sandbox.missing == (r"seccomp: \x1b[2J", "seccomp")
