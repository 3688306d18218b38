"""Tables of the people who review: users, their sessions, their saved views."""

from __future__ import annotations

APPEND_ONLY: dict[str, tuple[str, ...]] = {}
