"""Trying again: growing pauses with jitter, and no long waits on a server that is known to be gone."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from phiscan.crawl.settings import ShareSettings
from phiscan.crawl.share_errors import UnansweredError

T = TypeVar("T")

LONGEST_PAUSE_S = 30.0
PROBE_S = 15.0  # how often a server that went away is asked whether it is back


class RetryPolicy:
    """Runs what may fail for a moment; shared by everything that talks to one server.

    When one action has used up its attempts because the server cannot be reached, the others stop waiting
    too: a share of a million files must not take a million times the pauses to be found gone. From then on
    one action every ``PROBE_S`` seconds tries, once; its success ends the state.
    """

    def __init__(self, settings: ShareSettings) -> None:
        self._attempts = settings.attempts
        self._retry_s = settings.retry_s
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._gone = False
        self._next_probe = 0.0

    @property
    def is_gone(self) -> bool:
        """Whether the server is known not to answer."""
        return self._gone

    def stop(self) -> None:
        """End all pauses, and try nothing again: nobody waits for an answer any more."""
        self._stopped.set()

    def run(self, action: Callable[[], T]) -> T:
        """Return what the action returns, tried as often as settings say.

        Raises:
            UnansweredError: the last one of the action, or at once when the server is gone.
            RefusedError: of the action, which is not tried again.
        """
        attempts = self._allowed()
        for attempt in range(1, attempts + 1):
            try:
                result = action()
            except UnansweredError as error:
                if attempt >= attempts or (self._gone and error.is_gone) or self._stopped.is_set():
                    if error.is_gone:
                        self._give_up()
                    raise
                self._stopped.wait(self._pause(attempt))
            else:
                self._gone = False
                return result
        message = "the server did not answer before"
        raise UnansweredError(message, is_gone=True)

    def _allowed(self) -> int:
        with self._lock:
            if self._stopped.is_set():
                return 0
            if not self._gone:
                return self._attempts
            if time.monotonic() < self._next_probe:
                return 0
            self._next_probe = time.monotonic() + PROBE_S
            return 1

    def _give_up(self) -> None:
        with self._lock:
            if not self._gone:
                self._gone = True
                self._next_probe = time.monotonic() + PROBE_S

    def _pause(self, attempt: int) -> float:
        """Return a random part of a pause that doubles: clients that failed together come back apart."""
        longest = min(self._retry_s * 2.0 ** (attempt - 1), LONGEST_PAUSE_S)
        return random.uniform(longest / 2, longest)  # noqa: S311 (jitter, no secret)
