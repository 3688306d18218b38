"""Suppressions: proposed from an item, listed, approved and lifted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import Annotated

from fastapi import Form, Query, Request
from starlette.responses import RedirectResponse, Response

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.review.decisions.suppressions import SuppressionScope
from phiscan.review.worklist.model import WorkDetail
from phiscan.visible import visible
from phiscan.web.access import Permission, Routes
from phiscan.web.notices import notice
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.session import SignedIn
from phiscan.web.views.queue import place_words
from phiscan.web.views.suppressions import SCOPES, UNTIL, SuppressView, Target, in_folder, rows, targets
from phiscan.web.work_query import ListQuery

routes = Routes()


@routes.page("GET", "/items/{file_id}/suppress", needs=Permission.PROPOSE_SUPPRESSION)
def offer(
    file_id: int,
    request: Request,
    user: SignedIn,
    desk: DeskNow,
    what: Annotated[list[str] | None, Query()] = None,
    where: str = "folder",
    position: int | None = None,
) -> Response:
    """Show what can be suppressed, and how many items each choice would hide."""
    detail = desk.store.desk.detail(file_id, viewer=user.name, now=desk.now())
    known = targets(detail.findings)
    chosen = _chosen(detail, known, what or (), position)
    where = where if where in SCOPES else "folder"
    preview = None
    if chosen:
        scopes = [in_folder(one.scope, detail.item, where) for one in chosen]
        preview = desk.store.desk.preview_suppressions(scopes, now=desk.now())
    folder, _, name = detail.item.path.rpartition("/")
    view = SuppressView(
        item=detail.item,
        name=visible(name),
        folder=place_words(detail.item.root, folder),
        targets=known,
        chosen=chosen,
        where=where,
        preview=preview,
        until=(desk.now() + UNTIL).date(),
    )
    return desk.pages.render(request, "suppress.html", v=view, query=ListQuery())


@routes.page("POST", "/items/{file_id}/suppress", needs=Permission.PROPOSE_SUPPRESSION)
def suppress(
    file_id: int,
    user: SignedIn,
    desk: DeskNow,
    what: Annotated[list[str], Form(max_length=200)],
    where: Annotated[str, Form(max_length=20)],
    reason: Annotated[str, Form(max_length=200)],
    until: Annotated[date, Form()],
) -> Response:
    """Create a suppression of each chosen value or rule; refused if together they hide nothing."""
    scopes = _scopes(desk, file_id, user.name, what, where)
    if not desk.store.desk.preview_suppressions(scopes, now=desk.now()).n_hidden:
        message = _("suppression: it would hide no item; choose every value that refers one")
        raise InputError(message)
    made = desk.store.desk.suppress_all(
        scopes,
        reason=reason,
        until=datetime.combine(until, time.max, UTC),
        by=user.name,
        now=desk.now(),
    )
    notice_name = "waiting" if any(one.status == "waiting" for one in made) else "suppressed"
    return RedirectResponse(f"/suppressions?said={notice_name}", 303)


@routes.page("GET", "/suppressions", needs=Permission.SEE_QUEUE)
def suppressions(request: Request, desk: DeskNow) -> Response:
    """List every suppression with its status."""
    now = desk.now()
    work = desk.store.desk
    listed = work.suppressions(now=now)
    effects = {
        one.id: (work.suppressed_types(one.scope), work.preview_suppression(one.scope, now=now))
        for one in listed
        if one.status == "waiting"
    }
    made = rows(listed, effects, now=now)
    shown = notice(request.query_params.get("said", ""))
    return desk.pages.render(request, "suppressions.html", rows=made, notice=shown, query=ListQuery())


@routes.page("POST", "/suppressions/{suppression_id}/approve", needs=Permission.APPROVE_SUPPRESSION)
def approve(suppression_id: int, user: SignedIn, desk: DeskNow) -> Response:
    """Approve a suppression that hides many items."""
    desk.store.desk.approve_suppression(suppression_id, lead=user.name, now=desk.now())
    return RedirectResponse("/suppressions?said=approved", 303)


@routes.page("POST", "/suppressions/{suppression_id}/lift", needs=Permission.PROPOSE_SUPPRESSION)
def lift(
    suppression_id: int,
    user: SignedIn,
    desk: DeskNow,
    reason: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Lift a suppression; every reviewer may, because it only shows more."""
    desk.store.desk.lift_suppression(suppression_id, by=user.name, now=desk.now(), reason=reason)
    return RedirectResponse("/suppressions?said=lifted", 303)


def _scopes(desk: Desk, file_id: int, viewer: str, what: Sequence[str], where: str) -> list[SuppressionScope]:
    detail = desk.store.desk.detail(file_id, viewer=viewer, now=desk.now())
    chosen = _chosen(detail, targets(detail.findings), what, None)
    if len(chosen) < len(set(what)) or not chosen or where not in SCOPES:
        message = _("suppression: expected a value or rule of this file, and where it shall hold")
        raise InputError(message)
    return [in_folder(one.scope, detail.item, where) for one in chosen]


def _chosen(
    detail: WorkDetail, known: tuple[Target, ...], what: Sequence[str], position: int | None
) -> tuple[Target, ...]:
    """Return the targets named in the form, or the one of the clicked finding."""
    if position is not None and 0 <= position < len(detail.findings):
        identity = detail.findings[position].identity
        return tuple(one for one in known if one.scope.target == identity)
    return tuple(one for one in known if one.name in what)
