"""Receivers of events and tickets, ``[[push]]`` of phiscan.toml; each takes one batch at a time or fails."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from string import Template
from typing import Final
from urllib.parse import urlsplit

from phiscan.config import Config, PushTable, require
from phiscan.crawl.credentials import read_private
from phiscan.crawl.location import LOOPBACK
from phiscan.errors import ConfigError
from phiscan.monitoring.events import EVENTS
from phiscan.monitoring.senders import SYSLOG_PORTS, Mail, Syslog, Webhook, is_protected
from phiscan.visible import visible

EVENT_KINDS: Final = ("findings", "decisions", "scans")
TICKET_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "incidents": ("incident", "files", "people", "link"),
    "confirmed": ("file_id", "root", "path", "people", "case", "identifiers", "label", "link"),
}
"""What a ticket can be about, and the variables of its template."""
_NAMES: Final = ("root", "path")  # variables that need ``paths``
_NUMBERS: Final = ("incident", "file_id", "files", "people")
_PRIORITY: Final = 13 * 8 + 5  # of syslog: facility log audit, severity notice
_MAX_TEMPLATE_CHARS: Final = 65_536
_SAMPLE: Final = 'a"\\'  # breaks JSON where it is not in a text
_PLACES: Final = (
    "syslog+tls://HOST:PORT, syslog+tcp://, syslog+udp://, hec+https://, https:// or mailto:ADDRESS"
)


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
    sender: Mail | Syslog | Webhook
    template: str = ""
    link: str = ""  # address of the desk

    @property
    def n_batch(self) -> int:
        """The most that is sent at once: one ticket, each of them one message, or many events."""
        return 1 if self.template else 100

    def send(self, events: Sequence[Event]) -> None:
        """Send a batch in one attempt.

        Raises:
            OSError: it cannot be reached or trusted, or refuses.
        """
        if isinstance(self.sender, Mail):
            head, _, text = events[0].text.partition("\n")
            self.sender.send(head.removeprefix("Subject:").strip(), text.lstrip("\n"))
        elif isinstance(self.sender, Syslog):
            self.sender.send([_syslog_line(one) for one in events])
        else:
            delivery = sha256(" ".join(one.uid for one in events).encode()).hexdigest()[:32]
            self.sender.send(events[0].text if self.template else self._body(events), delivery)

    def _body(self, events: Sequence[Event]) -> str:
        form = self.table.form
        texts = [one.text if form == "ocsf" else json.dumps(one.text) for one in events]
        if not self.table.to.startswith("hec+"):
            return f'{{"events":[{",".join(texts)}]}}'
        head = f'"source":"phiscan","sourcetype":"phiscan:{form}"'
        stamped = zip((one.time.timestamp() for one in events), texts, strict=True)
        return "".join(f'{{"time":{stamp:.3f},{head},"event":{text}}}' for stamp, text in stamped)

    def ticket(self, values: Mapping[str, str | int]) -> str:
        """Return the text of a ticket."""
        return _filled(self.template, values, is_json=not isinstance(self.sender, Mail))


def _syslog_line(event: Event) -> bytes:
    host = re.sub(r"[^!-~]", "-", socket.gethostname())[:255] or "-"
    stamp = event.time.isoformat(timespec="milliseconds")
    return f"<{_PRIORITY}>1 {stamp} {host} phiscan - {event.kind} - {event.text}".encode()


def read_receivers(config: Config, mail_of: Callable[[tuple[str, ...]], Mail]) -> tuple[Receiver, ...]:
    """Return the receivers of ``[[push]]``; ``mail_of`` maps addresses to the mail settings.

    Raises:
        ConfigError: names the field or the line of a template, and what was expected.
    """
    where, link = f"{config.source}: push", config.desk.public_url.rstrip("/")
    found = [_receiver(one, f"{where}[{n}].", link, mail_of) for n, one in enumerate(config.push, 1)]
    names = [one.name for one in found]
    for name in names:
        require(f"{where}: name ", [(name, names.count(name) == 1, "a name of its own for each receiver")])
    return tuple(found)


def _receiver(
    table: PushTable, where: str, link: str, mail_of: Callable[[tuple[str, ...]], Mail]
) -> Receiver:
    scheme, _, place = table.to.partition(":")
    is_mail, is_syslog, is_hec = scheme == "mailto", scheme in SYSLOG_PORTS, scheme.startswith("hec+")
    url = f"{'https' if is_syslog else scheme.removeprefix('hec+')}:{place}"
    kinds = table.what or (("incidents",) if table.template else ("findings", "scans"))
    require(where, _checks(table, scheme, url, kinds))
    name = table.name or (table.to if is_mail else f"{scheme}://{urlsplit(url).netloc}")
    token = os.environ.get(f"PHISCAN_PUSH_{re.sub(r'[^A-Z0-9]+', '_', name.upper())}_TOKEN", "")
    if table.token_file:
        token = read_private(table.token_file, f"{where}token_file").strip()
    secret = read_private(table.secret_file, f"{where}secret_file").strip() if table.secret_file else ""
    is_known = bool(token) if is_hec else is_mail or is_syslog or bool(token or secret)
    field = "token_file" if is_hec else "secret_file"
    is_word = token.isascii() and len(token.split()) == bool(token)
    require(
        where,
        [
            ("name", name.isprintable(), "a name on one line"),
            ("token_file", is_word, "one word"),
            (field, is_known, "a file, mode 0600, by which the receiver knows the sender"),
        ],
    )
    template = _read_template(table, kinds[0], link, is_json=not is_mail) if table.template else ""
    if is_hec and not urlsplit(url).path.strip("/"):
        url = f"{url.rstrip('/')}/services/collector/event"
    authorization = f"{'Splunk' if is_hec else 'Bearer'} {token}" if token else ""
    sender: Mail | Syslog | Webhook = (
        mail_of((place,))
        if is_mail
        else Syslog(table.to, table.ca_file)
        if is_syslog
        else Webhook(url, secret, table.ca_file, authorization)
    )
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
    path, known = Path(table.template), TICKET_KINDS[kind]
    try:
        text = path.read_text(encoding="utf-8")[:_MAX_TEMPLATE_CHARS]
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path}: cannot be read ({type(error).__name__})"
        raise ConfigError(message) from None
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
