"""The signed-in user's own account (password, sessions, tokens), and the language of a browser."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final
from urllib.parse import urlsplit

from fastapi import Form, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Match

from phiscan.errors import InputError
from phiscan.language import LANGUAGES
from phiscan.language import gettext as _
from phiscan.review.accounts.sign_in import CHALLENGE_LIFE, Challenge
from phiscan.review.accounts.users import Scope, SignedIn
from phiscan.web.access import Permission, Routes
from phiscan.web.language import COOKIE, inside
from phiscan.web.request_context import Desk, DeskNow, RowNumber
from phiscan.web.session import BrowserSession, address_of, code_cookie_name, set_cookie

routes = Routes()


@routes.page("GET", "/account", needs=Permission.SIGNED_IN)
def account(request: Request, session: BrowserSession, desk: DeskNow) -> Response:
    """Show the account of the signed-in user."""
    return _page(request, session, desk)


@routes.page("POST", "/account/password", needs=Permission.SIGNED_IN)
def change_password(
    request: Request,
    session: BrowserSession,
    desk: DeskNow,
    password: Annotated[str, Form(max_length=1000)],
    chosen: Annotated[str, Form(max_length=1000)],
    again: Annotated[str, Form(max_length=1000)],
) -> Response:
    """Set a new password, end every session of the user, and begin a new one in this browser."""
    users, user, address = desk.store.users, session.user, address_of(request)
    if chosen != again:
        return _page(request, session, desk, status_code=400, problem=_("The two new passwords differ."))
    if not users.knows_password(user, password, address=address, now=desk.now()):
        return _page(
            request, session, desk, status_code=400, problem=_("The present password was not right.")
        )
    try:
        users.set_password(user.id, chosen, by=user.name, now=desk.now())
    except InputError as error:
        return _page(request, session, desk, status_code=400, problem=str(error))
    response = RedirectResponse("/account", 303)
    begun = users.sign_in(user.name, chosen, address=address, now=desk.now())
    if isinstance(begun, SignedIn):
        set_cookie(response, desk, begun.secret)
    if isinstance(begun, Challenge):  # the new session needs the second factor as well
        response = RedirectResponse("/sign-in/code?next=/account", 303)
        set_cookie(response, desk, begun.secret, name=code_cookie_name(desk), lasts=CHALLENGE_LIFE)
    return response


@routes.page("POST", "/account/sessions/end", needs=Permission.SIGNED_IN)
def end_sessions(session: BrowserSession, desk: DeskNow) -> Response:
    """End every session of the user, including this one."""
    desk.store.users.end_sessions(session.user.id, by=session.user.name, now=desk.now())
    return RedirectResponse("/sign-in", 303)


@routes.page("POST", "/account/sessions/{session_id}/end", needs=Permission.SIGNED_IN)
def end_session(session_id: RowNumber, session: BrowserSession, desk: DeskNow) -> Response:
    """End one session of the user."""
    desk.store.users.end_sessions(session.user.id, session_id, by=session.user.name, now=desk.now())
    return RedirectResponse("/account", 303)


@routes.page("POST", "/account/tokens", needs=Permission.SIGNED_IN)
def make_token(
    request: Request,
    session: BrowserSession,
    desk: DeskNow,
    label: Annotated[str, Form(max_length=200)],
    days: Annotated[int, Form()] = 90,
    scope: Annotated[list[Scope] | None, Form()] = None,
    password: Annotated[str, Form(max_length=1000)] = "",
) -> Response:
    """Create an API token and show it once; an account with a password must confirm the password first."""
    users, user, now = desk.store.users, session.user, desk.now()
    if user.has_password and not users.knows_password(user, password, address=address_of(request), now=now):
        return _page(
            request, session, desk, status_code=400, problem=_("The present password was not right.")
        )
    made = users.make_token(user.id, label=label, days=days, scopes=scope or (), by=user.name, now=now)
    return _page(request, session, desk, token=made)


@routes.page("POST", "/account/tokens/{token_id}/revoke", needs=Permission.SIGNED_IN)
def revoke_token(token_id: RowNumber, session: BrowserSession, desk: DeskNow) -> Response:
    """Revoke one of the user's own tokens."""
    user = session.user
    desk.store.users.revoke_token(token_id, user_id=user.id, by=user.name, now=desk.now())
    return RedirectResponse("/account", 303)


def _page(
    request: Request,
    session: BrowserSession,
    desk: Desk,
    *,
    status_code: int = 200,
    problem: str = "",
    token: str = "",
) -> Response:
    now = desk.now()
    return desk.pages.render(
        request,
        "account.html",
        status_code=status_code,
        problem=problem,
        token=token,
        this=session,
        scopes=tuple(Scope),
        sessions=desk.store.users.sessions(session.user.id, now=now),
        tokens=[one for one in desk.store.users.tokens(session.user.id) if one.is_good(now)],
    )


COOKIE_AGE: Final = timedelta(days=365)


@routes.page("POST", "/language", needs=Permission.PUBLIC)
def choose_language(
    desk: DeskNow,
    request: Request,
    language: Annotated[str, Form(max_length=8)],
) -> Response:
    """Store the chosen language in a cookie of this browser, and redirect to the page of the form."""
    if language not in LANGUAGES:
        message = _("language: expected one of {codes}", codes=", ".join(LANGUAGES))
        raise InputError(message)
    response = RedirectResponse(_back(request), 303)
    response.set_cookie(
        COOKIE,
        language,
        max_age=int(COOKIE_AGE.total_seconds()),
        path="/",
        secure=desk.settings.is_https,
        httponly=True,
        samesite="strict",
    )
    return response


def _back(request: Request) -> str:
    """Return the page of the form from the Referer header; the start page if there is none."""
    came = urlsplit(request.headers.get("referer", ""))
    if came.netloc != request.url.netloc:
        return "/"
    scope = {**request.scope, "method": "GET", "path": came.path, "root_path": ""}
    if not any(route.matches(scope)[0] is Match.FULL for route in request.app.routes):
        return "/"
    return inside(came.path + (f"?{came.query}" if came.query else ""))
