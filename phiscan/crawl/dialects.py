"""What PostgreSQL and MariaDB (or MySQL) differ in, as data: statements, types of columns, codes of errors.

Source: the manual of PostgreSQL 15, "System Catalogs", "The Cumulative Statistics System", TABLESAMPLE;
MariaDB's knowledge base, "Information Schema", RAND, "Aborting Statements", SQL_BUFFER_RESULT, "Comment
Syntax".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from phiscan.crawl.credentials import Credentials
from phiscan.crawl.http_client import tls_context
from phiscan.crawl.location import LOOPBACK, Location
from phiscan.crawl.share import RefusedError, UnansweredError
from phiscan.errors import PhiscanError
from phiscan.model import FailReason

MOST_CELL = 32 * 1024**2  # bytes or characters of a cell; what is longer is cut, and recorded by its reader


@dataclass(frozen=True, slots=True)
class Dialect:
    """One kind of server; every statement only reads."""

    driver: str  # name of SQLAlchemy's
    package: str
    extra: str
    has_databases: bool  # a connection sees one database, which has schemas
    session: tuple[str, ...]  # of a new connection: read only, in snapshots, within limits of time
    schemas: str  # that are not the server's own
    tables: str  # of a schema; n_scanned_bytes: to reach all rows; hint: what follows SELECT
    one_table: str  # condition
    columns: str  # of a table: name, type
    types: tuple[tuple[str, str, str], ...]  # pattern of a type, that of SQLite, how its values are asked for
    access: str  # of a table: its owner, a reader
    mark: str  # around names
    source: str  # all rows of a table
    blocks: str  # about so many percent of its blocks; "": it cannot be asked for
    condition: str  # a random share of the rows, always the same ones
    options: dict[str, Any] = field(default_factory=dict)  # of SQLAlchemy's engine
    reader: Callable[[str], str] = str

    def arguments(self, where: Location, who: Credentials, seconds: int) -> dict[str, Any]:
        """Return the driver's arguments: encrypted, and the server verified, unless it is this machine."""
        is_plain = not who.ca_file and where.host in LOOPBACK
        context = None if is_plain else tls_context(who.ca_file, self.extra)
        if self.extra == "mariadb":
            waits = {"connect_timeout": seconds, "read_timeout": seconds}
            return waits | {"charset": "utf8mb4", "ssl": context}
        waits = {"connect_timeout": seconds, "tcp_user_timeout": seconds * 1000, "keepalives_idle": seconds}
        said = {"application_name": "phiscan", "client_encoding": "UTF8"}  # else without one it fails
        verified = {"sslmode": "verify-full", "sslrootcert": who.ca_file or "system"}
        return waits | said | ({"sslmode": "prefer"} if is_plain else verified)

    def quoted(self, name: str) -> str:
        """Return a name as part of a statement.

        >>> POSTGRESQL.quoted('a"b')
        '"a""b"'
        """
        return self.mark + name.replace(self.mark, self.mark * 2) + self.mark


# The counters of rows written stand for the content, together with the file, which some commands replace; the
# last transactions that changed its entries in the catalog, for its columns and rights.
# They do not count on a standby, or when they are turned off: then any change of the server counts.
# Rows that a policy hides are an error (row_security), no gap.
POSTGRESQL = Dialect(
    driver="postgresql+psycopg",
    package="psycopg",
    extra="postgresql",
    options={"use_native_hstore": False},  # a question at each connection
    has_databases=True,
    session=(
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
        "SET statement_timeout = '{longest}s'",
        "SET lock_timeout = '{seconds}s'",
        "SET idle_in_transaction_session_timeout = '{longest}s'",
        "SET row_security = off",
        "SET datestyle = 'ISO'",
        "SET search_path = ''",  # or functions that users made might be taken for the server's
    ),
    schemas="SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'",
    tables="""
SELECT :schema AS place, c.relname AS name, 0 AS changed_ns, '' AS hint,
  pg_relation_size(c.oid) AS n_scanned_bytes,
  pg_relation_size(c.oid) + coalesce(pg_relation_size(nullif(c.reltoastrelid, 0)), 0) AS n_bytes,
  concat_ws(' ', c.oid, c.relfilenode, c.xmin, (
    SELECT sum(a.xmin::text::bigint) FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0),
    pg_stat_get_tuples_inserted(c.oid), pg_stat_get_tuples_updated(c.oid),
    pg_stat_get_tuples_deleted(c.oid), d.stats_reset, CASE
      WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
      WHEN current_setting('track_counts') = 'off' THEN pg_current_wal_lsn() END) AS marks
FROM pg_class AS c, pg_stat_database AS d
WHERE c.relnamespace = quote_ident(:schema)::regnamespace AND c.relkind IN ('r', 'm')
  AND c.relpersistence <> 't' AND d.datname = current_database()
""",
    one_table="AND c.relname = :name",
    columns="""
SELECT a.attname, coalesce(nullif(t.typbasetype, 0), t.oid)::regtype::text
FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
WHERE a.attrelid = (quote_ident(:schema) || '.' || quote_ident(:name))::regclass AND a.attnum > 0
  AND NOT a.attisdropped ORDER BY a.attnum
""",
    types=(
        ("smallint|integer|bigint", "INTEGER", "{}"),
        ("bytea", "BLOB", f"substring({{}} FROM 1 FOR {MOST_CELL})"),
        # Of types that users made: written as the server writes them, by none of their own functions.
        (r".*\..*", "TEXT", f"left(nullif(concat({{}}), ''), {MOST_CELL})"),
        (".*", "TEXT", f"left({{}}::text, {MOST_CELL})"),
    ),
    access="""
SELECT DISTINCT pg_get_userbyid(c.relowner), CASE WHEN a.grantee = 0 THEN 'everyone'
  WHEN r.rolcanlogin THEN 'user ' || r.rolname ELSE 'group ' || r.rolname END AS reader
FROM pg_class AS c LEFT JOIN LATERAL (
  SELECT * FROM aclexplode(coalesce(c.relacl, acldefault('r', c.relowner)))
  UNION ALL SELECT x.* FROM pg_attribute AS t, aclexplode(t.attacl) AS x WHERE t.attrelid = c.oid
) AS a ON a.privilege_type = 'SELECT' LEFT JOIN pg_roles AS r ON r.oid = a.grantee
WHERE c.oid = (quote_ident(:schema) || '.' || quote_ident(:name))::regclass ORDER BY reader
""",
    mark='"',
    source="ONLY {} AS t",
    blocks=" TABLESAMPLE SYSTEM ({percent}) REPEATABLE ({seed})",
    condition="(hashtextextended(t.ctid::text, {seed}) & 2147483647) < {share:.12f} * 2147483648",
)


def mariadb_reader(grantee: str) -> str:
    """Return an account or role of MariaDB as a reader.

    >>> [mariadb_reader(name) for name in ("'ann'@'%'", "'clerks'@''", "PUBLIC", "''@'%'", "'bo'@'10.0.0.1'")]
    ['user ann', 'group clerks', 'everyone', 'everyone', 'user bo@10.0.0.1']
    """
    name, _, host = grantee[1:-1].partition("'@'") if "'@'" in grantee else (grantee.strip("'"), "", "")
    if name in {"", "PUBLIC"}:
        return "everyone"
    if not host:
        return f"group {name}"
    return f"user {name}" if host == "%" else f"user {name}@{host}"


# The time of the last change is forgotten when the server stops: then the time of its start takes its place.
# TRUNCATE leaves it as it is, but not the number of rows, which is an estimate. A table that was changed in
# this second may change again without another time.
# Readers of tables without snapshots let writers wait, unless the rows are buffered before they are sent.
# Nobody is named where only the own account is shown. The limits of MariaDB and MySQL are in comments that
# only the one executes.
MARIADB = Dialect(
    driver="mysql+pymysql",
    package="pymysql",
    extra="mariadb",
    has_databases=False,
    session=(
        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
        "SET SESSION lock_wait_timeout = {seconds}",
        "/*M! SET SESSION max_statement_time = {longest} */",
        "/*!50708 SET SESSION max_execution_time = {longest}000 */",
    ),
    schemas="""
SELECT schema_name FROM information_schema.schemata
WHERE schema_name NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')
""",
    tables="""
SELECT t.table_schema AS place, t.table_name AS name, coalesce(t.data_length, 1) AS n_bytes,
  coalesce(t.data_length, 1) AS n_scanned_bytes,
  coalesce(unix_timestamp(t.update_time), unix_timestamp(t.create_time), 0) * 1000000000
    + coalesce(t.update_time >= now() - INTERVAL 1 SECOND, 0) AS changed_ns,
  concat_ws(' ', unix_timestamp(t.create_time), t.table_rows, CASE WHEN t.update_time IS NULL THEN (
    SELECT unix_timestamp() - variable_value FROM information_schema.global_status
    WHERE variable_name = 'UPTIME') END) AS marks,
  CASE WHEN t.engine = 'InnoDB' THEN '' ELSE 'SQL_BUFFER_RESULT ' END AS hint
FROM information_schema.tables AS t
WHERE t.table_schema = :schema AND t.table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')
""",
    one_table="AND t.table_name = :name",
    columns="""
SELECT column_name, data_type FROM information_schema.columns
WHERE table_schema = :schema AND table_name = :name ORDER BY ordinal_position
""",
    types=(
        ("(tiny|small|medium|big)?int|year", "INTEGER", "{}"),
        ("bit", "INTEGER", "{} + 0"),
        (".*blob|(var)?binary", "BLOB", f"substring({{}}, 1, {MOST_CELL})"),
        ("geometry(collection)?|(multi)?(point|linestring|polygon)", "TEXT", "ST_AsText({})"),
        (".*text|json", "TEXT", f"substring({{}}, 1, {MOST_CELL})"),
        (".*", "TEXT", "{}"),
    ),
    access="""
SELECT DISTINCT '', grantee FROM (
  SELECT grantee FROM information_schema.user_privileges WHERE privilege_type = 'SELECT'
  UNION ALL SELECT grantee FROM information_schema.schema_privileges
  WHERE privilege_type = 'SELECT' AND :schema LIKE table_schema
  UNION ALL SELECT grantee FROM information_schema.table_privileges
  WHERE privilege_type = 'SELECT' AND table_schema = :schema AND table_name = :name
  UNION ALL SELECT grantee FROM information_schema.column_privileges
  WHERE privilege_type = 'SELECT' AND table_schema = :schema AND table_name = :name
) AS g WHERE (SELECT count(DISTINCT grantee) FROM information_schema.user_privileges) > 1 ORDER BY grantee
""",
    reader=mariadb_reader,
    mark="`",
    source="{} AS t",
    blocks="",
    condition="RAND({seed}) < {share:.12f}",
)

_DENIED = (FailReason.NO_PERMISSION, "access denied")
_REFUSED: dict[object, tuple[FailReason, str]] = {
    **dict.fromkeys((1045, 1698, 1862), (FailReason.NO_PERMISSION, "wrong user name or password")),
    **dict.fromkeys((1044, 1142, 1143, "42501"), _DENIED),
    **dict.fromkeys((1049, 1146, "42P01", "3F000"), (FailReason.CHANGED, "vanished before it was read")),
    **dict.fromkeys((1969, 3024, "57014"), (FailReason.IO_ERROR, "a statement took too long")),
}
_LOCKED = (1205, 1213, "55P03")
_GONE = re.compile(r"(08|40|53|57)...|2\d\d\d|1040|1053|1203|1226|1927")
_SAID = re.compile(r"(?:FATAL|SSL error|error):\s+(.+)")
_BUSY = re.compile(r"starting up|shutting down|too many|slots are reserved|could not|timeout|closed|refused")


def translated(error: Exception) -> PhiscanError:
    """Return phiscan's error for the driver's, by its code and without its statement.

    A connection that PostgreSQL refuses has no code, and says why in one line.
    """
    number = error.args[0] if error.args and isinstance(error.args[0], int) else None  # MariaDB's
    code = getattr(error, "sqlstate", None) if number is None else number
    if code in _REFUSED:
        return RefusedError(*_REFUSED[code])
    if code in _LOCKED:
        return UnansweredError("locked by another transaction", is_gone=False)
    if "certificate verify failed" in str(error):
        return RefusedError(FailReason.IO_ERROR, "its certificate is not valid")
    if code and not _GONE.fullmatch(str(code)):
        return RefusedError(FailReason.IO_ERROR, f"refused by the server (error {code})")
    found = None if code else _SAID.search(str(error))
    said = (
        "".join(filter(str.isprintable, found[1]))[:200] if found else f"{type(error).__name__} {code or ''}"
    )
    if found and not _BUSY.search(said):
        return RefusedError(FailReason.NO_PERMISSION, said)
    return UnansweredError(f"no answer from the server ({said.strip()})", is_gone=True)
