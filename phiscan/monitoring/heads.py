"""Send the signed end of the audit log after each scan to destinations outside the database.

A head is one line of JSON: number and hash of the last entry, the signature over both, the scan. It contains
no document text. `phiscan audit verify --head HASH` compares a stored head with the log. An authority's
time stamp of it (RFC 3161) is stored as a file for `openssl ts`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import ssl
import subprocess
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

import sqlalchemy as sa

from phiscan.config import Config, HeadsTable
from phiscan.errors import ConfigError, origin
from phiscan.review.store import Store
from phiscan.store.tables import audit_head

TIMEOUT_S: Final = 30
TABLE: Final = "heads"
_NOTICE_OF_LOG_AUDIT: Final = 13 * 8 + 5  # syslog: facility "log audit", severity "notice"
_UDP_PORT: Final = 514
MAX_BYTES: Final = 1 << 20
_GRANTED: Final = (0, 1)  # granted; granted with modifications


@dataclass(frozen=True, slots=True)
class Authority:
    """A time-stamping authority, and the folder of its responses."""

    url: str
    folder: Path
    ca_file: str = ""  # root certificates of its signature; "" = not verified

    def checked(self) -> Self:
        """Return it if it is valid.

        Raises:
            ValueError: names the field of phiscan.toml, and what was expected.
        """
        if importlib.util.find_spec("rfc3161_client") is None:
            message = "timestamp_url: needs pip install 'phiscan[timestamps]'"
            raise ValueError(message)
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
            message = "timestamp_url: expected an http or https address, without a user in it"
            raise ValueError(message)
        if self.ca_file and not Path(self.ca_file).is_file():
            message = f"timestamp_ca_file: {self.ca_file}: no such file"
            raise ValueError(message)
        return self

    def stamp(self, name: str, line: str) -> None:
        """Request a time stamp of a line; store the line as NAME.json and the response as NAME.tsr.

        Plain http is enough: the response is signed, and only a hash is sent.

        Raises:
            OSError, ValueError: no response, not of this line, or not signed by a known authority.
        """
        from rfc3161_client import (  # noqa: PLC0415 (optional)
            HashAlgorithm,
            TimestampRequestBuilder,
            VerificationError,
            VerifierBuilder,
            decode_timestamp_response,
        )

        data = line.encode()
        request = TimestampRequestBuilder().data(data).hash_algorithm(HashAlgorithm.SHA256).build()
        encoded = self._request(request.as_bytes())
        response = decode_timestamp_response(encoded)
        if response.status not in _GRANTED:
            message = "the authority refused"
            raise ValueError(message)
        about = response.tst_info
        if about.message_imprint.message != request.message_imprint.message or about.nonce != request.nonce:
            message = "the response is for other data"
            raise ValueError(message)
        if self.ca_file:
            from cryptography.x509 import load_pem_x509_certificates  # noqa: PLC0415

            builder = VerifierBuilder.from_request(request)
            for certificate in load_pem_x509_certificates(Path(self.ca_file).read_bytes()):
                builder = builder.add_root_certificate(certificate)
            try:
                builder.build().verify_message(response, data)
            except VerificationError:
                message = "the response's signature does not chain to the certificates of timestamp_ca_file"
                raise ValueError(message) from None
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.folder / f"{name}.json").write_bytes(data)
        (self.folder / f"{name}.tsr").write_bytes(encoded)

    def _request(self, request: bytes) -> bytes:
        posted = urllib.request.Request(  # noqa: S310 (http and https alone, see checked)
            self.url, request, {"Content-Type": "application/timestamp-query"}
        )
        context = ssl.create_default_context()
        with urllib.request.urlopen(posted, timeout=TIMEOUT_S, context=context) as response:  # noqa: S310 (as above)
            found: bytes = response.read(MAX_BYTES)
        return found


@contextmanager
def naming(table: str) -> Iterator[None]:
    """Convert the ValueError of a field of a table to a ConfigError that names both."""
    try:
        yield
    except ValueError as error:
        message = f"{table}.{error}"
        raise ConfigError(message) from None


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
    authority: Authority | None = None

    def send(self, store: Store, scan: int) -> Iterator[str]:
        """Send the head to all destinations; yield a line for each that failed."""
        if (head := read_head(store)) is not None:
            line = json.dumps({"event": "audit.head", "scan": scan, **head}, sort_keys=True)
            yield from (f"head of the audit log: {failed}" for failed in send_all(self._channels(line, head)))

    def _channels(self, line: str, head: dict[str, Any]) -> Iterator[tuple[str, Callable[[], None]]]:
        table, mail, authority = self.table, self.mail, self.authority
        if table.file:
            yield table.file, lambda: append(Path(table.file), line)
        if table.syslog:
            yield "syslog", lambda: to_syslog(table.syslog, line)
        if mail is not None:
            yield "e-mail", lambda: mail(f"phiscan: audit log, entry {head['entry']}", line + "\n")
        if table.command:
            yield table.command[0], lambda: run(table.command, line)
        if authority is not None:
            yield "time stamp", lambda: authority.stamp(f"head-{head['entry']}", line)


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


def to_syslog(place: str, line: str) -> None:
    """Send a line by syslog (RFC 5424); over TCP with its length first (RFC 6587).

    Raises:
        OSError: it cannot be sent.
    """
    moment = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    text = f"<{_NOTICE_OF_LOG_AUDIT}>1 {moment} {socket.gethostname() or '-'} phiscan - audit.head - {line}"
    message = text.encode()
    parts = urlsplit(place)
    if parts.scheme == "tcp":
        with socket.create_connection((parts.hostname or "", parts.port or 0), TIMEOUT_S) as stream:
            stream.sendall(b"%d %s" % (len(message), message))
        return
    family: socket.AddressFamily = socket.AF_UNIX
    address: Any = place
    if parts.scheme == "udp":
        found = socket.getaddrinfo(parts.hostname, parts.port or _UDP_PORT, type=socket.SOCK_DGRAM)
        family, *_, address = found[0]
    with socket.socket(family, socket.SOCK_DGRAM) as datagram:
        datagram.sendto(message, address)


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
    where = f"{config.source}: {TABLE}"
    if table.file and Path(table.file).exists() and not Path(table.file).is_file():
        message = f"{where}.file: {table.file}: expected a file, or a name that is free"
        raise ConfigError(message)
    if table.syslog and not _is_syslog(table.syslog):
        message = f"{where}.syslog: expected a socket such as /dev/log, udp://HOST:PORT or tcp://HOST:PORT"
        raise ConfigError(message)
    authority = None
    if table.timestamp_url:
        folder = Path(table.timestamp_dir) if table.timestamp_dir else config.home / "heads"
        with naming(where):
            authority = Authority(table.timestamp_url, folder, table.timestamp_ca_file).checked()
    return Heads(table, mail_of(table.mail_to) if table.mail_to else None, authority)


def _is_syslog(place: str) -> bool:
    try:
        parts = urlsplit(place)
        port = parts.port
    except ValueError:
        return False
    if parts.scheme == "tcp":
        return bool(parts.hostname) and port is not None
    return place.startswith("/") or (parts.scheme == "udp" and bool(parts.hostname))
