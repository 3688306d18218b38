"""Masked passages of files that were looked at, in the memory of this process only.

A masked passage holds no value. It is never written anywhere, and everything is dropped when somebody signs
out and when the server ends. An entry counts only for the content that it was made from: the digest of the
content and the examination are its key, and a file of this machine must lie there as it did when it was read.
"""

from __future__ import annotations

from dataclasses import dataclass

from phiscan.bounded_cache import BoundedCache
from phiscan.model import SourceFile
from phiscan.pipeline.learning.file_lookup import present
from phiscan.pipeline.rereading.masked_passages import MaskedProse

MAX_FILES = 200
MAX_PIECES = 200_000  # of all files together: the next items of a few reviewers

Key = tuple[str, int, int]
"""Digest of the content, number of the examination, characters of the beginning (0 = strongest passages)."""


@dataclass(frozen=True, slots=True)
class _Entry:
    source: SourceFile  # as the file lay there when it was read
    prose: MaskedProse


class PassageCache:
    """Masked passages by content and examination, those used last; several threads may ask."""

    def __init__(self, *, max_files: int = MAX_FILES, max_pieces: int = MAX_PIECES) -> None:
        self._kept = BoundedCache[Key, _Entry](max_pieces, max_files)

    def get(self, key: Key, source: SourceFile) -> MaskedProse | None:
        """Return what is kept of a file; None = nothing, or the file has been touched since."""
        entry = self._kept.get(key)
        if entry is None:
            return None
        return entry.prose if present(source) == entry.source else None

    def has(self, key: Key) -> bool:
        """Tell whether something is kept under a key."""
        return key in self._kept

    def put(self, key: Key, source: SourceFile | None, prose: MaskedProse) -> None:
        """Keep the passages of a file that lay there as ``source`` before it was read; None = it was gone."""
        if source is None:
            return
        n_pieces = sum(len(passage.pieces) for passage in prose.passages)
        self._kept.put(key, _Entry(source, prose), n_pieces)

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()

    def __len__(self) -> int:
        """Return of how many files passages are kept."""
        return len(self._kept)
