"""The review list: its page, its first item, saved views, assignments."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import Form, Request
from starlette.responses import RedirectResponse, Response

from phiscan.review.worklist.model import WorkFilter, WorkState
from phiscan.web.access import Permission, Routes, may
from phiscan.web.notices import notice
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.session import SignedIn
from phiscan.web.views.queue import queue_view
from phiscan.web.views.remaining import left_view
from phiscan.web.work_query import ListQuery, read_query, read_string

N_ROWS = 50
MAX_LIST = 8000  # characters of a serialized filter in a form
Listed = Annotated[str, Form(alias="list", max_length=MAX_LIST)]

routes = Routes()


@routes.page("GET", "/queue", needs=Permission.SEE_QUEUE)
def queue(request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Show a page of the list, its filters, and the remaining counts."""
    query = read_query(request.query_params)
    now, work = desk.now(), desk.store.desk
    page = work.items(
        query.filter, viewer=user.name, now=now, order=query.order, limit=N_ROWS, cursor=query.cursor
    )
    view = queue_view(
        query,
        page,
        counts=work.counts(viewer=user.name, now=now),
        progress=work.progress(since=midnight(now)),
        left=left_view(work.left()),
        choices=work.choices(),
        saved=desk.store.users.views(user.id),
        people=reviewers(desk) if may(user, Permission.ASSIGN) else (),
        viewer=user.name,
    )
    shown = notice(request.query_params.get("said", ""))
    return desk.pages.render(request, "queue.html", v=view, f=query.filter, notice=shown)


@routes.page("GET", "/queue/next", needs=Permission.SEE_QUEUE)
def begin(request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Redirect to the first item of a list."""
    query = read_query(request.query_params)
    return RedirectResponse(first_url(desk, query, viewer=user.name), 303)


@routes.page("POST", "/queue/assign", needs=Permission.ASSIGN)
def assign(
    user: SignedIn,
    desk: DeskNow,
    assignee: Annotated[str, Form(max_length=200)] = "",
    file: Annotated[list[int] | None, Form()] = None,
    listed: Listed = "",
) -> Response:
    """Assign the chosen items to a reviewer; an empty name removes the assignment."""
    query = read_string(listed)
    if not file:
        return RedirectResponse(query.url("/queue", said="none"), 303)
    desk.store.assign_all(file, assignee, by=user.name, now=desk.now())
    return RedirectResponse(query.url("/queue", said="assigned"), 303)


@routes.page("POST", "/queue/views", needs=Permission.DECIDE)
def save_view(
    user: SignedIn,
    desk: DeskNow,
    name: Annotated[str, Form(max_length=200)],
    listed: Listed = "",
) -> Response:
    """Save a filter under a name."""
    query = read_string(listed)
    desk.store.users.save_view(user.id, name=name, query=query.to_string(), now=desk.now())
    return RedirectResponse(query.url("/queue", said="kept"), 303)


@routes.page("POST", "/queue/views/{view_id}/remove", needs=Permission.DECIDE)
def forget_view(view_id: int, user: SignedIn, desk: DeskNow) -> Response:
    """Delete one of the user's saved views."""
    desk.store.users.remove_view(user.id, view_id)
    return RedirectResponse("/queue?said=forgotten", 303)


@routes.page("GET", "/search", needs=Permission.SEE_QUEUE)
def search(request: Request, desk: DeskNow, text: str = "") -> Response:
    """Find items of any state by their path or number."""
    text = text.strip()
    query = ListQuery(WorkFilter(state=WorkState.ANY, text=text))
    if not text:
        return desk.pages.render(request, "search.html", text="")
    if text.isascii() and text.isdecimal() and len(text) < 19:  # noqa: PLR2004 (digits of 2**63)
        return RedirectResponse(query.url(f"/items/{int(text)}"), 303)
    return RedirectResponse(query.url("/queue"), 303)


@routes.page("GET", "/keys", needs=Permission.SEE_QUEUE)
def keys(request: Request, desk: DeskNow) -> Response:
    """List the keys."""
    return desk.pages.render(request, "keys.html")


def first_url(desk: Desk, query: ListQuery, *, viewer: str, **parameters: str) -> str:
    """Return the address of the first item of a list; of the list itself if it is empty."""
    page = desk.store.desk.items(
        query.filter, viewer=viewer, now=desk.now(), order=query.order, limit=1, cursor=query.cursor
    )
    if not page.items:
        return query.url("/queue", **parameters)
    return query.url(f"/items/{page.items[0].file_id}", **parameters)


def reviewers(desk: Desk) -> tuple[str, ...]:
    """Return the names of the users who may decide."""
    return tuple(
        person.name
        for person in desk.store.users.everybody()
        if person.disabled is None and may(person, Permission.DECIDE)
    )


def midnight(now: datetime) -> datetime:
    """Return the start of the day (UTC)."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)
