"""Handle the signals that stop the program: SIGINT (Ctrl-C), SIGTERM, and SIGHUP (closed terminal).

From ``install`` on, each of them raises KeyboardInterrupt in the main thread, so that ``with`` and
``finally`` blocks run, and ``phiscan.cli`` ends with exit status 4 and one line. There are three exceptions.
Imports are not interrupted by an exception, because libraries catch it: the process exits instead. A block
that must be completed defers the signals. After the last output the process ends with the exit status that it
has anyway.

This module is imported before all others of the program, so it imports nothing slow.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Final

EXIT_USAGE: Final = 2
EXIT_STOPPED: Final = 4
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LINE: Final = "phiscan: stopped"
_AGAIN_S: Final = 0.01  # delay before an interrupt is raised again that no exception could report


class _State:
    """The state of signal handling; one per process."""

    n_importing = 0
    n_deferring = 0
    n_interrupts = 0  # number of SIGINT received
    is_asked = False  # a signal was received
    is_deferred = False  # a signal was received in a block that defers it
    is_reported = False  # the stop was reported to the user
    as_json = False
    status: int | None = None  # exit status after all work is done


def install() -> None:
    """Install the signal handlers; a signal that was ignored at the start (nohup) remains ignored."""
    for number in SIGNALS:
        if number is signal.SIGTERM or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _on_signal)
    signal.signal(signal.SIGALRM, _on_signal)
    sys.unraisablehook = _on_unraisable
    sys.excepthook = _on_uncaught


def say_as_json() -> None:
    """Report an immediate exit as JSON, like the other messages."""
    _State.as_json = True


def mark_reported() -> None:
    """Note that the stop was reported, so that an immediate exit prints nothing more."""
    _State.is_reported = True


@contextmanager
def importing() -> Iterator[None]:
    """Exit immediately if a signal arrives in this block; there is nothing to save yet.

    The garbage collector is off meanwhile, which saves a seventh of the import time.
    """
    _State.n_importing += 1
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        _State.n_importing -= 1
        if collects:
            gc.enable()


@contextmanager
def deferred() -> Iterator[None]:
    """Complete this block before a signal is handled; a second Ctrl-C exits nevertheless.

    A deferred signal is raised after the block, unless an exception leaves the block.
    """
    _State.n_deferring += 1
    try:
        yield
    finally:
        _State.n_deferring -= 1
    if _State.is_deferred and not _State.n_deferring:
        _State.is_deferred = False
        raise KeyboardInterrupt


@contextmanager
def as_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt if a signal arrived and the block ends with a RuntimeError.

    The standard library converts an interrupt inside one of its locks to that error.
    """
    try:
        yield
    except RuntimeError:
        if _State.is_asked:
            raise KeyboardInterrupt from None
        raise


def finish(status: int) -> None:
    """Exit with this status if a signal arrives from now on: all work is done and written."""
    _State.status = status


def end_within(seconds: float, status: int) -> None:
    """Exit with this status after ``seconds`` even if a thread hangs: all results are written.

    A second signal may break the cleaning up after the first one in the middle, with a lock that is never
    given back. The processes that were started end with this one.
    """
    timer = threading.Timer(seconds, os._exit, (status,))
    timer.daemon = True
    timer.start()


def _on_signal(number: int, _frame: FrameType | None) -> None:
    _State.n_interrupts += number == signal.SIGINT
    _State.is_asked = True
    if _State.status is not None:
        os._exit(_State.status)
    if _State.n_importing or (_State.n_deferring and _State.n_interrupts > 1):
        _end()
    if _State.n_deferring:
        _State.is_deferred = True
        return
    raise KeyboardInterrupt


def _end() -> None:
    """Exit immediately with one line, without Python's streams, which may be in the middle of a write."""
    if not _State.is_reported:
        line = f'{{"event": "{LINE}", "level": "error"}}' if _State.as_json else LINE
        with suppress(OSError):  # standard error is closed
            os.write(2, f"{line}\n".encode())
    os._exit(EXIT_STOPPED)


def _on_unraisable(what: sys.UnraisableHookArgs) -> None:
    """Raise an interrupt again that Python could not propagate, such as in a destructor."""
    if issubclass(what.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
    else:
        sys.__unraisablehook__(what)


def _on_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Exit without a traceback at an uncaught interrupt: a second signal while the first was handled."""
    if issubclass(kind, KeyboardInterrupt):
        _end()
    sys.__excepthook__(kind, error, trace)
