"""A server on loopback that stands for a cloud service: its faults, recorded requests, certificate."""

import base64
import json
import re
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

from tests.servers.certificate import make_certificate


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came; ``host`` is "api", or "download" for the server of pre-authenticated URLs."""

    host: str
    method: str
    path: str
    query: dict[str, str]
    headers: Message
    body: bytes

    @property
    def token(self) -> str:
        """The bearer token that was sent; empty without one."""
        return (self.headers.get("Authorization") or "").removeprefix("Bearer ")

    @property
    def form(self) -> dict[str, str]:
        return _single(self.body.decode())


@dataclass(slots=True)
class Answer:
    """What is sent back; content may be broken off after a number of bytes."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    is_content: bool = False
    has_length: bool = True  # else the connection's end is that of the body


@dataclass(slots=True)
class _Fault:
    n_left: int
    answer: Callable[[], Answer]
    path: str
    host: str
    n_before: int


class ApiServer:
    """A service on one port and its download host on another; subclasses define ``answer``.

    An exception of ``answer`` is kept in ``failures``, and raised when the server stops.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.requests: list[Request] = []
        self.failures: list[BaseException] = []
        self.lock = threading.RLock()
        self.ca_file = ""
        self.is_stopped = False
        self._faults: list[_Fault] = []
        self._breaks: list[int] = []
        context = None
        if folder is not None:
            make_certificate(folder)
            self.ca_file = str(folder / "certificate.pem")
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.ca_file, folder / "key.pem")
        self._servers = {host: _Server(self, host, context) for host in ("api", "download")}
        scheme = "http" if context is None else "https"
        urls = {host: f"{scheme}://127.0.0.1:{one.server_port}" for host, one in self._servers.items()}
        self.url, self.download_url = urls["api"], urls["download"]

    def answer(self, request: Request) -> Answer:
        raise NotImplementedError

    @contextmanager
    def running(self) -> Iterator[Self]:
        """Serve until the end of the block."""
        threads = [threading.Thread(target=one.serve_forever, args=(0.02,)) for one in self._servers.values()]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            for server, thread in zip(self._servers.values(), threads, strict=True):
                server.shutdown()
                thread.join()
                server.server_close()
            self.is_stopped = True
        if self.failures:
            raise self.failures[0]

    def fail_next(
        self, n: int, answer: Callable[[], Answer], *, path: str = "", host: str = "api", after: int = 0
    ) -> None:
        """Answer so to the next n requests whose path contains a text; the answer may be waited for.

        ``after``: that many of them are answered as usual before.
        """
        self._faults.append(_Fault(n, answer, path, host, after))

    def break_downloads(self, n: int, after_bytes: int) -> None:
        """Close the connection of the next n downloads after that many bytes of their content."""
        self._breaks += [after_bytes] * n

    def asked(self, path: str = "", host: str = "") -> list[Request]:
        """Return the requests to a host whose path contains a text."""
        return [one for one in list(self.requests) if path in one.path and host in {"", one.host}]

    def handle(self, request: Request) -> Answer:
        with self.lock:
            self.requests.append(request)
            faults = (one for one in self._faults if one.path in request.path and one.host == request.host)
            fault = next((one for one in faults if one.n_left), None)
            if fault is not None and fault.n_before:
                fault.n_before -= 1
                fault = None
            if fault is None:
                try:
                    return self.answer(request)
                except Exception as error:  # noqa: BLE001 (raised again at the end)
                    self.failures.append(error)
                    return Answer(500)
            fault.n_left -= 1
        return fault.answer()

    def bytes_to_send(self, answer: Answer) -> bytes:
        with self.lock:
            if answer.is_content and self._breaks and len(answer.body) > self._breaks[0]:
                return answer.body[: self._breaks.pop(0)]
            return answer.body


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, service: ApiServer, host: str, context: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.service, self.host = service, host
        if context is not None:
            # The handshake takes place in the thread of the connection.
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that clients close; errors of the service are kept by it."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet
    server: _Server

    def _serve(self) -> None:
        if self.server.service.is_stopped:  # and the connection still open
            self.close_connection = True
            return
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(
            self.server.host, self.command, unquote(url.path), _single(url.query), self.headers, body
        )
        answer = self.server.service.handle(request)
        data = self.server.service.bytes_to_send(answer)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.has_length:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
        self.wfile.flush()
        if len(data) < len(answer.body) or not answer.has_length:
            self.close_connection = True

    do_GET = do_POST = do_HEAD = do_PROPFIND = _serve  # noqa: N815 (names of the base class)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


def _single(query: str) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(query, keep_blank_values=True).items()}


def json_answer(status: int, payload: object, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, json.dumps(payload).encode(), {"Content-Type": "application/json", **named})


def ranged(data: bytes, asked: str | None) -> Answer:
    """Return the range of the data that a Range header asks for (RFC 9110, 14); all of it without one."""
    headers = {"Content-Type": "application/octet-stream", "Accept-Ranges": "bytes"}
    match = re.fullmatch(r"bytes=(\d*)-(\d*)", asked or "")
    if match is None or not any(match.groups()):
        return Answer(200, data, headers, is_content=True)
    first, last = match.groups()
    start = int(first) if first else max(0, len(data) - int(last))
    end = min(len(data), int(last) + 1) if first and last else len(data)
    if start >= end:
        return Answer(416, b"", {"Content-Range": f"bytes */{len(data)}"})
    headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(data)}"
    return Answer(206, data[start:end], headers, is_content=True)


def parts_of_jwt(token: str) -> tuple[dict[str, Any], dict[str, Any], bytes, bytes]:
    """Return header, claims, what is signed and signature of a JSON web token (RFC 7515).

    Raises:
        ValueError: it is none.
    """
    head, claims, signature = token.split(".")
    decoded = [base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in (head, claims, signature)]
    return json.loads(decoded[0]), json.loads(decoded[1]), f"{head}.{claims}".encode(), decoded[2]
