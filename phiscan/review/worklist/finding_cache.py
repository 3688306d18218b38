"""Cache of the stored findings of long files, so that a table of thousands of rows is read once.

Stored findings contain positions, types and masked shapes, no value. A stored examination is never changed,
only deleted; so a cached entry is valid as long as the number of findings is the same.
"""

from __future__ import annotations

import sqlalchemy as sa

from phiscan.bounded_cache import BoundedCache
from phiscan.model import StoredFinding
from phiscan.review.worklist import queue
from phiscan.store.tables import finding

MIN_FINDINGS = 500  # fewer are read in a few milliseconds, without the cache
MAX_FINDINGS = 100_000  # of all files together; about 100 MB

Key = tuple[int, str]
"""An examination and the digest of its content."""


class FindingCache:
    """Findings by examination, least recently used removed first; thread-safe."""

    def __init__(self, max_findings: int = MAX_FINDINGS) -> None:
        self._cache = BoundedCache[Key, tuple[StoredFinding, ...]](max_findings)

    def read(
        self, connection: sa.Connection, examination_id: int, content_hash: str
    ) -> tuple[StoredFinding, ...]:
        """Return the findings of an examination in their order, from the cache if possible."""
        key = (examination_id, content_hash)
        kept = self._cache.get(key)
        if kept is not None and len(kept) == _n_stored(connection, examination_id):
            return kept
        found = queue.stored_findings(connection, examination_id)
        if len(found) >= MIN_FINDINGS:
            self._cache.put(key, found, len(found))
        return found

    def clear(self) -> None:
        """Clear the cache."""
        self._cache.clear()


def _n_stored(connection: sa.Connection, examination_id: int) -> int:
    query = sa.select(sa.func.count()).where(finding.c.examination_id == examination_id)
    return int(connection.execute(query).scalar_one())
