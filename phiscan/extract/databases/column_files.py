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
_CELLS_AT_ONCE = 100_000
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
        row = 1
        try:
            schema, batches = _opened(media_type, content.data)
            labels = [humanise(name) for name in schema.names]
            sink.add("\n".join(_notes(schema)), content.place("table"))
            for batch in batches:
                rows = zip(*(_values(column) for column in batch.columns), strict=True)
                row = add_rows(rows, labels, content, sink, row)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 (the library's own errors, and of values out of range)
            if row == 1:
                read_strings(content, media_type, sink, "damaged")
                return
            detail = f"{KINDS[media_type]}: damaged or cut short"
            sink.fail(content.place(f"row{row}"), FailReason.CORRUPT, detail)


def _opened(media_type: str, data: bytes) -> tuple[Any, Iterator[Any]]:
    """Return the schema of a table and its batches of rows."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    pa.set_cpu_count(1)
    source = pa.BufferReader(data)
    if media_type == PARQUET:
        from pyarrow import parquet  # noqa: PLC0415 (optional)

        table = parquet.ParquetFile(source)
        schema = table.schema_arrow
        return schema, table.iter_batches(batch_size=_n_rows(schema), use_threads=False)
    if media_type == ARROW:
        stream = pa.ipc.open_file(source)
        return stream.schema, (
            part
            for number in range(stream.num_record_batches)
            for part in _cut(stream.get_batch(number), _n_rows(stream.schema))
        )
    from pyarrow import orc  # noqa: PLC0415 (optional)

    stripes = orc.ORCFile(source)
    return stripes.schema, (
        part
        for number in range(stripes.nstripes)
        for part in _cut(stripes.read_stripe(number), _n_rows(stripes.schema))
    )


def _n_rows(schema: Any) -> int:
    """Return how many rows to hold at once.

    Raises:
        ValueError: more columns than any table has.
    """
    if not 0 < len(schema.names) <= _MOST_COLUMNS:
        message = "expected 1 to 50,000 columns"
        raise ValueError(message)
    return max(1, min(10_000, _CELLS_AT_ONCE // len(schema.names)))


def _cut(batch: Any, n_rows: int) -> Iterator[Any]:
    for start in range(0, batch.num_rows, n_rows):
        yield batch.slice(start, n_rows)


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
