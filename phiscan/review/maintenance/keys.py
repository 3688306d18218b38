"""The key that made the hashes: a wrong or missing one is detected before a scan; rotations are recorded.

The database stores a check value of the key, the keyed hash of a fixed text: it distinguishes keys without
revealing anything about them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import sqlalchemy as sa

from phiscan.errors import ConfigError
from phiscan.review.audit import log as audit
from phiscan.store.database import inserted_id
from phiscan.store.identity import keyed_hash
from phiscan.store.tables import key_use

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
    number = inserted_id(connection, key_use, values)
    entry = audit.Entry("use_key", number, {"key": key, "former": former})
    audit.append(connection, [entry], actor=actor, at=now)


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
