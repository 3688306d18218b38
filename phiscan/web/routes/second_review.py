"""Second review: agreement of the reviewers, and the disagreements that a lead settles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Form, Request
from starlette.responses import RedirectResponse, Response

from phiscan.errors import ConflictError
from phiscan.model import Verdict
from phiscan.review.accounts.users import User
from phiscan.review.worklist.model import REASONS
from phiscan.web.access import Permission, Routes
from phiscan.web.notices import notice
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.routes.item import is_reason_of
from phiscan.web.session import SignedIn
from phiscan.web.views.queue import verdict_words
from phiscan.web.views.second_review import disagreement_view, second_view
from phiscan.web.work_query import ListQuery

routes = Routes()


@routes.page("GET", "/second-review", needs=Permission.SEE_QUEUE)
def second_review(request: Request, desk: DeskNow) -> Response:
    """Show the progress of the second review, and the agreement of the reviewers."""
    work = desk.store.desk
    view = second_view(work.second_review_counts(), work.ratings(), share=work.policy().second_review)
    return desk.pages.render(request, "second_review.html", v=view)


@dataclass(frozen=True, slots=True)
class UnsentNote:
    """A note that was not recorded with the verdict on a case; shown again in the form."""

    id: int = 0
    note: str = ""


@routes.page("GET", "/adjudication", needs=Permission.ADJUDICATE)
def adjudication(request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """List the disagreements that this lead may adjudicate: both verdicts and the evidence."""
    return _cases(request, user, desk, notice_name=request.query_params.get("said", ""))


def _cases(
    request: Request, user: User, desk: Desk, *, notice_name: str, unsent: UnsentNote | None = None
) -> Response:
    cases = [disagreement_view(case) for case in desk.store.desk.disagreements(lead=user.name)]
    return desk.pages.render(
        request,
        "adjudication.html",
        status_code=409 if unsent else 200,
        cases=cases,
        unsent=unsent or UnsentNote(),
        reasons=tuple((verdict_words(verdict), chosen) for verdict, chosen in REASONS.items()),
        notice=notice(notice_name),
        query=ListQuery(),
    )


@routes.page("POST", "/adjudication/{second_review_id}", needs=Permission.ADJUDICATE)
def adjudicate(
    second_review_id: int,
    request: Request,
    user: SignedIn,
    desk: DeskNow,
    verdict: Annotated[Verdict, Form()],
    reason: Annotated[str, Form(max_length=200)] = "",
    note: Annotated[str, Form(max_length=10_000)] = "",
) -> Response:
    """Settle a disagreement by the lead's verdict."""
    if not is_reason_of(reason, verdict):
        return _cases(request, user, desk, notice_name="reason", unsent=UnsentNote(second_review_id, note))
    try:
        desk.store.desk.adjudicate(
            second_review_id, verdict, lead=user.name, now=desk.now(), reason=reason, note=note
        )
    except ConflictError:
        return _cases(
            request, user, desk, notice_name="settled_before", unsent=UnsentNote(second_review_id, note)
        )
    return RedirectResponse("/adjudication?said=settled", 303)
