"""Worker processes in which a crash, a hang or an exhausted memory costs exactly one item.

pebble's pool replaces a worker that dies or hangs. Small items go to it in batches, because a round
through the pool costs far more than an empty task; a batch that fails is run again item by item, so
that only the item that caused it is lost. Functions must therefore be safe to run twice.
"""

from __future__ import annotations

import signal
import socket
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from concurrent.futures import TimeoutError as FutureTimeoutError
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

from phiscan.config import Limits
from phiscan.errors import PhiscanError
from phiscan.model import FailReason
from phiscan.sandbox import fork_server
from phiscan.sandbox.answers import Fault, Unusable, unpack
from phiscan.sandbox.isolation import EXIT_REFUSED
from phiscan.sandbox.scratch_folder import make_folder, remove_folder
from phiscan.sandbox.worker_process import (
    EXIT_NO_MEMORY,
    EXIT_WORN,
    OUT_OF_TIME,
    REFUSAL,
    run_chunk,
    start_worker,
    too_little_memory,
)
from phiscan.stopping import deferred

T = TypeVar("T")
R = TypeVar("R")

BATCHES_PER_WORKER = 8  # in flight
MOST_AHEAD = 5_000  # items answered before an older one: bounds what the caller keeps
LOOK_S = 1.0  # how often a wait looks whether the workers are still there
STALL_S = 120.0  # beyond what all items in flight may take: no worker has them any more
WALL_FACTOR = (
    10.0  # the limit of processor time becomes one of wall clock for what hangs and computes nothing
)
HASTY_S = 5.0  # a batch of quick items that takes this long is run again item by item
GROUP_FACTOR = 2  # limits of memory for each worker, in the limit of all together
MOST_FULL = 2  # workers without memory that one item may come to, until all are started again
MOST_STARTS = 5  # of the pool for one batch, until it is given up
MAX_BATCH = 64
MOST_CALLS = 1_000  # reported calls of workers whose death was not asked about yet
BATCH_S = 0.05  # the work that one batch should hold
TASKS_PER_WORKER = 5_000  # batches until a worker is replaced: libraries leak
_PRELOAD = (
    "phiscan.sandbox.pool",
    "phiscan.sandbox.worker_process",
    "phiscan.extract.reading",
    "pebble",
    "lxml.etree",
    "selectolax.lexbor",
)


class Pause(Enum):
    """What the items of a run yield instead of an item: answer some that you have, then ask again."""

    PAUSE = "pause"


PAUSE: Final = Pause.PAUSE


@dataclass(frozen=True, slots=True)
class _Death:
    """A worker that died over its items; which one caused it shows when each is run again, alone."""

    fault: Fault
    is_full: bool = False  # of memory, which earlier items may have taken


_BROKEN = _Death(Fault(FailReason.CRASHED, "worker died"))
_WORN = _Death(Fault(FailReason.CRASHED, "worker replaced"))  # by no fault of its items


@dataclass(slots=True, eq=False)
class _Slot(Generic[T]):
    """Items in input order, with the one future of all their results."""

    items: list[T]
    future: Future[Any]


class _BatchSize:
    """How many items one worker is given at a time: as many as take ``BATCH_S`` together."""

    def __init__(self) -> None:
        self.size = 1
        self._seconds_per_item = BATCH_S

    def learn(self, seconds: float, n_items: int) -> None:
        """Take account of one batch; the size at most doubles."""
        self._seconds_per_item = 0.8 * self._seconds_per_item + 0.2 * seconds / n_items
        wanted = int(BATCH_S / max(self._seconds_per_item, 1e-6))
        self.size = max(1, min(wanted, 2 * self.size, MAX_BATCH))


class Sandbox:
    """A pool of confined worker processes.

    ``initializer(*initargs)`` runs once in every worker; ``run`` raises in the parent what it raises.
    """

    def __init__(
        self,
        n_workers: int,
        limits: Limits,
        initializer: Callable[..., None] | None = None,
        initargs: Sequence[Any] = (),
        *,
        preload: Sequence[str] = (),
        is_isolated: bool = True,
    ) -> None:
        self.is_isolated = is_isolated  # False: limits alone, and the descriptors and variables of workers
        self.missing: tuple[str, ...] | None = None  # layers that the workers lack; None = not known yet
        self.n_workers = n_workers
        self.limits = limits
        self.initializer = None if initializer is None else partial(initializer, *initargs)
        self.preload = tuple(preload)
        self.largest_batch = MAX_BATCH  # items given to one worker at a time
        self.in_order = True  # False: what is answered first comes first
        self.wall_s = WALL_FACTOR * limits.time_s  # wall clock of one item
        self._pool: Any = None
        self._refusals: tuple[socket.socket, ...] = ()  # a message for each system call that ended a worker
        self._calls: dict[int, int] = {}  # process -> number of the call that it reported
        self._function: Callable[[Any], Any] | None = None
        self._folder: Path | None = None
        self._owns_server = False
        self._server: int | None = None  # the process that forked the workers of this pool
        self._pending: set[Future[Any]] = set()
        self._doubted: set[Future[Any]] = set()  # answers of a pool that broke, not looked at before it did

    def __enter__(self) -> Self:
        """Be ready: the workers are started when the first item comes."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the workers, whatever they are doing, and remove their temporary folder."""
        self._stop()
        if self._owns_server:
            fork_server.stop()  # its socket lies in the folder
        if self._folder is not None:
            remove_folder(self._folder)
        for end in self._refusals:
            end.close()

    def run(self, function: Callable[[T], R], items: Iterable[T | Pause]) -> Iterator[tuple[T, R | Fault]]:
        """Yield ``(item, result)``; ``items`` is consumed no faster than it is worked on.

        In input order, or with ``in_order`` False as they are answered, so that one slow item holds up only
        its own worker. ``items`` may yield ``PAUSE`` while some of its items are not answered.

        Raises:
            PhiscanError: the workers' initializer failed, or no worker process can be started.
        """
        source = iter(items)
        slots: deque[_Slot[T]] = deque()
        batch = _BatchSize()
        exhausted = False
        n_ahead = 0
        while True:
            paused = False
            while not exhausted and not paused and len(slots) < BATCHES_PER_WORKER * self.n_workers:
                size = min(batch.size, self.largest_batch)
                chunk, paused = _take(source, size)
                exhausted = len(chunk) < size and not paused
                if chunk:
                    slots.append(_Slot(chunk, self._submit(function, chunk)))
            if not slots:
                return
            oldest = slots[0]
            slot = slots.popleft() if self.in_order or n_ahead >= MOST_AHEAD else self._answered(slots)
            n_ahead = 0 if slot is oldest else n_ahead + len(slot.items)
            answer = self._wait(slot.future, function, len(slot.items))
            if isinstance(answer, Fault) and len(slot.items) > 1:
                slots.extendleft(self._alone(function, slot.items))
            elif isinstance(answer, Fault | _Death):
                yield from self._one_by_one(function, slot.items, answer)
            else:
                seconds, results, self.missing = answer
                batch.learn(seconds, len(results))
                yield from zip(slot.items, results, strict=True)

    def _answered(self, slots: deque[_Slot[T]]) -> _Slot[T]:
        """Remove and return the oldest slot that is answered; the oldest of all if none will ever be."""
        deadline = time.monotonic() + self._stall_s()
        while not (done := next((slot for slot in slots if slot.future.done()), None)):
            waited = wait([slot.future for slot in slots], timeout=LOOK_S, return_when=FIRST_COMPLETED)
            if not waited.done and (not self._is_alive() or time.monotonic() > deadline):
                return slots.popleft()
        slots.remove(done)
        return done

    def _alone(self, function: Callable[[T], R], items: list[T]) -> list[_Slot[T]]:
        """Submit the items of a batch that took too long each by itself; return their slots, last first."""
        return [_Slot([item], self._submit(function, [item])) for item in items][::-1]

    def _one_by_one(
        self, function: Callable[[T], R], items: list[T], first: Fault | _Death
    ) -> Iterator[tuple[T, R | Fault]]:
        """Run the items of a lost batch alone and yield their results, in order.

        An item fails when its worker dies twice while it runs alone: a worker may be killed from outside,
        or the system may be short of memory for a moment.
        """
        alone = len(items) == 1
        if isinstance(first, Fault):
            yield items[0], first
            return
        for item in items:
            yield item, self._alone_result(function, item, [first] if alone and first is not _WORN else [])

    def _alone_result(self, function: Callable[[T], R], item: T, deaths: list[_Death]) -> R | Fault:
        """Run one item alone until it has a result, or two workers died; ``deaths``: of its workers so far.

        A worker that is out of memory may be so by its earlier items. It is replaced, and when the item comes
        to such a worker a second time, all are: the third run is the first one of its worker.
        """
        while True:
            if sum(death.is_full for death in deaths) == MOST_FULL:
                self._restart()
            answer = self._wait(self._submit(function, [item]), function, 1)
            if answer is _WORN:
                continue
            if not isinstance(answer, _Death):
                result: R | Fault = answer if isinstance(answer, Fault) else answer[1][0]
                return result
            deaths.append(answer)
            if len(deaths) > MOST_FULL or not (answer.is_full or len(deaths) == 1):
                return answer.fault

    def _submit(self, function: Callable[[T], R], chunk: list[T]) -> Future[Any]:
        seconds = min(self.wall_s, HASTY_S) if len(chunk) > 1 else self.wall_s
        if self._pool is None:
            self._start(function)
        for _ in range(MOST_STARTS):
            try:
                return self._schedule(function, chunk, seconds)
            except (RuntimeError, OSError) as error:  # among them a broken pool
                kind = type(error).__name__
            self._restart()  # a fork server that was killed may break the next pool as well
        raise PhiscanError(self._folder, f"no worker process can be started: {kind}")

    def _schedule(self, function: Callable[[T], R], chunk: list[T], seconds: float) -> Future[Any]:
        future: Future[Any] = self._pool.schedule(run_chunk, args=(function, chunk), timeout=seconds)
        self._pending.add(future)
        return future

    def _wait(self, future: Future[Any], function: Callable[..., Any], n_items: int) -> Any:
        """Return ``(seconds, results, missing layers)``, or what the whole chunk met: a fault or a death."""
        import pebble  # noqa: PLC0415 (see _start)

        from phiscan.sandbox.pipes import LostAnswerError  # noqa: PLC0415 (the same)

        self._await(future)
        is_doubted = future in self._doubted
        self._doubted.discard(future)
        try:
            answer = future.result()
        except FutureTimeoutError:
            return Fault(FailReason.TIMED_OUT, f"no answer within {self.wall_s:g} s")
        except pebble.ProcessExpired as error:
            return self._expired(error.exitcode, error.pid)
        except (BrokenProcessPool, CancelledError):
            # Every future of a broken pool fails: only the first of them may start the next pool.
            if not self._is_alive():
                self._restart()
            return _BROKEN
        except LostAnswerError:
            return Fault(FailReason.CRASHED, "no answer")
        if not self._is_alive():  # without its folder, a reader may have failed for no fault of the file
            self._restart()
            return _BROKEN
        return _BROKEN if is_doubted else self._read(answer, function, n_items)

    def _expired(self, code: int | None, process: int | None) -> Fault | _Death:
        """Return what a worker died of that ended with this status over its items."""
        if not self._is_alive():
            self._restart()
        if code == EXIT_WORN:
            return _WORN
        call = self._refused_call(process) if code == EXIT_REFUSED else None
        fault = _death(code, self.limits, call)
        return fault if fault.reason is FailReason.TIMED_OUT else _Death(fault, code == EXIT_NO_MEMORY)

    def _refused_call(self, process: int | None) -> int | None:
        """Return the number of the system call that ended a worker, as it said last; None = it did not."""
        with suppress(OSError):
            while message := self._refusals[0].recv(REFUSAL.size):
                pid, number = REFUSAL.unpack(message.ljust(REFUSAL.size, b"\0"))
                if len(self._calls) < MOST_CALLS:  # another worker's death may be asked about later
                    self._calls[pid] = number
        return self._calls.pop(process, None) if process else None

    def _read(self, data: bytes, function: Callable[..., Any], n_items: int) -> Any:
        """Return what a worker answered; where that is no answer, all workers are replaced."""
        try:
            answer = unpack(function, data, n_items)
        except ValueError:
            self._restart()
            return _Death(Fault(FailReason.CRASHED, "not an answer of a worker"))
        if isinstance(answer, Unusable):
            message = f"a worker cannot start: {answer.kind}"
            raise PhiscanError(message)
        return answer

    def _await(self, future: Future[Any]) -> None:
        """Wait until the future is done, or the pool was replaced because it never would be."""
        deadline = time.monotonic() + self._stall_s()
        while not future.done():
            # A pool that breaks forgets what it had not begun: those futures are never done.
            if not wait([future], timeout=LOOK_S).done and (
                not self._is_alive() or time.monotonic() > deadline
            ):
                self._restart()
        self._pending.discard(future)

    def _stall_s(self) -> float:
        return STALL_S + (BATCHES_PER_WORKER + 1) * self.wall_s

    def _is_alive(self) -> bool:
        """Tell whether the pool works and its folder for temporary files still exists.

        A pool whose fork server died does not work, even if its workers were replaced: they died with it,
        and one of them may have held the lock for which the new ones wait.
        """
        has_server = fork_server.is_reachable() and fork_server.running() == self._server
        return bool(self._folder and self._folder.is_dir() and has_server and self._pool.active)

    def _start(self, function: Callable[[Any], Any] | None = None) -> None:
        self._function = function or self._function
        try:
            if self._folder is None or not self._folder.is_dir():
                self._folder = make_folder(passable=True)
            if fork_server.start(self._folder, [*_PRELOAD, *self.preload]):
                self._owns_server = True
                fork_server.limit_memory(GROUP_FACTOR * self.n_workers * self.limits.memory_bytes)
            self._server = fork_server.running()
        except OSError as error:
            raise PhiscanError(
                tempfile.gettempdir(), f"the worker processes cannot be started: {error.strerror}"
            ) from None
        # A run without items needs no pool, and a scan in which nothing changed is one.
        with deferred():  # an interrupt within an import may become another exception
            import pebble  # noqa: PLC0415
            from pebble.common.types import CONSTS  # noqa: PLC0415

            from phiscan.sandbox.pipes import PoolContext  # noqa: PLC0415
        if not self._refusals:
            self._refusals = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            for end, way in zip(self._refusals, (socket.SHUT_WR, socket.SHUT_RD), strict=True):
                end.shutdown(way)
                end.setblocking(False)  # a worker that floods it gains nothing
        # With the function its module is loaded, which an isolated worker may not be able to read.
        run = (self.is_isolated, self._refusals[1], self._function)
        arguments = (self.limits, str(self._folder), self.initializer, *run)
        CONSTS.term_timeout = 0.1  # a hang that holds the GIL never answers SIGTERM
        CONSTS.sleep_unit = 0.02
        self._pool = pebble.ProcessPool(
            max_workers=self.n_workers,
            max_tasks=TASKS_PER_WORKER,
            initializer=start_worker,
            initargs=arguments,
            context=PoolContext(),
        )

    def _restart(self) -> None:
        self._doubted |= self._pending  # the folder may have been gone when they were answered
        self._stop()
        self._start()

    def _stop(self) -> None:
        if self._pool is not None:
            self._pool.stop()
            self._pool.join()
            self._pool = None
        for future in self._pending:
            future.cancel()  # no pool is left to complete it
        self._pending.clear()


def _take(source: Iterator[T | Pause], n_items: int) -> tuple[list[T], bool]:
    """Return the next items, at most so many, and whether a pause ended them."""
    chunk: list[T] = []
    for item in source:
        if isinstance(item, Pause):
            return chunk, True
        chunk.append(item)
        if len(chunk) == n_items:
            break
    return chunk, False


def _death(exitcode: int | None, limits: Limits, call: int | None = None) -> Fault:
    """Name the death of a worker; a SIGKILL that is not ours is the kernel's, out of memory."""
    code = exitcode or 0
    if code in {-OUT_OF_TIME, -signal.SIGXCPU}:
        return Fault(FailReason.TIMED_OUT, f"more than {limits.time_s:g} s of processor time")
    if code == EXIT_NO_MEMORY:
        return Fault(FailReason.OUT_OF_MEMORY, too_little_memory(limits.memory_bytes))
    if code in {EXIT_REFUSED, -signal.SIGSYS}:
        number = "" if call is None else f" {call}"
        return Fault(FailReason.CRASHED, f"system call{number} that readers do not make")
    if code == -signal.SIGKILL:
        return Fault(FailReason.OUT_OF_MEMORY, "killed by the system")
    if code < 0:
        return Fault(FailReason.CRASHED, signal.Signals(-code).name)
    return Fault(FailReason.CRASHED, f"exit status {code}")
