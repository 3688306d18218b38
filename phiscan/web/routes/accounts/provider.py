"""Signing in through the identity provider."""

from __future__ import annotations

from typing import Annotated

import structlog
from fastapi import Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from phiscan.review.accounts.provider_sign_in import FLOW_LIFE
from phiscan.web.access import Permission, Routes
from phiscan.web.provider import CALLBACK, Provider, ProviderError
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.session import address_of, cookie_name, set_cookie

routes = Routes()
log = structlog.get_logger("phiscan.web")


@routes.page("GET", "/sign-in/provider", needs=Permission.PUBLIC)
def begin(desk: DeskNow) -> Response:
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
def finish(
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
