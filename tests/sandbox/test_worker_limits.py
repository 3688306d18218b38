"""The memory of a worker: a hard limit, a clear reason, and no file that fails for what another took."""

import os
import resource
from contextlib import suppress
from dataclasses import replace

import pytest

from phiscan.config import Limits
from phiscan.extract.ocr.recognition import OCR_NO_MEMORY
from phiscan.model import FailReason, FileResult, Outcome, SourceFile, UnreadPart
from phiscan.pipeline.workers.worker import lacked_memory
from phiscan.sandbox.answers import Fault
from phiscan.sandbox.channel import in_memory
from phiscan.sandbox.pool import Sandbox
from phiscan.sandbox.worker_process import WorkerState

MEGABYTE = 1024**2
LIMITS = Limits(memory_bytes=512 * MEGABYTE)
TOO_MUCH = Fault(FailReason.OUT_OF_MEMORY, "needs more memory than 512 MB")
KEPT: list[bytearray] = []  # by a worker, as a library's cache does


def allocate(n_megabytes: int) -> int:
    return len(bytearray(n_megabytes * MEGABYTE)) // MEGABYTE


def hoard(n_megabytes: int) -> int:
    """Allocate and keep it."""
    KEPT.append(bytearray(n_megabytes * MEGABYTE))
    return n_megabytes


def raise_limit(_: int) -> bool:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(ValueError, match=r"not allowed|exceeds"):
        resource.setrlimit(resource.RLIMIT_AS, (soft + 1, hard))
    return soft == hard


def test_memory_that_earlier_items_took_fails_no_item() -> None:
    """Each takes a third of the memory for good: with two in one worker there is no room for another."""
    needs = [170 + number for number in range(7)]
    with Sandbox(2, LIMITS) as sandbox:
        assert [answer for _, answer in sandbox.run(hoard, needs)] == needs


def test_limit_cannot_be_raised_again() -> None:
    with Sandbox(1, LIMITS, is_isolated=False) as sandbox:
        assert [answer for _, answer in sandbox.run(raise_limit, [1])] == [True]


def hold(_: int) -> int:
    """Hold files in memory until there is no more room; return how many megabytes."""
    held = []
    with suppress(MemoryError):
        while True:
            held.append(in_memory(bytes(16 * MEGABYTE)))
    for descriptor in held:
        os.close(descriptor)
    return 16 * len(held)


def test_files_in_memory_have_a_limit_and_are_given_back() -> None:
    with Sandbox(1, LIMITS) as sandbox:
        answers = [answer for _, answer in sandbox.run(hold, [1, 2])]
        assert sandbox.missing is not None
        if not any(line.startswith("read_only") for line in sandbox.missing):
            assert answers == [256, 256]  # half of the limit of memory


def wear(item: int) -> int:
    """Use up the processor time of this worker, as it counts it."""
    WorkerState.life_s = 0
    return item


def test_a_worker_whose_processor_time_is_used_up_makes_room_and_costs_no_item() -> None:
    with Sandbox(2, LIMITS) as sandbox:
        assert [answer for _, answer in sandbox.run(wear, range(5))] == list(range(5))


def test_item_that_needs_more_memory_says_how_much_it_may_have_and_the_others_go_on() -> None:
    with Sandbox(2, LIMITS) as sandbox:
        sandbox.in_order = False
        answers = dict(sandbox.run(allocate, [*range(1, 30), 600, 4000]))
    assert answers == {**{one: one for one in range(1, 30)}, 600: TOO_MUCH, 4000: TOO_MUCH}


SOURCE = SourceFile(b"/share", b"a.zip", 1, 1, 1, 1, 1)
UNREAD = UnreadPart("a.csv", FailReason.OUT_OF_MEMORY)
SCREENED = FileResult(SOURCE, Outcome.SCREENED, unread=(UNREAD,))


@pytest.mark.parametrize(("n_begun", "expected"), [(1, False), (2, True)])
def test_parts_without_memory_are_tried_once_more_in_a_new_worker(
    monkeypatch: pytest.MonkeyPatch, n_begun: int, expected: bool
) -> None:
    monkeypatch.setattr(WorkerState, "n_begun", n_begun)
    assert lacked_memory(SCREENED) is expected
    assert lacked_memory(FileResult(SOURCE, Outcome.FAILED, reason=FailReason.OUT_OF_MEMORY))
    assert not lacked_memory(FileResult(SOURCE, Outcome.FAILED, reason=FailReason.CRASHED))
    by_ocr = replace(UNREAD, detail=OCR_NO_MEMORY)
    assert not lacked_memory(replace(SCREENED, unread=(by_ocr,)))


def test_memory_that_the_scan_or_ocr_lacked_is_not_tried_again() -> None:
    for detail in (OCR_NO_MEMORY, "no memory for a fetched file"):
        failed = FileResult(SOURCE, Outcome.FAILED, reason=FailReason.OUT_OF_MEMORY, detail=detail)
        assert not lacked_memory(failed)
