"""What every request works with: the store, the settings of this server, the clock, the pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request

from phiscan.config import Config
from phiscan.pipeline.rereading.reveal import Rereader
from phiscan.review.accounts.users import Role
from phiscan.review.store import Store
from phiscan.web.live_report import LiveReports
from phiscan.web.packs import Packs
from phiscan.web.pages import Pages
from phiscan.web.passage_cache import PassageCache
from phiscan.web.provider import Provider


@dataclass(frozen=True, slots=True)
class Settings:
    """How this server is reached."""

    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")  # names that a browser may ask for
    own_url: str = "http://127.0.0.1:8470"  # the address by which browsers know it
    prepares: bool = False  # make ready to read files again as soon as the server runs
    is_https: bool = False  # browsers reach it by TLS: cookies are Secure
    max_body_bytes: int = 1024 * 1024
    proxies: tuple[str, ...] = ()  # the only addresses or networks that may connect; they name the browser's
    second_factor_roles: frozenset[Role] = frozenset()  # whose password alone does not do


def utc_now() -> datetime:
    """Return the time."""
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
    provider: Provider | None = None  # who else may say who somebody is
    now: Callable[[], datetime] = field(default=utc_now)

    def forget(self) -> None:
        """Drop what is kept in memory of the files that were looked at."""
        self.passages.clear()
        self.reports.clear()
        self.store.desk.forget()


def desk_of(request: Request) -> Desk:
    """Return the desk that serves a request."""
    desk: Desk = request.app.state.desk
    return desk


DeskNow = Annotated[Desk, Depends(desk_of)]
