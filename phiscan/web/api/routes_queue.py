"""The REST API of the queue: list, item, verdict, undo, corrections, assignment, export.

No route reveals text: a reveal requires a user in a browser, for one item at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated

from fastapi import Query, Request
from starlette.responses import Response, StreamingResponse

from phiscan.errors import InputError
from phiscan.model import Span
from phiscan.review.accounts.users import User
from phiscan.review.decisions.corrections import Mark
from phiscan.review.worklist.model import WorkPage
from phiscan.web.access import Permission, Routes, may
from phiscan.web.api.models import (
    Assignment,
    Detail,
    Item,
    Items,
    NewMark,
    NewVerdict,
    RecordedVerdict,
    SpanMark,
)
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.row_numbers import MAX_NUMBER, RowNumber
from phiscan.web.session import SignedIn, address_of
from phiscan.web.work_query import ListQuery, read_query

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
    """Record a verdict; 409 if the content has changed, or another user has decided."""
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
