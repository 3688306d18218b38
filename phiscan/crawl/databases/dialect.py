"""What the kinds of database servers differ in: their catalogs, and how rows are drawn at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import sqlalchemy as sa

from phiscan.config import SharesTable
from phiscan.crawl.credentials import Credentials
from phiscan.crawl.location import Location
from phiscan.errors import PhiscanError

MOST_CELL = 32 * 1024**2  # bytes or characters of a cell; what is longer is cut, and recorded by its reader


@dataclass(frozen=True, slots=True)
class Table:
    """A table in the catalog."""

    schema: str
    name: str
    n_bytes: int  # about
    marks: tuple[str, ...]  # change whenever its rows do
    n_scanned_bytes: int  # of them those that must be read to reach all rows
    changed_ns: int = 0  # time of the last change, nanoseconds since 1970; 0 = not known
    engine: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column, and how its values are asked for."""

    name: str
    expression: str
    kind: str = "TEXT"  # for SQLite: TEXT, BLOB or INTEGER


class Dialect(Protocol):
    """One kind of server; every statement only reads."""

    driver: str  # name of SQLAlchemy's
    package: str
    extra: str
    options: Mapping[str, Any]  # of SQLAlchemy's engine

    def split(self, path: tuple[str, ...]) -> tuple[str, str] | None:
        """Return database and schema of the path of a URL, "" where it names none; None: it is too long."""

    def arguments(self, where: Location, who: Credentials, settings: SharesTable) -> dict[str, Any]:
        """Return the driver's arguments for a connection that is protected and ends waiting."""

    def session(self, raw: Any, settings: SharesTable) -> Sequence[str]:
        """Return the statements that make a new connection read only, in snapshots, within time limits."""

    def shut(self, raw: Any) -> None:
        """End a connection from another thread, so that what waits for an answer gets none."""

    def schemas(self, connection: sa.Connection) -> Sequence[str]:
        """Return the schemas that are not the server's own."""

    def tables(self, connection: sa.Connection, schema: str, name: str = "") -> Sequence[Table]:
        """Return the tables of a schema, or the one of a name."""

    def columns(self, connection: sa.Connection, table: Table) -> Sequence[Column]:
        """Return the columns of a table."""

    def access(self, connection: sa.Connection, table: Table) -> tuple[str, tuple[str, ...]]:
        """Return the owner of a table, and who may read it."""

    def drawn(self, table: Table, n_rows: int, seed: int) -> tuple[str, float]:
        """Return a FROM clause for about as many rows or more, all alike, and the expected share of them."""

    def condition(self, share: float, seed: int) -> str:
        """Return a condition that a random share of the rows meets, always the same rows."""

    def hint(self, table: Table) -> str:
        """Return what follows SELECT, so that nobody who writes has to wait for the reading."""

    def translated(self, error: Exception) -> PhiscanError:
        """Return phiscan's error for the driver's, without its statement."""


def quoted(name: str, mark: str) -> str:
    """Return a name as part of a statement.

    >>> quoted('a"b', '"')
    '"a""b"'
    """
    return mark + name.replace(mark, mark * 2) + mark
