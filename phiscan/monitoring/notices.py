"""After a scan: a metrics file, an e-mail, a webhook, with counts and a link only; events to receivers.

A failure to send one is reported, and does not change the result of the scan.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from phiscan.config import Config, NotifyTable, require
from phiscan.errors import ConfigError
from phiscan.monitoring.heads import Heads, free_file, read_heads, send_all
from phiscan.monitoring.mail import Mail, send_mail, send_text
from phiscan.monitoring.receivers import Receiver, read_receivers
from phiscan.monitoring.webhook import Webhook, is_protected, post
from phiscan.review.store import ScanSummary, Store
from phiscan.store.identity import load_key

WHEN = ("always", "attention")
SMTP_PASSWORD = "PHISCAN_SMTP_PASSWORD"  # noqa: S105 (the name of a variable)


@dataclass(frozen=True, slots=True)
class Notices:
    """The notifications of a scan; built before the scan, so that mistakes are reported at its start."""

    when: str = "always"
    link: str = ""
    metrics_file: Path | None = None
    mail: Mail | None = None
    webhook: Webhook | None = None
    heads: Heads = field(default_factory=Heads)
    receivers: tuple[Receiver, ...] = ()
    home: Path = Path()  # with the key of the hashes

    def send(self, store: Store, summary: ScanSummary) -> Iterator[str]:
        """Send them all; yield a line for each that could not be sent."""
        channels: list[tuple[str, Callable[[], None]]] = []
        if self.metrics_file is not None:
            from phiscan.monitoring.metrics import write_textfile  # noqa: PLC0415 (few scans write one)

            place = self.metrics_file
            channels.append((f"{place}: metrics", lambda: write_textfile(place, store, summary)))
        counts = counts_of(summary, self.link)
        if self.when == "always" or needs_attention(summary):
            if (mail := self.mail) is not None:
                channels.append(("e-mail", lambda: send_mail(mail, counts)))
            if (webhook := self.webhook) is not None:
                channels.append(("webhook", lambda: post(webhook, counts)))
        yield from send_all(channels)
        yield from self.heads.send(store, summary.scan)
        if self.receivers:
            from phiscan.monitoring.push import AFTER_SCAN_S, failures, push  # noqa: PLC0415 (as above)

            given: Any = {"home": self.home, "now": datetime.now(UTC), "limit_s": AFTER_SCAN_S}
            yield from failures(push(store, self.receivers, load_key(self.home / "key"), **given))


def needs_attention(summary: ScanSummary) -> bool:
    """Return whether files were referred or not read, or the scan was stopped."""
    return summary.referred > 0 or summary.has_unread or summary.status != "complete"


def counts_of(summary: ScanSummary, link: str) -> dict[str, Any]:
    """Return the content of a notification, without the roots, since a folder's name may be a person's."""
    left_out = {"roots", "versions", "by_detector"}
    counts = {name: value for name, value in summary.to_json().items() if name not in left_out}
    return {"event": "scan.finished", **counts, "link": link or None}


def read_notices(config: Config) -> Notices:
    """Return the notifications configured in ``[notify]`` of phiscan.toml.

    Raises:
        ConfigError: names the field, and what was expected.
    """
    table = config.notify
    where = f"{config.source}: notify."
    require(
        where,
        [
            ("when", table.when in WHEN, f"one of {', '.join(WHEN)}"),
            free_file("metrics_file", table.metrics_file),  # it is replaced, not written into
        ],
    )
    return Notices(
        when=table.when,
        link=table.link,
        metrics_file=Path(table.metrics_file) if table.metrics_file else None,
        mail=_mail(table, table.mail_to, where) if table.mail_to else None,
        webhook=_webhook(table, where) if table.webhook_url else None,
        receivers=read_receivers(config, lambda to: _mail(table, to, where)),
        home=config.home,
        heads=read_heads(config, mail_of=lambda to: partial(send_text, _mail(table, to, where))),
    )


def read_owner_mail(config: Config) -> Mail | None:
    """Return the mail settings for owners of files, without recipients; None if no server is configured.

    Raises:
        ConfigError: names the field, and what was expected.
    """
    table = config.notify
    is_set = table.smtp_host and table.mail_from
    return _mail(table, (), f"{config.source}: notify.") if is_set else None


def _mail(table: NotifyTable, to: tuple[str, ...], where: str) -> Mail:
    password = os.environ.get(SMTP_PASSWORD, "")
    if table.smtp_password_file:
        password = _secret(table.smtp_password_file, f"{where}smtp_password_file")
    server = (table.smtp_host, table.smtp_port, table.smtp_tls, table.smtp_user, password, table.smtp_ca_file)
    return Mail(to, table.mail_from, *server).checked(where)


def _webhook(table: NotifyTable, where: str) -> Webhook:
    expected = "an https address, without a user in it"
    require(
        where,
        [
            ("webhook_secret_file", bool(table.webhook_secret_file), "a file with the secret of signatures"),
            ("webhook_url", is_protected(table.webhook_url), expected),
        ],
    )
    secret = _secret(table.webhook_secret_file, f"{where}webhook_secret_file")
    return Webhook(table.webhook_url, secret.encode(), table.webhook_ca_file or None)


def _secret(path: str, where: str) -> str:
    try:
        secret = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        message = f"{where}: {path}: cannot be read ({type(error).__name__})"
        raise ConfigError(message) from None
    require(where, [(f": {path}", bool(secret), "a secret; it is empty")])
    return secret
