"""Connections to the desk: deadlines for the head and the body of a request, and a cap for each address.

Slow requests hold connections, and many of them use up the server. So the head and the body of a request
each have a total deadline, and one address has a limited number of connections. The configured proxies
are exempt from the limit, because they carry the connections of all browsers.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Any, ClassVar, Literal

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

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
        return n_open > self.limits.per_address and not _is_proxy(address, self.limits.proxies)


def limited(limits: ConnectionLimits) -> type[LimitedProtocol]:
    """Return the protocol with these limits, as uvicorn takes it."""
    return type("LimitedProtocol", (LimitedProtocol,), {"limits": limits})


def _is_proxy(address: str, proxies: tuple[str, ...]) -> bool:
    try:
        return any(ip_address(address) in ip_network(proxy) for proxy in proxies)
    except ValueError:
        return False
