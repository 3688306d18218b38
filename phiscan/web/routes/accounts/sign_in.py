"""Signing in, also through the identity provider, and out."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

import structlog
from fastapi import Form, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from phiscan.review.accounts.second_factors import SecondFactors
from phiscan.review.accounts.sign_in import CHALLENGE_LIFE, FLOW_LIFE, KNOWN_FOR, Challenge
from phiscan.review.accounts.users import Refusal, SignedIn
from phiscan.web.access import Permission, Routes
from phiscan.web.language import inside
from phiscan.web.provider import CALLBACK, Provider, ProviderError
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.session import (
    BrowserSession,
    address_of,
    browser_cookie_name,
    clear_cookie,
    code_cookie_name,
    cookie_name,
    set_cookie,
)

routes = Routes()


@routes.page("GET", "/sign-in", needs=Permission.PUBLIC)
def form(request: Request, desk: DeskNow, next: str = "/") -> Response:  # noqa: A002 (the field's name)
    """Show the form."""
    return desk.pages.render(request, "sign_in.html", next=inside(next), problem="", provider=_label(desk))


@routes.page("POST", "/sign-in", needs=Permission.PUBLIC)
def sign_in(
    request: Request,
    desk: DeskNow,
    name: Annotated[str, Form(max_length=200)],
    password: Annotated[str, Form(max_length=1000)],
    next: Annotated[str, Form(max_length=2000)] = "/",  # noqa: A002 (the field's name)
) -> Response:
    """Begin a session under a new cookie; the previous session of the browser is ended."""
    known = request.cookies.get(browser_cookie_name(desk), "")
    found = desk.store.users.sign_in(
        name, password, address=address_of(request), now=desk.now(), browser=known
    )
    if isinstance(found, Challenge):
        response = RedirectResponse(f"/sign-in/code?next={quote(inside(next), safe='')}", 303)
        set_cookie(response, desk, found.secret, name=code_cookie_name(desk), lasts=CHALLENGE_LIFE)
        return response
    if isinstance(found, Refusal):
        status = 429 if found is Refusal.TOO_MANY else 401
        page = desk.pages.render(
            request,
            "sign_in.html",
            status_code=status,
            next=inside(next),
            problem=found.name,
            provider=_label(desk),
        )
        if found is Refusal.TOO_MANY:
            page.headers["Retry-After"] = str(int(desk.store.users.limits.longest_wait.total_seconds()))
        return page
    return _begun(request, desk, found, next)


@routes.page("GET", "/sign-in/code", needs=Permission.PUBLIC)
def code_form(request: Request, desk: DeskNow, next: str = "/") -> Response:  # noqa: A002 (the field's name)
    """Ask for the code of the second factor."""
    if not request.cookies.get(code_cookie_name(desk)):
        return RedirectResponse("/sign-in", 303)
    return desk.pages.render(request, "sign_in_code.html", next=inside(next), problem="")


@routes.page("POST", "/sign-in/code", needs=Permission.PUBLIC)
def sign_in_with_code(
    request: Request,
    desk: DeskNow,
    code: Annotated[str, Form(max_length=100)],
    next: Annotated[str, Form(max_length=2000)] = "/",  # noqa: A002 (the field's name)
) -> Response:
    """Begin the session of a sign-in whose password was correct."""
    challenge = request.cookies.get(code_cookie_name(desk), "")
    found = SecondFactors.of(desk.store.users).finish_sign_in(
        challenge,
        code,
        address=address_of(request),
        now=desk.now(),
        browser=request.cookies.get(browser_cookie_name(desk), ""),
    )
    if found is Refusal.EXPIRED:
        response: Response = RedirectResponse("/sign-in", 303)
        clear_cookie(response, desk, code_cookie_name(desk))
        return response
    if isinstance(found, Refusal):
        status = 429 if found is Refusal.TOO_MANY else 401
        response = desk.pages.render(
            request, "sign_in_code.html", status_code=status, next=inside(next), problem=found.name
        )
        if found is Refusal.TOO_MANY:
            response.headers["Retry-After"] = str(int(desk.store.users.limits.longest_wait.total_seconds()))
        return response
    response = _begun(request, desk, found, next)
    clear_cookie(response, desk, code_cookie_name(desk))
    return response


def _begun(request: Request, desk: Desk, found: SignedIn, place: str) -> Response:
    """End the previous session of the browser, and set the cookies of the new one."""
    before = request.cookies.get(cookie_name(desk))
    session = desk.store.users.session(before, now=desk.now()) if before else None
    if session is not None:
        desk.store.users.sign_out(session, now=desk.now())
    response = RedirectResponse(inside(place), 303)
    set_cookie(response, desk, found.secret)
    set_cookie(response, desk, found.browser, name=browser_cookie_name(desk), lasts=KNOWN_FOR)
    return response


@routes.page("POST", "/sign-out", needs=Permission.SIGNED_IN)
def sign_out(session: BrowserSession, desk: DeskNow) -> Response:
    """End the session on the server, clear the masked passages in memory, and delete the cookie."""
    desk.store.users.sign_out(session, now=desk.now())
    desk.forget()
    response = RedirectResponse("/sign-in", 303)
    clear_cookie(response, desk)
    response.headers["Clear-Site-Data"] = '"cache", "storage"'
    return response


def _label(desk: Desk) -> str:
    """Return the label of the link to the identity provider; "" = none is configured."""
    return desk.provider.table.label if desk.provider else ""


log = structlog.get_logger("phiscan.web")


@routes.page("GET", "/sign-in/provider", needs=Permission.PUBLIC)
def begin_at_provider(desk: DeskNow) -> Response:
    """Redirect the browser to the provider, with a cookie that ties the response to this browser."""
    provider = _provider(desk)
    flow = desk.store.users.start_flow(now=desk.now())
    try:
        response = RedirectResponse(provider.authorization_url(flow), 303)
    except ProviderError as error:
        log.error("sign-in through the provider", problem=str(error))  # noqa: TRY400 (our own words are enough)
        raise HTTPException(503, "The identity provider does not answer.") from None
    # Lax, not Strict: the browser returns from another site.
    response.set_cookie(
        _flow_cookie(desk),
        flow.browser,
        max_age=int(FLOW_LIFE.total_seconds()),
        path="/",
        secure=desk.settings.is_https,
        httponly=True,
        samesite="lax",
    )
    return response


@routes.page("GET", CALLBACK, needs=Permission.PUBLIC)
def finish_at_provider(
    request: Request,
    desk: DeskNow,
    state: Annotated[str, Query(max_length=200)] = "",
    code: Annotated[str, Query(max_length=4000)] = "",
) -> Response:
    """Begin a session for the user whom the identity provider has authenticated."""
    provider = _provider(desk)
    users = desk.store.users
    flow = users.take_flow(state=state, browser=request.cookies.get(_flow_cookie(desk), ""), now=desk.now())
    if flow is None or not code:
        raise HTTPException(403, "This sign-in was not begun in this browser, or took too long. Begin again.")
    try:
        identity = provider.identity(flow, code)
    except ProviderError as error:
        log.error("sign-in through the provider", problem=str(error))  # noqa: TRY400 (our own words are enough)
        raise HTTPException(403, "The identity provider's answer was not good. Begin again.") from None
    signed_in = users.sign_in_as(identity, address=address_of(request), now=desk.now())
    if signed_in is None:
        raise HTTPException(403, "You have no account here, or it is disabled. Ask an administrator.")
    # A page, not a redirect: a browser that comes from another site would not send a Strict cookie with it.
    response = desk.pages.render(request, "signed_in.html")
    response.delete_cookie(_flow_cookie(desk), path="/", secure=desk.settings.is_https, httponly=True)
    set_cookie(response, desk, signed_in.secret)
    return response


def _provider(desk: Desk) -> Provider:
    if desk.provider is None:
        raise HTTPException(404, "No identity provider is set up.")
    return desk.provider


def _flow_cookie(desk: Desk) -> str:
    return cookie_name(desk) + "-flow"
