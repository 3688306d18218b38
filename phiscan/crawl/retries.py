"""Retries with exponential backoff and jitter, and a circuit breaker for servers that do not answer."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from phiscan.config import SharesTable
from phiscan.crawl.share import UnansweredError

T = TypeVar("T")

LONGEST_PAUSE_S = 30.0
LONGEST_RETRY_AFTER_S = 600.0  # of those that a server asks for
PROBE_S = 15.0  # interval of probes of an unreachable server


class RetryPolicy:
    """Retries actions that may fail temporarily; shared by all clients of one server.

    When one action has used all its attempts because the server cannot be reached, the others stop waiting
    too, since a million files must not each wait for the full backoff. From then on one action every
    ``PROBE_S`` seconds makes a single attempt; its success ends this state.
    """

    def __init__(self, settings: SharesTable) -> None:
        self._attempts = settings.attempts
        self._retry_s = settings.retry_s
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._gone = False
        self._next_probe = 0.0

    def stop(self) -> None:
        """End all pauses and make no more attempts."""
        self._stopped.set()

    def run(self, action: Callable[[], T]) -> T:
        """Return the result of the action, with as many attempts as the settings allow.

        Raises:
            UnansweredError: the last one of the action, or at once if the server is unreachable.
            RefusedError: of the action, which is not retried.
        """
        attempts = self._allowed()
        for attempt in range(1, attempts + 1):
            try:
                result = action()
            except UnansweredError as error:
                if attempt >= attempts or (self._gone and error.is_gone) or self._stopped.is_set():
                    with self._lock:
                        if error.is_gone and not self._gone:
                            self._gone, self._next_probe = True, time.monotonic() + PROBE_S
                    raise
                self._stopped.wait(max(self._pause(attempt), min(error.pause_s, LONGEST_RETRY_AFTER_S)))
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

    def _pause(self, attempt: int) -> float:
        """Return a random part of a doubling pause, so that clients do not retry at the same time."""
        longest = min(self._retry_s * 2.0 ** (attempt - 1), LONGEST_PAUSE_S)
        return random.uniform(longest / 2, longest)  # noqa: S311 (jitter, no secret)
