"""The table of capture histories: counts of PHI files by the set of detectors that found them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# At most nine: a model's name has one digit per list.
MAX_LISTS = 9


@dataclass(frozen=True, slots=True)
class CaptureTable:
    """Counts of PHI files by capture history.

    ``counts[h]`` is the number of files with history ``h``; bit j of ``h`` is set when list j + 1 found the
    file. ``counts[0]``, the files that no list found, is not observed and always 0.
    """

    n_lists: int
    counts: tuple[int, ...]

    @property
    def n_found(self) -> int:
        """Number of files that at least one list found."""
        return sum(self.counts)

    @property
    def frequencies(self) -> tuple[int, ...]:
        """``frequencies[k]`` is the number of files that exactly k lists found; length n_lists + 1."""
        found = [0] * (self.n_lists + 1)
        for history, count in enumerate(self.counts):
            found[history.bit_count()] += count
        return tuple(found)

    def margin(self, term: int) -> int:
        """Return the number of files found by all lists of the bit set ``term``, and possibly by others."""
        return sum(count for history, count in enumerate(self.counts) if history & term == term)

    def only(self, history: int) -> int:
        """Return the number of files with exactly this history."""
        return self.counts[history]


def capture_table(histories: Sequence[Sequence[int]], counts: Sequence[int]) -> CaptureTable:
    """Build the table from different rows of 0/1 and their counts; a history that is absent counts 0.

    Raises:
        ValueError: fewer than 2 or more than 9 lists.

    >>> capture_table([(1, 0), (0, 1), (1, 1)], [5, 4, 3]).counts
    (0, 5, 4, 3)
    """
    n_lists = len(histories[0]) if histories else 0
    if not 2 <= n_lists <= MAX_LISTS:  # noqa: PLR2004 (one list has no overlap)
        message = f"lists: expected from 2 to {MAX_LISTS}, got {n_lists}"
        raise ValueError(message)
    table = [0] * (1 << n_lists)
    for history, count in zip(histories, counts, strict=True):
        table[sum(value << position for position, value in enumerate(history))] = count
    return CaptureTable(n_lists, tuple(table))
