"""Receivers of what phiscan sends, on loopback: HTTP, syslog and mail; each keeps what it got."""

import http.server
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar


class Http(http.server.BaseHTTPRequestHandler):
    """Keeps what is posted, and answers with the statuses given, then 200."""

    statuses: ClassVar[list[int]] = []
    got: ClassVar[list[tuple[dict[str, str], str]]] = []
    held: ClassVar[threading.Event | None] = None  # set: what comes is not answered
    arrived: ClassVar[threading.Event] = threading.Event()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        status = self.statuses.pop(0) if self.statuses else 200
        self.got.append((dict(self.headers), body if status < 300 else ""))
        if self.held is not None and len(self.got) > 1:
            self.arrived.set()
            self.held.wait(60)
            return
        self.send_response(status)
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


class Syslog(socketserver.BaseRequestHandler):
    """Takes frames of octet counting until the sender closes."""

    got: ClassVar[list[str]] = []

    def handle(self) -> None:
        if isinstance(self.request, tuple):
            self.got.append(self.request[0].decode())
            return
        data = b""
        while part := self.request.recv(65_536):
            data += part
        while data:
            length, _, rest = data.partition(b" ")
            self.got.append(rest[: int(length)].decode())
            data = rest[int(length) :]


class MailServer(socketserver.StreamRequestHandler):
    """As much SMTP as a client speaks that sends one message."""

    got: ClassVar[list[str]] = []

    def handle(self) -> None:
        self._say("220 test")
        while line := self.rfile.readline().decode().strip():
            word = line.split()[0].upper()
            if word == "DATA":
                self._say("354 go on")
                text = []
                while (part := self.rfile.readline().decode()) != ".\r\n":
                    text.append(part)
                self.got.append("".join(text))
            self._say("421 overloaded" if word == "QUIT" else "250 ok")
            if word == "QUIT":
                return

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


@contextmanager
def serving(handler: type, *, tls: ssl.SSLContext | None = None, udp: bool = False) -> Iterator[int]:
    handler.got.clear()  # type: ignore[attr-defined]
    Http.statuses.clear()
    kind: Any = socketserver.UDPServer if udp else socketserver.ThreadingTCPServer
    with (http.server.ThreadingHTTPServer if handler is Http else kind)(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


def mail_table(port: int) -> dict[str, Any]:
    """Return the table [notify] that names a mail server."""
    sender = "privacy@hospital.example"
    return {"mail_from": sender, "smtp_host": "127.0.0.1", "smtp_port": port, "smtp_tls": "none"}
