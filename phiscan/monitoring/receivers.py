"""Receivers of events and tickets, ``[[push]]`` of phiscan.toml: syslog, Splunk's HEC, webhooks, e-mail.

A receiver takes one batch at a time or fails: by status over HTTP; over syslog, which has no answer, when it
has read everything and closed. Syslog: RFC 5424; framed by octet counting (RFC 6587), over TLS (RFC 5425).
"""

from __future__ import annotations

import json
import os
import re
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from string import Template
from typing import Final
from urllib.parse import urlsplit

from phiscan.config import Config, PushTable, require
from phiscan.crawl.credentials import read_private
from phiscan.errors import ConfigError
from phiscan.monitoring.events import EVENTS
from phiscan.monitoring.mail import LOOPBACK, Mail, send_text
from phiscan.monitoring.webhook import Webhook, is_protected, post_once
from phiscan.visible import visible

TIMEOUT_S: Final = 10.0
EVENT_KINDS: Final = ("findings", "decisions", "scans")
TICKET_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "incidents": ("incident", "files", "people", "link"),
    "confirmed": ("file_id", "root", "path", "people", "case", "identifiers", "label", "link"),
}
"""What a ticket can be about, and the variables of its template."""
_NAMES: Final = ("root", "path")  # variables that need ``paths``
_SYSLOG: Final = {"syslog+tls": 6514, "syslog+tcp": 601, "syslog+udp": 514}
_PRIORITY: Final = 13 * 8 + 5  # facility log audit, severity notice
_MAX_TEMPLATE_CHARS: Final = 65_536
_NUMBERS: Final = ("incident", "file_id", "files", "people")
_SAMPLE: Final = 'a"\\'  # breaks JSON where it is not in a text


@dataclass(frozen=True, slots=True)
class Event:
    """An event, or a ticket as ``template`` made it; ``uid`` is the same each time that it is sent."""

    uid: str
    kind: str
    time: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Receiver:
    """A receiver, ready to send to."""

    name: str
    table: PushTable
    kinds: tuple[str, ...]
    webhook: Webhook = field(default_factory=lambda: Webhook(""))
    mail: Mail | None = None
    template: str = ""
    link: str = ""  # address of the desk

    def send(self, events: Sequence[Event]) -> None:
        """Send a batch in one attempt.

        Raises:
            OSError, smtplib.SMTPException: it cannot be reached or trusted, or refuses.
        """
        if self.mail is not None:
            for one in events:
                head, _, text = one.text.partition("\n")
                send_text(self.mail, head.removeprefix("Subject:").strip(), text.lstrip("\n"))
        elif urlsplit(self.table.to).scheme in _SYSLOG:
            _send_syslog(self.table, events)
        else:
            delivery = sha256(" ".join(one.uid for one in events).encode()).hexdigest()[:32]
            post_once(self.webhook, self._body(events).encode(), delivery)

    def _body(self, events: Sequence[Event]) -> str:
        if self.template:
            return events[0].text
        made = [(one, one.text if self.table.form == "ocsf" else json.dumps(one.text)) for one in events]
        if self.table.to.startswith("hec+"):
            head = f'"source":"phiscan","sourcetype":"phiscan:{self.table.form}"'
            parts = (f'"time":{one.time.timestamp():.3f},{head},"event":{text}' for one, text in made)
            return "".join(f"{{{part}}}" for part in parts)
        return f'{{"events":[{",".join(text for _, text in made)}]}}'

    @property
    def n_batch(self) -> int:
        """Whether tickets, each of them one message, or any number of events are sent at once."""
        return 1 if self.template else 100

    def ticket(self, values: Mapping[str, str | int]) -> str:
        """Return the text of a ticket; values cannot leave their line, or their text in JSON."""
        texts = {name: visible(str(value)) for name, value in values.items()}
        if self.mail is None:
            texts = {name: json.dumps(value)[1:-1] for name, value in texts.items()}
        return Template(self.template).substitute(texts)


def _send_syslog(table: PushTable, events: Sequence[Event]) -> None:
    parts = urlsplit(table.to)
    host, port = parts.hostname or "", parts.port or _SYSLOG[parts.scheme]
    lines = [_syslog_line(one) for one in events]
    if parts.scheme == "syslog+udp":
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, socket.SOCK_DGRAM) as datagrams:
            for line in lines:
                datagrams.sendto(line, address)
        return
    with socket.create_connection((host, port), TIMEOUT_S) as plain:
        connection = plain
        if parts.scheme == "syslog+tls":
            context = ssl.create_default_context(cafile=table.ca_file or None)
            connection = context.wrap_socket(plain, server_hostname=host)
        with connection:
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


def _syslog_line(event: Event) -> bytes:
    host = re.sub(r"[^!-~]", "-", socket.gethostname())[:255] or "-"
    stamp = event.time.isoformat(timespec="milliseconds")
    return f"<{_PRIORITY}>1 {stamp} {host} phiscan - {event.kind} - {event.text}".encode()


def read_receivers(config: Config, mail_of: Callable[[tuple[str, ...]], Mail]) -> tuple[Receiver, ...]:
    """Return the receivers of ``[[push]]``; ``mail_of`` maps addresses to the mail settings.

    Raises:
        ConfigError: names the field or the line of a template, and what was expected.
    """
    found = [
        _receiver(table, f"{config.source}: push[{number}].", config.desk.public_url.rstrip("/"), mail_of)
        for number, table in enumerate(config.push, 1)
    ]
    names = [one.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), "")
    require(f"{config.source}: push: ", [(f"name {twice}", not twice, "a name of its own for each receiver")])
    return tuple(found)


def _receiver(
    table: PushTable, where: str, link: str, mail_of: Callable[[tuple[str, ...]], Mail]
) -> Receiver:
    scheme, _, place = table.to.partition(":")
    is_mail, is_syslog, is_hec = scheme == "mailto", scheme in _SYSLOG, scheme.startswith("hec+")
    url = table.to.removeprefix("hec+")
    as_url = url.replace(scheme, "https", 1) if is_syslog else url
    kinds = table.what or (("incidents",) if table.template else ("findings", "scans"))
    known = tuple(TICKET_KINDS) if table.template else EVENT_KINDS
    is_open = scheme in {"syslog+tcp", "syslog+udp"} and not table.allow_unencrypted
    address = "syslog+tls://HOST:PORT, syslog+tcp://, syslog+udp://, hec+https://, https:// or mailto:ADDRESS"
    require(
        where,
        [
            ("to", is_mail or is_protected(as_url), f"{address}, without a user in it"),
            ("form", table.form in EVENTS, f"one of {', '.join(sorted(EVENTS))}"),
            ("template", bool(table.template) or not is_mail, "the file of a ticket, for mailto:"),
            ("template", not table.template or not (is_syslog or is_hec), "mailto: or https:// in to"),
            *((f"what: {kind}", kind in known, f"one of {', '.join(known)}") for kind in kinds),
            ("what", not table.template or len(kinds) == 1, "one kind of ticket"),
        ],
    )
    host = "" if is_mail else urlsplit(as_url).hostname or ""
    tls = "syslog+tls; without encryption only to this machine, or with allow_unencrypted = true"
    require(where, [("to", not is_open or host in LOOPBACK, tls)])
    name = table.name or (f"{scheme}:{place}" if is_mail else f"{scheme}://{urlsplit(as_url).netloc}")
    require(where, [("name", name.isprintable(), "a name on one line")])
    token, secret = _secrets(table, name, where)
    is_known = bool(token) if is_hec else is_mail or is_syslog or bool(token or secret)
    variable = "token_file" if is_hec else "secret_file"
    require(where, [(variable, is_known, "a file, mode 0600, by which the receiver knows the sender")])
    if is_hec and not urlsplit(url).path.strip("/"):
        url = f"{url.rstrip('/')}/services/collector/event"
    template = _read_template(table, kinds[0], link, is_json=not is_mail) if table.template else ""
    authorization = f"{'Splunk' if is_hec else 'Bearer'} {token}" if token else ""
    webhook = Webhook(url, secret.encode(), table.ca_file or None, authorization, TIMEOUT_S)
    mail = mail_of((place,)) if is_mail else None
    return Receiver(name, table, kinds, webhook, mail, template, link)


def _secrets(table: PushTable, name: str, where: str) -> tuple[str, str]:
    """Return the token, from its file or the environment, and the secret of the signature."""
    variable = f"PHISCAN_PUSH_{re.sub(r'[^A-Z0-9]+', '_', name.upper())}_TOKEN"
    token = os.environ.get(variable, "")
    if table.token_file:
        token = read_private(table.token_file, f"{where}token_file").strip()
    secret = read_private(table.secret_file, f"{where}secret_file").strip() if table.secret_file else ""
    require(where, [("token_file", token.isascii() and token.split() == [token][: bool(token)], "one word")])
    return token, secret


def _read_template(table: PushTable, kind: str, link: str, *, is_json: bool) -> str:
    """Return the template of a ticket; each of its variables is known, and it is JSON if it must be.

    Raises:
        ConfigError: names the file and the line, and what was expected.
    """
    path, known = Path(table.template), TICKET_KINDS[kind]
    try:
        text = path.read_text(encoding="utf-8")[:_MAX_TEMPLATE_CHARS]
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path}: cannot be read ({type(error).__name__})"
        raise ConfigError(message) from None
    for match in Template.pattern.finditer(text):
        name, where = (
            match["named"] or match["braced"],
            f"{path}:{text.count(chr(10), 0, match.start()) + 1}: ",
        )
        is_dollar = match["escaped"] is not None
        expected = f"one of {', '.join('$' + one for one in known)}; $$ for a dollar sign"
        require(where, [(f"${name or ''}", is_dollar or name in known, expected)])
        is_allowed = is_dollar or table.paths or name not in _NAMES
        require(where, [(f"${name}", is_allowed, "paths = true, since names of files may name patients")])
        require(where, [("$link", bool(link) or name != "link", "desk.public_url, the address of the desk")])
    if is_json:
        trial = Receiver("", table, (), template=text)
        try:
            json.loads(trial.ticket(dict.fromkeys(known, _SAMPLE) | dict.fromkeys(_NUMBERS, 1)))
        except json.JSONDecodeError as error:
            message = f"{path}:{error.lineno}: not valid JSON; expected each variable within a text"
            raise ConfigError(message) from None
    else:
        require(f"{path}:1: ", [("first line", text.startswith("Subject:"), "Subject: of the message")])
    return text
