"""Receivers in phiscan.toml: of events and tickets, ``[[push]]``, and of notices, ``[notify]``."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from string import Template
from typing import Final
from urllib.parse import urlsplit

from phiscan.config import Config, PushTable, require
from phiscan.crawl.credentials import read_private
from phiscan.crawl.location import LOOPBACK, is_protected
from phiscan.errors import ConfigError
from phiscan.monitoring.events import EVENTS
from phiscan.monitoring.senders import SYSLOG_PORTS, Mail, Syslog, Webhook
from phiscan.visible import visible

EVENT_KINDS: Final = ("findings", "decisions", "scans")
TICKET_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "incidents": ("incident", "files", "people", "link"),
    "confirmed": ("file_id", "root", "path", "people", "case", "identifiers", "label", "link"),
}
"""What a ticket can be about, and the variables of its template."""
_NAMES: Final = ("root", "path")  # variables that need ``paths``
_NUMBERS: Final = ("incident", "file_id", "files", "people")
TLS: Final = ("starttls", "tls", "none")
_PRIORITY: Final = 13 * 8 + 5  # of syslog: facility log audit, severity notice
_SAMPLE: Final = 'a"\\'  # breaks JSON where it is not in a text
_PLACES: Final = (
    "syslog+tls://HOST:PORT, syslog+tcp://, syslog+udp://, hec+https://, https:// or mailto:ADDRESS"
)


@dataclass(frozen=True, slots=True)
class Receiver:
    """A receiver, ready to send to."""

    name: str
    table: PushTable
    kinds: tuple[str, ...]
    sender: Mail | Syslog | Webhook
    template: str = ""
    link: str = ""  # address of the desk

    def send(self, kind: str, texts: Mapping[str, str], now: datetime) -> None:
        """Send a batch of events of one kind, or a ticket, in one attempt; ``texts``: id -> text.

        Raises:
            OSError: it cannot be reached or trusted, or refuses.
        """
        if isinstance(self.sender, Webhook):
            delivery = sha256(" ".join(texts).encode()).hexdigest()[:32]
            self.sender.send(self._body(texts.values(), now), delivery)
        elif isinstance(self.sender, Mail):
            head, _, text = next(iter(texts.values())).partition("\n")
            self.sender.send(head.removeprefix("Subject:").strip(), text.lstrip("\n"))
        else:
            host = re.sub(r"[^!-~]", "-", socket.gethostname())[:255] or "-"
            head = f"<{_PRIORITY}>1 {now.isoformat(timespec='milliseconds')} {host} phiscan - {kind} - "
            self.sender.send([f"{head}{text}".encode() for text in texts.values()])

    def _body(self, texts: Iterable[str], now: datetime) -> str:
        if self.template:
            return "".join(texts)
        events = texts if self.table.form == "ocsf" else map(json.dumps, texts)
        if not self.table.to.startswith("hec+"):
            return f'{{"events":[{",".join(events)}]}}'
        head = f'"time":{now.timestamp():.3f},"source":"phiscan","sourcetype":"phiscan:{self.table.form}"'
        return "".join(f'{{{head},"event":{event}}}' for event in events)

    def ticket(self, values: Mapping[str, str | int]) -> str:
        """Return the text of a ticket."""
        return _filled(self.template, values, is_json=not isinstance(self.sender, Mail))


def read_receivers(config: Config) -> tuple[Receiver, ...]:
    """Return the receivers of ``[[push]]``.

    Raises:
        ConfigError: names the field or the line of a template, and what was expected.
    """
    where = f"{config.source}: push"
    found = [_receiver(config, one, f"{where}[{number}].") for number, one in enumerate(config.push, 1)]
    names = [one.name for one in found]
    for name in names:
        require(f"{where}: name ", [(name, names.count(name) == 1, "a name of its own for each receiver")])
    return tuple(found)


def _receiver(config: Config, table: PushTable, where: str) -> Receiver:
    scheme, _, place = table.to.partition(":")
    is_mail, is_syslog, is_hec = scheme == "mailto", scheme in SYSLOG_PORTS, scheme.startswith("hec+")
    url = f"{'https' if is_syslog else scheme.removeprefix('hec+')}:{place}"
    kinds = table.what or (("incidents",) if table.template else ("findings", "scans"))
    require(where, _checks(table, scheme, url, kinds))
    name = table.name or (table.to if is_mail else f"{scheme}://{urlsplit(url).netloc}")
    token = os.environ.get(f"PHISCAN_PUSH_{re.sub(r'[^A-Z0-9]+', '_', name.upper())}_TOKEN", "")
    token = _secret(table.token_file, f"{where}token_file") or token
    secret = _secret(table.secret_file, f"{where}secret_file")
    is_known = bool(token or is_mail or is_syslog or (secret and not is_hec))
    sender_known = "a file, mode 0600, by which the receiver knows the sender"
    checks = [
        ("name", name.isprintable(), "a name on one line"),
        ("token_file", token.isascii() and not re.search(r"\s", token), "one word"),
        ("token_file" if is_hec else "secret_file", is_known, sender_known),
    ]
    require(where, checks)
    link = config.desk.public_url.rstrip("/")
    template = _read_template(table, kinds[0], link, is_json=not is_mail) if table.template else ""
    sender: Mail | Syslog | Webhook
    if is_mail:
        sender = mail_of(config, (place,))
    elif is_syslog:
        sender = Syslog(table.to, table.ca_file)
    else:
        if is_hec and not urlsplit(url).path.strip("/"):
            url = f"{url.rstrip('/')}/services/collector/event"
        authorization = f"{'Splunk' if is_hec else 'Bearer'} {token}" if token else ""
        sender = Webhook(url, secret, table.ca_file, authorization)
    return Receiver(name, table, kinds, sender, template, link)


def _checks(
    table: PushTable, scheme: str, url: str, kinds: tuple[str, ...]
) -> Iterator[tuple[str, bool, str]]:
    known = tuple(TICKET_KINDS) if table.template else EVENT_KINDS
    yield "to", scheme == "mailto" or is_protected(url), f"{_PLACES}, without a user in it"
    yield "form", table.form in EVENTS, f"one of {', '.join(sorted(EVENTS))}"
    if table.template:
        yield "template", scheme in {"mailto", "http", "https"}, "mailto: or https:// in to"
        yield "what", len(kinds) == 1, "one kind of ticket"
    else:
        yield "template", scheme != "mailto", "the file of a ticket, for mailto:"
    for kind in kinds:
        yield f"what: {kind}", kind in known, f"one of {', '.join(known)}"
    if scheme in {"syslog+tcp", "syslog+udp"} and not table.allow_unencrypted:
        tls = "syslog+tls; without encryption only to this machine, or with allow_unencrypted = true"
        yield "to", urlsplit(url).hostname in LOOPBACK, tls


def _read_template(table: PushTable, kind: str, link: str, *, is_json: bool) -> str:
    """Return the template of a ticket; each of its variables is known, and it is JSON if it must be.

    Raises:
        ConfigError: names the file and the line, and what was expected.
    """
    path, known = table.template, TICKET_KINDS[kind]
    text = read_private(path, "template", any_mode=True)
    names = f"one of {', '.join('$' + one for one in known)}; $$ for a dollar sign"
    for number, line in enumerate(text.splitlines(), 1):
        for match in Template.pattern.finditer(line):
            name = match["named"] or match["braced"] or ""
            checks = [
                (name in known, names),
                (table.paths or name not in _NAMES, "paths = true, since names of files may name patients"),
                (bool(link) or name != "link", "desk.public_url, the address of the desk"),
            ]
            if match["escaped"] is None:
                require(f"{path}:{number}: ", [(f"${name}", *check) for check in checks])
    if not is_json:
        require(f"{path}:1: ", [("first line", text.startswith("Subject:"), "Subject: of the message")])
        return text
    try:
        json.loads(_filled(text, dict.fromkeys(known, _SAMPLE) | dict.fromkeys(_NUMBERS, 1), is_json=True))
    except json.JSONDecodeError as error:
        message = f"{path}:{error.lineno}: not valid JSON; expected each variable within a text"
        raise ConfigError(message) from None
    return text


def _filled(template: str, values: Mapping[str, str | int], *, is_json: bool) -> str:
    """Return a template with its variables; values cannot leave their line, or their text in JSON."""
    texts = {name: visible(str(value)) for name, value in values.items()}
    if is_json:
        texts = {name: json.dumps(value)[1:-1] for name, value in texts.items()}
    return Template(template).substitute(texts)


def webhook_of(config: Config) -> Webhook:
    """Return what sends to the webhook of ``[notify]``.

    Raises:
        ConfigError: names the field, and what was expected.
    """
    table, where = config.notify, f"{config.source}: notify."
    secret = _secret(table.webhook_secret_file, f"{where}webhook_secret_file", any_mode=True)
    checks = [
        ("webhook_secret_file", bool(secret), "a file with the secret of signatures"),
        ("webhook_url", is_protected(table.webhook_url), "an https address, without a user in it"),
    ]
    require(where, checks)
    return Webhook(table.webhook_url, secret, table.webhook_ca_file)


def mail_of(config: Config, to: tuple[str, ...]) -> Mail:
    """Return what sends to these addresses by the server of ``[notify]``.

    Raises:
        ConfigError: names the field, and what was expected.
    """
    table, where = config.notify, f"{config.source}: notify."
    password = _secret(table.smtp_password_file, f"{where}smtp_password_file", any_mode=True)
    password = password or os.environ.get("PHISCAN_SMTP_PASSWORD", "")
    addresses = [("mail_from", table.mail_from), *(("mail_to", address) for address in to)]
    expected = "an address such as privacy@hospital.example"
    is_open = table.smtp_tls == "none" and table.smtp_host not in LOOPBACK
    checks = [
        ("smtp_host", bool(table.smtp_host), "the name of the mail server"),
        ("smtp_port", table.smtp_port in range(1, 65_536), "1 to 65535"),
        *((name, one.count("@") == 1 and one.split() == [one], expected) for name, one in addresses),
        ("smtp_tls", table.smtp_tls in TLS, f"one of {', '.join(TLS)}"),
        ("smtp_tls", not is_open, "starttls or tls; none is for a server on this machine"),
        ("smtp_password_file", bool(password or not table.smtp_user), "the password of smtp_user"),
    ]
    require(where, checks)
    return Mail(table, to, password)


def _secret(path: str, where: str, *, any_mode: bool = False) -> str:
    """Return the secret in a file; "" if none is named. Those of ``[notify]`` may have any mode."""
    secret = read_private(path, where, any_mode=any_mode).strip() if path else ""
    require(where, [(f": {path}", bool(secret or not path), "a secret; it is empty")])
    return secret
