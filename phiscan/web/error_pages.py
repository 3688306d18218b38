"""Responses of failed requests: a page for a browser, JSON for a program; never a value of the input."""

from __future__ import annotations

import re
from urllib.parse import quote

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from phiscan.errors import ConflictError, InputError, StoreError
from phiscan.language import gettext, lazy_gettext
from phiscan.language import gettext as _
from phiscan.report.words import plain
from phiscan.visible import visible
from phiscan.web.request_context import (
    API,
    SECOND_FACTOR,
    NoSecondFactorError,
    NotAllowedError,
    NotSignedInError,
    desk_of,
)

WORDS = {
    400: lazy_gettext("That cannot be done"),
    403: lazy_gettext("Not allowed"),
    404: lazy_gettext("Not found"),
    405: lazy_gettext("Not found"),
    409: lazy_gettext("Somebody was faster"),
    413: lazy_gettext("Too large"),
    422: lazy_gettext("That cannot be read"),
    429: lazy_gettext("Too many attempts"),
    503: lazy_gettext("The database does not answer"),
}
# The space before a French sign; any other special space may be part of a name, and is shown as an escape.
_FRENCH_SPACE = re.compile("\N{NO-BREAK SPACE}(?=[:;!?%\N{RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK}])")
log = structlog.get_logger("phiscan.web")


def add_error_handlers(app: FastAPI) -> None:
    """Register a handler for every expected type of error."""
    for kind, handler in (
        (NotSignedInError, _not_signed_in),
        (
            NotAllowedError,
            lambda request, _: failure(request, 403, gettext("Your role does not allow this.")),
        ),
        (NoSecondFactorError, _no_second_factor),
        (InputError, _input),
        (StoreError, _store),
        (RequestValidationError, _validation),
        (HTTPException, _http),
        (OverflowError, lambda request, _: failure(request, 404, "")),  # a row number out of range
    ):
        app.add_exception_handler(kind, handler)


def failure(request: Request, status_code: int, message: str) -> Response:
    """Return the response of one error."""
    message = visible(_FRENCH_SPACE.sub(" ", message))
    if request.url.path.startswith(API):
        return JSONResponse({"detail": message}, status_code)
    title = WORDS.get(status_code, "That did not work")
    return desk_of(request).pages.render(
        request, "message.html", status_code=status_code, title=title, message=message
    )


def _not_signed_in(request: Request, _error: Exception) -> Response:
    if request.url.path.startswith(API):
        return JSONResponse(
            {"detail": _("sign in, or send a token")}, 401, headers={"WWW-Authenticate": "Bearer"}
        )
    place = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    back = f"?next={quote(place, safe='')}" if request.method == "GET" and place != "/" else ""
    return RedirectResponse(f"/sign-in{back}", 303)


def _no_second_factor(request: Request, _error: Exception) -> Response:
    if request.url.path.startswith(API):
        return failure(request, 403, _("Your role needs a second factor: sign in with a browser and add it."))
    return RedirectResponse(SECOND_FACTOR, 303)


def _input(request: Request, error: Exception) -> Response:
    return failure(request, 409 if isinstance(error, ConflictError) else 400, str(error))


def _store(request: Request, error: Exception) -> Response:
    log.error("store failed", error=str(error))
    return failure(
        request, 503, _("Nothing was changed. Try again; if it fails again, the server's log has the reason.")
    )


def _validation(request: Request, error: Exception) -> Response:
    """List the invalid fields and the errors; FastAPI's default would repeat the submitted values."""
    found = error.errors() if isinstance(error, RequestValidationError) else []
    problems = [
        ("".join(f".{part}" for part in one["loc"][1:])[1:] or "body", str(one["type"])) for one in found[:20]
    ]
    if not request.url.path.startswith(API):
        problems = [(str(plain(field)), str(plain(problem))) for field, problem in problems]
    return failure(request, 422, "; ".join(f"{field}: {problem}" for field, problem in problems))


def _http(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) and isinstance(error.detail, str) else ""
    return failure(request, status, detail)
