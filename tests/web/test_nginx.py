"""Debian's nginx with the configuration of docs/how-to/run-the-desk.md: slow connections stop nobody."""

import re
import socket
import subprocess
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from phiscan.web.address import ConnectionLimits
from tests.needs import needs
from tests.waiting import CEILING_S, wait_until
from tests.web.test_connections import _serving

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "run-the-desk.md"
LONG = 600.0  # seconds: no test waits for it
N_SLOW = 150


def _lines(port: int, desk: int) -> str:
    """Return the configuration of the page, on loopback and without TLS."""
    (block,) = re.findall(r"^ +limit_conn_zone.*?^       \}$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    lines = [line for line in textwrap.dedent(block).splitlines() if "ssl_certificate" not in line]
    text = "\n".join(lines)
    assert "listen 443 ssl;" in text
    assert "127.0.0.1:8470" in text
    return text.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};").replace("8470", str(desk))


@contextmanager
def _nginx(folder: Path, desk: int) -> Iterator[int]:
    needs("nginx", folders=("/usr/sbin",))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "\n".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    main = (
        f"daemon off; pid {folder}/pid; error_log {folder}/log;\n"
        f"events {{}}\nhttp {{\n{temporary}\n{_lines(port, desk)}\n}}\n"
    )
    (folder / "nginx.conf").write_text(main)
    command = [
        "/usr/sbin/nginx",
        "-p",
        str(folder),
        "-e",
        str(folder / "log"),
        "-c",
        str(folder / "nginx.conf"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:

        def listens() -> bool:
            assert process.poll() is None, (folder / "log").read_text()
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        wait_until(listens, "nginx listens")
        yield port
    finally:
        process.terminate()
        process.wait()


def _asked(port: int, address: str = "127.0.0.1", body: bytes = b"") -> bytes:
    with socket.create_connection(("127.0.0.1", port), CEILING_S, source_address=(address, 0)) as connection:
        head = f"POST / HTTP/1.1\r\nhost: desk\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        return connection.recv(4096)


@pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\r\nx-slow: ", b""])
def test_slow_connections_through_the_proxy_stop_nobody(tmp_path: Path, sent: bytes) -> None:
    limits = ConnectionLimits(head_s=LONG, body_s=LONG, proxies=("127.0.0.1",))
    with _serving(limits) as desk, _nginx(tmp_path, desk) as port, ExitStack() as held:
        for _ in range(N_SLOW):
            slow = held.enter_context(socket.create_connection(("127.0.0.1", port), CEILING_S))
            slow.sendall(sent)
        assert _asked(port).startswith(b"HTTP/1.1 200 ")
        assert _asked(port, "127.0.0.2").startswith(b"HTTP/1.1 200 ")


def test_bodies_that_do_not_come_are_held_by_the_proxy_and_limited_by_address(tmp_path: Path) -> None:
    limits = ConnectionLimits(head_s=LONG, body_s=LONG, proxies=("127.0.0.1",))
    with _serving(limits) as desk, _nginx(tmp_path, desk) as port, ExitStack() as held:
        for _ in range(N_SLOW):
            slow = held.enter_context(socket.create_connection(("127.0.0.1", port), CEILING_S))
            slow.sendall(b"POST / HTTP/1.1\r\nhost: desk\r\ncontent-length: 10\r\n\r\n1")
        assert _asked(port, "127.0.0.2", b"x").startswith(b"HTTP/1.1 200 ")

        def is_limited() -> bool:
            return _asked(port).startswith(b"HTTP/1.1 503 ")

        wait_until(is_limited, "the slow address has its limit")
        assert _asked(port, "127.0.0.2", b"x").startswith(b"HTTP/1.1 200 ")


def test_a_large_body_is_refused_by_the_proxy(tmp_path: Path) -> None:
    with _serving(ConnectionLimits(proxies=("127.0.0.1",))) as desk, _nginx(tmp_path, desk) as port:
        assert _asked(port, body=b"x" * 1_100_000).startswith(b"HTTP/1.1 413 ")
        assert _asked(port, body=b"x" * 1000).startswith(b"HTTP/1.1 200 ")
