"""What a worker sends of one file: loaded by the process that scans, which loads nothing that reads files."""

from __future__ import annotations

from dataclasses import dataclass

from phiscan.model import FileResult


@dataclass(frozen=True, slots=True)
class Processed:
    """One file's result and the seconds that each stage took (extract, screen, classify, store)."""

    result: FileResult
    seconds: tuple[tuple[str, float], ...]
