"""Send an e-mail with a scan's counts, over TLS."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Any, Self

from phiscan.config import require

TIMEOUT_S = 30
TLS = ("starttls", "tls", "none")
LOOPBACK = ("127.0.0.1", "::1", "localhost")
MAX_PORT = 65535


@dataclass(frozen=True, slots=True)
class Mail:
    """Recipients, sender and server."""

    to: tuple[str, ...]
    sender: str
    host: str
    port: int
    tls: str
    user: str = ""
    password: str = field(default="", repr=False)
    ca_file: str = ""  # instead of the system's certificate authorities

    def checked(self, where: str = "") -> Self:
        """Return it if it is valid; ``where``: the table of its fields.

        Raises:
            ConfigError: names the field of phiscan.toml, and what was expected.
        """
        addresses = [("mail_from", self.sender), *(("mail_to", address) for address in self.to)]
        expected = "an address such as privacy@hospital.example"
        is_open = self.tls == "none" and self.host not in LOOPBACK
        require(
            where,
            [
                ("smtp_host", bool(self.host), "the name of the mail server"),
                ("smtp_port", 0 < self.port <= MAX_PORT, f"1 to {MAX_PORT}"),
                *((name, one.count("@") == 1 and one.split() == [one], expected) for name, one in addresses),
                ("smtp_tls", self.tls in TLS, f"one of {', '.join(TLS)}"),
                ("smtp_tls", not is_open, "starttls or tls; none is for a server on this machine"),
                ("smtp_password_file", bool(self.password or not self.user), "the password of smtp_user"),
            ],
        )
        return self


def send_mail(mail: Mail, counts: Mapping[str, Any]) -> None:
    """Send the counts of a scan.

    Raises:
        OSError, smtplib.SMTPException: the server cannot be reached or trusted, or refuses.
    """
    subject = f"phiscan: scan {counts['scan']} {counts['status']}, {counts['referred']} referred"
    send_text(mail, subject, _body(counts))


def send_text(mail: Mail, subject: str, text: str) -> None:
    """Send a text.

    Raises:
        OSError, smtplib.SMTPException: the server cannot be reached or trusted, or refuses.
    """
    import smtplib  # noqa: PLC0415 (most scans send no mail)

    message = EmailMessage()
    message["From"], message["To"] = mail.sender, ", ".join(mail.to)
    message["Subject"] = subject
    message.set_content(text)
    context = ssl.create_default_context(cafile=mail.ca_file or None)
    if mail.tls == "tls":
        server: smtplib.SMTP = smtplib.SMTP_SSL(mail.host, mail.port, timeout=TIMEOUT_S, context=context)
    else:
        server = smtplib.SMTP(mail.host, mail.port, timeout=TIMEOUT_S)
    with server:
        if mail.tls == "starttls":
            server.starttls(context=context)
        if mail.user:
            server.login(mail.user, mail.password)
        server.send_message(message)


def _body(counts: Mapping[str, Any]) -> str:
    lines = [f"{name:<18}{_shown(value)}" for name, value in counts.items() if name not in {"event", "link"}]
    if counts["link"]:
        lines += ["", f"The review queue: {counts['link']}"]
    return "\n".join(lines) + "\n"


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {number}" for name, number in sorted(value.items())) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)
