"""PostgreSQL: timeouts, advisory locks between writers, and error messages without values.

SQLite allows one writing transaction at a time, and phiscan's transactions rely on that: they read, decide
and write without interference. On PostgreSQL an advisory lock has the same effect. Only the recording of scan
results is concurrent with other writers, since several machines do it at once and every row has a unique key:
a race appears as a violated key, and the transaction is repeated. It takes the writers' lock at its end, when
it updates the review list.
"""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL

from phiscan.errors import InputError
from phiscan.store.tables.schema import APPEND_ONLY, metadata

CONNECT_TIMEOUT_S = 10
LOCK_TIMEOUT_S = 20  # of the server's wait for a lock; then the whole transaction is retried

# Two numbers name an advisory lock; the first ("phis") distinguishes them from those of other programs.
_LOCK_SPACE = 0x70686973
_WRITERS, _RECORDERS = 1, 2

_LOCK = {
    "serial": f"SELECT pg_advisory_xact_lock({_LOCK_SPACE}, {_WRITERS})",
    "shared": f"SELECT pg_advisory_xact_lock_shared({_LOCK_SPACE}, {_RECORDERS})",
    "exclusive": (
        f"SELECT pg_advisory_xact_lock({_LOCK_SPACE}, {_WRITERS}); "
        f"SELECT pg_advisory_xact_lock({_LOCK_SPACE}, {_RECORDERS})"
    ),
}
"""Statements by lock mode: serial, shared (recording) or exclusive (purge)."""

_RETRIED = frozenset({"40001", "40P01", "55P03"})  # serialisation failure, deadlock, waited too long
_UNIQUE = "23505"
_CONSTRAINTS = {"23514": "CHECK", _UNIQUE: "UNIQUE", "23503": "FOREIGN KEY", "23502": "NOT NULL"}

_STATES = {
    "28000": "the server refused this user",
    "28P01": "the server refused this user or the password",
    "3D000": "there is no such database on the server; its administrator makes one (CREATE DATABASE)",
    "42501": "this role lacks a right that is needed (docs/how-to/postgresql.md)",
    "25006": "the server is read-only (a standby?)",
    "53100": "the server's disk is full",
    "53200": "the server is out of memory",
    "53300": "the server has no connection left",
    "55P03": "stayed locked by another program",
    "57014": "the server cancelled the statement",
    "57P01": "the connection was lost: the server is shutting down",
    "57P02": "the connection was lost: the server crashed",
    "57P03": "the server is starting or shutting down",
}

# Messages of the client library for failed connections, and their replacements, since they quote the URL.
_CONNECTION = (
    ("password authentication failed", _STATES["28P01"]),
    ("no password supplied", "the server wants a password, and none was given"),
    ("Connection refused", "no server answers there (connection refused)"),
    ("No such file or directory", "no server answers there (no such socket)"),
    ("timeout expired", f"no server answered within {CONNECT_TIMEOUT_S} s"),
    ("could not translate host name", "the server's name is unknown"),
    ("failed to resolve host", "the server's name is unknown"),
    ("pg_hba.conf", "the server takes no such connection (pg_hba.conf)"),
    ("SSL", "no encrypted connection could be made as the URL asks (SSL)"),
    ("certificate", "the server's certificate is not accepted"),
    ("starting up", _STATES["57P03"]),
    ("too many clients", _STATES["53300"]),
    ("remaining connection slots", _STATES["53300"]),
)
_NO_DATABASE = re.compile(r'database "[^\n]*" does not exist')
_NO_ROLE = re.compile(r'role "[^\n]*" does not exist')
_ROLE = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_OF_OWNER = frozenset({"purge", "scan_totals"})  # written only by a purge, which the owner runs
_APPEND_ONLY = re.compile(r"[a-z_]+ is append-only")


def connect_arguments(url: URL) -> dict[str, Any]:
    """Return default connection arguments, which the URL may override: timeouts for a dead server."""
    wanted: dict[str, Any] = {
        "connect_timeout": CONNECT_TIMEOUT_S,
        "application_name": "phiscan",
        "client_encoding": "utf8",
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": 60_000,  # ms
    }
    return {name: value for name, value in wanted.items() if name not in url.query}


def begin(connection: sa.Connection, lock: str, *, durable: bool) -> None:
    """Set the lock timeout and durability of a writing transaction, and take its lock."""
    commit = "" if durable else "SET LOCAL synchronous_commit = off; "
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT_S}s'; {commit}{_LOCK[lock]}")


def lock_writers(connection: sa.Connection) -> None:
    """Wait until no other transaction is changing review state."""
    connection.exec_driver_sql(_LOCK["serial"])


def is_retried(error: Exception | None, *, lock: str) -> bool:
    """Return whether the same transaction may succeed at the next attempt."""
    state = getattr(error, "sqlstate", None)
    return state in _RETRIED or (lock == "shared" and state == _UNIQUE)


def cause(error: BaseException | None, *, lost: bool) -> str:
    """Return a message for an error of the server or its library, whose own may quote a row or the URL.

    ``lost``: the connection cannot be used any more.
    """
    state = getattr(error, "sqlstate", None)
    if state is None:
        return _connection_cause(error, lost=lost)
    diagnosis = getattr(error, "diag", None)
    if state in _CONSTRAINTS:
        where = getattr(diagnosis, "constraint_name", None) or getattr(diagnosis, "column_name", None)
        return f"{_CONSTRAINTS[state]} constraint failed: {where}"
    if state == "P0001" and (found := _APPEND_ONLY.match(str(error))):
        return found[0]
    return _STATES.get(state, f"{type(error).__name__} ({state})")


def _connection_cause(error: BaseException | None, *, lost: bool) -> str:
    text = str(error)
    if _NO_DATABASE.search(text):
        return _STATES["3D000"]
    if _NO_ROLE.search(text):
        return _STATES["28000"]
    for words, message in _CONNECTION:
        if words in text:
            return message
    return "the connection was lost" if lost else type(error).__name__


def grants(role: str) -> list[str]:
    """Return the statements that grant a role the rights that scans and reviewers need, and no more.

    Raises:
        InputError: it is not a plain name.
    """
    if not _ROLE.fullmatch(role):
        raise InputError(role, "expected a role's name of lower-case letters, digits and _")
    changed = sorted(set(metadata.tables) - set(APPEND_ONLY) - _OF_OWNER)
    added = sorted(set(metadata.tables) - _OF_OWNER)
    return [
        f"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {role};",
        f"GRANT USAGE ON SCHEMA public TO {role};",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role};",
        f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {role};",
        f"GRANT INSERT ON {', '.join(added)} TO {role};",
        f"GRANT UPDATE, DELETE ON {', '.join(changed)} TO {role};",
    ]


def refusal(connection: sa.Connection) -> str:
    """Return why no tables can be created in this database, or "": the encoding must be UTF-8."""
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar()
    return "" if encoding == "UTF8" else f"its encoding is {encoding}, expected UTF8"
