"""Send the signed end of the audit log after each scan to destinations outside the database.

A head is one line of JSON: number and hash of the last entry, the signature over both, the scan. It contains
no document text. `phiscan audit verify --head HASH` compares a stored head with the log.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from phiscan.config import Config, HeadsTable, require
from phiscan.errors import origin
from phiscan.review.store import Store
from phiscan.store.tables import audit_head

TIMEOUT_S: Final = 30


def send_all(channels: Iterable[tuple[str, Callable[[], None]]]) -> Iterator[str]:
    """Send by each channel, given as its name and what sends; yield a line for each that failed."""
    for name, send in channels:
        try:
            send()
        except Exception as error:  # noqa: BLE001 (a server's message may quote data)
            yield f"{name}: could not be sent ({origin(error)})"


@dataclass(frozen=True, slots=True)
class Heads:
    """The destinations of the head."""

    table: HeadsTable = field(default_factory=HeadsTable)
    mail: Callable[[str, str], None] | None = None  # subject and text

    def send(self, store: Store, scan: int) -> Iterator[str]:
        """Send the head to all destinations; yield a line for each that failed."""
        if (head := read_head(store)) is not None:
            line = json.dumps({"event": "audit.head", "scan": scan, **head}, sort_keys=True)
            yield from (f"head of the audit log: {failed}" for failed in send_all(self._channels(line, head)))

    def _channels(self, line: str, head: dict[str, Any]) -> Iterator[tuple[str, Callable[[], None]]]:
        table, mail = self.table, self.mail
        if table.file:
            yield table.file, lambda: append(Path(table.file), line)
        if mail is not None:
            yield "e-mail", lambda: mail(f"phiscan: audit log, entry {head['entry']}", line + "\n")
        if table.command:
            yield table.command[0], lambda: run(table.command, line)


def read_head(store: Store) -> dict[str, Any] | None:
    """Return the signed head; None = the store has no signing key."""
    with store.database.read() as connection:
        row = connection.execute(sa.select(audit_head)).first()
    if row is None:
        return None
    names = ("entry", "hash", "key_id", "signature")
    return {name: getattr(row, name) for name in names} | {"signed": row.signed.isoformat()}


def append(path: Path, line: str) -> None:
    """Append a line to a file and sync it to the disk.

    Raises:
        OSError: it cannot be written.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, 0o644), "ab") as stream:
        stream.write(line.encode() + b"\n")
        stream.flush()
        os.fsync(stream.fileno())


def run(command: tuple[str, ...], line: str) -> None:
    """Run a program without a shell, with the line as its standard input.

    Raises:
        OSError, subprocess.SubprocessError: it cannot be started, fails, or does not end in time.
    """
    subprocess.run(command, input=line.encode() + b"\n", check=True, timeout=TIMEOUT_S, capture_output=True)


def read_heads(config: Config, *, mail_of: Callable[[tuple[str, ...]], Callable[[str, str], None]]) -> Heads:
    """Return the destinations of ``[heads]``; ``mail_of`` maps addresses to a function that writes to them.

    Raises:
        ConfigError: names the field, and what was expected.
    """
    table = config.heads
    require(f"{config.source}: heads.", [free_file("file", table.file)])
    return Heads(table, mail_of(table.mail_to) if table.mail_to else None)


def free_file(name: str, path: str) -> tuple[str, bool, str]:
    """Return the check of a field that names a file to be written, which may not be a folder or a device."""
    is_free = not path or not Path(path).exists() or Path(path).is_file()
    return f"{name}: {path}", is_free, "a file, or a name that is free"
