"""Connections to the desk: deadlines for the head and the body of a request, and a cap for each address.

A request that trickles in holds a connection, and many such requests hold all of them. So the head and the
body each have a deadline as a whole, however many bytes arrive meanwhile, and one address has so many
connections at most. The proxies that were named are exempt from the cap: after one of them are all browsers.
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
    """How long a request may take to arrive, and how many connections an address may have."""

    head_s: float = 10.0
    body_s: float = 60.0  # a megabyte at 17 kB/s
    per_address: int = 64  # a browser opens six
    proxies: tuple[str, ...] = ()  # addresses or networks without a cap


class LimitedProtocol(H11Protocol):
    """uvicorn's own protocol for HTTP/1.1, with limits."""

    limits: ClassVar[ConnectionLimits] = ConnectionLimits()

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._part: Part = None  # what is being received
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the head of a request, unless the address has too many connections."""
        super().connection_made(transport)
        if self._is_one_too_many():
            self._end(_TOO_MANY)
            return
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take bytes, and see which part of a request they leave open."""
        if self.transport.is_closing():
            return  # what arrives after the end
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
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
        """Close the connection; an answer that has begun is not written into."""
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
