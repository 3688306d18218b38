"""What is left in the list and was missed in the rest; the draw of the sample, and the review policy."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, Request
from starlette.responses import RedirectResponse, Response

from phiscan.language import gettext as _
from phiscan.metrics.remaining import ASSUMPTION, remaining
from phiscan.web.access import Permission, Routes
from phiscan.web.notices import notice
from phiscan.web.request_context import DeskNow
from phiscan.web.session import SignedIn
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
