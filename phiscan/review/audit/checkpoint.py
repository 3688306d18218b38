"""Checkpoint of the audit log after a purge: its first remaining entry, and the rows removed by purges.

A purge may remove the oldest entries of the log. Its certificate, itself in the log, stores the number and
the hash of the last removed entry, from which the chain continues; the digests of rows that outlive their
entry; and the numbers of logged rows that were removed while their entry remained.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import sqlalchemy as sa

from phiscan.store.tables import purge


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The combined content of all certificates."""

    through: int = 0  # last removed entry; 0 = none
    log_hash: str = ""  # its hash
    carried: dict[str, dict[int, str]] = field(default_factory=dict)  # table: {row: digest}
    ranges: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # table: removed rows

    def was_purged(self, table: str, row_id: int) -> bool:
        """Return whether a row was removed by a certified purge."""
        return any(first <= row_id <= last for first, last in self.ranges.get(table, []))


def read(connection: sa.Connection) -> Checkpoint:
    """Return the current checkpoint."""
    ranges: dict[str, list[tuple[int, int]]] = {}
    newest = None
    for row in connection.execute(sa.select(purge).order_by(purge.c.id)):
        newest = row
        for table, pairs in row.ranges.items():
            ranges.setdefault(table, []).extend((int(first), int(last)) for first, last in pairs)
    if newest is None:
        return Checkpoint()
    carried = {
        table: {int(number): str(digest) for number, digest in rows.items()}
        for table, rows in newest.carried.items()
    }
    return Checkpoint(newest.log_through, newest.log_hash, carried, ranges)


def is_end_of_purged(connection: sa.Connection, head: str) -> bool:
    """Return whether a hash is that of an entry after which the log continued following a purge."""
    query = (
        sa.select(sa.func.count()).select_from(purge).where(purge.c.log_hash == head, purge.c.log_through > 0)
    )
    return bool(connection.execute(query).scalar_one())


def as_ranges(numbers: Iterable[int]) -> list[list[int]]:
    """Return ascending numbers as pairs of first and last of each run.

    >>> as_ranges([1, 2, 3, 7, 9, 10])
    [[1, 3], [7, 7], [9, 10]]
    """
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges
