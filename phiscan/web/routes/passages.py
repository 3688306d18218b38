"""The passages of one item: masked for its page, and one of them revealed in place."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, Request
from starlette.responses import PlainTextResponse, Response

from phiscan.errors import ConflictError, InputError
from phiscan.language import gettext as _
from phiscan.review.decisions.reveals import PURPOSES
from phiscan.web.access import Permission, Routes
from phiscan.web.request_context import DeskNow
from phiscan.web.session import BrowserSession, SignedIn
from phiscan.web.views.item import judged_positions
from phiscan.web.views.passages import prose_view, revealed_stretches
from phiscan.web.work_query import read_query

routes = Routes()


@routes.page("GET", "/items/{file_id}/passages", needs=Permission.DECIDE)
def passages(file_id: int, request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Return the masked passages of an item, for a page that was rendered without them."""
    detail = desk.store.desk.detail(file_id, viewer=user.name, now=desk.now())
    if detail.item.blind:
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
