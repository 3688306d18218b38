"""Settings of remote shares: ``[shares]``, ``PHISCAN_SMB_*``, ``PHISCAN_S3_*``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import get_type_hints

from phiscan.config import Config, SharesTable, convert, require

_MAX_CONNECTIONS = 64
_MAX_ATTEMPTS = 20
_CHOICES = {
    "keyring": ("on", "off"),
    "smb_auth": ("negotiate", "kerberos", "ntlm"),
    "smb_encrypt": ("offered", "required"),
    "s3_access": ("signed", "anonymous"),
}
_MAX_ROWS = 1_000_000


def load_settings(config: Config, environ: Mapping[str, str] | None = None) -> SharesTable:
    """Read ``[shares]``; ``PHISCAN_SMB_*``, ``PHISCAN_S3_*`` and ``PHISCAN_SHARES_*`` override it.

    Raises:
        ConfigError: names the field and says what was expected.
    """
    environ = os.environ if environ is None else environ
    changes = {
        field: convert(variable_of(field), environ[variable_of(field)], kind)
        for field, kind in get_type_hints(SharesTable).items()
        if variable_of(field) in environ
    }
    settings = _checked(replace(config.shares, **changes), config.source)
    return replace(settings, listings=settings.listings or str(config.home / "listings"))


def variable_of(field: str) -> str:
    """Return the name of the environment variable for a field.

    >>> variable_of("smb_username"), variable_of("attempts")
    ('PHISCAN_SMB_USERNAME', 'PHISCAN_SHARES_ATTEMPTS')
    """
    prefix = "" if field.startswith(("smb_", "s3_")) else "SHARES_"
    return f"PHISCAN_{prefix}{field.upper()}"


def _checked(settings: SharesTable, source: str) -> SharesTable:
    within = [
        ("connections", 1 <= settings.connections <= _MAX_CONNECTIONS, f"1 to {_MAX_CONNECTIONS}"),
        ("attempts", 1 <= settings.attempts <= _MAX_ATTEMPTS, f"1 to {_MAX_ATTEMPTS}"),
        ("timeout_s", 0 < settings.timeout_s < float("inf"), "a number of seconds above 0"),
        ("retry_s", 0 <= settings.retry_s < float("inf"), "a number of seconds, 0 or more"),
        ("ahead_bytes", settings.ahead_bytes > 0, "a number of bytes above 0"),
        ("table_rows", 1 <= settings.table_rows <= _MAX_ROWS, f"1 to {_MAX_ROWS}"),
        *(
            (one, getattr(settings, one) in all_, f"one of {', '.join(all_)}")
            for one, all_ in _CHOICES.items()
        ),
    ]
    require(
        f"{source}: shares.",
        ((f"{name} ({variable_of(name)})", is_valid, text) for name, is_valid, text in within),
    )
    return settings
