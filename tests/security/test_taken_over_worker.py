"""A worker that was taken over answers with anything: the process that scans runs none of it and goes on."""

import os
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from phiscan.config import Limits
from phiscan.errors import PhiscanError
from phiscan.model import FailReason
from phiscan.sandbox.answers import Fault, unpack
from phiscan.sandbox.isolation import limit_memory
from phiscan.sandbox.pool import Sandbox
from tests.security import taken_over_worker
from tests.security.taken_over_worker import (
    ANSWERS,
    ATTACKS,
    LIE_ABOUT_LAYERS,
    NAME,
    answer_many_values,
    answer_with,
    double,
)

LIMITS = Limits(time_s=20.0, memory_bytes=2 * 1024**3)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """One pool for all: each attack finds another worker in the place of the last."""
    with Sandbox(1, LIMITS, preload=(taken_over_worker.__name__,)) as running:
        yield running


def _is_refused(sandbox: Sandbox, attack: Callable[[str], object], given: str) -> bool:
    ((_, answer),) = sandbox.run(attack, [given])
    assert [found for _, found in sandbox.run(double, [1, 2])] == [2, 4]
    return isinstance(answer, Fault)


@pytest.mark.parametrize("attack", [*ATTACKS, answer_many_values], ids=lambda one: one.__name__)
def test_nothing_that_a_worker_sends_is_run_or_ends_the_scan(
    sandbox: Sandbox, attack: Callable[[str], object], tmp_path: Path
) -> None:
    marker = tmp_path / "made-by-the-parent"
    assert _is_refused(sandbox, attack, str(marker))
    assert not marker.exists()


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_of_another_form_is_refused(sandbox: Sandbox, answer: str) -> None:
    assert _is_refused(sandbox, answer_with, answer)


def test_an_answer_of_many_values_is_refused_in_little_memory() -> None:
    data = b"[0.1,[[1,[" + b"[]," * 20_000_000 + b"[]]]],[]]"
    child = os.fork()
    if child == 0:
        status = 1
        try:
            limit_memory(256 * 1024**2)  # the lists alone would take 1.3 GB
            unpack(double, data, 1)
        except ValueError:
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def long_text(n_millions: int) -> str:
    return "é,[" * (n_millions * 1_000_000)


def test_a_long_text_of_commas_is_an_answer_and_one_over_the_limit_is_said() -> None:
    with Sandbox(1, LIMITS, preload=(taken_over_worker.__name__,)) as sandbox:
        long, over = [answer for _, answer in sandbox.run(long_text, [5, 20])]
    assert long == long_text(5)
    assert over == Fault(FailReason.TOO_LARGE, "a result of 80000006 bytes")


def test_the_error_text_of_a_worker_is_not_repeated() -> None:
    with (
        Sandbox(1, LIMITS, preload=(taken_over_worker.__name__,)) as sandbox,
        pytest.raises(PhiscanError, match=r"^a worker cannot start: Exception$"),
    ):
        list(sandbox.run(answer_with, [NAME]))


def test_the_bomb_runs_in_whoever_unpickles_it(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(taken_over_worker.Bomb(str(tmp_path / "made"))))  # noqa: S301 (the attack)
    assert (tmp_path / "made").exists()


def test_what_a_worker_says_of_its_layers_is_the_text_of_the_program() -> None:
    with Sandbox(1, LIMITS, preload=(taken_over_worker.__name__,)) as sandbox:
        assert [found for _, found in sandbox.run(answer_with, [LIE_ABOUT_LAYERS])] == [5]
        (line,) = sandbox.missing or ()
        assert line.startswith("seccomp: not on; workers can")
