"""The view of an item's masked passages, and one passage that is revealed in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phiscan.errors import ConflictError, InputError
from phiscan.language import gettext as _
from phiscan.model import EntityType, StoredFinding
from phiscan.pipeline.learning.file_lookup import present
from phiscan.pipeline.rereading.masked_passages import Found, Kind, MaskedPassage, MaskedPiece, MaskedProse
from phiscan.review.decisions.reveals import Reveal
from phiscan.review.worklist.model import WorkDetail
from phiscan.web.passage_cache import Key
from phiscan.web.request_context import Desk
from phiscan.web.views.plain_words import SHORT, colour, locator_words
from phiscan.web.views.reveal import Stretch, shown

N_OPEN = 3  # passages shown; the others are collapsed
INLINE_BYTES = 1024 * 1024
INLINE_FINDINGS = 1_000  # masking takes 0.1 s for 5,000; the page of such a file does not wait for it
_ROLE = "role"  # kind of reason: the person is named as staff, author or the like
# Reading these again may take seconds: OCR of pages, opening of containers.
_SLOW_TYPES = ("application/pdf", "image/", "application/zip", "application/x-", "application/vnd.ms-outlook")
MAX_REVEALED_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class PieceView:
    """One element: text, a mask, a finding as its type, or a health term."""

    kind: str
    text: str
    label: str = ""
    colour: str = ""
    position: int | None = None
    type: str = ""  # of a finding, as it is stored


@dataclass(frozen=True, slots=True)
class PassageView:
    """One passage, masked."""

    number: int  # from 1
    where: str
    start: int
    end: int
    pieces: tuple[PieceView, ...]


@dataclass(frozen=True, slots=True)
class ProseView:
    """The passages; ``problem`` is the error message if the file could not be read again."""

    passages: tuple[PassageView, ...] = ()
    problem: str = ""
    tables: tuple[tuple[str, str], ...] = ()  # location of a table, and how identifiable its people are

    @property
    def first(self) -> tuple[PassageView, ...]:
        """The passages that are shown."""
        return self.passages[:N_OPEN]

    @property
    def more(self) -> tuple[PassageView, ...]:
        """The passages that are collapsed."""
        return self.passages[N_OPEN:]


def is_quick(detail: WorkDetail) -> bool:
    """Return whether a file can be read again during the request of its page."""
    item = detail.item
    is_small = item.size <= INLINE_BYTES and (item.n_findings or 0) <= INLINE_FINDINGS
    return is_small and not item.media_type.startswith(_SLOW_TYPES)


def prose_view(desk: Desk, detail: WorkDetail) -> ProseView:
    """Return the strongest passages of a file, masked; the file is read again unless they are cached."""
    try:
        masked = masked_of(desk, detail)
    except ConflictError:
        return ProseView(
            problem=_("The file has changed since it was examined, or is gone; the next scan reads it.")
        )
    except InputError as error:
        return ProseView(problem=str(error))
    return ProseView(
        tuple(_passage(one, number) for number, one in enumerate(masked.passages, 1)),
        tables=tuple((locator_words(table.locator), table.sentence) for table in masked.tables),
    )


def masked_of(desk: Desk, detail: WorkDetail, *, beginning: int = 0) -> MaskedProse:
    """Return the masked passages of a file: from the cache, else by reading it again.

    Args:
        desk: the desk.
        detail: the item.
        beginning: return one passage instead, with so many characters from the beginning of the text.

    Raises:
        ConflictError, InputError: as ``Rereader.masked``.
    """
    key = _key(detail, beginning)
    examined = desk.store.desk.examined(detail.item.file_id)
    kept = desk.passages.get(key, examined.source)
    if kept is not None:
        return kept
    here = present(examined.source)
    masked = desk.rereader.masked(examined, masking_input(detail.findings), beginning=beginning)
    desk.passages.put(key, here, masked)
    return masked


def is_cached(desk: Desk, detail: WorkDetail) -> bool:
    """Return whether the strongest passages of an item are cached."""
    return desk.passages.has(_key(detail, 0))


def _key(detail: WorkDetail, beginning: int) -> Key:
    return detail.source.content_hash, detail.item.examination_id, beginning


def masking_input(findings: Sequence[StoredFinding]) -> list[Found]:
    """Return the findings as input of the masking."""
    return [
        (one.span.start, one.span.end, one.entity_type, any(reason.kind == _ROLE for reason in one.reasons))
        for one in findings
    ]


def _passage(passage: MaskedPassage, number: int) -> PassageView:
    return PassageView(
        number,
        locator_words(passage.locator),
        passage.start,
        passage.end,
        pieces_of(passage),
    )


def pieces_of(passage: MaskedPassage) -> tuple[PieceView, ...]:
    """Return the elements of a passage."""
    return tuple(_piece(piece) for piece in passage.pieces)


def _piece(piece: MaskedPiece) -> PieceView:
    if piece.kind is Kind.FINDING and piece.entity_type is not None:
        return PieceView(
            piece.kind.value,
            "",
            SHORT[piece.entity_type],
            colour(piece.entity_type),
            piece.position,
            piece.entity_type.value,
        )
    return PieceView(piece.kind.value, shown(piece.text))


def revealed_stretches(text: str, reveal: Reveal, start: int, end: int) -> tuple[Stretch, ...]:
    """Return the real text of one passage, findings marked; at most ``MAX_REVEALED_CHARS``."""
    end = min(end, start + MAX_REVEALED_CHARS, len(text))
    stretches: list[Stretch] = []
    at = start
    for position, (begin, stop, kind) in enumerate(sorted(reveal.spans)):
        low, high = max(begin, at), min(stop, end)
        if low >= high:
            continue
        if low > at:
            stretches.append(Stretch(shown(text[at:low])))
        found = EntityType(kind)
        stretches.append(Stretch(shown(text[low:high]), position, colour(found), SHORT[found]))
        at = high
    if at < end:
        stretches.append(Stretch(shown(text[at:end])))
    return tuple(stretches)
