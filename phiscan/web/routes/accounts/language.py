"""The language switch in the footer of each page: the language of this browser."""

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
from phiscan.web.access import Permission, Routes
from phiscan.web.language import COOKIE, inside
from phiscan.web.request_context import DeskNow

COOKIE_AGE: Final = timedelta(days=365)

routes = Routes()


@routes.page("POST", "/language", needs=Permission.PUBLIC)
def choose(
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
