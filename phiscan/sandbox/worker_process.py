"""Code of the worker processes of the pool: limits, isolation, the fault boundary of each item."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from phiscan.config import Limits
from phiscan.errors import ExtractError, PhiscanError
from phiscan.model import FailReason
from phiscan.sandbox import isolation as layers
from phiscan.sandbox.answers import Fault, Unusable, pack, pack_unusable
from phiscan.sandbox.confinement import confine
from phiscan.sandbox.isolation import Isolation

T = TypeVar("T")
R = TypeVar("R")
# Exit status of a worker whose memory earlier items may have taken: the item is run again in a new worker.
EXIT_NO_MEMORY = 72
# What the kernel sends a process whose processor time is over; its default action ends the process, whatever
# library it is in. A busy machine makes no file time out.
OUT_OF_TIME = signal.SIGPROF
_MOST_TIMER_S = 1e8  # what a timer takes


class WorkerState:
    """State of a worker process, set at its start."""

    unusable: Unusable | None = None
    processor_s = 0.0  # for each item
    memory_bytes = 0  # of address space beyond what the process had at its start
    n_begun = 0  # items
    missing: tuple[str, ...] = ()  # layers of isolation that could not be had


def start_worker(
    limits: Limits,
    folder: str,
    initializer: Callable[..., None] | None,
    initargs: tuple[Any, ...],
    isolation: Isolation | None,
    _function: Callable[[Any], Any],
) -> None:
    """Set the limits of a worker, start what it needs, and isolate it: before the first item."""
    WorkerState.processor_s = min(limits.time_s, _MOST_TIMER_S)
    WorkerState.memory_bytes, WorkerState.n_begun = limits.memory_bytes, 0
    signal.signal(OUT_OF_TIME, signal.SIG_DFL)
    scratch, found = folder, []
    if isolation is not None:
        with suppress(OSError):  # somebody emptied the folder: the pool is started again
            scratch = tempfile.mkdtemp(prefix="worker-", dir=folder)
        found = layers.begin(scratch)
    confine(
        memory_bytes=limits.memory_bytes,
        file_bytes=limits.file_bytes,
        temp_folder=scratch,
        has_network=not (found and "network" in found[0].detail),
    )
    _initialize(initializer, initargs)
    if isolation is not None:
        found += layers.finish(isolation, scratch)
        WorkerState.missing = tuple(layers.missing(found))


def _initialize(initializer: Callable[..., None] | None, initargs: tuple[Any, ...]) -> None:
    if initializer is None:
        return
    try:
        initializer(*initargs)
    except PhiscanError as error:
        WorkerState.unusable = Unusable(str(error))
    except Exception as error:  # noqa: BLE001 (said in the parent; a worker that dies here would be started for ever)
        WorkerState.unusable = Unusable(f"a worker cannot start: {type(error).__name__}")


def is_first_item() -> bool:
    """Tell whether this worker has run no item before the present one: all its memory is for this one."""
    return WorkerState.n_begun <= 1


def too_little_memory(memory_bytes: int) -> str:
    """Return what is recorded of a file that its worker has too little memory for.

    >>> too_little_memory(2 * 1024**3)
    'needs more memory than 2048 MB'
    """
    return f"needs more memory than {memory_bytes // 1024**2} MB"


def run_chunk(function: Callable[[T], R], chunk: list[T]) -> bytes:
    """Run in the worker and return the answer; no exception leaves it: its message could quote a document."""
    if WorkerState.unusable is not None:
        return pack_unusable(WorkerState.unusable)
    started = time.perf_counter()
    results = [_run_one(function, item) for item in chunk]
    return pack(function, time.perf_counter() - started, results, WorkerState.missing)


def _run_one(function: Callable[[T], R], item: T) -> R | Fault:
    signal.setitimer(signal.ITIMER_PROF, WorkerState.processor_s)
    layers.allow_processor(WorkerState.processor_s)
    WorkerState.n_begun += 1
    try:
        return function(item)
    except ExtractError as error:
        return Fault(FailReason(error.reason), error.detail)
    except MemoryError:
        if not is_first_item():
            os._exit(EXIT_NO_MEMORY)
        return Fault(FailReason.OUT_OF_MEMORY, too_little_memory(WorkerState.memory_bytes))
    except BaseException as error:  # noqa: BLE001 (the fault boundary of one item; a panic in Rust is no Exception)
        return Fault(FailReason.CRASHED, type(error).__name__)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
