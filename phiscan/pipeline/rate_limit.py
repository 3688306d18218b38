"""How fast a scan may read: files and bytes per second, so that a file server is not brought down."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from phiscan.model import SourceFile

_NAP_S = 0.5  # an interrupt waits no longer than this


@dataclass(frozen=True, slots=True)
class RateLimit:
    """The most that may be read in one second on average; infinite = no limit."""

    files_per_s: float = math.inf
    bytes_per_s: float = math.inf

    def seconds_of(self, n_bytes: int) -> float:
        """Return how long one file of this size takes up at this pace.

        >>> RateLimit(files_per_s=10, bytes_per_s=1000).seconds_of(500)
        0.5
        """
        return max(1 / self.files_per_s, n_bytes / self.bytes_per_s)

    @property
    def largest_batch(self) -> int | None:
        """The number of files that go to one worker at a time: a second's worth, for an even load."""
        return None if math.isinf(self.files_per_s) else max(1, int(self.files_per_s))


def paced(
    sources: Iterable[SourceFile],
    pace: RateLimit,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[SourceFile]:
    """Yield the files no faster than the pace allows.

    A file is let through at once when the time of those before it is over; what was not used in a pause
    of more than a second is lost, so that no burst follows.
    """
    if pace == RateLimit():
        yield from sources
        return
    free_at = clock()
    for source in sources:
        while (wait_s := free_at - clock()) > 0:
            sleep(min(wait_s, _NAP_S))
        free_at = max(free_at, clock() - 1.0) + pace.seconds_of(source.size)
        yield source
