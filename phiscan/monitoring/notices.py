"""After a scan: what ``[notify]``, ``[heads]`` and ``[[push]]`` of phiscan.toml send.

A notice has counts and a link only. A head is the signed end of the audit log, for destinations outside the
database: one line of JSON with number and hash of the last entry, the signature over both, the scan; `phiscan
audit verify --head HASH` compares it with the log. A failure is reported, and changes nothing about the scan.
"""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from phiscan.config import Config, require
from phiscan.monitoring.receivers import Receiver, mail_of, read_receivers, webhook_of
from phiscan.monitoring.senders import Mail, Webhook, problem_of, retried
from phiscan.review.store import ScanSummary, Store
from phiscan.store.identity import load_key
from phiscan.store.tables.integrity import audit_head

WHEN: Final = ("always", "attention")
COMMAND_TIMEOUT_S: Final = 30


@dataclass(frozen=True, slots=True)
class Notices:
    """What is sent after a scan; built before it, so that mistakes are reported at its start."""

    config: Config
    mail: Mail | None
    webhook: Webhook | None
    head_mail: Mail | None
    receivers: tuple[Receiver, ...]

    def send(self, store: Store, summary: ScanSummary) -> Iterator[str]:
        """Send it all; yield a line for each part that could not be sent."""
        for name, send in self._parts(store, summary):
            try:
                send()
            except Exception as error:  # noqa: BLE001 (a server's message may quote data)
                yield f"{name}: {problem_of(error)}"
        if self.receivers:
            from phiscan.monitoring.push import AFTER_SCAN_S, failures, push  # noqa: PLC0415 (few scans push)

            home, now = self.config.home, datetime.now(UTC)
            key = load_key(self.config.key_file)
            yield from failures(push(store, self.receivers, key, home=home, now=now, limit_s=AFTER_SCAN_S))

    def _parts(self, store: Store, summary: ScanSummary) -> Iterator[tuple[str, Callable[[], None]]]:
        notify, heads = self.config.notify, self.config.heads
        if notify.metrics_file:
            from phiscan.monitoring.metrics import write_textfile  # noqa: PLC0415 (few scans write one)

            place = Path(notify.metrics_file)
            yield f"{place}: metrics", partial(write_textfile, place, store, summary)
        if notify.when == "always" or needs_attention(summary):
            counts = counts_of(summary, notify.link)
            if self.mail is not None:
                yield "e-mail", partial(retried, self.mail.send, *_message(counts))
            if self.webhook is not None:
                yield "webhook", partial(retried, self.webhook.send, json.dumps(counts), str(uuid.uuid4()))
        if (head := read_head(store)) is not None:
            what = "head of the audit log: "
            line = json.dumps({"event": "audit.head", "scan": summary.scan, **head}, sort_keys=True) + "\n"
            if heads.file:
                yield f"{what}{heads.file}", partial(_append, heads.file, line)
            if self.head_mail is not None:
                subject = f"phiscan: audit log, entry {head['entry']}"
                yield f"{what}e-mail", partial(retried, self.head_mail.send, subject, line)
            if heads.command:
                yield f"{what}{heads.command[0]}", partial(_run, heads.command, line)


def needs_attention(summary: ScanSummary) -> bool:
    """Return whether files were referred or not read, or the scan was stopped."""
    return summary.referred > 0 or summary.has_unread or summary.status != "complete"


def counts_of(summary: ScanSummary, link: str) -> dict[str, Any]:
    """Return the content of a notice, without the roots, since a folder's name may be a person's."""
    left_out = {"roots", "versions", "by_detector"}
    counts = {name: value for name, value in summary.to_json().items() if name not in left_out}
    return {"event": "scan.finished", **counts, "link": link or None}


def _message(counts: Mapping[str, Any]) -> tuple[str, str]:
    """Return subject and text of an e-mail with the counts."""
    lines = [f"{name:<18}{_shown(value)}" for name, value in counts.items() if name not in {"event", "link"}]
    lines += ["", f"The review queue: {counts['link']}"] if counts["link"] else []
    subject = f"phiscan: scan {counts['scan']} {counts['status']}, {counts['referred']} referred"
    return subject, "\n".join(lines) + "\n"


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {number}" for name, number in sorted(value.items())) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)


def read_head(store: Store) -> dict[str, Any] | None:
    """Return the signed head; None = the store has no signing key."""
    made = audit_head.c
    query = sa.select(made.entry, made.hash, made.key_id, made.signature, made.signed)
    with store.database.read() as connection:
        row = connection.execute(query).mappings().first()
    return None if row is None else {**row, "signed": row["signed"].isoformat()}


def _append(path: str, line: str) -> None:
    """Append a line to a file, not to one that a link names, and sync it to the disk."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, 0o644), "ab") as stream:
        stream.write(line.encode())
        stream.flush()
        os.fsync(stream.fileno())


def _run(command: tuple[str, ...], line: str) -> None:
    """Run a program without a shell, with the line as its standard input."""
    subprocess.run(command, input=line.encode(), check=True, timeout=COMMAND_TIMEOUT_S, capture_output=True)


def read_notices(config: Config) -> Notices:
    """Return what the configuration sends after a scan.

    Raises:
        ConfigError: names the field, and what was expected.
    """
    notify, heads, where = config.notify, config.heads, f"{config.source}: "
    files = {"notify.metrics_file": notify.metrics_file, "heads.file": heads.file}
    free = ((name, path) for name, path in files.items() if path and Path(path).exists())
    require(
        where,
        [
            ("notify.when", notify.when in WHEN, f"one of {', '.join(WHEN)}"),
            *(
                (f"{name}: {path}", Path(path).is_file(), "a file, or a name that is free")
                for name, path in free
            ),
        ],
    )
    return Notices(
        config,
        mail_of(config, notify.mail_to) if notify.mail_to else None,
        webhook_of(config) if notify.webhook_url else None,
        mail_of(config, heads.mail_to) if heads.mail_to else None,
        read_receivers(config),
    )
