"""The REST API of the queue: list, item, verdict, undo, corrections, assignment, export.

No route reveals text: a reveal requires a user in a browser, for one item at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Self

from fastapi import Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response, StreamingResponse

from phiscan.errors import InputError
from phiscan.model import EntityType, FailReason, Span, Verdict
from phiscan.review.accounts.users import User
from phiscan.review.decisions.corrections import Correction, ItemCorrections, Mark
from phiscan.review.worklist.model import MAX_NOTE_CHARS, Decided, FileRecord, WorkPage, WorkState
from phiscan.review.worklist.record_json import finding_json, record_json
from phiscan.web.access import Permission, Routes, may
from phiscan.web.request_context import MAX_NUMBER, Desk, DeskNow, RowNumber
from phiscan.web.session import SignedIn, address_of
from phiscan.web.work_query import ListQuery, read_query


class Body(BaseModel):
    """A request body: an unknown field is an error, because a misspelt one would silently not apply."""

    model_config = ConfigDict(extra="forbid")


class Item(BaseModel):
    """One row of the queue; results of the machine are null or empty for a blind item."""

    file: int
    root: str
    path: str
    media_type: str
    size: int
    owner: str
    exposure: str
    risk: float | None = Field(description="null for a blind item: its place in the list was drawn")
    blind: bool
    pii: list[str]
    people: int | None
    people_interval: tuple[int, int] | None = Field(
        description="95 % interval of people; null where everything was counted"
    )
    findings: int | None
    health: float | None
    case: str | None
    state: WorkState
    reviewer: str | None
    decided: datetime | None
    assignee: str | None
    new: bool
    group: int | None
    suppressed: bool
    seen: int = Field(description="to be sent back with a verdict: what the reviewer saw")

    @classmethod
    def of(cls, item: FileRecord) -> Item:
        """Convert an item of the list."""
        values = record_json(item, cls.model_fields)
        return cls(**{**values, "owner": item.owner, "case": item.case or None})


class Items(BaseModel):
    """A page of the queue; ``after``: the value of ``at`` for the next page; null = this was the last."""

    n: int
    items: list[Item]
    after: str | None


class FoundReason(BaseModel):
    """One step of a finding's score."""

    kind: str
    detail: str
    score: float


class Found(BaseModel):
    """One identifier: location and reasons, never its value; ``shape``: letters as X and x, digits as 9."""

    position: int
    type: EntityType
    shape: str
    locator: str
    start: int
    end: int
    score: float
    source: str
    reasons: list[FoundReason]
    identity: str


class Term(BaseModel):
    """A health concept found."""

    concept: str
    count: int
    locator: str


class Unread(BaseModel):
    """A part that could not be read."""

    locator: str
    reason: FailReason
    detail: str


class SpanMark(BaseModel):
    """The correction of one span; ``position`` null: a missed one."""

    position: int | None
    mark: Mark
    type: EntityType
    start: int
    end: int
    reviewer: str
    corrected: datetime

    @classmethod
    def of(cls, one: Correction) -> SpanMark:
        """Convert a correction."""
        return cls(
            position=one.position,
            mark=one.mark,
            type=one.entity_type,
            start=one.span.start,
            end=one.span.end,
            reviewer=one.reviewer,
            corrected=one.corrected,
        )


class Detail(BaseModel):
    """One item with its evidence."""

    item: Item
    mode: int
    uid: int
    readers: list[str]
    content_hash: str
    hamming: int | None
    missing: list[str]
    nearest_prototype: str | None
    prototype_distance: int | None
    health_prototype: str | None
    detectors: dict[str, bool]
    detector_probability: dict[str, float] = Field(description="P(PHI) by each detector alone")
    found: list[Found]
    terms: list[Term]
    unread: list[Unread]
    corrections: list[SpanMark]
    spans_complete: bool

    @classmethod
    def of(cls, record: FileRecord, marks: ItemCorrections) -> Detail:
        """Convert an item; a blind item's corrections are omitted, because they would reveal its findings."""
        own = {"item", "found", "corrections", "spans_complete"}
        values = record_json(record, cls.model_fields.keys() - own)
        prototypes = ("nearest_prototype", "health_prototype")
        return cls(
            **{**values, **{name: values[name] or None for name in prototypes}},
            item=Item.of(record),
            found=[
                Found(position=position, **finding_json(one)) for position, one in enumerate(record.findings)
            ],
            corrections=[] if record.blind else [SpanMark.of(one) for one in marks.spans],
            spans_complete=marks.complete and not record.blind,
        )


class NewVerdict(Body):
    """A verdict; ``token``: random text, so that a repeated request is recorded once."""

    verdict: Verdict
    seen: int = Field(ge=1, le=MAX_NUMBER)
    token: str = Field(default="", max_length=100)
    reason: str = Field(default="", max_length=200)
    note: str = Field(default="", max_length=MAX_NOTE_CHARS)
    override: bool = False
    by_name: bool = Field(
        default=False, description="judge a blind file by its name, unopened: counts in no estimate"
    )


class RecordedVerdict(BaseModel):
    """A verdict as it was recorded; ``repeated``: the same token was used before."""

    file: int
    verdict: Verdict
    reviewer: str
    decided: datetime
    repeated: bool

    @classmethod
    def of(cls, made: Decided) -> Self:
        """Convert the result of a verdict."""
        return cls(
            file=made.file_id,
            verdict=made.verdict,
            reviewer=made.reviewer,
            decided=made.decided,
            repeated=made.repeated,
        )


class NewMark(Body):
    """The correction of one span: see ``Mark`` for the required fields of each."""

    mark: Mark
    seen: int = Field(ge=1, le=MAX_NUMBER)
    position: int | None = Field(default=None, ge=0, le=MAX_NUMBER)
    type: EntityType | None = None
    start: int | None = Field(default=None, ge=0, le=MAX_NUMBER)
    end: int | None = Field(default=None, ge=1, le=MAX_NUMBER)


class Assignment(Body):
    """The assignee; "" = removes the assignment."""

    files: list[int] = Field(min_length=1, max_length=1000)
    assignee: str = Field(max_length=200)


FILTERS = {
    "parameters": [
        {"name": name, "in": "query", "required": False, "schema": {"type": "string"}, "description": what}
        for name, what in {
            "state": "undecided (default), phi, not_phi, unsure, skipped, disagreed, any",
            "root": "number of the share",
            "folder": "below this folder",
            "type": "media type",
            "kind": "holds a finding of this type",
            "min": "health score from",
            "max": "health score to",
            "owner": "owner of the file",
            "assignee": "who shall decide; - = nobody",
            "new": "1 = new since the last scan",
            "group": "number of a near-duplicate group",
            "hidden": "1 = only what suppressions hide",
            "text": "anywhere in the path",
            "order": "risk (default), informative, oldest",
            "at": "which part: `after` of the part before",
        }.items()
    ]
}
N_AT_ONCE = 500

routes = Routes()


@routes.api("GET", "/queue", needs=Permission.SEE_QUEUE, summary="List the queue", extra=FILTERS)
def queue(
    request: Request, user: SignedIn, desk: DeskNow, limit: Annotated[int, Query(ge=1, le=500)] = 50
) -> Items:
    """Return a page of the queue, highest risk first; filters as in the address of the page."""
    query, now = read_query(request.query_params), desk.now()
    page = desk.store.desk.items(
        query.filter, viewer=user.name, now=now, order=query.order, limit=limit, cursor=query.cursor
    )
    n_items = desk.store.desk.size(query.filter, viewer=user.name, now=now)
    return Items(n=n_items, items=[Item.of(item) for item in page.items], after=page.after or None)


@routes.api("GET", "/queue/export", needs=Permission.EXPORT, summary="Export the queue", extra=FILTERS)
def export(request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Send every item of the filter as a JSON line; the export is recorded in the audit log."""
    query = read_query(request.query_params)
    first = _part(desk, query, user, query.cursor)  # an invalid filter is reported before the response begins
    desk.store.users.log_export(what="queue", by=user, address=address_of(request), now=desk.now())
    return StreamingResponse(
        _lines(desk, query, user, first),
        media_type="application/x-ndjson",
        headers={"Content-Disposition": 'attachment; filename="queue.jsonl"'},
    )


@routes.api("GET", "/items/{file_id}", needs=Permission.SEE_QUEUE, summary="One item")
def item(file_id: RowNumber, user: SignedIn, desk: DeskNow) -> Detail:
    """Return one item with its evidence, values masked."""
    work = desk.store.desk
    detail = work.detail(file_id, viewer=user.name, now=desk.now())
    return Detail.of(detail, work.corrections(file_id, viewer=user.name))


@routes.api("POST", "/items/{file_id}/verdict", needs=Permission.DECIDE, summary="Decide")
def decide(file_id: RowNumber, body: NewVerdict, user: SignedIn, desk: DeskNow) -> RecordedVerdict:
    """Record a verdict; 409 if the content has changed, or another user has decided.

    400 for a blind item whose text the user has not revealed on its page, unless ``by_name`` is set.
    """
    desk.store.desk.item(file_id, viewer=user.name, now=desk.now())  # raises unless the item is in the list
    made = desk.store.desk.decide(
        file_id,
        body.verdict,
        reviewer=user.name,
        now=desk.now(),
        token=body.token,
        seen=body.seen,
        override=body.override,
        reason=body.reason,
        note=body.note,
        by_name=body.by_name,
    )
    return RecordedVerdict.of(made)


@routes.api(
    "DELETE", "/items/{file_id}/verdict", needs=Permission.DECIDE, status_code=204, summary="Undo a verdict"
)
def undo(file_id: RowNumber, user: SignedIn, desk: DeskNow) -> None:
    """Undo the user's own verdict; a lead may undo any."""
    lead = may(user, Permission.ADJUDICATE)
    desk.store.desk.undo(file_id, by=user.name, now=desk.now(), lead=lead)


@routes.api(
    "POST", "/items/{file_id}/spans", needs=Permission.CORRECT, status_code=201, summary="Correct a span"
)
def correct(file_id: RowNumber, body: NewMark, user: SignedIn, desk: DeskNow) -> SpanMark:
    """Record the correction of one span."""
    if (body.start is None) != (body.end is None):
        message = "start, end: expected both or none"
        raise InputError(message)
    made = desk.store.desk.correct(
        file_id,
        Mark(body.mark),
        seen=body.seen,
        reviewer=user.name,
        now=desk.now(),
        position=body.position,
        span=None if body.start is None or body.end is None else _span(body.start, body.end),
        entity_type=body.type,
    )
    return SpanMark.of(made)


@routes.api("POST", "/assignments", needs=Permission.ASSIGN, status_code=204, summary="Assign items")
def assign(body: Assignment, user: SignedIn, desk: DeskNow) -> None:
    """Assign files to a reviewer, all or none."""
    if any(not 1 <= number <= MAX_NUMBER for number in body.files):
        message = "files: expected numbers of files"
        raise InputError(message)
    desk.store.assign_all(list(dict.fromkeys(body.files)), body.assignee, by=user.name, now=desk.now())


def _span(start: int, end: int) -> Span:
    if start >= end:
        message = "start, end: expected start below end"
        raise InputError(message)
    return Span(start, end)


def _part(desk: Desk, query: ListQuery, user: User, cursor: str) -> WorkPage:
    return desk.store.desk.items(
        query.filter, viewer=user.name, now=desk.now(), order=query.order, limit=N_AT_ONCE, cursor=cursor
    )


def _lines(desk: Desk, query: ListQuery, user: User, page: WorkPage) -> Iterator[str]:
    while True:
        for item in page.items:
            yield json.dumps(Item.of(item).model_dump(mode="json"), ensure_ascii=True) + "\n"
        if not page.after:
            return
        page = _part(desk, query, user, page.after)
