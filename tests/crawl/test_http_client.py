"""Requests of the sources that have an HTTP interface, against a server of the test's own."""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from phiscan.config import SharesTable
from phiscan.crawl.http_client import RANGE_BYTES, HttpClient
from phiscan.crawl.retries import RetryPolicy
from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.model import FailReason

SECRET = "canary-token-7261"
Answer = tuple[int, Mapping[str, str], bytes]


@dataclass
class Server:
    """Answers each request by a function of its path; keeps what it was sent."""

    answer: Callable[[str], Answer] = lambda _: (200, {}, b"")
    requests: list[tuple[str, str]] = field(default_factory=list)  # path, token
    url: str = ""


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    """Return two servers: another port is another origin."""
    running = [Server(), Server()]
    listening = [_listen(server) for server in running]
    yield running
    for one in listening:
        one.shutdown()
        one.server_close()


def _listen(server: Server) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.requests.append((self.path, self.headers.get("Authorization", "")))
            status, headers, body = server.answer(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{listening.server_port}"
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    return listening


class Token:
    """Signs in with a token that can be renewed."""

    def __init__(self) -> None:
        self.n_renewed = 0

    def headers(self, *, renew: bool) -> Mapping[str, str]:
        self.n_renewed += renew
        return {"Authorization": f"Bearer {SECRET}-{self.n_renewed}"}


def _client(token: Token | None = None) -> HttpClient:
    return HttpClient(SharesTable(timeout_s=5), token or Token(), extra="webdav")


def test_a_token_that_expired_is_renewed_once(servers: list[Server]) -> None:
    server, _ = servers
    server.answer = lambda _: (200 if server.requests[-1][1].endswith("-1") else 401, {}, b"x")
    assert _client().request("GET", server.url).content == b"x"
    server.answer = lambda _: (401, {}, b"the user's name")
    with pytest.raises(RefusedError) as caught:
        _client().request("GET", server.url)
    assert caught.value.reason == FailReason.NO_PERMISSION
    assert len(server.requests) == 4


def test_no_other_server_gets_the_token(servers: list[Server]) -> None:
    server, other = servers
    server.answer = lambda path: (
        302,
        {"Location": f"{other.url}/b?x=1"} if path == "/a" else {"Location": "/a"},
        b"",
    )
    other.answer = lambda _: (200, {}, b"content")
    assert _client().request("GET", f"{server.url}/first").content == b"content"
    assert [path for path, token in server.requests if SECRET in token] == ["/first", "/a"]
    assert other.requests == [("/b?x=1", "")]
    server.answer = lambda _: (302, {"Location": "http://files.example.org/c"}, b"")
    with pytest.raises(RefusedError, match="not be encrypted"):
        _client().request("GET", f"{server.url}/first")
    server.answer = lambda _: (302, {"Location": "/again"}, b"")
    with pytest.raises(RefusedError, match="redirected too often"):
        _client().request("GET", f"{server.url}/first")


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (403, FailReason.NO_PERMISSION),
        (404, FailReason.CHANGED),
        (412, FailReason.CHANGED),
        (423, FailReason.IO_ERROR),
        (400, FailReason.IO_ERROR),
    ],
)
def test_a_refusal_is_not_repeated_and_not_quoted(servers: list[Server], status: int, reason: str) -> None:
    server, _ = servers
    server.answer = lambda _: (status, {}, b"no such file: Okafor.docx")
    with pytest.raises(RefusedError) as caught:
        RetryPolicy(SharesTable(retry_s=0)).run(lambda: _client().request("GET", f"{server.url}/Okafor.docx"))
    assert caught.value.reason == reason
    assert "Okafor" not in str(caught.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize("asked", ["seconds", "date"])
def test_a_busy_server_says_when_to_come_again(servers: list[Server], asked: str) -> None:
    server, _ = servers
    later = {"seconds": "90", "date": format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)}
    server.answer = lambda _: (429, {"Retry-After": later[asked]}, b"")
    with pytest.raises(UnansweredError) as caught:
        _client().request("GET", server.url)
    assert 60 < caught.value.pause_s <= 90
    assert not caught.value.is_gone


def test_a_pause_that_the_server_asks_for_is_made(servers: list[Server]) -> None:
    server, _ = servers
    paused: list[float] = []
    policy = RetryPolicy(SharesTable(retry_s=0, attempts=2))
    policy._stopped.wait = lambda timeout=None: bool(paused.append(timeout or 0))  # type: ignore[method-assign]
    server.answer = lambda _: (503, {"Retry-After": "7"}, b"")
    with pytest.raises(UnansweredError):
        policy.run(lambda: _client().request("GET", server.url))
    assert paused == [7.0]


def test_a_server_that_knows_no_ranges_is_not_read_without_end(servers: list[Server]) -> None:
    server, _ = servers
    server.answer = lambda _: (200, {}, b"x" * (RANGE_BYTES + 10))
    assert len(_client().get_range(server.url, 4).content) == RANGE_BYTES + 4
    assert server.requests[0][0] == "/"


def test_no_answer_is_tried_again_and_names_nothing(servers: list[Server]) -> None:
    with pytest.raises(UnansweredError) as caught:
        _client().request("GET", "http://127.0.0.1:1/Okafor.docx")
    assert caught.value.is_gone
    assert "Okafor" not in str(caught.value)
    with pytest.raises(RefusedError, match="expected https"):
        _client().request("GET", "http://files.example.org/")
    assert not any(server.requests for server in servers)
