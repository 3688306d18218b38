"""The audit log: its entries, its verification, and "I have reviewed this log"."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import Form, Query, Request
from starlette.responses import RedirectResponse, Response

from phiscan.web.access import Permission, Routes
from phiscan.web.request_context import MAX_NUMBER, DeskNow
from phiscan.web.session import SignedIn

routes = Routes()


@routes.page("GET", "/log", needs=Permission.READ_LOG)
def log(
    request: Request,
    desk: DeskNow,
    before: Annotated[int, Query(ge=0, le=MAX_NUMBER)] = 0,
    action: Annotated[str, Query(max_length=50)] = "",
    actor: Annotated[str, Query(max_length=200)] = "",
    day: Annotated[date | Literal[""], Query()] = "",
) -> Response:
    """Show entries, newest first."""
    users = desk.store.users
    page = users.log(before=before, action=action, actor=actor, day=day or None)
    actions, actors = users.log_choices()
    older = {"before": page.older, "action": action, "actor": actor, "day": day and day.isoformat()}
    return desk.pages.render(
        request,
        "log.html",
        page=page,
        actions=actions,
        actors=actors,
        chosen={"action": action, "actor": actor, "before": before, "day": day and day.isoformat()},
        older_url=f"/log?{urlencode({k: v for k, v in older.items() if v})}" if page.older else "",
        reviews=users.log_reviews()[:5],
    )


@routes.page("GET", "/log/verification", needs=Permission.READ_LOG)
def verification(request: Request, desk: DeskNow) -> Response:
    """Verify the whole log now, and offer to sign the result if it is intact."""
    check = desk.store.verify_audit()
    return desk.pages.render(
        request, "log_verification.html", check=check, reviews=desk.store.users.log_reviews()
    )


@routes.page("POST", "/log/reviews", needs=Permission.SIGN_LOG)
def sign(
    user: SignedIn,
    desk: DeskNow,
    head: Annotated[str, Form(pattern="^[0-9a-f]{64}$")],
    note: Annotated[str, Form(max_length=4000)] = "",
) -> Response:
    """Record "I have reviewed this log", up to the entry that was shown."""
    desk.store.users.sign_log(head=head, note=note, reviewer=user.name, now=desk.now())
    return RedirectResponse("/log", 303)
