"""``phiscan init``: create the missing ones of configuration, key and empty database."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

import click

from phiscan.cli.output import Answer, answers
from phiscan.config import CONFIG_NAME, load_config
from phiscan.errors import ConfigError, InputError
from phiscan.review.store import Store
from phiscan.store.identity import create_key, load_key

TEMPLATE = resources.files("phiscan.cli").joinpath("template.toml").read_text(encoding="utf-8")


@click.command(epilog="Example: phiscan init /srv/phiscan")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path())
@answers
def init(obj: str | None, folder: str | None) -> Answer:
    """Write phiscan.toml, the secret key and an empty database into DIR (default: here).

    Nothing is ever overwritten: existing files are kept, and reported as such. An older database is migrated.
    Anyone who has the key can test guesses against the stored hashes: it is readable by its owner only; keep
    a copy apart from the database's.
    """
    if obj and folder:
        message = "expected either --config FILE or DIR, not both"
        raise InputError(message)
    path = Path(obj) if obj else Path(folder or ".") / CONFIG_NAME
    made = [("configuration", str(path), _write_config(path))]
    config = load_config(path)
    made.append(("key", str(config.key_file), create_key(config.key_file)))
    load_key(config.key_file)  # an unusable existing key is reported now, not at the first scan
    with Store.open(config.database_url, create=True, audit_key=config.audit_key_file) as store:
        made.append(("database", store.database.name, store.database.is_new))
    return {what: {"path": where, "created": is_new} for what, where, is_new in made}, (
        f"{what:<14} {'written' if is_new else 'left as it is'}: {where}" for what, where, is_new in made
    )


def _write_config(path: Path) -> bool:
    """Write the commented configuration unless there is one; it may contain a password: mode 0600."""
    if path.exists():
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(TEMPLATE)
    except FileExistsError:
        return False
    except OSError as error:
        raise ConfigError(path, f"cannot be written: {error.strerror}") from None
    return True
