"""Credentials of a root: from the environment or a private file, never from the command line."""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from phiscan.config import SharesTable
from phiscan.errors import ConfigError

_PRIVATE = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class Credentials:
    """Credentials; empty fields are left to the library (a Kerberos ticket, the AWS credential chain)."""

    username: str = ""  # SMB: the user; S3: the access key
    password: str = field(default="", repr=False)  # SMB: the password; S3: the secret key
    token: str = field(default="", repr=False)  # S3: of a session
    endpoint: str = ""  # S3


def credentials_of(
    root: bytes, settings: SharesTable, environ: Mapping[str, str] | None = None
) -> Credentials:
    """Return the credentials of a root: its table in the credentials file, else environment and settings.

    Of the tables of the file, the one with the longest matching prefix of the root is used.

    Raises:
        ConfigError: a file cannot be read, is not private, or has an unknown field.
    """
    environ = os.environ if environ is None else environ
    found = _from_file(root, settings.credentials_file) if settings.credentials_file else None
    if found is not None:
        return found
    if not root.startswith(b"smb:"):
        return Credentials(
            environ.get("PHISCAN_S3_KEY", ""),
            environ.get("PHISCAN_S3_SECRET", ""),
            endpoint=settings.s3_endpoint,
        )
    password = environ.get("PHISCAN_SMB_PASSWORD", "")
    if settings.smb_password_file:
        password = _read_private(settings.smb_password_file, "smb_password_file").rstrip("\r\n")
    return Credentials(settings.smb_username, password)


def _from_file(root: bytes, name: str) -> Credentials | None:
    try:
        tables = tomllib.loads(_read_private(name, "credentials_file"))
    except tomllib.TOMLDecodeError:  # its message quotes the line, and with it a password
        message = f"{name}: credentials_file: not valid TOML"
        raise ConfigError(message) from None
    known = {item.name for item in fields(Credentials)}
    best: Credentials | None = None
    longest = -1
    for prefix, table in tables.items():
        if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
            message = f'{name}: {prefix}: expected a table ["URL"] of texts'
            raise ConfigError(message)
        unknown = sorted(set(table) - known)
        if unknown:
            message = (
                f"{name}: {prefix}: {unknown[0]}: unknown field; expected one of {', '.join(sorted(known))}"
            )
            raise ConfigError(message)
        start = prefix.rstrip("/").encode()
        if (root + b"/").startswith(start + b"/") and len(start) > longest:
            best, longest = Credentials(**table), len(start)
    return best


def _read_private(name: str, what: str) -> str:
    path = Path(name)
    try:
        if path.stat().st_mode & _PRIVATE:
            message = f"{name}: {what}: others may read it; expected mode 0600"
            raise ConfigError(message)
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{name}: {what}: cannot be read ({type(error).__name__})"
        raise ConfigError(message) from None
