"""The language of a request: the browser's cookie, else Accept-Language, else that of phiscan.toml."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Receive, Scope, Send

from phiscan.language import LANGUAGES, SOURCE, negotiate, using

COOKIE: Final = "phiscan-language"
_API: Final = "/api/"


@dataclass(frozen=True, slots=True)
class Languages:
    """The middleware that sets the language of each request; programs get English, which never changes."""

    app: ASGIApp
    default: str = SOURCE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request in its language."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        with using(language_of(Headers(scope=scope), scope["path"], self.default)):
            await self.app(scope, receive, send)


def language_of(headers: Headers, path: str, default: str = SOURCE) -> str:
    """Return the language of a request by its path, its cookie and its Accept-Language header.

    >>> language_of(Headers({"cookie": "phiscan-language=fr", "accept-language": "en"}), "/queue")
    'fr'
    >>> language_of(Headers({"accept-language": "fr-CA"}), "/api/v1/items")
    'en'
    """
    if path.startswith(_API):
        return SOURCE
    chosen = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
    return chosen if chosen in LANGUAGES else negotiate(headers.get("accept-language", ""), default)


def inside(place: str) -> str:
    r"""Return an address of this server to redirect to; "/" for any that a browser could resolve elsewhere.

    >>> inside("/queue?type=MRN"), inside("//evil.example/"), inside("/\\evil.example"), inside("https:x")
    ('/queue?type=MRN', '/', '/', '/')
    """
    ours = place.startswith("/") and not place.startswith(("//", "/\\")) and place.isprintable()
    return place if ours and place.isascii() and "\\" not in place else "/"
