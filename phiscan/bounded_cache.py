"""An in-memory LRU cache, bounded by the number of its entries and the sum of their sizes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Values by key, each with a size; thread-safe."""

    def __init__(self, max_size: int, max_entries: int | None = None) -> None:
        self._max_size, self._max_entries = max_size, max_entries
        self._lock = Lock()
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._size = 0

    def get(self, key: K) -> V | None:
        """Return the value of a key and mark it as most recently used; None if it is missing."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Store a value; the least recently used entries are evicted until all fit."""
        with self._lock:
            self._drop(key)
            self._entries[key] = value, size
            self._size += size
            while self._size > self._max_size or (
                self._max_entries is not None and len(self._entries) > self._max_entries
            ):
                self._drop(next(iter(self._entries)))

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()
            self._size = 0

    def __contains__(self, key: K) -> bool:
        """Return whether a key is in the cache, without marking it as used."""
        with self._lock:
            return key in self._entries

    def __len__(self) -> int:
        """Return the number of entries."""
        with self._lock:
            return len(self._entries)

    def _drop(self, key: K) -> None:
        entry = self._entries.pop(key, None)
        self._size -= entry[1] if entry else 0
