"""Column types with equal values on every database: safe text, UTC times, JSON, 64-bit numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

_INT64_MAX = 2**63 - 1
_UINT64 = 2**64

# SQLite counts its rows in INTEGER only; other servers need 64 bits spelt out.
RowId = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def storable(text: str) -> str:
    r"""Return text that every database accepts: lone surrogates and NUL become visible escapes.

    >>> print(storable("a\x00b\udcff"))
    a\x00b\udcff
    """
    if "\x00" in text:
        text = text.replace("\x00", "\\x00")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def stored_columns(table: sa.Table) -> list[sa.ColumnElement[Any]]:
    """Return the columns of a table without type conversion, so that no value is unreadable."""

    def plain(kind: sa.types.TypeEngine[Any]) -> sa.types.TypeEngine[Any]:
        return kind.impl_instance if isinstance(kind, sa.types.TypeDecorator) else kind

    return [sa.type_coerce(column, plain(column.type)).label(column.name) for column in table.columns]


def row_digest(table: sa.Table, row: Sequence[Any]) -> str:
    """Return sha256 over a row as stored, with the name of its table; "" for values no column can hold."""
    values = [value.hex() if isinstance(value, bytes) else value for value in row]
    try:
        return sha256(canonical_json([table.name, *values]).encode()).hexdigest()
    except (TypeError, ValueError):
        return ""


def canonical_json(value: Any) -> str:
    """Return the canonical JSON of a value: keys sorted, no spaces; equal values have equal texts.

    >>> canonical_json({"b": 1, "a": [True]})
    '{"a":[true],"b":1}'
    """
    return json.dumps(value, ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":"))


class SafeText(sa.types.TypeDecorator[str]):
    """Text in which lone surrogates and NUL are escaped, for names that are not valid Unicode."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:  # noqa: ARG002
        """Make the text storable."""
        return None if value is None else storable(value)


class UtcTime(sa.types.TypeDecorator[datetime]):
    """A time in UTC as ISO 8601 text with microseconds; it sorts in chronological order."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> str | None:  # noqa: ARG002
        """Write a time with a zone; naive times are rejected."""
        return None if value is None else iso(value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> datetime | None:  # noqa: ARG002
        """Read the time."""
        return None if value is None else datetime.fromisoformat(value)


def iso(moment: datetime) -> str:
    """Return the UTC ISO 8601 text of a time, always with microseconds.

    Raises:
        ValueError: the time has no zone.
    """
    if moment.tzinfo is None:
        message = "a stored time needs a time zone"
        raise ValueError(message)
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


class CanonicalJson(sa.types.TypeDecorator[Any]):
    """A small JSON value as canonical text, so that equal values can be grouped and compared."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> str:  # noqa: ARG002
        """Write the value."""
        return canonical_json(value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> Any:  # noqa: ARG002
        """Read the value."""
        return None if value is None else json.loads(value)


class Unsigned64(sa.types.TypeDecorator[int]):
    """A number from 0 to 2**64 - 1 (inode, device) in a signed 64-bit column, two's complement."""

    impl = sa.BigInteger
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: sa.Dialect) -> int | None:  # noqa: ARG002
        """Map the upper half to the negative numbers."""
        return value if value is None or value <= _INT64_MAX else value - _UINT64

    def process_result_value(self, value: int | None, dialect: sa.Dialect) -> int | None:  # noqa: ARG002
        """Unfold."""
        return value if value is None or value >= 0 else value + _UINT64
