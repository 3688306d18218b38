"""One's own account: password, sessions, tokens."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from phiscan.web.access import Permission, Routes
from phiscan.web.desk import DeskNow
from phiscan.web.session import SignedIn

routes = Routes()


@routes.page("GET", "/account", needs=Permission.SIGNED_IN)
def account(request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Show the account of whoever asks."""
    now = desk.now()
    return desk.pages.render(
        request,
        "account.html",
        sessions=desk.store.users.sessions(user.id, now=now),
        tokens=desk.store.users.tokens(user.id),
        now=now,
    )
