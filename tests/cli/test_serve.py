"""``phiscan serve``: where it will listen, and that it then does."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from phiscan.errors import InputError
from phiscan.web.address import Listening, settings_of
from phiscan.web.request_context import Settings
from tests.cli.program import refused
from tests.waiting import wait_until

WIDE = {"host": "192.0.2.1", "port": 8470}
CERT = {"tls_cert": Path("c.pem"), "tls_key": Path("k.pem")}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "expected --open-to-network"),
        ({"open_to_network": True}, "expected --public-url https://NAME"),
        ({"open_to_network": True, **CERT}, "expected --public-url https://NAME"),
        ({"public_url": "https://a.example", "proxies": ("10.0.0.1",)}, "expected --open-to-network"),
        ({"open_to_network": True, "public_url": "http://a.example"}, "expected https://"),
        (
            {"open_to_network": True, "public_url": "https://a.example"},
            "expected --tls-cert and --tls-key, or",
        ),
        (
            {"open_to_network": True, "public_url": "https://a.example/x", **CERT},
            r"expected https://NAME or https://NAME:PORT",
        ),
        ({"host": "desk.example"}, "expected an IP address"),
        ({"host": "127.0.0.1", "tls_cert": Path("c.pem")}, "together"),
        ({"host": "127.0.0.1", "proxies": ("10.0.0.1",)}, "expected --public-url too"),
        (
            {"host": "127.0.0.1", "public_url": "https://a", "proxies": ("proxy",)},
            "expected an IP address or a network",
        ),
        ({"host": "::1", "public_url": "http://a.example", **CERT}, "expected https://"),
    ],
)
def test_what_would_be_unsafe_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        settings_of(Listening(**{**WIDE, **options}))  # type: ignore[arg-type]


def test_what_is_safe_is_taken() -> None:
    local = settings_of(Listening(host="127.0.0.1", port=1))
    assert local == Settings(own_url="http://127.0.0.1:1")
    assert not settings_of(Listening(host="::1", port=1)).is_https
    with_tls = settings_of(
        Listening(host="192.0.2.1", port=443, open_to_network=True, public_url="https://Desk.Example", **CERT)  # type: ignore[arg-type]
    )
    assert (with_tls.hosts, with_tls.is_https) == (("desk.example",), True)
    behind = settings_of(
        Listening(
            host="10.0.0.2",
            port=80,
            open_to_network=True,
            public_url="https://d.example",
            proxies=("10.0.0.0/29",),
        )
    )
    assert (behind.is_https, behind.proxies) == (True, ("10.0.0.0/29",))


def test_the_command_refuses_before_it_listens(scanned: Path) -> None:
    assert scanned
    assert "--open-to-network" in refused("serve", "--host", "192.0.2.1")
    assert "no such file" in refused("serve", "--tls-cert", "none.pem", "--tls-key", "none.key")


def _free_port() -> int:
    """Return a free port below those that the system hands out: another test may be given one of these."""
    for port in range(20_000 + os.getpid() % 5_000, 30_000):
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port
    raise AssertionError


def test_serves_until_it_is_stopped(scanned: Path) -> None:
    """A real server in a process of its own: it says its address, answers, logs no page, and ends."""
    port = _free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "phiscan", "serve", "--port", str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PHISCAN_HOME": str(scanned)},
    )
    try:
        assert process.stderr is not None
        said = process.stderr.readline() + process.stderr.readline()
        assert "no account yet" in said
        assert re.search(rf"http://127\.0\.0\.1:{port}", said)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

        def answers() -> bool:
            assert process.poll() is None
            try:
                with opener.open(f"http://127.0.0.1:{port}/healthz?canary=1", timeout=10) as answer:
                    assert answer.read() == b"ok\n"
                    assert "server" not in answer.headers
            except OSError:
                return False  # it does not listen yet
            return True

        wait_until(answers, "the server answers")
        process.send_signal(signal.SIGINT)
        out, rest = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert "canary" not in out + rest
