"""The stored findings of long files, kept in memory: what a table of thousands of rows holds is read once.

Findings as they are stored hold positions, types and masked shapes, no value. A stored examination is never
changed, only deleted; so what was read of it stays right as long as as many findings are there.
"""

from __future__ import annotations

import sqlalchemy as sa

from phiscan.bounded_cache import BoundedCache
from phiscan.model import StoredFinding
from phiscan.review.worklist import queue
from phiscan.store.tables import finding

MIN_FINDINGS = 500  # fewer are read in a few milliseconds
MAX_FINDINGS = 100_000  # of all files together; about 100 MB

Key = tuple[int, str]
"""An examination and the digest of the content that it examined."""


class FindingCache:
    """Findings by examination, those used last; several threads may ask."""

    def __init__(self, max_findings: int = MAX_FINDINGS) -> None:
        self._kept = BoundedCache[Key, tuple[StoredFinding, ...]](max_findings)

    def read(
        self, connection: sa.Connection, examination_id: int, content_hash: str
    ) -> tuple[StoredFinding, ...]:
        """Return the findings of an examination in their order, from memory if they are there."""
        key = (examination_id, content_hash)
        kept = self._kept.get(key)
        if kept is not None and len(kept) == _n_stored(connection, examination_id):
            return kept
        found = queue.stored_findings(connection, examination_id)
        if len(found) >= MIN_FINDINGS:
            self._kept.put(key, found, len(found))
        return found

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()


def _n_stored(connection: sa.Connection, examination_id: int) -> int:
    query = sa.select(sa.func.count()).where(finding.c.examination_id == examination_id)
    return int(connection.execute(query).scalar_one())
