"""The scan that each root was last scanned by: whose lock is held tells which is under way."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from phiscan.store.tables import root, scan, scan_root


@dataclass(frozen=True, slots=True)
class LastScan:
    """A root and the scan that was begun of it last."""

    path: bytes
    display: str
    scan_id: int
    started: datetime


def last_scans(connection: sa.Connection) -> list[LastScan]:
    """Return the scan that each root was last scanned by, the newest scan first."""
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
