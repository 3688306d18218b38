"""The context of every request: store, settings of this server, clock, pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Path, Request

from phiscan.config import Config
from phiscan.pipeline.rereading.reveal import Rereader
from phiscan.report.regulators import Organization
from phiscan.review.accounts.users import Role
from phiscan.review.store import Store
from phiscan.web.pages import Pages
from phiscan.web.passage_cache import PassageCache
from phiscan.web.provider import Provider
from phiscan.web.report_builds import LiveReports, Packs

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
    passages: PassageCache = field(default_factory=PassageCache)
    reports: LiveReports = field(default_factory=LiveReports)
    provider: Provider | None = None  # identity provider
    organization: Organization = field(default_factory=Organization)
    now: Callable[[], datetime] = field(default=utc_now)

    def forget(self) -> None:
        """Clear the caches of file contents."""
        self.passages.clear()
        self.reports.clear()
        self.store.desk.forget()


def desk_of(request: Request) -> Desk:
    """Return the desk that serves a request."""
    desk: Desk = request.app.state.desk
    return desk


DeskNow = Annotated[Desk, Depends(desk_of)]
