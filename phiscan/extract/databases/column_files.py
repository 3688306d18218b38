"""Parquet, Arrow (Feather 2) and ORC tables by pyarrow; SPSS, SAS and Stata files by pyreadstat.

Every row after the names of its columns, or the labels of its variables; coded values are written by their
labels ("prostate cancer", not 2). Rows are read in blocks, so that neither a large file nor a claim of one
fills the memory; of a damaged file the rows before the damage are read.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink, TextFullError
from phiscan.extract.core.file_type import sniff
from phiscan.extract.core.labels import humanise
from phiscan.extract.core.magic_numbers import KINDS
from phiscan.extract.core.unsupported import read_strings
from phiscan.extract.spreadsheets.rows import add_rows, cell_text
from phiscan.model import FailReason

PARQUET = "application/vnd.apache.parquet"
ARROW = "application/vnd.apache.arrow.file"
ORC = "application/vnd.apache.orc"
# Media type: the function of pyreadstat.
_FUNCTIONS = {
    "application/x-spss-sav": "read_sav",
    "application/x-spss-por": "read_por",
    "application/x-sas-data": "read_sas7bdat",
    "application/x-sas-transport": "read_xport",
    "application/x-stata-dta": "read_dta",
}
COLUMN_FILE_TYPES = frozenset({PARQUET, ARROW, ORC, *_FUNCTIONS})
_ROWS_AT_ONCE = 200  # one long value that all rows share is written out for each
_CELLS_AT_ONCE = 200_000
_MOST_COLUMNS = 50_000
_MOST_LABELS = 2_000  # of values, for each variable
_ENCODINGS = (None, "WINDOWS-1252", "LATIN1")  # as iconv calls them; None is what the file says


@dataclass(frozen=True, slots=True)
class _Table:
    """A table that is open: what is written about it, the names of its columns, its rows in blocks."""

    notes: Iterable[str] = field(repr=False)
    labels: Sequence[str]
    blocks: Iterator[list[tuple[object, ...]]]
    unread: str = ""  # what of the notes is left out


def read_column_file(content: Content, sink: Sink) -> None:
    """Add what is written about a table, ``#table``, or its variables, ``#variables``; then rows, ``#row1``.

    Raises:
        ExtractError: unsupported, where neither a row nor a run of text can be read.
    """
    media_type = sniff(content.data, content.name)
    is_table = media_type in (PARQUET, ARROW, ORC)
    place, library, extra = (
        ("table", "pyarrow", "parquet") if is_table else ("variables", "pyreadstat", "statistics")
    )
    why_not = f"needs {library}, which is not installed (pip install 'phiscan[{extra}]')"
    row = 1
    try:
        if find_spec(library) is not None:
            table = (_columns if is_table else _statistics)(media_type, content.data)
            sink.add("\n".join(table.notes), content.place(place))
            if table.unread:
                sink.fail(content.place(place), FailReason.TOO_LARGE, table.unread)
            for rows in table.blocks:
                row = add_rows(rows, table.labels, content, sink, row)
            return
    except (ExtractError, TextFullError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 (the library's own errors, and of values out of range)
        why_not = "damaged"
    if row == 1:
        read_strings(content, media_type, sink, why_not)
    else:
        detail = f"{KINDS[media_type].called}: damaged or cut short"
        sink.fail(content.place(f"row{row}"), FailReason.CORRUPT, detail)


def _columns(media_type: str, data: bytes) -> _Table:
    """Open a table by pyarrow, on one thread."""
    import pyarrow as pa  # noqa: PLC0415 (optional)

    pa.set_cpu_count(1)
    source = pa.BufferReader(data)
    if media_type == PARQUET:
        from pyarrow import parquet  # noqa: PLC0415 (optional)

        file = parquet.ParquetFile(source)
        schema, batches = file.schema_arrow, file.iter_batches(batch_size=_ROWS_AT_ONCE, use_threads=False)
    elif media_type == ARROW:
        stream = pa.ipc.open_file(source)
        schema, batches = stream.schema, map(stream.get_batch, range(stream.num_record_batches))
    else:
        from pyarrow import orc  # noqa: PLC0415 (optional)

        file = orc.ORCFile(source)
        schema, batches = file.schema, map(file.read_stripe, range(file.nstripes))
    if not 0 < len(schema.names) <= _MOST_COLUMNS:
        raise ValueError
    return _Table(_notes(schema), [humanise(name) for name in schema.names], _blocks(batches))


def _blocks(batches: Iterable[Any]) -> Iterator[list[tuple[object, ...]]]:
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
            listed = (_listed(column) for column in batch.slice(start, _ROWS_AT_ONCE).columns)
            # Bytes that are no text are left out.
            texts = ([_text_of(v) if isinstance(v, bytes) else v for v in column] for column in listed)
            yield list(zip(*texts, strict=True))


def _listed(column: Any) -> list[object]:
    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError):  # days and times out of Python's range
        import pyarrow as pa  # noqa: PLC0415 (optional)

        return list(column.cast(pa.string()).to_pylist())


def _text_of(value: bytes) -> str:
    text = value.decode("utf-8", "replace")
    return text if text.isprintable() and "\ufffd" not in text else ""


def _notes(schema: Any) -> Iterator[str]:
    """Yield what people wrote of a table and its columns; what programs wrote for themselves is left out."""
    for owner, metadata in (("", schema.metadata), *((column.name, column.metadata) for column in schema)):
        for key, value in (metadata or {}).items():
            name, text = _text_of(key), _text_of(value)
            if text and not name.startswith(("pandas", "ARROW:", "PARQUET:", "org.apache.")):
                yield f"{owner} {name}: {text}".strip()


def _statistics(media_type: str, data: bytes) -> _Table:
    """Open a file by pyreadstat, in the encoding that it names, else in that of western Windows."""
    import pyreadstat  # noqa: PLC0415 (optional)

    def parts(**options: Any) -> tuple[Any, Any]:
        read = getattr(pyreadstat, _FUNCTIONS[media_type])
        columns, heads = read(io.BytesIO(data), output_format="dict", **options)
        return columns, heads

    for encoding in _ENCODINGS:
        given = {} if encoding is None else {"encoding": encoding}
        try:
            parts(row_limit=1, **given)
            _, heads = parts(metadataonly=True, **given)
            break
        except MemoryError:
            raise
        except Exception:  # the library's own errors, and of values out of range
            if encoding == _ENCODINGS[-1]:
                raise
    names = heads.column_names
    if not 0 < len(names) <= _MOST_COLUMNS:
        raise ValueError
    is_over = any(len(values) > _MOST_LABELS for values in heads.variable_value_labels.values())
    unread = f"labels after the first {_MOST_LABELS} of a variable are read only with their rows"
    labels = [heads.column_names_to_labels.get(name) or humanise(name) for name in names]
    rows = _rows(lambda **span: parts(**span, **given)[0], heads)
    return _Table(_variables(heads), labels, rows, unread if is_over else "")


def _rows(columns: Callable[..., Any], heads: Any) -> Iterator[list[tuple[object, ...]]]:
    """Yield rows with coded values as their labels; before a damage down to the last row."""
    names = heads.column_names
    labels = [heads.variable_value_labels.get(name, {}) for name in names]
    most = size = max(1, min(10_000, _CELLS_AT_ONCE // len(names)))
    row = 0
    damage: Exception | None = None
    while size:
        try:
            found = columns(row_offset=row, row_limit=size)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 (the library's own errors, and of values out of range)
            damage = error
            size //= 2
            continue
        labelled = [[of.get(v, v) for v in found[name]] for name, of in zip(names, labels, strict=True)]
        rows = list(zip(*labelled, strict=True))
        yield rows
        row += len(rows)
        if len(rows) < size:
            break
        size = min(size, most)
    if damage is not None:
        raise damage


def _variables(heads: Any) -> Iterator[str]:
    """Yield what people wrote of the file, its variables and their values."""
    yield from (text for text in (heads.file_label, *(heads.notes or [])) if text and text.strip())
    for name in heads.column_names:
        label = heads.column_names_to_labels.get(name) or ""
        values = list((heads.variable_value_labels.get(name) or {}).items())[:_MOST_LABELS]
        if label or values:
            coded = "; ".join(f"{cell_text(value)} = {text}" for value, text in values)
            yield f"{name}: {label}" + (f" ({coded})" if coded else "")
