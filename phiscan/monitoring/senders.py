"""What sends a message: e-mail, HTTP, syslog, each in one attempt; ``retried`` makes more of them.

HTTP is JSON over TLS, signed or with a token; a redirect is refused, since the data is for its receiver.
Syslog has no answer: it took a message when it has read everything and closed. RFC 5424; framed by octet
counting (RFC 6587), over TLS (RFC 5425).
"""

from __future__ import annotations

import hmac
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from phiscan.config import NotifyTable
from phiscan.crawl.http_client import tls_context
from phiscan.errors import InputError, origin

TIMEOUT_S: Final = 10.0
MAIL_TIMEOUT_S: Final = 30.0  # many servers keep a sender waiting on purpose
LIMIT_S: Final = 60.0  # for one message, whatever comes meanwhile
PATIENCE_S: Final = 8.0  # after which a receiver that fails is left until the next time
_PAUSES_S: Final = (1.0, 2.0, 4.0)
_SERVER_ERROR: Final = 500  # status of HTTP from which another attempt may succeed
_TRIED_AGAIN: Final = {408, 429}  # time-out of the request, too many requests
_REFUSED: Final = 500  # reply of a mail server from which it refuses for good
SYSLOG_PORTS: Final = {"syslog+tls": 6514, "syslog+tcp": 601, "syslog+udp": 514}


@dataclass(frozen=True, slots=True)
class Mail:
    """Server and sender of ``[notify]``, and the recipients."""

    table: NotifyTable
    to: tuple[str, ...] = ()
    password: str = field(default="", repr=False)

    def send(self, subject: str, text: str) -> None:
        """Send a text.

        Raises:
            OSError: the server cannot be reached or trusted, or refuses (smtplib.SMTPException).
        """
        import smtplib  # noqa: PLC0415 (most scans send no mail)

        table, message = self.table, EmailMessage()
        message["From"], message["To"] = table.mail_from, ", ".join(self.to)
        message["Subject"] = subject
        message.set_content(text)
        context = tls_context(table.smtp_ca_file, "e-mail")
        is_tls = table.smtp_tls == "tls"
        connect = partial(smtplib.SMTP_SSL, context=context) if is_tls else smtplib.SMTP
        with connect(table.smtp_host, table.smtp_port, timeout=MAIL_TIMEOUT_S) as server:
            if table.smtp_tls == "starttls":
                server.starttls(context=context)
            if table.smtp_user:
                server.login(table.smtp_user, self.password)
            server.send_message(message)
            with suppress(smtplib.SMTPException):  # it has the message, whatever it answers now
                server.quit()


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that takes JSON, and the secret of the signature or the token."""

    url: str
    secret: str = field(default="", repr=False)  # of the signature; "" = not signed
    ca_file: str = ""  # instead of the system's certificate authorities
    authorization: str = field(default="", repr=False)  # header field; "" = none

    def send(self, text: str, delivery: str) -> None:
        """Deliver a text; all attempts have one delivery number, so that a receiver can drop duplicates.

        The signature is HMAC-SHA256 over time stamp, a dot, and the text.

        Raises:
            OSError: the receiver cannot be reached or trusted, or refuses (urllib.error.HTTPError).
        """
        body, stamp = text.encode(), str(int(time.time()))
        headers = {"Content-Type": "application/json", "User-Agent": "phiscan"}
        headers |= {"X-Phiscan-Delivery": delivery, "X-Phiscan-Timestamp": stamp}
        if self.secret:
            signature = hmac.digest(self.secret.encode(), stamp.encode() + b"." + body, "sha256").hex()
            headers["X-Phiscan-Signature"] = f"sha256={signature}"
        if self.authorization:
            headers["Authorization"] = self.authorization
        https = urllib.request.HTTPSHandler(context=tls_context(self.ca_file, "webhook"))
        # ``is_protected`` allows https, and http on this machine
        request = urllib.request.Request(self.url, body, headers, method="POST")  # noqa: S310
        try:
            urllib.request.build_opener(https, _NoRedirect).open(request, timeout=TIMEOUT_S).close()
        except urllib.error.HTTPError as error:
            error.close()
            raise
        except urllib.error.URLError as error:
            raise (error.reason if isinstance(error.reason, OSError) else error) from None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments: Any) -> None:
        """Follow nothing."""


@dataclass(frozen=True, slots=True)
class Syslog:
    """A syslog server; ``url`` has one of the schemes of ``SYSLOG_PORTS``."""

    url: str
    ca_file: str = ""  # instead of the system's certificate authorities

    def send(self, lines: Sequence[bytes]) -> None:
        """Send messages.

        Raises:
            OSError: the server cannot be reached or trusted, or has not read everything.
        """
        parts = urlsplit(self.url)
        host, port = parts.hostname or "", parts.port or SYSLOG_PORTS[parts.scheme]
        if parts.scheme == "syslog+udp":
            family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
            with socket.socket(family, socket.SOCK_DGRAM) as datagrams:
                for line in lines:
                    datagrams.sendto(line, address)
            return
        with socket.create_connection((host, port), TIMEOUT_S) as plain:
            is_tls = parts.scheme == "syslog+tls"
            wrapped = (
                tls_context(self.ca_file, "syslog").wrap_socket(plain, server_hostname=host)
                if is_tls
                else plain
            )
            with wrapped as connection:
                connection.sendall(b"".join(b"%d %b" % (len(line), line) for line in lines))
                try:
                    if isinstance(connection, ssl.SSLSocket):
                        connection.unwrap()
                    else:
                        connection.shutdown(socket.SHUT_WR)
                        while connection.recv(4096):
                            pass
                except (TimeoutError, ssl.SSLError):  # many servers say nothing, or end TLS without a word
                    return
                except OSError as error:
                    if error.errno:  # a reset says that not everything was read; 0: TLS ended without a word
                        raise


def retried(
    send: Callable[..., None],
    *message: Any,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Call what sends with a message, up to four times, until it succeeds, fails for good, or took too long.

    Raises:
        OSError: the last failure.
    """
    until = clock() + PATIENCE_S
    for pause_s in _PAUSES_S:
        try:
            return _within_limit(send, *message)
        except OSError as error:
            if is_permanent(error) or clock() >= until:
                raise
        sleep(pause_s)
    return _within_limit(send, *message)


def _within_limit(send: Callable[..., None], *message: Any) -> None:
    """Call what sends; a receiver that answers byte by byte keeps every time-out, but not this limit."""
    done = Future[None]()

    def run() -> None:
        try:
            send(*message)
        except Exception as error:  # noqa: BLE001 (raised where it is waited for)
            done.set_exception(error)
        else:
            done.set_result(None)

    threading.Thread(target=run, daemon=True).start()
    done.result(LIMIT_S)


def is_permanent(error: OSError) -> bool:
    """Return whether another attempt would fail, too: the receiver refuses, or is not the expected one."""
    if isinstance(error, urllib.error.HTTPError):
        return error.code < _SERVER_ERROR and error.code not in _TRIED_AGAIN
    return isinstance(error, ssl.SSLCertVerificationError) or getattr(error, "smtp_code", 0) >= _REFUSED


def problem_of(error: Exception) -> str:
    """Say why a message was not sent, without an address, a secret or what a server answered."""
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, urllib.error.HTTPError):
        return f"refused with status {error.code}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return "its certificate is not trusted"
    return f"could not be sent ({origin(error)})"
