"""Files that wait for OCR: the first pass of a scan reads their text and defers their pictures."""

from __future__ import annotations

import sqlalchemy as sa

from phiscan.model import OCR_PENDING, Outcome, Referral
from phiscan.store.tables import examination, file, root, sighting, unread_part

_WITH_PARTS = sa.exists().where(
    unread_part.c.examination_id == examination.c.id, unread_part.c.detail == OCR_PENDING
)
_IS_PENDING = sa.or_(
    sa.and_(examination.c.outcome == Outcome.FAILED.value, examination.c.detail == OCR_PENDING), _WITH_PARTS
)
_IS_OPEN = sa.func.coalesce(examination.c.referral, "") != Referral.REFERRED.value


def pending_files(connection: sa.Connection) -> frozenset[int]:
    """Return the numbers of the files whose current result waits for OCR; referred ones need none."""
    query = (
        sa.select(file.c.id)
        .join(sighting, (sighting.c.scan_id == file.c.seen_scan_id) & (sighting.c.file_id == file.c.id))
        .join(examination, examination.c.id == sighting.c.examination_id)
        .where(_IS_PENDING, _IS_OPEN)
    )
    return frozenset(connection.execute(query).scalars())


def count_pending(connection: sa.Connection, scan_id: int) -> tuple[int, int]:
    """Return how many files of a scan wait for OCR, and the number of their pages and pictures."""
    standing = examination.join(sighting, sighting.c.examination_id == examination.c.id)
    here = (sighting.c.scan_id == scan_id, _IS_OPEN)
    n_files = connection.execute(
        sa.select(sa.func.count()).select_from(standing).where(*here, _IS_PENDING)
    ).scalar_one()
    n_parts = connection.execute(
        sa.select(sa.func.count())
        .select_from(standing.join(unread_part, unread_part.c.examination_id == examination.c.id))
        .where(*here, unread_part.c.detail == OCR_PENDING)
    ).scalar_one()
    n_whole = connection.execute(
        sa.select(sa.func.count()).select_from(standing).where(*here, _IS_PENDING, ~_WITH_PARTS)
    ).scalar_one()
    return int(n_files), int(n_parts) + int(n_whole)


def referred_folders(connection: sa.Connection, scan_id: int) -> frozenset[tuple[bytes, bytes]]:
    """Return root and folder of each file that is referred in a scan."""
    query = (
        sa.select(root.c.path, file.c.path)
        .join(file, file.c.root_id == root.c.id)
        .join(sighting, sighting.c.file_id == file.c.id)
        .join(examination, examination.c.id == sighting.c.examination_id)
        .where(sighting.c.scan_id == scan_id, examination.c.referral == Referral.REFERRED.value)
    )
    return frozenset((top, path.rpartition(b"/")[0]) for top, path in connection.execute(query))
