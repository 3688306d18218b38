"""The real text of one item or passage, for a limited time, with a purpose; and its passages, masked."""

from __future__ import annotations

import re
import secrets
from base64 import b64encode
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Annotated, Any

from fastapi import Form
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from phiscan.errors import ConflictError, InputError
from phiscan.language import gettext
from phiscan.language import gettext as _
from phiscan.model import EntityType, Segment
from phiscan.pipeline.rereading.masked_passages import MaskedProse
from phiscan.pipeline.rereading.reveal import PagePicture, WordBox, present
from phiscan.review.decisions.learning import Correction, ItemCorrections, Mark
from phiscan.review.decisions.writing import PURPOSES, Reveal
from phiscan.review.worklist.model import FileRecord
from phiscan.web.access import Permission, Routes
from phiscan.web.plain_words import SHORT, locator_words, shown
from phiscan.web.request_context import Context, Ctx
from phiscan.web.routes.queue import Line, Listed
from phiscan.web.work_query import ListQuery

N_SECONDS = 120  # how long the text is shown
MAX_FINDING_CHARS = 2_000  # the part of a longer finding beyond this is not marked
N_CHARS = 40_000  # shown at once; more cannot be read in that time


@dataclass(frozen=True, slots=True)
class Stretch:
    """Text inside one finding, or outside of all."""

    text: str
    position: int | None = None
    type: EntityType | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """The text of one location of the document."""

    where: str
    start: int
    stretches: tuple[Stretch, ...]


Spans = Sequence[tuple[int, int, str]]  # start, end, type: the findings in text order
Marks = Sequence[tuple[int, int, int, str]]  # position among the findings, start, end, type


def reveal_view(
    item: FileRecord,
    text: str,
    segments: Sequence[Segment],
    spans: Spans,
    *,
    query: ListQuery,
    purpose: str,
    start: int,
    corrections: Sequence[Correction] = (),
) -> dict[str, Any]:
    """Return what the page shows of a part of the text, from an offset on.

    Args:
        item: the item.
        text: its text, read again.
        segments: the locations of the text.
        spans: the findings in stored order, then the spans added by reviewers.
        query: the list that it was opened from.
        purpose: the purpose of the reveal.
        start: offset of the part.
        corrections: corrections of its spans.
    """
    n_findings = len(spans)
    spans = with_missed(spans, corrections)
    first = min(max(0, start), max(0, len(text) - 1))
    last = min(len(text), first + N_CHARS)
    judged = {one.position: one.mark for one in corrections if one.position is not None}
    return {
        "item": item,
        "query": query,
        "purpose": purpose,
        "blocks": tuple(_blocks(text, segments, spans, first, last)),
        # Position, words, start, end and type of each finding that can be corrected.
        "findings": [
            (at, f"{SHORT[EntityType(kind)]}: {shown(text[begin:end])[:60]}", begin, end, kind)
            for at, (begin, end, kind) in enumerate(spans[:n_findings])
            if first <= begin < last
        ],
        "start": first,
        "end": last,
        "n_chars": len(text),
        "n_findings": n_findings,  # spans from here on were added by reviewers
        "judged": judged.keys(),
        "rejected": {at for at, mark in judged.items() if mark is Mark.SPURIOUS},
        "seconds": N_SECONDS,
        "masked_url": query.url(f"/items/{item.file_id}", said="masked"),
        "before": max(0, first - N_CHARS) if first else None,
        "after": last if last < len(text) else None,
    }


def with_missed(spans: Spans, corrections: Sequence[Correction]) -> Spans:
    """Return the findings and, after them, the spans added by reviewers."""
    missed = [one for one in corrections if one.position is None]
    return [*spans, *((one.span.start, one.span.end, one.entity_type.value) for one in missed)]


def _blocks(text: str, segments: Sequence[Segment], spans: Spans, first: int, last: int) -> Iterator[Block]:
    """Split the part at the segments; text outside of all (line breaks) belongs to the previous one."""
    marks = marks_of(spans, first, last)
    begins = [segment.start for segment in segments]
    named = {segment.start: locator_words(segment.locator) for segment in segments}
    cuts = sorted({first, *(begin for begin in begins if first < begin < last)})
    where = next((named[begin] for begin in reversed(begins) if begin <= first), _("text"))
    for cut, end in zip(cuts, [*cuts[1:], last], strict=True):
        where = named.get(cut, where)
        if cut < end:
            yield Block(where, cut, tuple(stretches_of(text, marks_between(marks, cut, end), cut, end)))


def marks_of(spans: Spans, first: int, last: int) -> Marks:
    """Return the findings that overlap ``[first, last)`` with their positions, in text order."""
    marks = [(at, *span) for at, span in enumerate(spans) if span[0] < last and span[1] > first]
    return sorted(marks, key=lambda mark: mark[1:3])


def marks_between(marks: Marks, first: int, last: int) -> Marks:
    """Return the marks, in text order, that overlap ``[first, last)``, by bisection."""
    high = bisect_left(marks, last, key=itemgetter(1))
    low = bisect_left(marks, first - MAX_FINDING_CHARS, key=itemgetter(1), hi=high)
    return [mark for mark in marks[low:high] if mark[2] > first]


def stretches_of(text: str, marks: Marks, first: int, last: int) -> Iterator[Stretch]:
    """Yield the text ``[first, last)`` in runs, each inside one finding or outside of all."""
    at = first
    for position, begin, end, kind in marks:
        begin, end = max(begin, at), min(end, last)  # noqa: PLW2901 (a finding may reach over a cut)
        if begin >= end or begin >= last:
            continue
        if begin > at:
            yield Stretch(shown(text[at:begin]))
        yield Stretch(shown(text[begin:end]), position, EntityType(kind))
        at = end
    if at < last:
        yield Stretch(shown(text[at:last]))


MIN_ROWS = 2
MAX_COLUMNS = 60
_SEPARATOR = " | "
_LABEL = re.compile(r"([^|\n]{1,60}?): (?=\S)")
_HEADERS = "headers"  # locator of a message's headers
_FIELD = re.compile(r"(?m)^[A-Za-z][A-Za-z0-9-]{0,60}:")
_KNOWN = ("from", "to", "cc", "bcc", "date", "subject")
_ROLE_SHARE = 0.5  # of the filled cells of a column that hold a finding of one type


@dataclass(frozen=True, slots=True)
class Cell:
    """One value: its offset in the text, and its text with findings marked."""

    start: int
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its header, and the type of identifier that most of its cells hold."""

    label: str
    role: EntityType | None


@dataclass(frozen=True, slots=True)
class RevealedTable:
    """Consecutive rows; an empty cell is None."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]  # location, cells


@dataclass(frozen=True, slots=True)
class MailHeaders:
    """The headers of a message: name and value; the important ones, and all others."""

    where: str
    first: tuple[tuple[str, Cell], ...]
    others: tuple[tuple[str, Cell], ...]


Values = dict[str, tuple[int, int]]
"""The values of a row by label: start and end in the text."""


Part = Block | RevealedTable | MailHeaders


def with_tables(text: str, blocks: Sequence[Block], spans: Spans) -> tuple[Part, ...]:
    """Return the blocks of a revealed text, consecutive rows of labelled cells as tables."""
    rows = [(block, _values(text, block)) for block in blocks]
    marks = marks_of(spans, blocks[0].start, _end(blocks[-1])) if blocks else ()
    parts: list[Part] = []
    for is_row, run in groupby(rows, key=lambda row: row[1] is not None):
        run_of = list(run)
        labels = tuple(dict.fromkeys(label for _, values in run_of for label in values or ()))
        if is_row and len(run_of) >= MIN_ROWS and len(labels) <= MAX_COLUMNS:
            parts.append(_table(text, run_of, labels, marks))
        else:
            parts.extend(_headers(text, block, marks) or block for block, _ in run_of)
    return tuple(parts)


def _headers(text: str, block: Block, marks: Marks) -> MailHeaders | None:
    """Return the headers of a message as fields, None if the block has none; folded lines are joined."""
    if block.where.rpartition(", ")[2] != _HEADERS:
        return None
    end = _end(block)
    starts = [found.start() for found in _FIELD.finditer(text, block.start, end)]
    if not starts or starts[0] != block.start:
        return None
    fields: list[tuple[str, Cell]] = []
    for start, stop in zip(starts, [*starts[1:], end], strict=True):
        colon = text.index(":", start)
        value = colon + 1 + (text[colon + 1 : colon + 2] == " ")
        last = value + len(text[value:stop].rstrip("\n"))
        here = marks_between(marks, value, last)
        fields.append((shown(text[start:colon]), Cell(value, tuple(stretches_of(text, here, value, last)))))
    order = {name: at for at, name in enumerate(_KNOWN)}
    known = sorted(
        (one for one in fields if one[0].casefold() in order), key=lambda one: order[one[0].casefold()]
    )
    others = [one for one in fields if one[0].casefold() not in order]
    return MailHeaders(block.where, tuple(known), tuple(others))


@cache
def _row_place(word: str) -> re.Pattern[str]:
    """Return the pattern of a location in a table, by the word for a row in the language of the page."""
    return re.compile(rf"(?:.*, )?(?:{re.escape(word)} |A)\d+", re.DOTALL)


def _values(text: str, block: Block) -> Values | None:
    """Return the values of a row by label; None if it is no row, or a cell has no label of its own."""
    if not _row_place(gettext("row")).fullmatch(block.where):
        return None
    values: Values = {}
    for start, stop in _cells(text, block.start, _end(block)):
        found = _LABEL.match(text, start, stop)
        if found is None or found[1] in values:
            return None
        values[found[1]] = found.end(), stop
    return values or None


def _end(block: Block) -> int:
    return block.start + sum(len(one.text) for one in block.stretches)


def _cells(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    end = start + len(text[start:end].rstrip("\n"))
    while (stop := text.find(_SEPARATOR, start, end)) >= 0:
        yield start, stop
        start = stop + len(_SEPARATOR)
    yield start, end


def _table(
    text: str, rows: Sequence[tuple[Block, Values | None]], labels: Sequence[str], marks: Marks
) -> RevealedTable:
    laid: list[tuple[str, tuple[Cell | None, ...]]] = []
    for block, values in rows:
        end = _end(block)
        here = marks_between(marks, block.start, end)
        found = [
            Cell(at[0], tuple(stretches_of(text, here, *at)))
            if values and (at := values.get(label))
            else None
            for label in labels
        ]
        laid.append((block.where, tuple(found)))
    columns = tuple(_column(label, [cells[index] for _, cells in laid]) for index, label in enumerate(labels))
    return RevealedTable(columns, tuple(laid))


def _column(label: str, cells: Sequence[Cell | None]) -> Column:
    filled = [cell for cell in cells if cell is not None]
    kinds = Counter(kind for cell in filled for kind in {one.type for one in cell.stretches if one.type})
    often = [kind for kind, n in kinds.most_common(1) if n >= _ROLE_SHARE * len(filled)]
    return Column(shown(label), often[0] if often else None)


_MARGIN = 4  # pixels around a word


@dataclass(frozen=True, slots=True)
class FoundBox:
    """A box over the words of one finding on one line, in pixels of the picture."""

    position: int
    type: EntityType
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class PictureView:
    """One image; ``source`` is a data: URL, so that nothing is stored for it."""

    where: str
    width: int
    height: int
    source: str = field(repr=False)
    boxes: tuple[FoundBox, ...]


def picture_views(pictures: Sequence[PagePicture], spans: Spans) -> tuple[PictureView, ...]:
    """Return the images with a box around the words of each finding.

    Args:
        pictures: images with the boxes of their words by offset in the text.
        spans: the findings, as ``reveal_view`` takes them.
    """
    return tuple(
        PictureView(
            locator_words(one.locator),
            one.width,
            one.height,
            "data:image/jpeg;base64," + b64encode(one.jpeg).decode(),
            tuple(_boxes(one, spans)),
        )
        for one in pictures
    )


def _boxes(picture: PagePicture, spans: Spans) -> Iterator[FoundBox]:
    for position, (start, end, kind) in enumerate(spans):
        if end <= picture.start or start >= picture.end:
            continue
        words = [word for word in picture.words if word.start < end and word.end > start]
        for line in _lines(words):
            left, top = min(word.left for word in line), min(word.top for word in line)
            yield FoundBox(
                position,
                EntityType(kind),
                max(0, left - _MARGIN),
                max(0, top - _MARGIN),
                max(word.right for word in line) - left + 2 * _MARGIN,
                max(word.bottom for word in line) - top + 2 * _MARGIN,
            )


def _lines(words: Sequence[WordBox]) -> Iterator[list[WordBox]]:
    """Group words in text order by line: a word entirely below or above the previous one begins a line."""
    line: list[WordBox] = []
    for word in words:
        if line and (word.top >= line[-1].bottom or word.bottom <= line[-1].top):
            yield line
            line = []
        line.append(word)
    if line:
        yield line


GRACE_S = 5  # the script masks first; without a script, the browser follows the Refresh header

routes = Routes()
Offset = Annotated[int, Form(ge=0)]


@routes.page("POST", "/items/{file_id}/reveal", needs=Permission.REVEAL)
def reveal(file_id: int, ctx: Ctx, listed: Listed, purpose: Line, start: Offset = 0) -> Response:
    """Record user and purpose in the log, then read the file again and show its text.

    The purpose is chosen from a list, so that no patient's name is entered there.
    """
    if purpose not in PURPOSES:
        raise InputError(_("purpose: expected one of the list"))
    item, recorded = _recorded(ctx, file_id, purpose)
    try:
        file = ctx.desk.rereader.read_shown(recorded, start=start)
    except ConflictError:
        return RedirectResponse(listed.url(f"/items/{file_id}", said="gone"), 303)
    corrections = () if item.blind else ctx.work.corrections(file_id, viewer=ctx.name).spans
    document = file.document
    spans = with_missed(recorded.spans, corrections)
    pictures = picture_views([one for one in file.pictures if one.start < start + N_CHARS], spans)
    given: Any = {"query": listed, "purpose": purpose, "start": start, "corrections": corrections}
    view = reveal_view(item, document.text, document.segments, recorded.spans, **given)
    ctx.request.state.shows_pictures = bool(pictures)  # only this page's content policy allows images
    page = ctx.page(
        "reveal.html",
        **view,
        parts=with_tables(document.text, view["blocks"], spans),
        pictures=pictures,
        n_pictures=file.n_pictures,
        token=secrets.token_urlsafe(16),
    )
    page.headers["Cache-Control"] = "no-store"
    page.headers["Refresh"] = f"{N_SECONDS + GRACE_S}; url={view['masked_url']}"
    return page


@routes.page("GET", "/items/{file_id}/reveal", needs=Permission.REVEAL)
def masked(file_id: int, ctx: Ctx) -> Response:
    """Redirect to the item: a text is shown once, in response to the form only."""
    return RedirectResponse(ctx.query.url(f"/items/{file_id}"), 303)


N_OPEN = 3  # passages shown; the others are collapsed
INLINE_BYTES = 1024 * 1024
INLINE_FINDINGS = 1_000  # masking takes 0.1 s for 5,000; the page of such a file does not wait for it
_ROLE = "role"  # kind of reason: the person is named as staff, author or the like
# Reading these again may take seconds: OCR of pages, opening of containers.
_SLOW_TYPES = ("application/pdf", "image/", "application/zip", "application/x-", "application/vnd.ms-outlook")
MAX_REVEALED_CHARS = 4_000


def is_quick(detail: FileRecord) -> bool:
    """Return whether a file can be read again during the request of its page."""
    is_small = detail.size <= INLINE_BYTES and detail.n_findings <= INLINE_FINDINGS
    return is_small and not detail.media_type.startswith(_SLOW_TYPES)


def prose_view(ctx: Context, detail: FileRecord) -> dict[str, Any]:
    """Return the strongest passages of a file, masked, or the problem; it is read again unless cached."""
    try:
        masked = masked_of(ctx, detail)
    except ConflictError:
        problem = _("The file has changed since it was examined, or is gone; the next scan reads it.")
        return {"problem": problem}
    except InputError as error:
        return {"problem": str(error)}
    return {"first": masked.passages[:N_OPEN], "more": masked.passages[N_OPEN:], "tables": masked.tables}


def masked_of(ctx: Context, detail: FileRecord, *, beginning: int = 0) -> MaskedProse:
    """Return the masked passages of a file: from the cache, else by reading it again.

    Args:
        ctx: the request.
        detail: the item.
        beginning: return one passage instead, with so many characters from the beginning of the text.

    Raises:
        ConflictError, InputError: as ``Rereader.masked``.
    """
    key = detail.content_hash, detail.examination_id, beginning
    examined = ctx.work.examined(detail.file_id)
    here, kept = present(examined.source), ctx.desk.passages.get(key)
    if kept is not None and kept[0] == here:
        return kept[1]
    found = [
        (one.span.start, one.span.end, one.entity_type, any(reason.kind == _ROLE for reason in one.reasons))
        for one in detail.findings
    ]
    masked = ctx.desk.rereader.masked(examined, found, beginning=beginning)
    if here is not None:
        ctx.desk.passages.put(key, (here, masked), sum(len(one.pieces) for one in masked.passages))
    return masked


def is_cached(ctx: Context, detail: FileRecord) -> bool:
    """Return whether the strongest passages of an item are cached."""
    return (detail.content_hash, detail.examination_id, 0) in ctx.desk.passages


def judged_positions(corrections: ItemCorrections) -> frozenset[int]:
    """Return the positions of the findings that were judged."""
    return frozenset(one.position for one in corrections.spans if one.position is not None)


@routes.page("GET", "/items/{file_id}/passages", needs=Permission.DECIDE)
def passages(file_id: int, ctx: Ctx) -> Response:
    """Return the masked passages of an item, for a page that was rendered without them."""
    detail = ctx.detail(file_id)
    if detail.blind:
        raise InputError(_("file {file_id}: it is reviewed blind, so no passage is picked", file_id=file_id))
    judged = judged_positions(ctx.work.corrections(file_id, viewer=ctx.name))
    given: Any = {"query": ctx.query, "judged": judged}
    return ctx.page("passages.html", prose=prose_view(ctx, detail), file_id=file_id, **given)


@routes.page("POST", "/items/{file_id}/passages/reveal", needs=Permission.REVEAL)
def reveal_passage(file_id: int, ctx: Ctx, start: Offset, end: Offset, purpose: Line = "") -> Response:
    """Record user and purpose in the log, then return the real text of one passage.

    The purpose is that of the session; a form with another purpose changes it.
    """
    purpose = purpose or ctx.session.purpose
    if purpose not in PURPOSES:
        return PlainTextResponse("purpose: choose what texts are revealed for first", 409)
    _item, recorded = _recorded(ctx, file_id, purpose)
    try:
        document = ctx.desk.rereader.read(recorded)
    except ConflictError:
        return PlainTextResponse("the file has changed since it was examined, or is gone", 409)
    end = min(end, start + MAX_REVEALED_CHARS, len(document.text))
    marks = marks_of(recorded.spans, start, end)
    return ctx.page("passage_revealed.html", stretches=tuple(stretches_of(document.text, marks, start, end)))


def _recorded(ctx: Context, file_id: int, purpose: str) -> tuple[FileRecord, Reveal]:
    """Record the purpose in the session, and the reveal of an item of the list in the log."""
    item = ctx.item(file_id)
    ctx.users.set_purpose(ctx.session, purpose)
    return item, ctx.work.reveal(file_id, purpose=purpose, **ctx.by)
