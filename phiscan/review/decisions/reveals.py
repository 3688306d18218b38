"""Reveals of a file's text: user, time and purpose, recorded before the text is shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import lazy_gettext as _
from phiscan.model import SourceFile
from phiscan.review.audit import log as audit
from phiscan.review.decisions.writing import about, checked_name, checked_text, read_file
from phiscan.review.records.file_records import source_of
from phiscan.store.tables import finding, work_item

MAX_PURPOSE_CHARS = 500
PURPOSES = (
    _("To decide whether it is PHI"),
    _("To correct the spans"),
    _("To find out who is affected"),
    _("To settle a disagreement"),
    _("To answer a request of the person concerned"),
    _("To check the screening"),
)
"""The purposes of a reveal; a fixed list, so that no patient's name is entered there."""
OUTSIDE = _("Opened outside of phiscan, to decide whether it is PHI")
"""The purpose of a file that its reviewer says to have read outside of phiscan; no page offers it."""
OTHER_PURPOSE = _("another purpose, in the reviewer's own words")


def purpose_shown(purpose: str) -> str:
    """Return a purpose as logs and reports may show it: free text stays in the database.

    >>> purpose_shown("To correct the spans"), purpose_shown("Ann Roe asked for it")
    ('To correct the spans', "another purpose, in the reviewer's own words")
    """
    return purpose if purpose in {*PURPOSES, OUTSIDE} else OTHER_PURPOSE


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """A file as it was examined: the input of ``phiscan.pipeline.rereading.reveal``."""

    source: SourceFile  # location and metadata at the examination
    content_hash: str  # the required content hash
    n_chars: int  # length of the text that the findings refer to


@dataclass(frozen=True, slots=True, kw_only=True)
class Reveal(Examined):
    """A recorded reveal, after which the text may be shown."""

    id: int
    file_id: int
    spans: tuple[tuple[int, int, str], ...]  # start, end, type of each finding
    purpose: str
    revealed_by: str
    revealed: datetime


def reveal(connection: sa.Connection, file_id: int, *, purpose: str, by: str, now: datetime) -> Reveal:
    """Record a reveal of a file's text; for a blind item, without its findings.

    Raises:
        InputError: unknown or never read file, no purpose, or no user name.
    """
    by, purpose = checked_name("by", by), checked_text("purpose", purpose, MAX_PURPOSE_CHARS)
    if not purpose:
        raise InputError(_("purpose: expected what the text is looked at for, got an empty text"))
    row = read_file(connection, file_id)
    # The purpose may be free text: the log contains the digest of the row, not the words.
    details = {"file": file_id, "content_hash": row.content_hash}
    number = audit.record(connection, "reveal", {**about(row), "purpose": purpose}, details, by=by, now=now)
    blind = connection.execute(sa.select(work_item.c.blind).where(work_item.c.file_id == file_id)).scalar()
    query = sa.select(finding).where(finding.c.examination_id == row.id).order_by(finding.c.position)
    spans = [] if blind else connection.execute(query).all()
    return Reveal(
        id=number,
        file_id=file_id,
        source=source_of(row),
        content_hash=row.content_hash,
        # Findings in the file's name, which follow the text, would reveal the referral to a blind reviewer.
        n_chars=0 if blind else row.n_chars,
        spans=tuple((span.span_start, span.span_end, span.entity_type) for span in spans),
        purpose=purpose,
        revealed_by=by,
        revealed=now,
    )


def examined(connection: sa.Connection, file_id: int) -> Examined:
    """Return a file as it was examined, for reading it again without showing its text.

    Raises:
        InputError: unknown or never read file.
    """
    row = read_file(connection, file_id)
    return Examined(source=source_of(row), content_hash=row.content_hash, n_chars=row.n_chars)
