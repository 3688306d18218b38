"""Parquet, Arrow (Feather 2) and ORC tables through pyarrow: every row after the names of its columns.

Rows are read in batches by one thread; of a damaged file the rows before the damage are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.labels import humanise
from phiscan.extract.databases.named import KINDS, read_strings
from phiscan.extract.databases.records import add_rows
from phiscan.model import FailReason

PARQUET = "application/vnd.apache.parquet"
ARROW = "application/vnd.apache.arrow.file"
ORC = "application/vnd.apache.orc"
_NEEDS = "needs pyarrow, which is not installed (pip install 'phiscan[parquet]')"
_ROWS_AT_ONCE = 200  # one long value that all rows share is written out for each
_MOST_COLUMNS = 50_000


class ColumnFileExtractor:
    """Read tables that are stored by columns."""

    media_types = frozenset({PARQUET, ARROW, ORC})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add what is written about the table, ``#table``, then its rows, ``#row1``.

        Raises:
            ExtractError: unsupported, where neither a row nor a run of text can be read.
        """
        from phiscan.extract.core.file_type import sniff  # noqa: PLC0415 (imports the tables of kinds)

        media_type = sniff(content.data, content.name)
        if find_spec("pyarrow") is None:
            read_strings(content, media_type, sink, _NEEDS)
            return
        table = _Table(media_type, content.data)
        if table.schema is None:
            read_strings(content, media_type, sink, "damaged")
            return
        sink.add("\n".join(_notes(table.schema)), content.place("table"))
        labels = [humanise(name) for name in table.schema.names]
        row = 1
        for rows in table.blocks():
            row = add_rows(rows, labels, content, sink, row)
        if not table.is_damaged:
            return
        if row == 1:
            read_strings(content, media_type, sink, "damaged")
        else:
            detail = f"{KINDS[media_type]}: damaged or cut short"
            sink.fail(content.place(f"row{row}"), FailReason.CORRUPT, detail)


class _Table:
    """One table, read in batches of rows; ``schema`` is None where it cannot be opened."""

    def __init__(self, media_type: str, data: bytes) -> None:
        self.schema: Any = None
        self.is_damaged = False
        self._batches: Iterator[Any] = iter(())
        try:
            schema, self._batches = _opened(media_type, data)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 (the library's own errors)
            return
        self.schema = schema if 0 < len(schema.names) <= _MOST_COLUMNS else None

    def blocks(self) -> Iterator[list[tuple[object, ...]]]:
        """Yield rows, of a damaged table those before the damage."""
        try:
            for batch in self._batches:
                yield list(zip(*(_values(column) for column in batch.columns), strict=True))
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 (the library's own errors, and of values out of range)
            self.is_damaged = True


def _opened(media_type: str, data: bytes) -> tuple[Any, Iterator[Any]]:
    """Return the schema of a table and its batches of rows."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    pa.set_cpu_count(1)
    source = pa.BufferReader(data)
    if media_type == PARQUET:
        from pyarrow import parquet  # noqa: PLC0415 (optional)

        table = parquet.ParquetFile(source)
        schema = table.schema_arrow
        return schema, table.iter_batches(batch_size=_ROWS_AT_ONCE, use_threads=False)
    if media_type == ARROW:
        stream = pa.ipc.open_file(source)
        return stream.schema, (
            part for number in range(stream.num_record_batches) for part in _cut(stream.get_batch(number))
        )
    from pyarrow import orc  # noqa: PLC0415 (optional)

    stripes = orc.ORCFile(source)
    return stripes.schema, (
        part for number in range(stripes.nstripes) for part in _cut(stripes.read_stripe(number))
    )


def _cut(batch: Any) -> Iterator[Any]:
    for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
        yield batch.slice(start, _ROWS_AT_ONCE)


def _values(column: Any) -> list[object]:
    """Return the values of a column as text shows them; bytes that are no text are left out."""
    return [_text_of(value) if isinstance(value, bytes) else value for value in _listed(column)]


def _listed(column: Any) -> list[object]:
    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError):  # days and times out of Python's range
        import pyarrow as pa  # noqa: PLC0415 (optional)

        return list(column.cast(pa.string()).to_pylist())


def _text_of(value: bytes) -> str:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return ""
    return text if text.isprintable() else ""


def _notes(schema: Any) -> Iterator[str]:
    """Yield what people wrote of a table and its columns; what programs wrote for themselves is left out."""
    for owner, metadata in (("", schema.metadata), *((field.name, field.metadata) for field in schema)):
        for key, value in (metadata or {}).items():
            name, text = _text_of(key), _text_of(value)
            if text and not name.startswith(("pandas", "ARROW:", "PARQUET:", "org.apache.")):
                yield f"{owner} {name}: {text}".strip()
