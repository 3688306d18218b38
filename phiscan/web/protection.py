"""What surrounds every request: host names, cross-site requests, headers, language, responses of failures.

A page for a browser, JSON for a program; never a value of the input.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from phiscan.errors import ConflictError, InputError, StoreError, origin
from phiscan.language import LANGUAGES, SOURCE, gettext, lazy_gettext, negotiate, using
from phiscan.language import gettext as _
from phiscan.report.words import plain
from phiscan.visible import visible
from phiscan.web.address import is_proxy
from phiscan.web.request_context import (
    API,
    SECOND_FACTOR,
    NoSecondFactorError,
    NotAllowedError,
    NotSignedInError,
    Settings,
    desk_of,
)

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    # Not no-referrer: with it, browsers send `Origin: null` with forms of this server.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "X-Frame-Options": "DENY",
}
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
log = structlog.get_logger("phiscan.web")


@dataclass(frozen=True, slots=True)
class Protection:
    """The middleware around the whole application."""

    app: ASGIApp
    settings: Settings
    language: str = SOURCE  # of browsers that ask for none

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse or forward a request; add the headers; answer an unexpected error without its message."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # no route supports another protocol; the server closes the connection
        if self.settings.proxies and not _through_proxy(scope, self.settings.proxies):
            await PlainTextResponse("refused: not through the proxy", 403)(scope, receive, send)
            return
        scope.setdefault("state", {})["nonce"] = secrets.token_urlsafe(16)
        started = False

        async def guarded_send(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                self._add_headers(MutableHeaders(scope=message), scope["state"])
            await send(message)

        refusal = refused(scope["method"], Headers(scope=scope), self.settings) or _unknown_format(scope)
        if refusal:
            status = 403 if refusal.startswith("refused: sent by") else 400
            await PlainTextResponse(refusal, status)(scope, receive, guarded_send)
            return
        length = Headers(scope=scope).get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > self.settings.max_body_bytes:
            await PlainTextResponse("refused: the body is too large", 413)(scope, receive, guarded_send)
            return
        try:
            with using(language_of(Headers(scope=scope), scope["path"], self.language)):
                await self.app(scope, receive, guarded_send)
        except Exception as error:  # noqa: BLE001 (a message that we did not write may quote a document)
            log.error(  # noqa: TRY400 (the traceback would hold the message)
                "request failed", origin=origin(error), method=scope["method"]
            )
            if started:
                return  # the server closes the connection: its response is incomplete
            answer = PlainTextResponse("something went wrong; the server's log says where\n", 500)
            await answer(scope, receive, guarded_send)

    def _add_headers(self, headers: MutableHeaders, state: Mapping[str, Any]) -> None:
        """Add the headers; a page that ``shows_pictures`` embeds them, because no file may contain them."""
        images = "'self' data:" if state.get("shows_pictures") else "'self'"
        own = f"'self' 'nonce-{state['nonce']}'"
        headers["Content-Security-Policy"] = (
            f"default-src 'none'; script-src {own}; style-src {own}; img-src {images}; font-src 'self'; "
            "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        )
        headers.setdefault("Cache-Control", "no-store")
        headers.update(HEADERS)
        if self.settings.is_https:
            headers["Strict-Transport-Security"] = "max-age=31536000"


def refused(method: str, headers: Headers, settings: Settings) -> str:
    """Return why a request is refused; "" if it is allowed.

    An unsafe method is allowed only from pages of this server (Sec-Fetch-Site, else Origin), or with a token
    and no cookie, which another site cannot make a browser send. A page of another site may link to this
    server, but not load anything from it.
    """
    if "content-length" in headers and "transfer-encoding" in headers:
        return "refused: two lengths of one body"
    host = headers.get("host", "").lower()
    if _name(host) not in settings.hosts:
        return "unknown host name"
    site = headers.get("sec-fetch-site")
    if method in SAFE_METHODS:
        leads = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        is_ours = leads or site not in {"cross-site", "same-site"}
    elif site is not None:
        is_ours = site == "same-origin"
    elif headers.get("origin") is not None:
        is_ours = headers["origin"].lower() == f"{'https' if settings.is_https else 'http'}://{host}"
    else:
        has_token = headers.get("authorization", "").lower().startswith("bearer ")
        is_ours = has_token and "cookie" not in headers
    return "" if is_ours else "refused: sent by another site, or by a browser that does not say by which"


def _unknown_format(scope: Scope) -> str:
    """Return why the requested ``format`` is not available; "" if it is."""
    formats = QueryParams(scope.get("query_string", b"")).getlist("format")
    sent = "json" if scope["path"].startswith(API) else "html"
    return "" if all(name == sent for name in formats) else f"format: expected {sent}"


def _through_proxy(scope: Scope, proxies: tuple[str, ...]) -> bool:
    """Replace the proxy's address by the browser's; return whether a configured proxy forwarded the request.

    Of X-Forwarded-For only entries of configured proxies are trusted: the last address that is no proxy.
    """
    if not is_proxy((scope.get("client") or ("", 0))[0], proxies):
        return False
    # Some proxies append a header line of their own: all lines are one list.
    lines = Headers(scope=scope).getlist("x-forwarded-for")
    forwarded = [part.strip() for line in lines for part in line.split(",")]
    outside = next((part for part in reversed(forwarded) if part and not is_proxy(part, proxies)), None)
    if outside is not None:
        scope["client"] = (outside[:64], 0)
    return True


def _name(host: str) -> str:
    """Return a Host header without its port."""
    name, colon, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
    return name if colon and port.isdecimal() else host


COOKIE: Final = "phiscan-language"


def language_of(headers: Headers, path: str, default: str = SOURCE) -> str:
    """Return the language of a request by its path, its cookie and its Accept-Language header.

    >>> language_of(Headers({"cookie": "__Host-phiscan-language=fr", "accept-language": "en"}), "/queue")
    'fr'
    >>> language_of(Headers({"accept-language": "fr-CA"}), "/api/v1/items")
    'en'
    """
    if path.startswith(API):
        return SOURCE
    cookies = cookie_parser(headers.get("cookie", ""))
    chosen = cookies.get(f"__Host-{COOKIE}") or cookies.get(COOKIE, "")
    return chosen if chosen in LANGUAGES else negotiate(headers.get("accept-language", ""), default)


def inside(place: str) -> str:
    r"""Return an address of this server to redirect to; "/" for any that a browser could resolve elsewhere.

    >>> inside("/queue?type=MRN"), inside("//evil.example/"), inside("/\\evil.example"), inside("https:x")
    ('/queue?type=MRN', '/', '/', '/')
    """
    ours = place.startswith("/") and not place.startswith(("//", "/\\")) and place.isprintable()
    return place if ours and place.isascii() and "\\" not in place else "/"


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


def add_error_handlers(app: FastAPI) -> None:
    """Register a handler for every expected type of error."""
    handlers: Mapping[type[Exception], Callable[[Request, Exception], Response]] = {
        NotSignedInError: _not_signed_in,
        NotAllowedError: lambda request, _: failure(request, 403, gettext("Your role does not allow this.")),
        NoSecondFactorError: _no_second_factor,
        InputError: lambda request, error: failure(request, 400, str(error)),
        ConflictError: lambda request, error: failure(request, 409, str(error)),
        StoreError: _store,
        RequestValidationError: _validation,
        HTTPException: _http,
        OverflowError: lambda request, _: failure(request, 404, ""),  # a row number out of range
    }
    for kind, handler in handlers.items():
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
