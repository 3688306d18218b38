"""Settings of remote shares: ``[shares]``, ``PHISCAN_SMB_*``, ``PHISCAN_S3_*``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, get_type_hints

from phiscan.config import Config, take_table
from phiscan.errors import ConfigError

_MAX_CONNECTIONS = 64
_MAX_ATTEMPTS = 20
_AUTH = ("negotiate", "kerberos", "ntlm")
_ENCRYPT = ("offered", "required")
_ACCESS = ("signed", "anonymous")


@dataclass(frozen=True, slots=True)
class ShareSettings:
    """Settings of remote shares, without secrets, which are in the environment or in a file."""

    connections: int = 8  # files fetched, and folders listed, at a time
    timeout_s: float = 30.0  # for one response of a server
    attempts: int = 6  # before a file or a folder fails
    retry_s: float = 1.0  # longest pause before the second attempt; doubled before each further one
    ahead_bytes: int = 256 * 1024**2  # fetched and not yet examined
    credentials_file: str = ""  # TOML, a table for each root; mode 0600
    smb_username: str = ""  # name, DOMAIN\name or name@domain; "" = the Kerberos ticket's
    smb_password_file: str = ""  # mode 0600
    smb_auth: str = "negotiate"
    smb_encrypt: str = "offered"
    smb_domain_controller: str = ""  # resolves the namespaces (DFS) of a domain
    s3_endpoint: str = ""  # "" = Amazon's
    s3_access: str = "signed"


def load_settings(config: Config, environ: Mapping[str, str] | None = None) -> ShareSettings:
    """Read ``[shares]``; ``PHISCAN_SMB_*``, ``PHISCAN_S3_*`` and ``PHISCAN_SHARES_*`` override it.

    Raises:
        ConfigError: names the field and says what was expected.
    """
    environ = os.environ if environ is None else environ
    settings = take_table(config, "shares", ShareSettings)
    kinds = get_type_hints(ShareSettings)
    changes: dict[str, Any] = {}
    for item in fields(ShareSettings):
        name = variable_of(item.name)
        value = environ.get(name)
        if value is None:
            continue
        try:
            changes[item.name] = kinds[item.name](value)
        except ValueError:
            message = f"{name}: expected a number"
            raise ConfigError(message) from None
    return _checked(replace(settings, **changes), config.source)


def variable_of(field: str) -> str:
    """Return the name of the environment variable for a field.

    >>> variable_of("smb_username"), variable_of("attempts")
    ('PHISCAN_SMB_USERNAME', 'PHISCAN_SHARES_ATTEMPTS')
    """
    prefix = "" if field.startswith(("smb_", "s3_")) else "SHARES_"
    return f"PHISCAN_{prefix}{field.upper()}"


def _checked(settings: ShareSettings, source: str) -> ShareSettings:
    within = {
        "connections": 1 <= settings.connections <= _MAX_CONNECTIONS or f"1 to {_MAX_CONNECTIONS}",
        "attempts": 1 <= settings.attempts <= _MAX_ATTEMPTS or f"1 to {_MAX_ATTEMPTS}",
        "timeout_s": 0 < settings.timeout_s < float("inf") or "a number of seconds above 0",
        "retry_s": 0 <= settings.retry_s < float("inf") or "a number of seconds, 0 or more",
        "ahead_bytes": settings.ahead_bytes > 0 or "a number of bytes above 0",
        "smb_auth": settings.smb_auth in _AUTH or f"one of {', '.join(_AUTH)}",
        "smb_encrypt": settings.smb_encrypt in _ENCRYPT or f"one of {', '.join(_ENCRYPT)}",
        "s3_access": settings.s3_access in _ACCESS or f"one of {', '.join(_ACCESS)}",
    }
    for field, expected in within.items():
        if expected is not True:
            message = f"{source}: shares.{field} ({variable_of(field)}): expected {expected}"
            raise ConfigError(message)
    return settings
