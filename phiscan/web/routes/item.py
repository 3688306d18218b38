"""One item: its page, the verdict on it, skip and undo, who shall decide, and its near-duplicates."""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import Form, Request
from starlette.responses import RedirectResponse, Response

from phiscan.errors import ConflictError, InputError
from phiscan.model import Verdict
from phiscan.review.worklist.model import REASONS, WorkState
from phiscan.visible import visible
from phiscan.web.access import Permission, Routes, may
from phiscan.web.notices import Notice, notice
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.routes.queue import Listed, first_url, reviewers
from phiscan.web.session import SignedIn
from phiscan.web.views.group import group_view
from phiscan.web.views.item import item_view
from phiscan.web.views.queue import verdict_words
from phiscan.web.views.reveal import N_SECONDS, PURPOSES
from phiscan.web.views.vetoes import veto_view
from phiscan.web.work_query import ListQuery, read_query, read_string

routes = Routes()


@routes.page("GET", "/items/{file_id}", needs=Permission.SEE_QUEUE)
def item(
    file_id: int,
    request: Request,
    user: SignedIn,
    desk: DeskNow,
    finding: int | None = None,
    places: str = "",
    vetoed: str = "",
) -> Response:
    """Show one item with everything that explains it; blind, only where it lies.

    With ``vetoed`` the file is read again for what the rules matched and refused.
    """
    query = read_query(request.query_params)
    now, work = desk.now(), desk.store.desk
    detail = work.detail(file_id, viewer=user.name, now=now)
    group = detail.item.group_id
    view = item_view(
        detail,
        query=query,
        corrections=work.corrections(file_id, viewer=user.name),
        history=work.history(file_id, viewer=user.name),
        group=work.group(group, viewer=user.name) if group is not None else (),
        token=secrets.token_urlsafe(16),
        position=finding,
        all_places=places == "all",
    )
    said = request.query_params.get("said", "")
    may_ask = may(user, Permission.DECIDE)
    return desk.pages.render(
        request,
        "item.html",
        v=view,
        notice=just_done(request, desk, user) or notice(said),
        override=said == "conflict",
        people=reviewers(desk) if may(user, Permission.ASSIGN) else (),
        vetoed=veto_view(desk, file_id) if vetoed and not view.item.blind and may_ask else None,
        may_ask=may_ask,
        purposes=PURPOSES,
        seconds=N_SECONDS,
    )


@routes.page("POST", "/items/{file_id}/decide", needs=Permission.DECIDE)
def decide(
    file_id: int,
    user: SignedIn,
    desk: DeskNow,
    verdict: Annotated[Verdict, Form()],
    token: Annotated[str, Form(max_length=100)],
    seen: Annotated[int, Form()],
    reason: Annotated[str, Form(max_length=200)] = "",
    note: Annotated[str, Form(max_length=10_000)] = "",
    override: Annotated[str, Form(max_length=1)] = "",
    listed: Listed = "",
) -> Response:
    """Record a verdict and go on to the next item of the list."""
    query = read_string(listed)
    here = f"/items/{file_id}"
    if not fits(reason, verdict):
        return RedirectResponse(query.url(here, said="reason"), 303)
    desk.store.desk.item(file_id, viewer=user.name, now=desk.now())  # only what is in the list is decided
    try:
        desk.store.desk.decide(
            file_id,
            verdict,
            reviewer=user.name,
            now=desk.now(),
            token=token,
            seen=seen,
            override=bool(override),
            reason=reason,
            note=note,
        )
    except ConflictError:
        return RedirectResponse(query.url(here, said="conflict"), 303)
    return RedirectResponse(next_url(desk, query, file_id, viewer=user.name, done=str(file_id)), 303)


@routes.page("POST", "/items/{file_id}/skip", needs=Permission.DECIDE)
def skip(file_id: int, user: SignedIn, desk: DeskNow, listed: Listed = "") -> Response:
    """Pass an item over for now and go on to the next."""
    query = read_string(listed)
    desk.store.desk.item(file_id, viewer=user.name, now=desk.now())
    desk.store.desk.skip(file_id, reviewer=user.name, now=desk.now())
    return RedirectResponse(next_url(desk, query, file_id, viewer=user.name, said="skipped"), 303)


@routes.page("GET", "/items/{file_id}/next", needs=Permission.SEE_QUEUE)
def next_item(file_id: int, request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Go on to the item that follows in the list."""
    return RedirectResponse(next_url(desk, read_query(request.query_params), file_id, viewer=user.name), 303)


@routes.page("GET", "/items/{file_id}/previous", needs=Permission.SEE_QUEUE)
def previous_item(file_id: int, request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Go back to the item before this one in the list; before the first, to the list."""
    query = read_query(request.query_params)
    before = desk.store.desk.before(
        file_id, query.filter, viewer=user.name, now=desk.now(), order=query.order
    )
    return RedirectResponse(query.url("/queue" if before is None else f"/items/{before}"), 303)


@routes.page("POST", "/items/{file_id}/undo", needs=Permission.DECIDE)
def undo(file_id: int, user: SignedIn, desk: DeskNow, listed: Listed = "") -> Response:
    """Take back one's own verdict on an item, and show the item again."""
    query = read_string(listed)
    try:
        desk.store.desk.undo(file_id, by=user.name, now=desk.now())
    except ConflictError:
        return RedirectResponse(query.url(f"/items/{file_id}", said="nothing_to_undo"), 303)
    return RedirectResponse(query.url(f"/items/{file_id}", said="undone"), 303)


@routes.page("POST", "/undo", needs=Permission.DECIDE)
def undo_last(user: SignedIn, desk: DeskNow, listed: Listed = "") -> Response:
    """Take back one's very last verdict, wherever it was given, and show that item."""
    query = read_string(listed)
    try:
        file_id = desk.store.desk.undo_last(by=user.name, now=desk.now())
    except ConflictError:
        return RedirectResponse(query.url("/queue", said="nothing_to_undo"), 303)
    return RedirectResponse(query.url(f"/items/{file_id}", said="undone"), 303)


@routes.page("POST", "/items/{file_id}/assign", needs=Permission.ASSIGN)
def assign(
    file_id: int,
    user: SignedIn,
    desk: DeskNow,
    assignee: Annotated[str, Form(max_length=200)] = "",
    listed: Listed = "",
) -> Response:
    """Say who shall decide about an item; nobody in particular without a name."""
    desk.store.assign(file_id, assignee, by=user.name, now=desk.now())
    return RedirectResponse(read_string(listed).url(f"/items/{file_id}", said="assigned"), 303)


@routes.page("GET", "/groups/{group_id}", needs=Permission.SEE_QUEUE)
def group(group_id: int, request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Show the files of a near-duplicate group, to decide them at once but for exceptions."""
    members = desk.store.desk.group(group_id, viewer=user.name)
    if not members:
        message = f"group {group_id}: there is no such group of near-duplicates"
        raise InputError(message)
    view = group_view(group_id, members, token=secrets.token_urlsafe(16))
    said = notice(request.query_params.get("said", ""))
    return desk.pages.render(request, "group.html", v=view, notice=said, outcome=None)


@routes.page("POST", "/groups/{group_id}/decide", needs=Permission.DECIDE)
def decide_group(
    group_id: int,
    request: Request,
    user: SignedIn,
    desk: DeskNow,
    verdict: Annotated[Verdict, Form()],
    token: Annotated[str, Form(max_length=100)],
    reason: Annotated[str, Form(max_length=200)] = "",
    note: Annotated[str, Form(max_length=10_000)] = "",
    file: Annotated[list[int] | None, Form()] = None,
) -> Response:
    """Record one verdict for the chosen files of a group, and say which were left out and why."""
    work = desk.store.desk
    if not fits(reason, verdict):
        return RedirectResponse(f"/groups/{group_id}?said=reason", 303)
    chosen = set(file or ())
    before = work.group(group_id, viewer=user.name)
    outcome = work.decide_group(
        group_id,
        verdict,
        reviewer=user.name,
        now=desk.now(),
        exceptions=[member.file_id for member in before if member.file_id not in chosen],
        token=token,
        reason=reason,
        note=note,
    )
    view = group_view(
        group_id,
        work.group(group_id, viewer=user.name),
        token=secrets.token_urlsafe(16),
        outcome=outcome,
        verdict=verdict,
    )
    return desk.pages.render(request, "group.html", v=view, notice=None)


def fits(reason: str, verdict: Verdict) -> bool:
    """Tell whether a reason of the short list belongs to a verdict; none always does."""
    return not reason or reason in {name for name, _ in REASONS[verdict]}


def next_url(desk: Desk, query: ListQuery, file_id: int, *, viewer: str, **said: str) -> str:
    """Return the address of the item after this one; after the last, of the first; else of the list."""
    following = desk.store.desk.next_after(
        file_id, query.filter, viewer=viewer, now=desk.now(), order=query.order
    )
    if following is None:
        return first_url(desk, query, viewer=viewer, **said)
    return query.url(f"/items/{following}", **said)


def just_done(request: Request, desk: Desk, user: SignedIn) -> Notice | None:
    """Say which verdict was recorded on the page before, and offer to take it back."""
    done = request.query_params.get("done", "")
    if not (done.isascii() and done.isdecimal() and len(done) < 19):  # noqa: PLR2004 (digits of 2**63)
        return None
    try:
        decided = desk.store.desk.item(int(done), viewer=user.name, now=desk.now())
    except InputError:
        return None
    name = visible(decided.path.rpartition("/")[2])
    if decided.state is WorkState.UNDECIDED:  # a blind verdict does not show before both are in
        return Notice("good", f"Recorded for {name}.", file_id=decided.file_id)
    verdict = Verdict(decided.state.value)
    offer = verdict is Verdict.NOT_PHI and not decided.blind and may(user, Permission.PROPOSE_SUPPRESSION)
    return Notice(
        "good",
        f"{name} is recorded as {verdict_words(verdict)}.",
        file_id=decided.file_id,
        suppress_url=f"/items/{decided.file_id}/suppress" if offer else "",
    )
