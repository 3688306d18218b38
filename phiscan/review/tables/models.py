"""Tables of what was learned from reviews: model versions and which of them is active."""

from __future__ import annotations

APPEND_ONLY: dict[str, tuple[str, ...]] = {}
