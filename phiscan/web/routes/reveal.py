"""The real text of one item, for a limited time, after a permission check and with a purpose."""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import Form, Request
from starlette.responses import RedirectResponse, Response

from phiscan.errors import ConflictError, InputError
from phiscan.language import gettext as _
from phiscan.review.decisions.reveals import PURPOSES
from phiscan.web.access import Permission, Routes
from phiscan.web.request_context import DeskNow
from phiscan.web.routes.queue import Listed
from phiscan.web.session import BrowserSession, SignedIn
from phiscan.web.views.reveal import N_CHARS, N_SECONDS, reveal_view, with_missed
from phiscan.web.views.revealed_pictures import picture_views
from phiscan.web.views.revealed_tables import with_tables
from phiscan.web.work_query import read_query, read_string

GRACE_S = 5  # the script masks first; without a script, the browser follows the Refresh header

routes = Routes()


@routes.page("POST", "/items/{file_id}/reveal", needs=Permission.REVEAL)
def reveal(
    file_id: int,
    request: Request,
    user: SignedIn,
    session: BrowserSession,
    desk: DeskNow,
    purpose: Annotated[str, Form(max_length=200)],
    start: Annotated[int, Form(ge=0)] = 0,
    listed: Listed = "",
) -> Response:
    """Record user and purpose in the log, then read the file again and show its text.

    The purpose is chosen from a list, so that no patient's name is entered there.
    """
    query, work = read_string(listed), desk.store.desk
    if purpose not in PURPOSES:
        message = _("purpose: expected one of the list")
        raise InputError(message)
    item = work.item(file_id, viewer=user.name, now=desk.now())
    desk.store.users.set_purpose(session, purpose)
    recorded = work.reveal(file_id, purpose=purpose, by=user.name, now=desk.now())
    try:
        file = desk.rereader.read_shown(recorded, start=start)
    except ConflictError:
        return RedirectResponse(query.url(f"/items/{file_id}", said="gone"), 303)
    corrections = () if item.blind else work.corrections(file_id, viewer=user.name).spans
    document = file.document
    spans = with_missed(recorded.spans, corrections)
    pictures = picture_views([one for one in file.pictures if one.start < start + N_CHARS], spans)
    view = reveal_view(
        item,
        document.text,
        document.segments,
        recorded.spans,
        query=query,
        purpose=purpose,
        start=start,
        corrections=corrections,
    )
    request.state.shows_pictures = bool(pictures)  # only this page's content policy allows images
    page = desk.pages.render(
        request,
        "reveal.html",
        v=view,
        parts=with_tables(document.text, view.blocks, spans),
        pictures=pictures,
        n_pictures=file.n_pictures,
        token=secrets.token_urlsafe(16),
    )
    page.headers["Cache-Control"] = "no-store"
    page.headers["Refresh"] = f"{N_SECONDS + GRACE_S}; url={view.masked_url}"
    return page


@routes.page("GET", "/items/{file_id}/reveal", needs=Permission.REVEAL)
def masked(file_id: int, request: Request) -> Response:
    """Redirect to the item: a text is shown once, in response to the form only."""
    return RedirectResponse(read_query(request.query_params).url(f"/items/{file_id}"), 303)
