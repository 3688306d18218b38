"""MariaDB and MySQL: the tables of one database or of all, through PyMySQL.

Their servers cannot sample blocks: rows are drawn by a pass over the table with RAND(seed), which gives the
same numbers each time.

Source: MariaDB's knowledge base, "Information Schema", RAND, "Aborting Statements", SQL_BUFFER_RESULT.
"""

from __future__ import annotations

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

_OWN = "('information_schema', 'performance_schema', 'mysql', 'sys')"
_SCHEMAS = f"SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN {_OWN}"  # noqa: S608 (constants)
# The time of the last change is forgotten when the server stops: then the time of its start takes its place.
# TRUNCATE leaves it as it is, but not the number of rows, which is an estimate.
_TABLES = """
SELECT t.table_name AS name, coalesce(t.engine, '') AS engine, coalesce(t.data_length, 1) AS n_bytes,
  unix_timestamp(t.create_time) AS created, unix_timestamp(t.update_time) AS updated,
  t.table_rows AS n_rows, CASE WHEN t.update_time IS NULL THEN (
    SELECT unix_timestamp() - variable_value FROM information_schema.global_status
    WHERE variable_name = 'UPTIME') END AS since,
  t.update_time >= now() - INTERVAL 1 SECOND AS is_now
FROM information_schema.tables AS t
WHERE t.table_schema = :schema AND t.table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')
"""
_COLUMNS = """
SELECT column_name, data_type FROM information_schema.columns
WHERE table_schema = :schema AND table_name = :name ORDER BY ordinal_position
"""
_GRANTS = """
SELECT DISTINCT grantee FROM (
  SELECT grantee FROM information_schema.user_privileges WHERE privilege_type = 'SELECT'
  UNION ALL SELECT grantee FROM information_schema.schema_privileges
  WHERE privilege_type = 'SELECT' AND :schema LIKE table_schema
  UNION ALL SELECT grantee FROM information_schema.table_privileges
  WHERE privilege_type = 'SELECT' AND table_schema = :schema AND table_name = :name
  UNION ALL SELECT grantee FROM information_schema.column_privileges
  WHERE privilege_type = 'SELECT' AND table_schema = :schema AND table_name = :name
) AS g ORDER BY grantee
"""
_ACCOUNTS = "SELECT count(DISTINCT grantee) FROM information_schema.user_privileges"
_GRANTEE = re.compile(r"'(.*)'@'(.*)'", re.DOTALL)
_INTEGERS = frozenset({"tinyint", "smallint", "mediumint", "int", "bigint", "year"})
_BYTES = frozenset({"tinyblob", "blob", "mediumblob", "longblob", "binary", "varbinary"})
_TEXTS = frozenset({"tinytext", "text", "mediumtext", "longtext", "json"})
_SHAPE = re.compile(r"geometry(?:collection)?|(?:multi)?(?:point|linestring|polygon)")
_REFUSED = {
    **dict.fromkeys((1045, 1698, 1862), (FailReason.NO_PERMISSION, "wrong user name or password")),
    **dict.fromkeys((1044, 1142, 1143), (FailReason.NO_PERMISSION, "access denied")),
    **dict.fromkeys((1049, 1146), (FailReason.CHANGED, "vanished before it was read")),
    **dict.fromkeys((1969, 3024), (FailReason.IO_ERROR, "a statement took too long")),
}
_LOCKED = frozenset({1205, 1213})
_GONE = frozenset({1040, 1053, 1203, 1226, 1927})  # and those of the client, 2000 to 2999


class MariaDb:
    """The statements and the driver of MariaDB and MySQL."""

    driver, package, extra = "mysql+pymysql", "pymysql", "mariadb"
    options: Mapping[str, Any] = {}

    def split(self, path: tuple[str, ...]) -> tuple[str, str] | None:
        """Return no database and the schema, which is the same here; see ``Dialect``."""
        return ("", "".join(path)) if len(path) <= 1 else None

    def arguments(self, where: Location, who: Credentials, settings: SharesTable) -> dict[str, Any]:
        """Return the driver's arguments; the connection is encrypted unless the server is this machine."""
        seconds = max(1, round(settings.timeout_s))
        found: dict[str, Any] = {
            "connect_timeout": seconds,
            "read_timeout": seconds,
            "charset": "utf8mb4",
        }
        if who.ca_file or where.host not in LOOPBACK:
            found["ssl"] = tls_context(who.ca_file, self.extra)
        return found

    def session(self, raw: Any, settings: SharesTable) -> Sequence[str]:
        """Return the statements for a new connection."""
        seconds = max(1, round(settings.timeout_s))
        raw._read_timeout = 11 * seconds  # noqa: SLF001 (longer than a statement may take; see below)
        is_mariadb = "mariadb" in str(raw.get_server_info()).lower()
        limit = f"max_statement_time = {10 * seconds}"
        limit = limit if is_mariadb else f"max_execution_time = {10_000 * seconds}"
        return (
            "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
            f"SET SESSION {limit}",
            f"SET SESSION lock_wait_timeout = {seconds}",
        )

    def shut(self, raw: Any) -> None:
        """Close the socket below a connection."""
        with suppress(Exception):
            raw._sock.shutdown(socket.SHUT_RDWR)  # noqa: SLF001 (close() would wait for the server)

    def schemas(self, connection: sa.Connection) -> Sequence[str]:
        """Return the databases that are not the server's own."""
        return [name for (name,) in connection.execute(sa.text(_SCHEMAS))]

    def tables(self, connection: sa.Connection, schema: str, name: str = "") -> Sequence[Table]:
        """Return the tables of a database."""
        query = _TABLES + ("AND t.table_name = :name" if name else "")
        rows = connection.execute(sa.text(query), {"schema": schema, **({"name": name} if name else {})})
        return [_table(schema, row) for row in rows]

    def columns(self, connection: sa.Connection, table: Table) -> Sequence[Column]:
        """Return the columns, those that are not shown by default as well."""
        rows = connection.execute(sa.text(_COLUMNS), {"schema": table.schema, "name": table.name})
        return [_column(name, str(kind)) for name, kind in rows]

    def access(self, connection: sa.Connection, table: Table) -> tuple[str, tuple[str, ...]]:
        """Return no owner, and the accounts with SELECT; nobody where only the own account is shown."""
        if (connection.execute(sa.text(_ACCOUNTS)).scalar() or 0) <= 1:
            return "", ()
        rows = connection.execute(sa.text(_GRANTS), {"schema": table.schema, "name": table.name})
        return "", tuple(dict.fromkeys(_reader(grantee) for (grantee,) in rows))

    def drawn(self, table: Table, n_rows: int, seed: int) -> tuple[str, float]:  # noqa: ARG002 (the protocol)
        """Return the whole table."""
        return ".".join(quoted(part, "`") for part in (table.schema, table.name)) + " AS t", 1.0

    def condition(self, share: float, seed: int) -> str:
        """Return a condition on a sequence of numbers."""
        return f"RAND({seed}) < {share:.12f}"

    def hint(self, table: Table) -> str:
        """Return what frees a table without snapshots before its rows are sent."""
        return "" if table.engine == "InnoDB" else "SQL_BUFFER_RESULT "

    def translated(self, error: Exception) -> PhiscanError:
        """Return phiscan's error by the number of the driver's."""
        number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
        if number in _REFUSED:
            return RefusedError(*_REFUSED[number])
        if number in _LOCKED:
            return UnansweredError("locked by another transaction", is_gone=False)
        if number and number not in _GONE and not 2000 <= number < 3000:  # noqa: PLR2004 (said above)
            return RefusedError(FailReason.IO_ERROR, f"refused by the server (error {number})")
        if "certificate verify failed" in str(error):
            return RefusedError(FailReason.IO_ERROR, "its certificate is not valid")
        return UnansweredError(f"no answer from the server (error {number})", is_gone=True)


def _table(schema: str, row: Any) -> Table:
    """Return a table; one that was changed within this second may change again without another time."""
    changed = int(row.updated or row.created or 0) * 10**9 + int(row.is_now or 0)
    marks = (str(row.created), str(row.n_rows), str(row.since))
    return Table(schema, row.name, int(row.n_bytes), marks, int(row.n_bytes), changed, row.engine)


def _column(name: str, kind: str) -> Column:
    column = f"t.{quoted(name, '`')}"
    if kind in _INTEGERS:
        return Column(name, column, "INTEGER")
    if kind == "bit":
        return Column(name, f"{column} + 0", "INTEGER")
    if _SHAPE.fullmatch(kind):
        return Column(name, f"ST_AsText({column})")
    if kind in _BYTES or kind in _TEXTS:
        return Column(name, f"substring({column}, 1, {MOST_CELL})", "BLOB" if kind in _BYTES else "TEXT")
    return Column(name, column)


def _reader(grantee: str) -> str:
    """Return an account or role as a reader.

    >>> _reader("'ann'@'%'"), _reader("'clerks'@''"), _reader("PUBLIC"), _reader("''@'%'")
    ('user ann', 'group clerks', 'everyone', 'everyone')
    >>> _reader("'ann'@'10.0.0.1'")
    'user ann@10.0.0.1'
    """
    found = _GRANTEE.fullmatch(grantee)
    name, host = found.groups() if found else (grantee.strip("'"), "")
    if name in {"", "PUBLIC"}:
        return "everyone"
    if not host:
        return f"group {name}"
    return f"user {name}" if host == "%" else f"user {name}@{host}"
