"""Who sends a request: a signed-in browser by its cookie, or a program by its token."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from phiscan.review.accounts.known_browsers import KNOWN_FOR
from phiscan.review.accounts.users import Session, Token, User
from phiscan.web.access import Permission, may, token_may
from phiscan.web.request_context import Desk, desk_of

API = "/api/"


class NotSignedInError(Exception):
    """The request comes from nobody; a browser is sent to the sign-in page."""


class NotAllowedError(Exception):
    """The person's role does not carry the permission that the route needs."""


async def admit(request: Request, permission: Permission) -> None:
    """Let a request pass, and note its person; the guard of every route.

    Raises:
        NotSignedInError: nobody is signed in.
        NotAllowedError: somebody is, without the permission.
    """
    request.state.user = request.state.session = request.state.token = None
    if permission is Permission.PUBLIC:
        return
    await run_in_threadpool(_identify, request)
    user: User | None = request.state.user
    if user is None:
        raise NotSignedInError
    token: Token | None = request.state.token
    if not may(user, permission) or (token is not None and not token_may(token, permission)):
        raise NotAllowedError


def _identify(request: Request) -> None:
    desk = desk_of(request)
    token = bearer_of(request)
    if token is not None:
        # A request that brings a token stands for the token alone, whatever cookie it has.
        found = desk.store.users.bearer(token, now=desk.now())
        request.state.token, request.state.user = found, found.user if found else None
        return
    secret = request.cookies.get(cookie_name(desk))
    session = desk.store.users.session(secret, now=desk.now()) if secret else None
    request.state.session, request.state.user = session, session.user if session else None


def bearer_of(request: Request) -> str | None:
    """Return the token of a request to the API, or None when it brings none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if request.url.path.startswith(API) and scheme.lower() == "bearer" else None


def address_of(request: Request) -> str:
    """Return the network address that a request came from."""
    return request.client.host if request.client else ""


def cookie_name(desk: Desk) -> str:
    """Return the cookie's name; with __Host- no other host of the domain can set it."""
    return "__Host-phiscan" if desk.settings.is_https else "phiscan"


def set_cookie(response: Response, desk: Desk, secret: str) -> None:
    """Give the browser the cookie of its session, for as long as the browser is open."""
    response.set_cookie(
        cookie_name(desk), secret, path="/", secure=desk.settings.is_https, httponly=True, samesite="strict"
    )


def browser_cookie_name(desk: Desk) -> str:
    """Return the name of the cookie by which a browser is known at the next sign-in."""
    return f"{cookie_name(desk)}-browser"


def set_browser_cookie(response: Response, desk: Desk, known: str) -> None:
    """Let the browser be known at its next sign-in; the cookie signs nobody in."""
    response.set_cookie(
        browser_cookie_name(desk),
        known,
        max_age=int(KNOWN_FOR.total_seconds()),
        path="/",
        secure=desk.settings.is_https,
        httponly=True,
        samesite="strict",
    )


def clear_cookie(response: Response, desk: Desk) -> None:
    """Take the cookie back."""
    response.delete_cookie(
        cookie_name(desk), path="/", secure=desk.settings.is_https, httponly=True, samesite="strict"
    )


def signed_in(request: Request) -> User:
    """Return who is signed in; the route's guard has already seen to it that somebody is."""
    user: User | None = request.state.user
    if user is None:
        raise NotSignedInError
    return user


def session_of(request: Request) -> Session:
    """Return the browser's session; a program with a token has none."""
    session: Session | None = request.state.session
    if session is None:
        raise NotAllowedError
    return session


SignedIn = Annotated[User, Depends(signed_in)]
BrowserSession = Annotated[Session, Depends(session_of)]
