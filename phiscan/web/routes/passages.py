"""The passages of one item: masked for its page, and one of them revealed in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Form, Request
from starlette.responses import PlainTextResponse, Response

from phiscan.errors import ConflictError, InputError
from phiscan.language import gettext as _
from phiscan.model import StoredFinding
from phiscan.pipeline.rereading.file_lookup import present
from phiscan.pipeline.rereading.masked_passages import Found, Kind, MaskedPassage, MaskedPiece, MaskedProse
from phiscan.review.decisions.reveals import PURPOSES, Reveal
from phiscan.review.worklist.model import FileRecord
from phiscan.web.access import Permission, Routes
from phiscan.web.passage_cache import Key
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.routes.reveal import Stretch, marks_of, shown, stretches_of
from phiscan.web.session import BrowserSession, SignedIn
from phiscan.web.views.item import judged_positions
from phiscan.web.views.plain_words import SHORT, colour, locator_words
from phiscan.web.work_query import read_query

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


def is_quick(detail: FileRecord) -> bool:
    """Return whether a file can be read again during the request of its page."""
    item = detail
    is_small = item.size <= INLINE_BYTES and item.n_findings <= INLINE_FINDINGS
    return is_small and not item.media_type.startswith(_SLOW_TYPES)


def prose_view(desk: Desk, detail: FileRecord) -> ProseView:
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


def masked_of(desk: Desk, detail: FileRecord, *, beginning: int = 0) -> MaskedProse:
    """Return the masked passages of a file: from the cache, else by reading it again.

    Args:
        desk: the desk.
        detail: the item.
        beginning: return one passage instead, with so many characters from the beginning of the text.

    Raises:
        ConflictError, InputError: as ``Rereader.masked``.
    """
    key = _key(detail, beginning)
    examined = desk.store.desk.examined(detail.file_id)
    kept = desk.passages.get(key, examined.source)
    if kept is not None:
        return kept
    here = present(examined.source)
    masked = desk.rereader.masked(examined, masking_input(detail.findings), beginning=beginning)
    desk.passages.put(key, here, masked)
    return masked


def is_cached(desk: Desk, detail: FileRecord) -> bool:
    """Return whether the strongest passages of an item are cached."""
    return desk.passages.has(_key(detail, 0))


def _key(detail: FileRecord, beginning: int) -> Key:
    return detail.content_hash, detail.examination_id, beginning


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
    return tuple(stretches_of(text, marks_of(reveal.spans, start, end), start, end))


routes = Routes()


@routes.page("GET", "/items/{file_id}/passages", needs=Permission.DECIDE)
def passages(file_id: int, request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Return the masked passages of an item, for a page that was rendered without them."""
    detail = desk.store.desk.detail(file_id, viewer=user.name, now=desk.now())
    if detail.blind:
        message = _("file {file_id}: it is reviewed blind, so no passage is picked", file_id=file_id)
        raise InputError(message)
    judged = judged_positions(desk.store.desk.corrections(file_id, viewer=user.name))
    return desk.pages.render(
        request,
        "passages.html",
        prose=prose_view(desk, detail),
        file_id=file_id,
        query=read_query(request.query_params),
        judged=judged,
    )


@routes.page("POST", "/items/{file_id}/passages/reveal", needs=Permission.REVEAL)
def reveal_passage(
    file_id: int,
    request: Request,
    user: SignedIn,
    session: BrowserSession,
    desk: DeskNow,
    start: Annotated[int, Form(ge=0)],
    end: Annotated[int, Form(ge=0)],
    purpose: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Record user and purpose in the log, then return the real text of one passage.

    The purpose is that of the session; a form with another purpose changes it.
    """
    work = desk.store.desk
    purpose = purpose or session.purpose
    if purpose not in PURPOSES:
        return PlainTextResponse("purpose: choose what texts are revealed for first", 409)
    work.item(file_id, viewer=user.name, now=desk.now())  # raises unless the item is in the list
    desk.store.users.set_purpose(session, purpose)
    recorded = work.reveal(file_id, purpose=purpose, by=user.name, now=desk.now())
    try:
        document = desk.rereader.read(recorded)
    except ConflictError:
        return PlainTextResponse("the file has changed since it was examined, or is gone", 409)
    stretches = revealed_stretches(document.text, recorded, start, end)
    return desk.pages.render(request, "passage_revealed.html", stretches=stretches)
