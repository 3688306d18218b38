"""Tables of the officer's desk: corrections, second review, suppressions, reveals, near-duplicates."""

from __future__ import annotations

APPEND_ONLY: dict[str, tuple[str, ...]] = {}
