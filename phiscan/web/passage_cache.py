"""Cache of masked passages of opened files, in the memory of this process only.

A masked passage contains no value. It is never written to disk, and the cache is cleared when a user signs
out and when the server ends. The key is the digest of the content and the examination; an entry is valid only
while size and times of a local file are the same as before it was read.
"""

from __future__ import annotations

from dataclasses import dataclass

from phiscan.bounded_cache import BoundedCache
from phiscan.model import SourceFile
from phiscan.pipeline.rereading.masked_passages import MaskedProse
from phiscan.pipeline.rereading.reveal import present

MAX_FILES = 200
MAX_PIECES = 200_000  # of all files together: the next items of a few reviewers

Key = tuple[str, int, int]
"""Digest of the content, number of the examination, characters of the beginning (0 = strongest passages)."""


@dataclass(frozen=True, slots=True)
class _Entry:
    source: SourceFile  # state of the file when it was read
    prose: MaskedProse


class PassageCache:
    """Masked passages by content and examination, least recently used removed first; thread-safe."""

    def __init__(self, *, max_files: int = MAX_FILES, max_pieces: int = MAX_PIECES) -> None:
        self._cache = BoundedCache[Key, _Entry](max_pieces, max_files)

    def get(self, key: Key, source: SourceFile) -> MaskedProse | None:
        """Return the cached passages of a file; None = not cached, or the file has changed since."""
        entry = self._cache.get(key)
        if entry is None:
            return None
        return entry.prose if present(source) == entry.source else None

    def has(self, key: Key) -> bool:
        """Return whether a key is cached."""
        return key in self._cache

    def put(self, key: Key, source: SourceFile | None, prose: MaskedProse) -> None:
        """Cache the passages of a file whose state before reading was ``source``; None = it was missing."""
        if source is None:
            return
        n_pieces = sum(len(passage.pieces) for passage in prose.passages)
        self._cache.put(key, _Entry(source, prose), n_pieces)

    def clear(self) -> None:
        """Clear the cache."""
        self._cache.clear()

    def __len__(self) -> int:
        """Return the number of files in the cache."""
        return len(self._cache)
