"""A request that trickles in, and an address that opens connection after connection, stop nobody else."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from phiscan.web.address import ConnectionLimits, limited
from tests.waiting import CEILING_S, wait_until

LONG = 600.0  # seconds: no test waits for it


async def _app(scope: Scope, receive: Receive, send: Send) -> None:
    body = await Request(scope, receive).body()
    await PlainTextResponse(f"{len(body)} bytes")(scope, receive, send)


@contextmanager
def _serving(limits: ConnectionLimits) -> Iterator[int]:
    """Serve in a thread; give the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            _app, http=limited(limits), log_level="critical", lifespan="off", timeout_keep_alive=600
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])), daemon=True)
        thread.start()
        wait_until(lambda: server.started, "the server listens")
        yield listener.getsockname()[1]
        server.should_exit = server.force_exit = True
        thread.join()


def _connected(port: int, address: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=CEILING_S, source_address=(address, 0))


def _answer(connection: socket.socket) -> bytes:
    """Return all that comes until the server closes the connection."""
    found = b""
    try:
        while data := connection.recv(4096):
            found += data
    except ConnectionResetError:
        pass  # closed with something unread
    return found


def _asked(connection: socket.socket) -> bytes:
    connection.sendall(b"GET / HTTP/1.1\r\nhost: desk\r\n\r\n")
    return connection.recv(4096)


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: desk\r\nx-slow: "])
def test_a_head_that_does_not_end_is_ended(sent: bytes) -> None:
    with _serving(ConnectionLimits(head_s=0.1, body_s=LONG)) as port, _connected(port) as connection:
        connection.sendall(sent)
        assert _answer(connection).startswith(b"HTTP/1.1 408 ")


def test_bytes_that_trickle_in_do_not_put_the_deadline_off() -> None:
    with _serving(ConnectionLimits(head_s=0.3, body_s=LONG)) as port, _connected(port) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        connection.settimeout(0.05)
        found = b""
        for _ in range(int(CEILING_S / 0.05)):
            try:
                connection.sendall(b"a: b\r\n")
                found = connection.recv(4096)
                break
            except TimeoutError:
                continue
        assert found.startswith(b"HTTP/1.1 408 ")


def test_a_body_that_does_not_come_is_ended() -> None:
    with _serving(ConnectionLimits(head_s=LONG, body_s=0.1)) as port, _connected(port) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nhost: desk\r\ncontent-length: 10\r\n\r\n1")
        assert _answer(connection).startswith(b"HTTP/1.1 408 ")


def test_the_second_request_of_a_connection_has_a_deadline_too() -> None:
    with _serving(ConnectionLimits(head_s=0.2, body_s=LONG)) as port, _connected(port) as connection:
        assert _asked(connection).startswith(b"HTTP/1.1 200 ")
        connection.sendall(b"GET / HT")
        assert _answer(connection).endswith(b"content-length: 0\r\n\r\n")


def test_one_address_has_so_many_connections_and_others_are_served() -> None:
    with _serving(ConnectionLimits(head_s=LONG, body_s=LONG, per_address=3)) as port:
        held = [_connected(port) for _ in range(3)]
        assert all(_asked(one).startswith(b"HTTP/1.1 200 ") for one in held)
        with _connected(port) as fourth:
            assert _answer(fourth).startswith(b"HTTP/1.1 503 ")
        with _connected(port, "127.0.0.2") as other:
            assert _asked(other).startswith(b"HTTP/1.1 200 ")
        held.pop().close()

        def is_served() -> bool:
            with _connected(port) as again:
                return _asked(again).startswith(b"HTTP/1.1 200 ")

        wait_until(is_served, "a place is free again")
        for one in held:
            one.close()


def test_a_proxy_has_no_cap() -> None:
    limits = ConnectionLimits(head_s=LONG, body_s=LONG, per_address=1, proxies=("127.0.0.0/30",))
    with _serving(limits) as port, _connected(port) as one, _connected(port) as two:
        assert _asked(one).startswith(b"HTTP/1.1 200 ")
        assert _asked(two).startswith(b"HTTP/1.1 200 ")
