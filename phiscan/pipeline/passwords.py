"""The operator's passwords for encrypted files; apart from the engine, which takes long to import."""

from __future__ import annotations

from pathlib import Path

from phiscan.config import Config
from phiscan.errors import ConfigError


def read_passwords(config: Config) -> tuple[str, ...]:
    """Return the operator's passwords for encrypted files, one per line of ``passwords_file``.

    Raises:
        ConfigError: the file cannot be read.
    """
    if not config.passwords_file:
        return ()
    try:
        lines = Path(config.passwords_file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            config.passwords_file, f"passwords_file: cannot be read ({type(error).__name__})"
        ) from None
    return tuple(line for line in lines if line)
