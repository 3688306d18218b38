"""The slowest files of a scan: duration of each stage, and the size of the file's contents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from phiscan.store.tables import examination, file, root, stage_time

N_SLOWEST = 10


@dataclass(frozen=True, slots=True)
class SlowFile:
    """A file that a scan read, and the seconds of each stage in its worker."""

    root: str
    path: str
    media_type: str
    size: int
    n_chars: int
    total_s: float
    seconds: tuple[tuple[str, float], ...]

    @property
    def slowest_stage(self) -> tuple[str, float]:
        """The stage that took longest, and its share of the total."""
        stage, spent = max(self.seconds, key=lambda item: item[1])
        return stage, spent / self.total_s if self.total_s else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the object of ``slowest`` in ``phiscan scan --json``."""
        stage, part = self.slowest_stage
        return {
            "root": self.root,
            "path": self.path,
            "media_type": self.media_type,
            "size": self.size,
            "chars": self.n_chars,
            "seconds": self.total_s,
            "stage_seconds": dict(self.seconds),
            "slowest_stage": stage,
            "slowest_stage_share": round(part, 3),
        }


def slowest_files(connection: sa.Connection, scan_id: int, n_files: int = N_SLOWEST) -> list[SlowFile]:
    """Return the files that took a worker longest in one scan, slowest first."""
    query = (
        sa.select(
            root.c.display.label("root"),
            file.c.display.label("path"),
            examination.c.media_type,
            examination.c.size,
            examination.c.n_chars,
            stage_time.c.total_s,
            stage_time.c.seconds,
        )
        .join(examination, examination.c.id == stage_time.c.examination_id)
        .join(file, file.c.id == examination.c.file_id)
        .join(root, root.c.id == file.c.root_id)
        .where(examination.c.scan_id == scan_id)
        .order_by(stage_time.c.total_s.desc(), examination.c.id)
        .limit(n_files)
    )
    return [
        SlowFile(
            row.root,
            row.path,
            row.media_type,
            row.size,
            row.n_chars,
            row.total_s,
            tuple((stage, spent) for stage, spent in row.seconds),
        )
        for row in connection.execute(query)
    ]
