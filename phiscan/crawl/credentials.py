"""Credentials of a root: from a private file, a keyring or the environment, never from the command line."""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from phiscan.config import SharesTable, convert
from phiscan.crawl.share import optional
from phiscan.errors import ConfigError

_PRIVATE = stat.S_IRWXG | stat.S_IRWXO
# Scheme -> the word for it in the names of variables, where it is another one.
_VARIABLES = {"davs": "WEBDAV", "dav": "WEBDAV", "imaps": "IMAP", "ldaps": "LDAP", "mysql": "MARIADB"}


@dataclass(frozen=True, slots=True)
class Credentials:
    """Credentials; empty fields are left to the library (a Kerberos ticket, the AWS credential chain)."""

    username: str = ""  # the user; S3: the access key; Microsoft 365: the application's id
    password: str = field(default="", repr=False)  # S3 and Microsoft 365: the secret
    token: str = field(default="", repr=False)  # S3: of a session; WebDAV and IMAP: OAuth
    key_file: str = ""  # SFTP and Microsoft 365: private key; Google: the service account's JSON
    tenant: str = ""  # Microsoft 365
    endpoint: str = ""  # URL of the service, where it is not the usual one
    ca_file: str = ""  # certificate authorities instead of the system's
    host_key: str = ""  # SFTP: the server's fingerprint, SHA256:...


def credentials_of(
    root: bytes, settings: SharesTable, environ: Mapping[str, str] | None = None
) -> Credentials:
    """Return the credentials of a root: its table in the credentials file, else keyring, else environment.

    Of the tables of the file, the one with the longest matching prefix of the root is used; so is that entry
    of the keyring whose service is ``phiscan PREFIX``.

    Raises:
        ConfigError: a file cannot be read, is not private, or has an unknown field; the keyring is locked.
    """
    environ = os.environ if environ is None else environ
    found = _from_file(root, settings.credentials_file) if settings.credentials_file else None
    if found is None and settings.keyring == "on":
        found = _from_keyring(root)
    if found is not None:
        return found
    scheme = root.partition(b"://")[0].decode("ascii", "replace")
    variable = f"PHISCAN_{_VARIABLES.get(scheme, scheme.upper())}_"
    if scheme == "s3":
        return Credentials(
            environ.get(f"{variable}KEY", ""),
            environ.get(f"{variable}SECRET", ""),
            endpoint=settings.s3_endpoint,
        )
    if scheme != "smb":
        names = ((item.name, environ.get(variable + item.name.upper(), "")) for item in fields(Credentials))
        return Credentials(**dict(names))
    password = environ.get(f"{variable}PASSWORD", "")
    if settings.smb_password_file:
        password = read_private(settings.smb_password_file, "smb_password_file").rstrip("\r\n")
    return Credentials(settings.smb_username, password)


def _from_file(root: bytes, name: str) -> Credentials | None:
    try:
        tables = tomllib.loads(read_private(name, "credentials_file"))
    except tomllib.TOMLDecodeError:  # its message quotes the line, and with it a password
        raise ConfigError(name, "credentials_file: not valid TOML") from None
    found = {one.rstrip("/"): convert(f"{name}: {one}", table, Credentials) for one, table in tables.items()}
    return next((found[one] for one in _prefixes(root) if one in found), None)


def _from_keyring(root: bytes) -> Credentials | None:
    with optional("shares.keyring", "keyring", "keyring"):
        import keyring  # noqa: PLC0415 (an optional part)
        from keyring.errors import KeyringError  # noqa: PLC0415
    try:
        for prefix in _prefixes(root):
            if (entry := keyring.get_credential(f"phiscan {prefix}", None)) is not None:
                return Credentials(entry.username or "", entry.password or "")
    except KeyringError as error:
        message = f"shares.keyring: the keyring cannot be read ({type(error).__name__})"
        raise ConfigError(message) from None
    return None


def _prefixes(root: bytes) -> Iterator[str]:
    """Yield a root and what contains it, up to its server.

    >>> list(_prefixes(b"sftp://files:22/a/b"))
    ['sftp://files:22/a/b', 'sftp://files:22/a', 'sftp://files:22']
    """
    text = root.decode("utf-8", "surrogateescape")
    yield text
    while "/" in text.partition("://")[2]:
        text = text.rpartition("/")[0]
        yield text


def read_private(name: str, what: str, *, any_mode: bool = False) -> str:
    """Return the text of a file that only its owner may read; ``what``: the field that names it.

    Raises:
        ConfigError: it cannot be read, or others may read it (not with ``any_mode``).
    """
    path = Path(name)
    try:
        if not any_mode and path.stat().st_mode & _PRIVATE:
            raise ConfigError(name, f"{what}: others may read it; expected mode 0600")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(name, f"{what}: cannot be read ({type(error).__name__})") from None
