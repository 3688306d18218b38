"""What is left in the list and was missed in the rest, the draw, the policy; the second list, to be shown."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.metrics.remaining import ASSUMPTION, remaining
from phiscan.report.words import DETECTORS
from phiscan.review.decisions.corrections import ItemCorrections
from phiscan.web.access import Permission, Routes
from phiscan.web.notices import notice
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.routes.queue import place_words
from phiscan.web.session import SignedIn
from phiscan.web.views.item import item_view
from phiscan.web.work_query import ListQuery

MAX_DRAW = 100_000

routes = Routes()


@routes.page("GET", "/left", needs=Permission.SEE_QUEUE)
def left(request: Request, desk: DeskNow) -> Response:
    """Show what is left in the list and what was missed in the rest, with the assumption."""
    work = desk.store.desk
    counts = work.left()
    return desk.pages.render(
        request,
        "left.html",
        k=remaining(counts),
        samples=((_("Of the list, reviewed"), counts.listed), (_("Of the rest, reviewed"), counts.rest)),
        assumption=ASSUMPTION,
        draw=work.last_draw(),
        policy=work.policy(),
        notice=notice(request.query_params.get("said", "")),
        query=ListQuery(),
    )


@routes.page("POST", "/left/draw", needs=Permission.ASSIGN)
def draw(
    user: SignedIn,
    desk: DeskNow,
    n_queued: Annotated[int, Form(ge=0, le=MAX_DRAW)],
    n_unreferred: Annotated[int, Form(ge=0, le=MAX_DRAW)],
) -> Response:
    """Draw the random sample; it replaces the previous one."""
    desk.store.desk.draw_sample(n_queued=n_queued, n_unreferred=n_unreferred, by=user.name, now=desk.now())
    return RedirectResponse("/left?said=drawn", 303)


@routes.page("POST", "/left/policy", needs=Permission.ASSIGN)
def policy(
    user: SignedIn,
    desk: DeskNow,
    second_review: Annotated[float, Form(ge=0, le=100)],
    hide_limit: Annotated[int, Form(ge=0, le=1_000_000)],
) -> Response:
    """Set the share of second reviews, and the size above which a suppression needs approval."""
    desk.store.desk.set_policy(
        second_review=second_review / 100, hide_limit=hide_limit, by=user.name, now=desk.now()
    )
    return RedirectResponse("/left?said=policy", 303)


N_ROWS = 200  # files on the page; `phiscan queue list --second-look` lists all


@routes.page("GET", "/second-list", needs=Permission.SEE_QUEUE)
def second_list(request: Request, desk: DeskNow) -> Response:
    """Show the first files of the second list, those with the highest probability first."""
    items = desk.store.queue(second_look=True, conceal=True, by_probability=True, limit=N_ROWS)
    return desk.pages.render(
        request, "second_list.html", rows=items, most=N_ROWS, place=place_words, known=DETECTORS
    )


def second_list_page(file_id: int, request: Request, desk: Desk) -> Response:
    """Return the read-only page of a file of the second list.

    Raises:
        HTTPException: 404; the file is in neither list, or there is no such file.
    """
    try:
        record = desk.store.item(file_id, conceal=True)
    except InputError as error:
        raise HTTPException(404, str(error)) from None
    if record.blind or not record.second_look:
        raise HTTPException(404, _("file {file_id}: not in the review list (any more)", file_id=file_id))
    view = item_view(
        record,
        query=ListQuery(),
        corrections=ItemCorrections((), complete=False, completed_by="", topics=None),
        history=(),
        group=(),
        token="",
        position=None,
        all_places=False,
    )
    return desk.pages.render(request, "second_list_item.html", **view, known=DETECTORS)
