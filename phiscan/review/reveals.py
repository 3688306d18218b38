"""Who asked to see the text of a file, when and what for; recorded before anything is shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Reveal:
    """A reveal that was recorded: what ``phiscan.pipeline.reveal`` needs to read the file again."""

    id: int
    file_id: int
    root: bytes
    path: bytes
    content_hash: str  # what the file must still be
    spans: tuple[tuple[int, int, str], ...]  # start, end, type of each finding
    purpose: str
    revealed_by: str
    revealed: datetime
