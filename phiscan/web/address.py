"""Listening address, public URL and connections of the server.

Loopback unless TLS or a proxy protects it. Slow requests hold connections, and many of them use up the
server: so the head and the body of a request each have a total deadline, and one address has a limited number
of connections. The configured proxies are exempt from the limit, because they carry those of all browsers.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, ClassVar, Literal
from urllib.parse import SplitResult, urlsplit

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from phiscan.config import Config, DeskTable
from phiscan.errors import ConfigError, InputError
from phiscan.review.accounts.users import Role
from phiscan.web.request_context import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """The listening options of ``phiscan serve``."""

    host: str
    port: int
    open_to_network: bool = False
    public_url: str = ""
    proxies: tuple[str, ...] = ()
    tls_cert: Path | None = None
    tls_key: Path | None = None


def desk_table(config: Config) -> DeskTable:
    """Read ``[desk]``.

    Raises:
        ConfigError: names the field and what was expected.
    """
    table = config.desk
    for name in ("idle_minutes", "session_hours", "max_body_kb"):
        if not 1 <= getattr(table, name) <= 100_000:  # noqa: PLR2004 (weeks; 100 MB)
            raise ConfigError(config.source, f"desk.{name}: expected a whole number from 1 to 100000")
    for name in table.second_factor:
        if name not in set(Role):
            raise ConfigError(config.source, f"desk.second_factor: {name}: expected roles: {', '.join(Role)}")
    return table


def settings_of(listening: Listening, *, max_body_kb: int = 1024) -> Settings:
    """Return the settings of a server with these listening options.

    Raises:
        InputError: it would serve a network without TLS, or the options contradict each other.
    """
    is_loopback = _is_loopback(listening.host)
    has_tls = listening.tls_cert is not None
    if has_tls != (listening.tls_key is not None):
        message = "expected --tls-cert and --tls-key together"
        raise InputError(message)
    public = _public(listening.public_url)
    for proxy in listening.proxies:
        _checked_network(proxy)
    if listening.proxies and public is None:
        message = "--proxy: expected --public-url too: what browsers call the proxy"
        raise InputError(message)
    if public is not None and public.scheme == "http" and has_tls:
        message = "--public-url: expected https://, because --tls-cert is given"
        raise InputError(message)
    if not is_loopback:
        _may_leave_the_machine(listening, has_public=public is not None, has_tls=has_tls)
    if public is None:
        host = f"[{listening.host}]" if ":" in listening.host else listening.host
        return Settings(
            own_url=f"{'https' if has_tls else 'http'}://{host}:{listening.port}",
            is_https=has_tls,
            max_body_bytes=max_body_kb * 1024,
        )
    name = (public.hostname or "").lower()
    return Settings(
        hosts=(f"[{name}]" if ":" in name else name,),
        own_url=listening.public_url.rstrip("/"),
        is_https=public.scheme == "https",
        max_body_bytes=max_body_kb * 1024,
        proxies=listening.proxies,
    )


def _may_leave_the_machine(listening: Listening, *, has_public: bool, has_tls: bool) -> None:
    host = listening.host
    if not listening.open_to_network:
        message = (
            f"--host {host}: not an address of this machine alone; expected --open-to-network with it, "
            "and TLS (--tls-cert, --tls-key) or a TLS proxy (--public-url https://..., --proxy ADDRESS)"
        )
        raise InputError(message)
    if not has_public:
        message = f"--host {host}: expected --public-url https://NAME, what browsers call this server"
        raise InputError(message)
    if not listening.public_url.startswith("https://"):
        message = "--public-url: expected https://: what is shown here must not cross a network in the clear"
        raise InputError(message)
    if not has_tls and not listening.proxies:
        message = (
            f"--host {host}: expected --tls-cert and --tls-key, or --proxy ADDRESS of the only machine "
            "that may connect, which speaks TLS to browsers"
        )
        raise InputError(message)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        message = f"--host {host}: expected an IP address, or localhost"
        raise InputError(message) from None


def _public(url: str) -> SplitResult | None:
    if not url:
        return None
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in {"http", "https"} and parts.hostname and parts.path in {"", "/"}
        _ = parts.port
    except ValueError:
        is_valid = False
    if not is_valid or parts.query or parts.fragment or parts.username:
        message = f"--public-url {url}: expected https://NAME or https://NAME:PORT"
        raise InputError(message)
    return parts


def _checked_network(text: str) -> None:
    try:
        ip_network(text)
    except ValueError:
        message = f"--proxy {text}: expected an IP address or a network such as 10.0.0.0/24"
        raise InputError(message) from None


_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_TOO_MANY = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
Part = Literal["head", "body"] | None


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Time limits of a request, and the maximum number of connections of an address."""

    head_s: float = 10.0
    body_s: float = 60.0  # a megabyte at 17 kB/s
    per_address: int = 64  # a browser opens six
    proxies: tuple[str, ...] = ()  # addresses or networks without a limit


class LimitedProtocol(H11Protocol):
    """uvicorn's own protocol for HTTP/1.1, with limits."""

    limits: ClassVar[ConnectionLimits] = ConnectionLimits()

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._part: Part = None  # the part that is being received
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the deadline of a request's head, unless the address has too many connections."""
        super().connection_made(transport)
        if self._is_one_too_many():
            self._end(_TOO_MANY)
            return
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Parse received bytes, and set the deadline of the part that is still incomplete."""
        if self.transport.is_closing():
            return  # data after the end of the connection
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline."""
        self._receive(None)
        super().connection_lost(exc)

    def _watch(self) -> None:
        state = self.conn.their_state
        self._receive("head" if state is h11.IDLE else "body" if state is h11.SEND_BODY else None)

    def _receive(self, part: Part) -> None:
        if part == self._part:
            return
        self._part = part
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if part is not None:
            seconds = self.limits.head_s if part == "head" else self.limits.body_s
            self._deadline = self.loop.call_later(seconds, self._end, _TOO_SLOW)

    def _end(self, answer: bytes) -> None:
        """Close the connection; if a response has begun, without an error response."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.write(answer)
        self.transport.close()

    def _is_one_too_many(self) -> bool:
        address = self.client[0] if self.client else ""
        clients = [getattr(other, "client", None) for other in self.connections]
        n_open = sum(1 for client in clients if client and client[0] == address)
        return n_open > self.limits.per_address and not is_proxy(address, self.limits.proxies)


def limited(limits: ConnectionLimits) -> type[LimitedProtocol]:
    """Return the protocol with these limits, as uvicorn takes it."""
    return type("LimitedProtocol", (LimitedProtocol,), {"limits": limits})


def is_proxy(address: str, proxies: tuple[str, ...]) -> bool:
    """Return whether an address is that of a configured proxy, or in one of its networks."""
    try:
        return any(ip_address(address) in ip_network(proxy) for proxy in proxies)
    except ValueError:
        return False
