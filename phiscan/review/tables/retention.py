"""Tables of what was purged by policy, and of keys."""

from __future__ import annotations

APPEND_ONLY: dict[str, tuple[str, ...]] = {}
