"""A cache of the entries used last, bounded by their number and by the sum of their sizes; in memory only."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Values by key with a size each; several threads may ask."""

    def __init__(self, max_size: int, max_entries: int | None = None) -> None:
        self._max_size, self._max_entries = max_size, max_entries
        self._lock = Lock()
        self._kept: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._size = 0

    def get(self, key: K) -> V | None:
        """Return the value of a key, which is then the one used last; None = there is none."""
        with self._lock:
            entry = self._kept.get(key)
            if entry is None:
                return None
            self._kept.move_to_end(key)
            return entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Keep a value; the entries unused for the longest time go until all fits."""
        with self._lock:
            self._drop(key)
            self._kept[key] = value, size
            self._size += size
            while self._size > self._max_size or (
                self._max_entries is not None and len(self._kept) > self._max_entries
            ):
                self._drop(next(iter(self._kept)))

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._size = 0

    def __contains__(self, key: K) -> bool:
        """Tell whether a value is kept under a key; that is no use of it."""
        with self._lock:
            return key in self._kept

    def __len__(self) -> int:
        """Return the number of entries."""
        with self._lock:
            return len(self._kept)

    def _drop(self, key: K) -> None:
        entry = self._kept.pop(key, None)
        self._size -= entry[1] if entry else 0
