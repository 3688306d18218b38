"""Second review: how far two people agree, and the disagreements that a lead settles."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, Request
from starlette.responses import RedirectResponse, Response

from phiscan.errors import ConflictError
from phiscan.model import Verdict
from phiscan.review.worklist.model import REASONS
from phiscan.web.access import Permission, Routes
from phiscan.web.notices import notice
from phiscan.web.request_context import DeskNow
from phiscan.web.routes.item import fits
from phiscan.web.session import SignedIn
from phiscan.web.views.queue import verdict_words
from phiscan.web.views.second_review import disagreement_view, second_view
from phiscan.web.work_query import ListQuery

routes = Routes()


@routes.page("GET", "/second-review", needs=Permission.SEE_QUEUE)
def second_review(request: Request, desk: DeskNow) -> Response:
    """Show how far the second review has come, and how far people agree."""
    work = desk.store.desk
    view = second_view(work.second_review_counts(), work.ratings(), share=work.policy().second_review)
    return desk.pages.render(request, "second_review.html", v=view)


@routes.page("GET", "/adjudication", needs=Permission.ADJUDICATE)
def adjudication(request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """List the disagreements that this lead may settle."""
    cases = [disagreement_view(case) for case in desk.store.desk.disagreements(lead=user.name)]
    return desk.pages.render(
        request,
        "adjudication.html",
        cases=cases,
        reasons=tuple((verdict_words(verdict), chosen) for verdict, chosen in REASONS.items()),
        notice=notice(request.query_params.get("said", "")),
        query=ListQuery(),
    )


@routes.page("POST", "/adjudication/{second_review_id}", needs=Permission.ADJUDICATE)
def adjudicate(
    second_review_id: int,
    user: SignedIn,
    desk: DeskNow,
    verdict: Annotated[Verdict, Form()],
    reason: Annotated[str, Form(max_length=200)] = "",
    note: Annotated[str, Form(max_length=10_000)] = "",
) -> Response:
    """Settle a disagreement; the lead's verdict stands."""
    if not fits(reason, verdict):
        return RedirectResponse("/adjudication?said=reason", 303)
    try:
        desk.store.desk.adjudicate(
            second_review_id, verdict, lead=user.name, now=desk.now(), reason=reason, note=note
        )
    except ConflictError:
        return RedirectResponse("/adjudication?said=settled_before", 303)
    return RedirectResponse("/adjudication?said=settled", 303)
