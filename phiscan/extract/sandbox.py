"""Worker processes in which a crash, a hang or an exhausted memory costs exactly one item.

pebble's pool replaces a worker that dies or hangs. Small items go to it in batches, because a round
through the pool costs far more than an empty task; a batch that fails is run again item by item, so
that only the guilty item is lost. Functions must therefore be safe to run twice.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import pebble
from pebble.common.types import CONSTS

from phiscan.config import Limits
from phiscan.errors import ExtractError, PhiscanError
from phiscan.extract.confinement import confine
from phiscan.extract.workspace import make_folder, remove_folder
from phiscan.model import FailReason

T = TypeVar("T")
R = TypeVar("R")

BATCHES_PER_WORKER = 8  # in flight
MAX_BATCH = 64
BATCH_S = 0.05  # the work that one batch should hold
HASTY_S = 5.0  # a batch of quick items that takes this long is run again item by item
TASKS_PER_WORKER = 5_000  # batches until a worker is replaced: libraries leak
_PRELOAD = ("phiscan.extract.sandbox", "phiscan.extract", "lxml.etree", "selectolax.lexbor")
_OUT_OF_MEMORY = "out of memory"


@dataclass(frozen=True, slots=True)
class Fault:
    """An item that its worker did not survive, or could not read."""

    reason: FailReason
    detail: str = ""


# The pool broke, and every item that was with it: whose fault it was shows when each is run again.
_BROKEN = Fault(FailReason.CRASHED, "worker died")


@dataclass(frozen=True, slots=True)
class _Unusable:
    """The worker's initializer failed; nothing can be run."""

    message: str


@dataclass(slots=True)
class _Slot(Generic[T]):
    """Items in input order, with the pool's promise for all of them."""

    items: list[T]
    future: Future[Any]


class _Worker:
    """What a worker process remembers of its start."""

    unusable: _Unusable | None = None


class Sandbox:
    """A pool of confined worker processes.

    ``initializer(*initargs)`` runs once in every worker; an error there is raised in the parent by
    ``run``.
    """

    def __init__(
        self,
        n_workers: int,
        limits: Limits,
        initializer: Callable[..., None] | None = None,
        initargs: Sequence[Any] = (),
        *,
        preload: Sequence[str] = (),
    ) -> None:
        self.n_workers = n_workers
        self.limits = limits
        self.initializer = initializer
        self.initargs = tuple(initargs)
        self.preload = tuple(preload)
        self._pool: Any = None
        self._folder: Path | None = None

    def __enter__(self) -> Self:
        """Start the workers."""
        CONSTS.term_timeout = 0.1  # a hang that holds the GIL never answers SIGTERM
        CONSTS.sleep_unit = 0.02
        self._folder = make_folder()
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the workers, whatever they are doing, and remove their temporary folder."""
        self._stop()
        if self._folder is not None:
            remove_folder(self._folder)

    def run(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[tuple[T, R | Fault]]:
        """Yield ``(item, result)`` in input order; ``items`` is consumed no faster than it is worked on.

        Raises:
            PhiscanError: the workers' initializer failed, or they die without any work.
        """
        source = iter(items)
        slots: deque[_Slot[T]] = deque()
        batch = _BatchSize()
        exhausted = False
        while True:
            while not exhausted and len(slots) < BATCHES_PER_WORKER * self.n_workers:
                chunk = list(islice(source, batch.size))
                exhausted = len(chunk) < batch.size
                if chunk:
                    slots.append(_Slot(chunk, self._submit(function, chunk)))
            if not slots:
                return
            slot = slots.popleft()
            answer = self._wait(slot.future)
            if isinstance(answer, Fault):
                yield from self._one_by_one(function, slot.items, answer)
            else:
                seconds, results = answer
                batch.learn(seconds, len(results))
                yield from zip(slot.items, results, strict=True)

    def _one_by_one(
        self, function: Callable[[T], R], items: list[T], fault: Fault
    ) -> Iterator[tuple[T, R | Fault]]:
        if len(items) == 1 and fault is not _BROKEN:
            yield items[0], fault
            return
        for item in items:
            answer = self._wait(self._submit(function, [item]))
            yield item, answer if isinstance(answer, Fault) else answer[1][0]

    def _submit(self, function: Callable[[T], R], chunk: list[T]) -> Future[Any]:
        seconds = self.limits.time_s
        if len(chunk) > 1:
            seconds = min(seconds, HASTY_S)
        try:
            future: Future[Any] = self._pool.schedule(_run_chunk, args=(function, chunk), timeout=seconds)
        except (RuntimeError, BrokenProcessPool):
            self._restart()
            future = self._pool.schedule(_run_chunk, args=(function, chunk), timeout=seconds)
        return future

    def _wait(self, future: Future[Any]) -> Any:
        """Return ``(seconds, results)``, or the fault that the whole chunk met."""
        try:
            answer = future.result()
        except FutureTimeoutError:
            return Fault(FailReason.TIMED_OUT, f"more than {self.limits.time_s} s")
        except pebble.ProcessExpired as error:
            return _death(error.exitcode)
        except (BrokenProcessPool, CancelledError):
            # Every promise of a broken pool fails: only the first of them may start the next pool.
            if not self._pool.active:
                self._restart()
            return _BROKEN
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            return Fault(FailReason.CRASHED, type(error).__name__)
        if isinstance(answer, _Unusable):
            raise PhiscanError(answer.message)
        return answer

    def _start(self) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([*_PRELOAD, *self.preload])
        self._pool = pebble.ProcessPool(
            max_workers=self.n_workers,
            max_tasks=TASKS_PER_WORKER,
            initializer=_start_worker,
            initargs=(self.limits, str(self._folder), self.initializer, self.initargs),
            context=context,
        )

    def _restart(self) -> None:
        self._stop()
        self._start()

    def _stop(self) -> None:
        if self._pool is not None:
            self._pool.stop()
            self._pool.join()
            self._pool = None


class _BatchSize:
    """How many items make one batch: as many as take ``BATCH_S`` together."""

    def __init__(self) -> None:
        self.size = 1
        self._seconds_per_item = BATCH_S

    def learn(self, seconds: float, n_items: int) -> None:
        self._seconds_per_item = 0.8 * self._seconds_per_item + 0.2 * seconds / n_items
        wanted = int(BATCH_S / max(self._seconds_per_item, 1e-6))
        self.size = max(1, min(wanted, 2 * self.size, MAX_BATCH))


def _start_worker(
    limits: Limits, folder: str, initializer: Callable[..., None] | None, initargs: tuple[Any, ...]
) -> None:
    confine(memory_bytes=limits.memory_bytes, file_bytes=limits.file_bytes, temp_folder=folder)
    if initializer is None:
        return
    try:
        initializer(*initargs)
    except PhiscanError as error:
        _Worker.unusable = _Unusable(str(error))
    except Exception as error:  # noqa: BLE001 (said in the parent; a worker that dies here would be started for ever)
        _Worker.unusable = _Unusable(f"a worker cannot start: {type(error).__name__}")


def _run_chunk(function: Callable[[T], R], chunk: list[T]) -> tuple[float, list[R | Fault]] | _Unusable:
    """Run in the worker; no exception leaves it, because its message could quote a document."""
    if _Worker.unusable is not None:
        return _Worker.unusable
    started = time.perf_counter()
    results = [_run_one(function, item) for item in chunk]
    return time.perf_counter() - started, results


def _run_one(function: Callable[[T], R], item: T) -> R | Fault:
    try:
        return function(item)
    except ExtractError as error:
        return Fault(FailReason(error.reason), error.detail)
    except MemoryError:
        return Fault(FailReason.OUT_OF_MEMORY, _OUT_OF_MEMORY)
    except BaseException as error:  # noqa: BLE001 (the fault boundary of one item; a panic in Rust is no Exception)
        return Fault(FailReason.CRASHED, type(error).__name__)


def _death(exitcode: int | None) -> Fault:
    """Name the death of a worker; a SIGKILL that is not ours is the kernel's, out of memory."""
    code = exitcode or 0
    if code == -signal.SIGKILL:
        return Fault(FailReason.OUT_OF_MEMORY, "killed by the system")
    if code < 0:
        return Fault(FailReason.CRASHED, signal.Signals(-code).name)
    return Fault(FailReason.CRASHED, f"exit status {code}")
