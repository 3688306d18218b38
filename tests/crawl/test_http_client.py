"""Requests of the sources that have an HTTP interface, against a server of the test's own."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from phiscan.config import SharesTable
from phiscan.crawl import http_client
from phiscan.crawl.http_client import RANGE_BYTES, HttpClient
from phiscan.crawl.remote import RetryPolicy
from phiscan.crawl.share import RefusedError, UnansweredError
from phiscan.errors import PhiscanError
from phiscan.model import FailReason
from tests.servers.api_server import Answer, ApiServer, Request

SECRET = "canary-token-7261"


class Service(ApiServer):
    """Answers each request by a function of its path; its second port is another origin."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)
        self.by_path: Callable[[str], Answer] = lambda _: Answer(200)
        self.of_other: Callable[[str], Answer] = lambda _: Answer(200, b"content")

    def answer(self, request: Request) -> Answer:
        return (self.by_path if request.host == "api" else self.of_other)(request.path)


@pytest.fixture
def server() -> Iterator[Service]:
    with Service().running() as running:
        yield running


def _sign_in(*, renew: bool) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {SECRET}-{renew}"}


def _client() -> HttpClient:
    return HttpClient(SharesTable(timeout_s=5), _sign_in, extra="webdav")


def test_no_other_server_gets_the_token(server: Service) -> None:
    places = {"/first": "/a", "/a": f"{server.download_url}/b?x=1"}
    server.by_path = lambda path: Answer(302, b"", {"Location": places[path]})
    assert _client().request("GET", f"{server.url}/first").content == b"content"
    assert [(one.path, bool(one.token)) for one in server.requests] == [
        ("/first", True),
        ("/a", True),
        ("/b", False),
    ]
    assert server.requests[-1].query == {"x": "1"}
    _client().send("POST", f"{server.url}/a", content=SECRET.encode())
    assert [one.body for one in server.requests[-2:]] == [SECRET.encode(), b""]
    server.by_path = lambda _: Answer(302, b"", {"Location": "http://files.example.org/c"})
    with pytest.raises(RefusedError, match="not be encrypted"):
        _client().request("GET", f"{server.url}/first")
    server.by_path = lambda _: Answer(302, b"", {"Location": "/again"})
    with pytest.raises(RefusedError, match="redirected too often"):
        _client().request("GET", f"{server.url}/first")


def test_a_server_leads_to_no_program_of_this_machine(server: Service, tmp_path: Path) -> None:
    with Service(tmp_path).running() as other:
        other.by_path = lambda _: Answer(302, b"", {"Location": server.url})
        client = HttpClient(SharesTable(), _sign_in, ca_file=other.ca_file, extra="webdav")
        with pytest.raises(RefusedError, match="nothing is encrypted"):
            client.request("GET", other.url)
    assert not server.requests


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
def test_a_refusal_is_not_repeated_and_not_quoted(server: Service, status: int, reason: str) -> None:
    server.by_path = lambda _: Answer(status, b"no such file: Okafor.docx")
    with pytest.raises(RefusedError) as caught:
        RetryPolicy(SharesTable(retry_s=0)).run(lambda: _client().request("GET", f"{server.url}/Okafor.docx"))
    assert caught.value.reason == reason
    assert "Okafor" not in str(caught.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize("asked", ["seconds", "date"])
def test_a_busy_server_says_when_to_come_again(server: Service, asked: str) -> None:
    later = {"seconds": "90", "date": format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)}
    server.by_path = lambda _: Answer(429, b"", {"Retry-After": later[asked]})
    with pytest.raises(UnansweredError) as caught:
        _client().request("GET", server.url)
    assert 60 < caught.value.pause_s <= 90
    assert not caught.value.is_gone


def test_a_pause_that_the_server_asks_for_is_made(server: Service) -> None:
    paused: list[float] = []
    policy = RetryPolicy(SharesTable(retry_s=0, attempts=2))
    policy._stopped.wait = lambda timeout=None: bool(paused.append(timeout or 0))  # type: ignore[method-assign]
    server.by_path = lambda _: Answer(503, b"", {"Retry-After": "7"})
    with pytest.raises(UnansweredError):
        policy.run(lambda: _client().request("GET", server.url))
    assert paused == [7.0]


def test_a_server_that_knows_no_ranges_is_not_read_without_end(server: Service) -> None:
    server.by_path = lambda _: Answer(200, b"1234" + b"x" * (RANGE_BYTES + 10))
    assert _client().get_range(server.url, 4).content == b"x" * RANGE_BYTES
    server.by_path = lambda _: Answer(206, b"1234", {"Content-Range": "bytes 0-3/8"})
    with pytest.raises(RefusedError, match="another part"):
        _client().get_range(server.url, 4)


@pytest.mark.parametrize("limit", ["_MOST_BYTES", "SLOWEST"])
def test_an_answer_without_end_is_given_up(
    server: Service, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(http_client, limit, 10 if limit == "_MOST_BYTES" else 1e9)
    moments = itertools.count(0, 6)
    monkeypatch.setattr(http_client, "time", SimpleNamespace(monotonic=lambda: next(moments)))
    server.by_path = lambda _: Answer(200, b"x" * 20)
    with pytest.raises(PhiscanError, match="over 10 bytes" if limit == "_MOST_BYTES" else "TimeoutError"):
        _client().request("GET", server.url)


@pytest.mark.parametrize("path", ["/" + "x" * 2**16, "/gzip"])
def test_one_file_does_not_make_the_server_gone(server: Service, path: str) -> None:
    server.by_path = lambda _: Answer(200, b"none", {"Content-Encoding": "gzip"})
    with pytest.raises(UnansweredError) as caught:
        _client().request("GET", server.url + path)
    assert not caught.value.is_gone


def test_no_answer_is_tried_again_and_names_nothing(server: Service) -> None:
    with pytest.raises(UnansweredError) as caught:
        _client().request("GET", "http://127.0.0.1:1/Okafor.docx")
    assert caught.value.is_gone
    assert "Okafor" not in str(caught.value)
    with pytest.raises(RefusedError, match="expected https"):
        _client().request("GET", "http://files.example.org/")
    assert not server.requests
