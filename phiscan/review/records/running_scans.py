"""The last scan of each root: its lock shows whether it is running."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from phiscan.store.tables import root, scan, scan_root


@dataclass(frozen=True, slots=True)
class LastScan:
    """A root and its last scan."""

    path: bytes
    display: str
    scan_id: int
    started: datetime


def last_scans(connection: sa.Connection) -> list[LastScan]:
    """Return the last scan of each root, newest first."""
    last = (
        sa.select(scan_root.c.root_id, sa.func.max(scan_root.c.scan_id).label("scan_id"))
        .group_by(scan_root.c.root_id)
        .subquery()
    )
    query = (
        sa.select(root.c.path, root.c.display, scan.c.id, scan.c.started)
        .join(last, last.c.root_id == root.c.id)
        .join(scan, scan.c.id == last.c.scan_id)
        .order_by(scan.c.id.desc(), root.c.path)
    )
    return [LastScan(*row) for row in connection.execute(query)]
