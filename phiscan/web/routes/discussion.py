"""Discussion of items: comments, mentions, tags; verdicts and tags for items chosen in the list, and undo."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import Form
from starlette.responses import RedirectResponse, Response

from phiscan.errors import ConflictError, InputError
from phiscan.language import gettext as _
from phiscan.model import Verdict
from phiscan.web.access import Permission, Routes
from phiscan.web.request_context import Ctx
from phiscan.web.routes.queue import Chosen, Line, Listed, people_with

routes = Routes()
Words = Annotated[str, Form(max_length=1_000)]
What = Annotated[Literal["tag", "untag"], Form()]


@routes.page("GET", "/mentions", needs=Permission.SEE_QUEUE)
def mentions(ctx: Ctx) -> Response:
    """List the comments to the user, those without an answer first."""
    return ctx.page("mentions.html", mentions=ctx.work.mentions(viewer=ctx.name))


@routes.page("POST", "/items/{file_id}/comments", needs=Permission.SEE_QUEUE)
def comment(
    file_id: int, ctx: Ctx, listed: Listed, text: Annotated[str, Form(max_length=2_000)] = "", to: Line = ""
) -> Response:
    """Record a comment on an item, to a colleague or to nobody."""
    if to and to not in people_with(ctx, Permission.SEE_QUEUE):
        raise InputError(_("comment: expected a colleague who may see the queue"))
    ctx.work.comment(file_id, text, to=to, **ctx.by)
    return RedirectResponse(f"{listed.url(f'/items/{file_id}', said='commented')}#discussion", 303)


@routes.page("POST", "/items/{file_id}/tags", needs=Permission.DECIDE)
def tag_item(file_id: int, ctx: Ctx, listed: Listed, what: What, tag: Words = "") -> Response:
    """Add tags to an item, or remove one."""
    ctx.work.tag([file_id], tag, remove=what == "untag", **ctx.by)
    return RedirectResponse(listed.url(f"/items/{file_id}", said="tagged"), 303)


@routes.page("POST", "/queue/tag", needs=Permission.DECIDE)
def tag_chosen(ctx: Ctx, listed: Listed, what: What, tag: Words = "", file: Chosen = None) -> Response:
    """Add tags to the chosen items, or remove them; items that are reviewed blind are left out."""
    by = ctx.by
    n_changed = ctx.work.tag(file, tag, remove=what == "untag", **by) if file else 0
    act = {"act": by["now"].isoformat()} if n_changed else {}
    return RedirectResponse(listed.url("/queue", said="tagged" if file else "none", **act), 303)


@routes.page("POST", "/queue/decide", needs=Permission.DECIDE)
def decide_chosen(
    ctx: Ctx, listed: Listed, verdict: Annotated[Verdict, Form()], file: Chosen = None
) -> Response:
    """Record one verdict for the chosen items; what is blind, decided or hidden is left out."""
    if not file:
        return RedirectResponse(listed.url("/queue", said="none"), 303)
    n_decided = len(ctx.work.decide_chosen(file, verdict, **ctx.reviewing).decided)
    shown = {"said": "decided" if n_decided else "none", "left": str(len(set(file)) - n_decided)}
    return RedirectResponse(listed.url("/queue", **shown), 303)


@routes.page("POST", "/queue/undo", needs=Permission.DECIDE)
def take_back(ctx: Ctx, listed: Listed, act: Annotated[datetime, Form()]) -> Response:
    """Take back what the user assigned or tagged at one moment, unless it was changed since."""
    try:
        ctx.work.take_back(act, **ctx.by)
    except ConflictError:
        return RedirectResponse(listed.url("/queue", said="not_taken_back"), 303)
    return RedirectResponse(listed.url("/queue", said="taken_back"), 303)
