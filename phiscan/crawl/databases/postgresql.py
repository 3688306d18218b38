"""PostgreSQL: tables and materialized views of one database, through psycopg.

A row is drawn by its block and its place in it: TABLESAMPLE reads about one block for each row that is
wanted, never a large table as a whole.

Source: the manual of PostgreSQL 15, "System Catalogs", "The Cumulative Statistics System", TABLESAMPLE.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import sqlalchemy as sa

from phiscan.config import SharesTable
from phiscan.crawl.credentials import Credentials
from phiscan.crawl.databases.dialect import MOST_CELL, Column, Table, quoted
from phiscan.crawl.http_client import tls_context
from phiscan.crawl.location import LOOPBACK, Location
from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.errors import PhiscanError
from phiscan.model import FailReason

_BLOCK_BYTES = 8192
_WHOLE_HASH = 2**31
_SCHEMAS = "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'"
# The counters of rows written stand for the content, together with the file, which some commands replace; the
# last transactions that changed its entries in the catalog, for its columns and rights.
# They do not count on a standby, or when they are turned off: then any change of the server counts.
_TABLES = """
SELECT c.relname, c.oid, c.relfilenode, concat_ws(' ', c.xmin, (
    SELECT sum(a.xmin::text::bigint) FROM pg_attribute AS a
    WHERE a.attrelid = c.oid AND a.attnum > 0)) AS definition,
  pg_stat_get_tuples_inserted(c.oid) AS inserted, pg_stat_get_tuples_updated(c.oid) AS updated,
  pg_stat_get_tuples_deleted(c.oid) AS deleted, reset.at, reset.lsn,
  coalesce(pg_relation_size(c.oid), 0) AS n_bytes,
  coalesce(pg_relation_size(nullif(c.reltoastrelid, 0)), 0) AS n_long_bytes
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace, (
  SELECT stats_reset::text AS at, CASE
    WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()::text
    WHEN current_setting('track_counts') = 'off' THEN pg_current_wal_lsn()::text END AS lsn
  FROM pg_stat_database WHERE datname = current_database()) AS reset
WHERE n.nspname = :schema AND c.relkind IN ('r', 'm') AND c.relpersistence <> 't'
"""
_COLUMNS = """
SELECT a.attname, coalesce(nullif(t.typbasetype, 0), t.oid)::regtype::text
FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
WHERE a.attrelid = :oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_ACCESS = """
SELECT pg_get_userbyid(c.relowner), ARRAY(
  SELECT DISTINCT CASE WHEN a.grantee = 0 THEN 'everyone' WHEN r.rolcanlogin THEN 'user ' || r.rolname
    ELSE 'group ' || r.rolname END
  FROM (
    SELECT x.grantee, x.privilege_type FROM aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) AS x
    UNION ALL SELECT x.grantee, x.privilege_type FROM pg_attribute AS t, aclexplode(t.attacl) AS x
    WHERE t.attrelid = c.oid
  ) AS a LEFT JOIN pg_roles AS r ON r.oid = a.grantee
  WHERE a.privilege_type = 'SELECT' AND (a.grantee = 0 OR r.oid IS NOT NULL) ORDER BY 1)
FROM pg_class AS c WHERE c.oid = :oid
"""
_INTEGERS = frozenset({"smallint", "integer", "bigint"})
_CODES = {
    "42501": (FailReason.NO_PERMISSION, "access denied"),
    "42P01": (FailReason.CHANGED, "vanished before it was read"),
    "57014": (FailReason.IO_ERROR, "a statement took too long"),
}
_LOCKED = "55P03"
_BUSY = re.compile(r"starting up|shutting down|too many|slots are reserved|could not|timeout|closed|refused")
_SAID = re.compile(r"(?:FATAL|SSL error|error):\s+(.+)")


class PostgreSql:
    """The statements and the driver of PostgreSQL."""

    driver, package, extra = "postgresql+psycopg", "psycopg", "postgresql"
    options: Mapping[str, Any] = {"use_native_hstore": False}  # a question at each connection

    def split(self, path: tuple[str, ...]) -> tuple[str, str] | None:
        """Return database and schema; see ``Dialect``."""
        return (path[0], "".join(path[1:])) if 0 < len(path) <= 2 else None  # noqa: PLR2004

    def arguments(self, where: Location, who: Credentials, settings: SharesTable) -> dict[str, Any]:
        """Return the driver's arguments; certificates are verified unless the server is this machine."""
        seconds = max(2, round(settings.timeout_s))
        found: dict[str, Any] = {
            "connect_timeout": seconds,
            "tcp_user_timeout": seconds * 1000,
            "keepalives_idle": seconds,
        }
        found |= {"application_name": "phiscan", "sslmode": "prefer"}
        if who.ca_file or where.host not in LOOPBACK:
            tls_context(who.ca_file, self.extra)
            found |= {"sslmode": "verify-full", "sslrootcert": who.ca_file or "system"}
        return found

    def session(self, raw: Any, settings: SharesTable) -> Sequence[str]:  # noqa: ARG002 (the protocol)
        """Return the statements for a new connection; rows that a policy hides are an error, no gap."""
        wait_ms = round(settings.timeout_s * 1000)
        return (
            "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
            f"SET statement_timeout = {10 * wait_ms}",
            f"SET lock_timeout = {wait_ms}",
            f"SET idle_in_transaction_session_timeout = {20 * wait_ms}",
            "SET row_security = off",
            "SET client_encoding = 'UTF8'",
            "SET datestyle = 'ISO'",
        )

    def shut(self, raw: Any) -> None:
        """Close the socket below a connection."""
        with suppress(Exception), socket.socket(fileno=os.dup(raw.fileno())) as below:
            below.shutdown(socket.SHUT_RDWR)

    def schemas(self, connection: sa.Connection) -> Sequence[str]:
        """Return the schemas of users."""
        return [name for (name,) in connection.execute(sa.text(_SCHEMAS))]

    def tables(self, connection: sa.Connection, schema: str, name: str = "") -> Sequence[Table]:
        """Return the tables and materialized views of a schema."""
        query = _TABLES + ("AND c.relname = :name" if name else "")
        rows = connection.execute(sa.text(query), {"schema": schema, **({"name": name} if name else {})})
        return [
            Table(schema, row.relname, row.n_bytes + row.n_long_bytes, tuple(map(str, row[1:9])), row.n_bytes)
            for row in rows
        ]

    def columns(self, connection: sa.Connection, table: Table) -> Sequence[Column]:
        """Return the columns; all but bytes and whole numbers are asked for as text."""
        rows = connection.execute(sa.text(_COLUMNS), {"oid": int(table.marks[0])})
        return [_column(name, kind) for name, kind in rows]

    def access(self, connection: sa.Connection, table: Table) -> tuple[str, tuple[str, ...]]:
        """Return the owner, and the roles with SELECT on the table or a column of it."""
        rows = connection.execute(sa.text(_ACCESS), {"oid": int(table.marks[0])})
        owner, readers = rows.first() or ("", ())
        return owner, tuple(readers)

    def drawn(self, table: Table, n_rows: int, seed: int) -> tuple[str, float]:
        """Return the rows of about one random block for each row that is wanted."""
        name = ".".join(quoted(part, '"') for part in (table.schema, table.name))
        share = min(1.0, n_rows * _BLOCK_BYTES / max(table.n_scanned_bytes, 1))
        method = "" if share >= 1 else f" TABLESAMPLE SYSTEM ({share * 100}) REPEATABLE ({seed})"
        return f"ONLY {name} AS t{method}", share

    def condition(self, share: float, seed: int) -> str:
        """Return a condition on the hash of a row's place."""
        hashed = f"hashtextextended(t.ctid::text, {seed}) & {_WHOLE_HASH - 1}"
        return f"({hashed}) < {round(share * _WHOLE_HASH)}"

    def hint(self, table: Table) -> str:  # noqa: ARG002 (the protocol)
        """Return nothing: readers and writers never wait for each other."""
        return ""

    def translated(self, error: Exception) -> PhiscanError:
        """Return phiscan's error by the SQLSTATE; a refused connection has none, and says why in one line."""
        code = getattr(error, "sqlstate", None)
        if code in _CODES:
            return RefusedError(*_CODES[code])
        if code == _LOCKED:
            return UnansweredError("locked by another transaction", is_gone=False)
        if code and code[:2] not in {"08", "40", "53", "57"}:
            return RefusedError(FailReason.IO_ERROR, f"refused by the server (SQLSTATE {code})")
        found = _SAID.search(str(error))
        said = found[1].strip() if found and not code else f"{type(error).__name__} {code or ''}".strip()
        said = "".join(filter(str.isprintable, said))[:200]
        if found and not code and not _BUSY.search(said):
            return RefusedError(FailReason.NO_PERMISSION, said)
        return UnansweredError(f"no answer from the server ({said})", is_gone=True)


def _column(name: str, kind: str) -> Column:
    column = "t." + quoted(name, '"')
    if kind in _INTEGERS:
        return Column(name, column, "INTEGER")
    if kind == "bytea":
        return Column(name, f"substring({column} FROM 1 FOR {MOST_CELL})", "BLOB")
    return Column(name, f"left({column}::text, {MOST_CELL})")
