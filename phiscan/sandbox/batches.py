"""How many items one worker is given at a time."""

from __future__ import annotations

MAX_BATCH = 64
BATCH_S = 0.05  # the work that one batch should hold


class BatchSize:
    """Learns from the seconds that batches took: as many items as take ``BATCH_S`` together."""

    def __init__(self) -> None:
        self.size = 1
        self._seconds_per_item = BATCH_S

    def learn(self, seconds: float, n_items: int) -> None:
        """Take account of one batch; the size at most doubles."""
        self._seconds_per_item = 0.8 * self._seconds_per_item + 0.2 * seconds / n_items
        wanted = int(BATCH_S / max(self._seconds_per_item, 1e-6))
        self.size = max(1, min(wanted, 2 * self.size, MAX_BATCH))
