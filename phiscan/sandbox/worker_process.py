"""Code of the worker processes of the pool: limits, isolation, the fault boundary of each item."""

from __future__ import annotations

import os
import resource
import signal
import socket
import struct
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import forkserver, resource_tracker
from typing import Any, TypeVar

from phiscan.config import Limits
from phiscan.errors import ExtractError, kind_of
from phiscan.model import FailReason
from phiscan.sandbox import isolation as layers
from phiscan.sandbox.answers import Fault, Unusable, pack, pack_unusable
from phiscan.sandbox.isolation import close_all_but, fall_silent, limit_memory, lower_limit
from phiscan.sandbox.layers import privileges

T = TypeVar("T")
R = TypeVar("R")
# Exit status of a worker whose memory earlier items may have taken: the item is run again in a new worker.
EXIT_NO_MEMORY = 72
# What the kernel sends a process whose processor time is over; its default action ends the process, whatever
# library it is in. A busy machine makes no file time out.
OUT_OF_TIME = signal.SIGPROF
_MOST_TIMER_S = 1e8  # what a timer takes
EXIT_WORN = 74  # of a worker whose processor time is nearly used up: its items are run again in a new one
# Processor time of a worker, a hard limit that it cannot raise: an hour, or ten items of the longest time.
_LIFE_S, _LIFE_ITEMS = 3600, 10
_MIN_FILE_BYTES = 64 * 1024**2
REFUSAL = struct.Struct("<II")  # process, number of the system call


class WorkerState:
    """State of a worker process, set at its start."""

    unusable: Unusable | None = None
    processor_s = 0.0  # for each item
    life_s = 0  # of processor time, for all items
    memory_bytes = 0  # of address space beyond what the process had at its start
    n_begun = 0  # items
    missing: tuple[str, ...] = ()  # layers of isolation that could not be had


def start_worker(
    limits: Limits,
    folder: str,
    initializer: Callable[[], None] | None,
    is_isolated: bool,
    refusals: socket.socket,
    _function: Callable[[Any], Any],
) -> None:
    """Set the limits of a worker, start what it needs, and isolate it: before the first item.

    ``refusals``: a socket to the parent, for the number of a system call that ends this worker.
    """
    from phiscan.sandbox import pipes  # noqa: PLC0415 (loads pebble; the scanning process imports this module)

    close_all_but([*pipes.descriptors(), refusals.fileno()])
    # Closed, as all that the fork server had open.
    resource_tracker._resource_tracker._fd = None  # type: ignore[attr-defined]  # noqa: SLF001 (multiprocessing has no other way)
    forkserver._forkserver._forkserver_alive_fd = None  # type: ignore[attr-defined]  # noqa: SLF001 (multiprocessing has no other way)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    signal.signal(OUT_OF_TIME, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a full quota is an OSError, not a death
    privileges.die_with_parent(signal.SIGKILL)  # the fork server ends when the scan's process is gone
    WorkerState.processor_s = min(limits.time_s, _MOST_TIMER_S)
    WorkerState.memory_bytes, WorkerState.n_begun = limits.memory_bytes, 0
    scratch, found = folder, []
    if is_isolated:
        with suppress(OSError):  # somebody emptied the folder: the pool is started again
            scratch = tempfile.mkdtemp(prefix="worker-", dir=folder)
        found = layers.begin(scratch, limits.memory_bytes // 2)
    os.environ["TMPDIR"] = tempfile.tempdir = scratch
    lower_limit(resource.RLIMIT_CORE, 0)  # a core dump holds document text
    lower_limit(resource.RLIMIT_FSIZE, max(limits.file_bytes, _MIN_FILE_BYTES))
    WorkerState.life_s = max(_LIFE_S, int(_LIFE_ITEMS * WorkerState.processor_s))
    lower_limit(resource.RLIMIT_CPU, WorkerState.life_s)
    limit_memory(limits.memory_bytes)
    fall_silent()
    _initialize(initializer)
    if is_isolated:
        pid = os.getpid()
        found += layers.finish(
            scratch,
            has_memory=found[-1].is_on,
            report=lambda number: refusals.sendall(REFUSAL.pack(pid, number)),
        )
        WorkerState.missing = tuple(layers.missing(found))


def _initialize(initializer: Callable[[], None] | None) -> None:
    if initializer is None:
        return
    try:
        initializer()
    except Exception as error:  # noqa: BLE001 (a worker that dies here would be started for ever)
        # Only its kind: the process that scans loads the same, and says what is wrong with an installation.
        WorkerState.unusable = Unusable(kind_of(error))


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
    if WorkerState.n_begun and WorkerState.life_s - time.process_time() < 2 * WorkerState.processor_s:
        os._exit(EXIT_WORN)
    started = time.perf_counter()
    results = [_run_one(function, item) for item in chunk]
    return pack(function, time.perf_counter() - started, results, WorkerState.missing)


def _run_one(function: Callable[[T], R], item: T) -> R | Fault:
    signal.setitimer(signal.ITIMER_PROF, WorkerState.processor_s)
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
        return Fault(FailReason.CRASHED, kind_of(error))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
