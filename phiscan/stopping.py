"""Signals that stop the program: SIGINT (Ctrl-C), SIGTERM, and SIGHUP (the terminal was closed).

From ``install`` on, each of them raises KeyboardInterrupt in the main thread, so that ``with`` and
``finally`` blocks run, and ``phiscan.cli`` ends with exit status 4 and one line. There are three exceptions.
Imports are not interrupted by an exception, because libraries catch it: the process ends there. A block that
must be completed defers the signals. After the last output the process ends with the exit status that it has
anyway.

This module is imported before all others of the program: it imports nothing that takes time.
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

EXIT_STOPPED: Final = 4
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LINE: Final = "phiscan: stopped"
_AGAIN_S: Final = 0.01  # until an interrupt is raised again that was raised where no exception can leave


class _State:
    """What a signal does now; one per process."""

    n_importing = 0
    n_deferring = 0
    n_interrupts = 0  # SIGINT that arrived
    is_asked = False  # any signal arrived
    is_deferred = False  # a signal arrived in a block that defers it
    is_said = False  # the user was told that the program stops
    as_json = False
    status: int | None = None  # of a program that has done everything


def install() -> None:
    """Let the signals stop this program; a signal that was ignored when it started (nohup) stays ignored."""
    for number in SIGNALS:
        if number is signal.SIGTERM or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _on_signal)
    signal.signal(signal.SIGALRM, _on_signal)
    sys.unraisablehook = _on_unraisable
    sys.excepthook = _on_uncaught


def say_as_json() -> None:
    """Write the line of a process that ends at once as JSON, as the other messages."""
    _State.as_json = True


def mark_reported() -> None:
    """Note that the user was told: a process that ends at once now says nothing more."""
    _State.is_said = True


@contextmanager
def importing() -> Iterator[None]:
    """End the process at once if a signal arrives meanwhile; there is nothing to save yet.

    Nothing that is imported becomes garbage: the collector, a seventh of the time, is off meanwhile.
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
    """Complete this block before a signal is answered; the second Ctrl-C ends the process all the same.

    A signal that arrived meanwhile is raised after the block, unless an exception leaves it.
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
    """Raise KeyboardInterrupt where a signal arrived and the block ends with a RuntimeError.

    An interrupt that is raised within a lock of the standard library leaves it as that error.
    """
    try:
        yield
    except RuntimeError:
        if _State.is_asked:
            raise KeyboardInterrupt from None
        raise


def finish(status: int) -> None:
    """End with this status if a signal arrives from now on: everything is done and written."""
    _State.status = status


def end_within(seconds: float, status: int) -> None:
    """End with this status after so many seconds, whatever still hangs: all that counts is written.

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
    """End the process at once, with one line; the streams of Python may be in the middle of a write."""
    if not _State.is_said:
        line = f'{{"event": "{LINE}", "level": "error"}}' if _State.as_json else LINE
        with suppress(OSError):  # nobody listens
            os.write(2, f"{line}\n".encode())
    os._exit(EXIT_STOPPED)


def _on_unraisable(what: sys.UnraisableHookArgs) -> None:
    """Raise an interrupt again that was raised where Python cannot pass it on, such as in a destructor."""
    if issubclass(what.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
    else:
        sys.__unraisablehook__(what)


def _on_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """End quietly at an interrupt that nobody caught: a further signal while the first was answered."""
    if issubclass(kind, KeyboardInterrupt):
        _end()
    sys.__excepthook__(kind, error, trace)
