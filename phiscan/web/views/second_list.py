"""The views of the second list: files under the threshold of referral that a detector marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from phiscan.health.topics import label_of
from phiscan.language import gettext as _
from phiscan.report.words import CASES, CHARACTERISTICS, DETECTORS, FORMATS, part_detail
from phiscan.report.words import REASONS as OUTCOME_REASONS
from phiscan.review.records.items import ItemDetail, QueueItem
from phiscan.visible import visible
from phiscan.web.views.item import moment_of, why_words
from phiscan.web.views.masked_context import MaskedLine, masked_lines
from phiscan.web.views.plain_words import locator_words
from phiscan.web.views.queue import place_words

N_ROWS = 200  # files on the page; `phiscan queue list --second-look` lists all
MAX_LINES = 40  # masked lines of one file
N_TERMS = 14


@dataclass(frozen=True, slots=True)
class SecondListRow:
    """One file of the second list."""

    file_id: int
    name: str
    folder: str
    detectors: tuple[str, ...]  # that mark it as PHI
    probability: float | None
    n_people: int


@dataclass(frozen=True, slots=True)
class SecondListItem:
    """The content of the read-only page of one file of the second list."""

    row: SecondListRow
    root: str
    path: str  # as the shell gets it, for the command that decides it
    type: str
    size: int
    changed: datetime | None
    case: str
    why: str
    bits: tuple[str, ...]
    terms: tuple[tuple[str, int], ...]
    detectors: tuple[tuple[str, bool, str], ...]
    masked: tuple[MaskedLine, ...]
    unread: tuple[tuple[str, str, str, str], ...]  # location, reason, explanation, detail


def row_view(item: QueueItem) -> SecondListRow:
    """Build the row of one file."""
    folder, _slash, name = item.path.rpartition("/")
    return SecondListRow(
        file_id=item.file_id,
        name=visible(name),
        folder=place_words(item.root, folder),
        detectors=tuple(name for name, is_phi in item.detectors if is_phi and name in DETECTORS),
        probability=item.probability,
        n_people=item.n_people,
    )


def rows_view(items: Sequence[QueueItem]) -> tuple[SecondListRow, ...]:
    """Build the rows of the list."""
    return tuple(row_view(item) for item in items)


def second_list_item(detail: ItemDetail) -> SecondListItem:
    """Build the view of one file; nothing is read from the database."""
    item = detail.item
    terms = sorted(detail.terms, key=lambda term: (-term.count, term.concept))
    return SecondListItem(
        row=row_view(item),
        root=visible(item.root),
        path=visible(item.path),
        type=FORMATS.get(item.media_type, visible(item.media_type)) or _("type unknown"),
        size=item.size,
        changed=moment_of(detail.source.mtime_ns),
        case=str(CASES.get(item.case, item.case)),
        why=why_words(item, item.case),
        bits=tuple(label for bit, (label, _hipaa) in CHARACTERISTICS.items() if bit in item.vector.bits),
        terms=tuple((label_of(term.concept), term.count) for term in terms[:N_TERMS]),
        detectors=tuple(
            (name, is_phi, DETECTORS[name]) for name, is_phi in item.detectors if name in DETECTORS
        ),
        masked=tuple(masked_lines(detail.findings, detail.terms, most=MAX_LINES, most_findings=MAX_LINES)),
        unread=tuple(
            (
                locator_words(part.locator),
                part.reason.value,
                OUTCOME_REASONS.get(part.reason, ""),
                part_detail(visible(part.detail)),
            )
            for part in detail.unread
        ),
    )
