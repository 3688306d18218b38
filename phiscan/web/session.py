"""The user of a request: a signed-in browser by its cookie, or a program by its token."""

from __future__ import annotations

import mimetypes
from datetime import timedelta
from typing import Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from phiscan.review.accounts.users import Session, Token, User
from phiscan.web.access import Permission, may, token_may
from phiscan.web.request_context import Desk, Settings, desk_of

API = "/api/"
SECOND_FACTOR = "/account/second-factor"
_WITHOUT_SECOND_FACTOR = ("/sign-out", "/account/sessions/end")  # allowed without the second factor


class NotSignedInError(Exception):
    """The request has no valid session; a browser is redirected to the sign-in page."""


class NoSecondFactorError(Exception):
    """The user's role needs a second factor, and the account has none yet."""


class NotAllowedError(Exception):
    """The user's role does not have the permission of the route."""


async def admit(request: Request, permission: Permission) -> None:
    """Check the user of a request against the route's permission, and store the user in the request.

    Raises:
        NotSignedInError: there is no valid session or token.
        NotAllowedError: the user does not have the permission.
        NoSecondFactorError: the user does not have the second factor that the role requires.
    """
    request.state.user = request.state.session = request.state.token = None
    if permission is Permission.PUBLIC:
        return
    await run_in_threadpool(_identify, request)
    user: User | None = request.state.user
    if user is None:
        raise NotSignedInError
    _need_second_factor(request, user)
    token: Token | None = request.state.token
    if not may(user, permission) or (token is not None and not token_may(token, permission)):
        raise NotAllowedError


def may_lack_second_factor(user: User, settings: Settings) -> bool:
    """Return whether an account needs no second factor here, because the identity provider checks its own."""
    return user.role not in settings.second_factor_roles or not user.has_password


def _need_second_factor(request: Request, user: User) -> None:
    session: Session | None = request.state.session
    if user.has_second_factor or may_lack_second_factor(user, desk_of(request).settings):
        return
    if session is not None and session.method == "provider":
        return
    path = request.url.path
    if not path.startswith(SECOND_FACTOR) and path not in _WITHOUT_SECOND_FACTOR:
        raise NoSecondFactorError


def _identify(request: Request) -> None:
    desk = desk_of(request)
    token = bearer_of(request)
    if token is not None:
        # A request with a token is authenticated by the token alone, whatever cookie it has.
        found = desk.store.users.bearer(token, now=desk.now())
        request.state.token, request.state.user = found, found.user if found else None
        return
    secret = request.cookies.get(cookie_name(desk))
    session = desk.store.users.session(secret, now=desk.now()) if secret else None
    request.state.session, request.state.user = session, session.user if session else None


def bearer_of(request: Request) -> str | None:
    """Return the token of a request to the API, or None if it has none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if request.url.path.startswith(API) and scheme.lower() == "bearer" else None


def address_of(request: Request) -> str:
    """Return the network address of the client."""
    return request.client.host if request.client else ""


def cookie_name(desk: Desk) -> str:
    """Return the cookie's name; the prefix __Host- prevents other hosts of the domain from setting it."""
    return "__Host-phiscan" if desk.settings.is_https else "phiscan"


def browser_cookie_name(desk: Desk) -> str:
    """Return the name of the cookie that identifies a known browser at the next sign-in, and no user."""
    return f"{cookie_name(desk)}-browser"


def code_cookie_name(desk: Desk) -> str:
    """Return the name of the cookie that binds a sign-in that waits for its second factor to the browser."""
    return f"{cookie_name(desk)}-code"


def set_cookie(
    response: Response, desk: Desk, secret: str, *, name: str = "", lasts: timedelta | None = None
) -> None:
    """Set the session cookie or another, which lasts so long or until the browser is closed."""
    response.set_cookie(
        name or cookie_name(desk),
        secret,
        max_age=None if lasts is None else int(lasts.total_seconds()),
        path="/",
        secure=desk.settings.is_https,
        httponly=True,
        samesite="strict",
    )


def clear_cookie(response: Response, desk: Desk, name: str = "") -> None:
    """Delete the session cookie, or another."""
    response.delete_cookie(
        name or cookie_name(desk), path="/", secure=desk.settings.is_https, httponly=True, samesite="strict"
    )


def sent_file(request: Request, user: User, desk: Desk, name: str, content: str | bytes) -> Response:
    """Return a file to download; the download is logged first."""
    desk.store.users.log_export(what=name, by=user, address=address_of(request), now=desk.now())
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=mimetypes.guess_type(name)[0] or "text/plain", headers=headers)


def signed_in(request: Request) -> User:
    """Return the signed-in user, whom the permission check of the route has set."""
    user: User | None = request.state.user
    if user is None:
        raise NotSignedInError
    return user


def session_of(request: Request) -> Session:
    """Return the browser's session; None for a request with a token."""
    session: Session | None = request.state.session
    if session is None:
        raise NotAllowedError
    return session


SignedIn = Annotated[User, Depends(signed_in)]
BrowserSession = Annotated[Session, Depends(session_of)]
