"""Rotation of the key of the hashes: created, recorded, activated, in an order that survives interruption.

1. the new key is written to a draft file next to the old one, 2. the old one is archived, 3. the database
records the new key, 4. the draft replaces the old key file. After an interruption before 3, the old key is
still in use and the draft is deleted by the next run; after 3, the draft is the key that the database names,
and the next run completes step 4.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import sqlalchemy as sa

from phiscan.errors import ConfigError, InputError
from phiscan.review.audit import log as audit
from phiscan.store.database import open_database
from phiscan.store.identity import create_key, draft_of, keyed_hash, load_key, replace_key
from phiscan.store.tables.integrity import key_use

N_ID_CHARS = 16  # hexadecimal digits: 64 bits, enough to distinguish a few keys

Former = Literal["none", "sealed", "destroyed"]


def key_id(key: bytes) -> str:
    """Return the check value of a key, which is also part of the versions of a scan."""
    return keyed_hash(key, "key", "check")[:N_ID_CHARS]


def key_in_use(connection: sa.Connection) -> str:
    """Return the check value of the key in use; "" = no key was used yet."""
    query = sa.select(key_use.c.key_id).order_by(key_use.c.id.desc()).limit(1)
    return str(connection.execute(query).scalar() or "")


def use(connection: sa.Connection, key: str, *, former: Former, actor: str, now: datetime) -> None:
    """Record that the key with this check value is in use from now on."""
    values = {"key_id": key, "former": former, "used_by": actor, "used": now}
    audit.record(connection, "use_key", values, {"key": key, "former": former}, by=actor, now=now)


def require(connection: sa.Connection, key: str, *, now: datetime) -> None:
    """Check that a scan has the key in use; the first key is accepted.

    Raises:
        ConfigError: it is another key: its hashes would not be comparable with the stored ones.
    """
    in_use = key_in_use(connection)
    if not in_use:
        use(connection, key, former="none", actor="phiscan", now=now)
    elif in_use != key:
        message = (
            f"the key file holds key {key}, but the database's hashes are made with key {in_use}; bring that "
            "key back, or `phiscan db rotate-key`"
        )
        raise ConfigError(message)


@dataclass(frozen=True, slots=True)
class Rotation:
    """The result of a rotation."""

    old: str  # check values
    new: str
    former: Former
    finished: bool  # it only completed an interrupted rotation


def rotate(url: str, key_file: Path, *, seal: Path | None, by: str, now: datetime) -> Rotation:
    """Create and activate a new key; ``seal``: a new file for the old one, None = it is destroyed.

    Raises:
        ConfigError: the key in use is missing, or a key file cannot be written.
        InputError: the archive file exists, or no user name.
        StoreError: the database cannot be written.
    """
    if not by.strip():
        message = "by: expected a name"
        raise InputError(message)
    draft, audit_key = draft_of(key_file), key_file.with_name("audit.key")
    former: Former = "destroyed" if seal is None else "sealed"
    with closing(open_database(url, create=False, audit_key=audit_key)) as database:
        with database.read() as connection:
            in_use = key_in_use(connection)
        old = key_id(load_key(key_file))
        if in_use and old != in_use:
            if draft.exists() and key_id(load_key(draft)) == in_use:
                replace_key(draft, key_file)
                return Rotation(old, in_use, former, finished=True)
            why = f"holds key {old}, but the database's hashes are made with key {in_use}"
            raise ConfigError(key_file, why)
        draft.unlink(missing_ok=True)  # of a rotation that was interrupted before step 3
        create_key(draft)
        new = key_id(load_key(draft))
        is_new = seal is None or create_key(seal, load_key(key_file))
        if seal is not None and not is_new and key_id(load_key(seal)) != old:  # else of an interrupted one
            raise InputError(seal, "is there already; a key is never overwritten")
        database.write(
            lambda connection: use(connection, new, former=former, actor=by, now=now),
            durable=True,
            lock="exclusive",
        )
    replace_key(draft, key_file)
    return Rotation(old, new, former, finished=False)
