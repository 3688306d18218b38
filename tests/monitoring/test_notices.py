"""Notices go to real servers on loopback: signed, encrypted, tried again, and silent about every path."""

import hmac
import http.server
import json
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest

from phiscan.config import load_config
from phiscan.errors import ConfigError
from phiscan.monitoring.notices import read_notices
from phiscan.monitoring.senders import Webhook, retried
from tests.cluster.test_cluster import write_certificates
from tests.pipeline.harness import ToolHere, write_share

COUNTS = '{"event": "scan.finished", "scan": 1}'


class _Receiver(http.server.BaseHTTPRequestHandler):
    statuses: ClassVar[list[int]] = []
    got: ClassVar[list[tuple[dict[str, str], bytes]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.got.append((dict(self.headers), body))
        self.send_response(self.statuses.pop(0) if self.statuses else 204)
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


class _MailServer(socketserver.StreamRequestHandler):
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
            self._say("221 bye" if word == "QUIT" else "250 ok")
            if word == "QUIT":
                return

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


@contextmanager
def _serving(handler: type, *, context: ssl.SSLContext | None = None) -> Iterator[int]:
    handler.got.clear()  # type: ignore[attr-defined]
    kind = http.server.ThreadingHTTPServer if handler is _Receiver else socketserver.ThreadingTCPServer
    with kind(("127.0.0.1", 0), handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


def test_webhook_is_signed_and_tried_again_with_the_same_number() -> None:
    slept: list[float] = []
    with _serving(_Receiver) as port:
        _Receiver.statuses[:] = [503, 429]
        hook = Webhook(f"http://127.0.0.1:{port}/hook", "secret")
        retried(hook.send, COUNTS, "17", sleep=slept.append)
        got = list(_Receiver.got)
    assert slept == [1.0, 2.0]
    assert len(got) == 3
    assert {headers["X-Phiscan-Delivery"] for headers, _body in got} == {"17"}
    headers, body = got[-1]
    assert body == COUNTS.encode()
    stamp = headers["X-Phiscan-Timestamp"].encode()
    expected = hmac.new(b"secret", stamp + b"." + body, "sha256").hexdigest()
    assert headers["X-Phiscan-Signature"] == f"sha256={expected}"
    assert "secret" not in repr(hook)


@pytest.mark.parametrize("status", [301, 302, 307, 400, 404])
def test_webhook_is_not_sent_elsewhere_nor_again_when_it_is_refused(status: int) -> None:
    with _serving(_Receiver) as port:
        _Receiver.statuses[:] = [status]
        with pytest.raises(OSError, match=str(status)):
            retried(Webhook(f"http://127.0.0.1:{port}/", "s").send, COUNTS, "17", sleep=lambda _s: None)
        assert len(_Receiver.got) == 1


def test_webhook_trusts_only_a_known_authority(tmp_path: Path) -> None:
    write_certificates(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    with _serving(_Receiver, context=context) as port:
        with pytest.raises(OSError, match=r"CERTIFICATE_VERIFY_FAILED|certificate verify failed"):
            retried(Webhook(f"https://localhost:{port}/", "s").send, COUNTS, "17", sleep=lambda _s: None)
        assert _Receiver.got == []


@pytest.mark.slow
@pytest.mark.usefixtures("warm")
def test_scan_sends_counts_and_a_link_and_no_name(tmp_path: Path) -> None:
    share = write_share(tmp_path / "Karrowick-share", 11)
    (tmp_path / "hook.key").write_text("secret\n")
    tool = ToolHere(tmp_path / "home")
    with _serving(_Receiver) as port, _serving(_MailServer) as mail_port:
        (tmp_path / "phiscan.toml").write_text(
            'home = "home"\n[notify]\nlink = "https://phiscan.example/queue"\n'
            f'metrics_file = "{tmp_path}/phiscan.prom"\n'
            f'webhook_url = "http://127.0.0.1:{port}/"\nwebhook_secret_file = "{tmp_path}/hook.key"\n'
            f'mail_to = ["officer@hospital.example"]\nmail_from = "phiscan@hospital.example"\n'
            f'smtp_host = "127.0.0.1"\nsmtp_port = {mail_port}\nsmtp_tls = "none"\n'
        )
        done = tool.run("--log-format", "json", "scan", share, "--json")
        assert done.returncode == 1, done.stderr
        (_headers, body), (mail,) = _Receiver.got[0], _MailServer.got
    counts = json.loads(body)
    assert (counts["crawled"], counts["referred"], counts["link"]) == (11, 2, "https://phiscan.example/queue")
    assert "Subject: phiscan: scan 1 complete, 2 referred" in mail
    assert "The review queue: https://phiscan.example/queue" in mail
    logged = [json.loads(line) for line in done.stderr.splitlines()]
    assert logged[-1]["event"] == "scan.finished"
    assert logged[-1]["crawled"] == 11
    said = body.decode() + mail + (tmp_path / "phiscan.prom").read_text() + done.stderr
    for name in ("Karrowick", "file0", str(share), "Torvald"):
        assert name not in said


@pytest.mark.slow
@pytest.mark.usefixtures("warm")
def test_notice_that_cannot_be_sent_changes_nothing_about_the_scan(tmp_path: Path) -> None:
    share = write_share(tmp_path / "share", 2)
    tool = ToolHere(tmp_path / "home")
    (tmp_path / "phiscan.toml").write_text(
        'home = "home"\n[notify]\nmail_to = ["a@b.example"]\nmail_from = "p@b.example"\n'
        'smtp_host = "127.0.0.1"\nsmtp_port = 1\nsmtp_tls = "none"\n'
        'metrics_file = "/nonexistent/phiscan.prom"\n'
    )
    done = tool.run("scan", share)
    assert done.returncode == 1
    assert "e-mail: could not be sent (ConnectionRefusedError" in done.stderr
    assert "/nonexistent/phiscan.prom: metrics: could not be sent (FileNotFoundError" in done.stderr


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ('when = "never"', "notify.when"),
        ('webhook_url = "https://x.example/"', "notify.webhook_secret_file: expected"),
        (
            'webhook_url = "http://x.example/"\nwebhook_secret_file = "SECRET"',
            "notify.webhook_url: expected an https",
        ),
        ('webhook_url = "https://x.example/"\nwebhook_secret_file = "none"', "cannot be read"),
        ('mail_to = ["officer"]\nsmtp_host = "m"\nmail_from = "a@b"', "notify.mail_to: expected an address"),
        ('mail_to = ["o@h\\nBcc: x@y"]\nsmtp_host = "m"\nmail_from = "a@b"', "notify.mail_to: expected"),
        ('mail_to = ["o@h"]\nmail_from = "a@b"', "notify.smtp_host"),
        (
            'mail_to = ["o@h"]\nmail_from = "a@b"\nsmtp_host = "m"\nsmtp_tls = "none"',
            "notify.smtp_tls: expected",
        ),
        (
            'mail_to = ["o@h"]\nmail_from = "a@b"\nsmtp_host = "m"\nsmtp_user = "u"',
            "notify.smtp_password_file",
        ),
        ("mail = 3", "notify.mail: unknown field"),
        ('mail_to = ["o@h"]\nmail_from = "a@b"\nsmtp_host = "m"\nsmtp_port = 700000', "notify.smtp_port"),
        *(
            (
                f'webhook_url = "{url}"\nwebhook_secret_file = "SECRET"',
                "notify.webhook_url: expected an https",
            )
            for url in ("https://[::1/x", "https://x.example:99999/", "https://u:p@x.example/", "https:///x")
        ),
        ('metrics_file = "/dev/null"', "notify.metrics_file: /dev/null: expected a file"),
    ],
)
def test_refuses_what_cannot_work_before_the_scan(tmp_path: Path, lines: str, complaint: str) -> None:
    path, secret = tmp_path / "phiscan.toml", tmp_path / "secret"
    secret.write_text("x")
    path.write_text(f"[notify]\n{lines.replace('SECRET', str(secret))}\n")
    with pytest.raises(ConfigError, match=complaint):
        read_notices(load_config(path, environ={}))
