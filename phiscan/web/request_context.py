"""The context of a request: store, settings, clock and pages of this server; the user, by cookie or token."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import Depends, Path, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from phiscan.bounded_cache import BoundedCache
from phiscan.config import Config
from phiscan.model import SourceFile
from phiscan.pipeline.rereading.masked_passages import MaskedProse
from phiscan.pipeline.rereading.reveal import Rereader
from phiscan.report.regulators import Organization
from phiscan.review.accounts.users import Role, Session, Token, User, Users
from phiscan.review.store import Desk as Work
from phiscan.review.store import Store
from phiscan.review.worklist.model import FileRecord
from phiscan.web.access import Permission, may, token_may
from phiscan.web.pages import Pages, notice
from phiscan.web.provider import Provider
from phiscan.web.report_builds import LiveReports, Packs
from phiscan.web.work_query import ListQuery, read_query

MAX_NUMBER = 2**63 - 1  # of a row; a larger number in an address is refused
RowNumber = Annotated[int, Path(ge=1, le=MAX_NUMBER)]


@dataclass(frozen=True, slots=True)
class Settings:
    """Addresses, limits and proxies of this server."""

    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")  # allowed Host headers
    own_url: str = "http://127.0.0.1:8470"  # address of this server in browsers
    prepares: bool = False  # start the process that reads files again with the server
    is_https: bool = False  # browsers use TLS: cookies are Secure
    max_body_bytes: int = 1024 * 1024
    proxies: tuple[str, ...] = ()  # if set, only these addresses or networks may connect
    second_factor_roles: frozenset[Role] = frozenset()  # roles that require a second factor


PassageCache = BoundedCache[tuple[str, int, int], tuple[SourceFile, MaskedProse]]
"""Masked passages, never on a disk, and the state of the file that they were read from.

By digest of the content, examination, and characters of the beginning (0 = strongest passages). They hold no
value, and are cleared when a user signs out and when the server ends.
"""
MAX_PASSAGE_FILES = 200
MAX_PIECES = 200_000  # of all files together: the next items of a few reviewers


def utc_now() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Desk:
    """The parts of one running server."""

    store: Store
    config: Config
    settings: Settings
    pages: Pages
    packs: Packs
    rereader: Rereader
    passages: PassageCache = field(default_factory=lambda: BoundedCache(MAX_PIECES, MAX_PASSAGE_FILES))
    reports: LiveReports = field(default_factory=LiveReports)
    provider: Provider | None = None  # identity provider
    organization: Organization = field(default_factory=Organization)
    now: Callable[[], datetime] = field(default=utc_now)

    def forget(self) -> None:
        """Clear the caches of file contents."""
        self.passages.clear()
        self.reports.clear()


def desk_of(request: Request) -> Desk:
    """Return the desk that serves a request."""
    desk: Desk = request.app.state.desk
    return desk


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


def cookie_name(desk: Desk, name: str = "") -> str:
    """Return the name of the session's cookie, or of another one.

    The prefix __Host- prevents other hosts of the domain from setting it. Others are ``browser``: identifies
    a known browser at the next sign-in, and no user; ``code``: a sign-in that waits for its second factor;
    ``flow``: one at the identity provider.
    """
    return ("__Host-phiscan" if desk.settings.is_https else "phiscan") + (f"-{name}" if name else "")


@dataclass(frozen=True, slots=True)
class Context:
    """One request: its desk, user and time, and the ways to answer it."""

    request: Request
    desk: Desk

    @property
    def user(self) -> User:
        """The signed-in user, whom the permission check of the route has set."""
        user: User | None = self.request.state.user
        if user is None:
            raise NotSignedInError
        return user

    @property
    def name(self) -> str:
        """The name of the user."""
        return self.user.name

    @property
    def session(self) -> Session:
        """The browser's session; a request with a token has none."""
        session: Session | None = self.request.state.session
        if session is None:
            raise NotAllowedError
        return session

    @property
    def now(self) -> datetime:
        """The time."""
        return self.desk.now()

    @property
    def work(self) -> Work:
        """The review list, decisions and incidents."""
        return self.desk.store.desk

    @property
    def users(self) -> Users:
        """The accounts."""
        return self.desk.store.users

    @property
    def address(self) -> str:
        """The network address of the client."""
        return self.request.client.host if self.request.client else ""

    @property
    def notice_name(self) -> str:
        """The name of the notice in the address."""
        return self.request.query_params.get("said", "")

    @property
    def query(self) -> ListQuery:
        """The filter, order and page of the review list in the address."""
        return read_query(self.request.query_params)

    @property
    def by(self) -> dict[str, Any]:
        """Who does something, and when; ``viewing`` and ``reviewing`` are the same by other names."""
        return {"by": self.name, "now": self.now}

    @property
    def viewing(self) -> dict[str, Any]:
        """Who looks, and when."""
        return {"viewer": self.name, "now": self.now}

    @property
    def reviewing(self) -> dict[str, Any]:
        """Who reviews, and when."""
        return {"reviewer": self.name, "now": self.now}

    def item(self, file_id: int) -> FileRecord:
        """Return an item of the list as the user may see it.

        Raises:
            InputError: it is not in the list.
        """
        return self.work.item(file_id, viewer=self.name, now=self.now)

    def detail(self, file_id: int) -> FileRecord:
        """Return an item with its findings, as ``item``."""
        return self.work.detail(file_id, viewer=self.name, now=self.now)

    def cookie(self, name: str = "") -> str:
        """Return the value of a cookie; "" = there is none."""
        return self.request.cookies.get(cookie_name(self.desk, name), "")

    def set_cookie(
        self,
        response: Response,
        secret: str,
        name: str = "",
        *,
        lasts: timedelta | None = None,
        samesite: Literal["lax", "strict"] = "strict",
    ) -> None:
        """Set the session cookie or another, which lasts so long or until the browser is closed."""
        response.set_cookie(
            cookie_name(self.desk, name),
            secret,
            max_age=None if lasts is None else int(lasts.total_seconds()),
            path="/",
            secure=self.desk.settings.is_https,
            httponly=True,
            samesite=samesite,
        )

    def clear_cookie(self, response: Response, name: str = "") -> None:
        """Delete the session cookie, or another."""
        self.set_cookie(response, "", name, lasts=timedelta())

    def may(self, permission: Permission) -> bool:
        """Return whether the user has a permission."""
        return may(self.user, permission)

    def page(self, template: str, /, *, unsent: str = "", status_code: int = 200, **shown: Any) -> Response:
        """Return a page; ``unsent``: the name of the notice of why a form was rejected (409)."""
        if unsent:
            shown, status_code = {"notice": notice(unsent), **shown}, 409
        return self.desk.pages.render(self.request, template, status_code=status_code, **shown)

    def file(self, name: str, content: str | bytes) -> Response:
        """Return a file to download; the download is logged first."""
        self.users.log_export(what=name, by=self.user, address=self.address, now=self.now)
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type=mimetypes.guess_type(name)[0] or "text/plain", headers=headers)


def context_of(request: Request) -> Context:
    """Return the context of a request."""
    return Context(request, desk_of(request))


Ctx = Annotated[Context, Depends(context_of)]
