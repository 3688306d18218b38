"""Sign the last entry of the audit log with a separate key, so that a truncated log is detected.

The key is in its own file next to the key of the hashes: the database and one of the keys do not suffice to
sign. Only one row holds the newest signature, so that no older one can be found in the database.
"""

from __future__ import annotations

import hmac
from datetime import datetime
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from phiscan.store.column_types import iso
from phiscan.store.identity import keyed_hash
from phiscan.store.tables.desk import audit_log
from phiscan.store.tables.integrity import audit_head, scan_digest

OPTION = "phiscan_audit_key"  # execution option of a connection that holds the key
_N_ID_CHARS = 16

_UPDATE = audit_head.update().where(audit_head.c.id == 1)
_INSERT = audit_head.insert()


def key_of(connection: sa.Connection) -> bytes | None:
    """Return the key with which this connection signs, or None."""
    key: bytes | None = connection.get_execution_options().get(OPTION)
    return key


def check_value(key: bytes) -> str:
    """Return the identifier of a signing key, which reveals nothing about it."""
    return keyed_hash(key, "audit", "check")[:_N_ID_CHARS]


def advance(
    connection: sa.Connection, entry: int, entry_hash: str, *, now: datetime, first_entry: int
) -> bool:
    """Sign the last entry after an append, if this connection has the key and the previous end was valid.

    Returns whether it is the first signature. That of a log that was truncated, changed or signed by another
    key is not replaced, so that the next append does not hide the manipulation. ``first_entry``: the first
    appended entry.
    """
    key = key_of(connection)
    if key is None:
        return False
    row = connection.execute(sa.select(audit_head)).first()
    is_right = (
        first_entry == 1 if row is None else not _signature_problem(row, key) and _is_in_log(connection, row)
    )
    if is_right:
        _sign(connection, key, entry, entry_hash, now)
    return is_right and row is None


def _is_in_log(connection: sa.Connection, row: sa.Row[Any]) -> bool:
    """Return whether the signed entry is in the log unchanged, or was removed by a purge."""
    found = connection.execute(sa.select(audit_log.c.hash).where(audit_log.c.id == row.entry)).scalar()
    following = sa.select(audit_log.c.prev_hash).where(audit_log.c.id == row.entry + 1)
    if found is None:
        found = connection.execute(following).scalar()
    return bool(found == row.hash)


def _sign(connection: sa.Connection, key: bytes, entry: int, entry_hash: str, now: datetime) -> None:
    values = {
        "entry": entry,
        "hash": entry_hash,
        "key_id": check_value(key),
        "signature": _signature(key, entry, entry_hash, now),
        "signed": now,
    }
    if not connection.execute(_UPDATE.values(values)).rowcount:
        connection.execute(_INSERT, {"id": 1, **values})


def has_been_signed(connection: sa.Connection) -> bool:
    """Return whether the log was ever signed: then a newly created key is not the right one.

    Every scan with a digest was signed, so that removing the signature hides nothing.
    """
    if connection.execute(sa.select(audit_head.c.id)).first() is not None:
        return True
    return connection.execute(sa.select(scan_digest.c.id).limit(1)).first() is not None


def sign_last(connection: sa.Connection, *, now: datetime) -> None:
    """Sign the present last entry, whatever was signed before."""
    key = key_of(connection)
    query = sa.select(audit_log.c.id, audit_log.c.hash).order_by(audit_log.c.id.desc()).limit(1)
    last = connection.execute(query).first()
    if last is not None and key is not None:
        _sign(connection, key, last.id, last.hash, now)


def problem(connection: sa.Connection, *, first_entry: int, start_hash: str) -> tuple[int, str] | None:
    """Return the entry at which signature and log disagree, with the reason; None = they agree.

    ``first_entry``, ``start_hash``: where the log begins after a purge.
    """
    key = key_of(connection)
    row = connection.execute(sa.select(audit_head)).first()
    n_last = int(connection.execute(sa.select(sa.func.max(audit_log.c.id))).scalar() or first_entry - 1)
    if row is None:
        return (n_last, "the signature of the log's end was removed") if key is not None and n_last else None
    found = connection.execute(sa.select(audit_log.c.hash).where(audit_log.c.id == row.entry)).scalar()
    if found is None and row.entry == first_entry - 1:
        found = start_hash
    since = f"signed {row.signed.isoformat(timespec='seconds')}"
    if found is None:
        return n_last + 1, f"entries up to {row.entry} were signed, but the log ends at {n_last} ({since})"
    if found != row.hash:
        return row.entry, f"entry {row.entry} is not the one that was signed ({since})"
    what = "" if key is None else _signature_problem(row, key)
    return (row.entry, what) if what else None


def _signature_problem(row: sa.Row[Any], key: bytes) -> str:
    if row.key_id != check_value(key):
        return f"the log's end is signed with key {row.key_id}, expected key {check_value(key)}"
    is_ours = hmac.compare_digest(row.signature, _signature(key, row.entry, row.hash, row.signed))
    return "" if is_ours else f"the signature of entry {row.entry} is forged"


def _signature(key: bytes, entry: int, entry_hash: str, signed: datetime) -> str:
    return hmac.new(key, f"{entry}:{entry_hash}:{iso(signed)}".encode(), sha256).hexdigest()
