"""Parquet, Arrow (Feather 2) and ORC tables through pyarrow: every row after the names of its columns.

Rows are read in batches by one thread; of a damaged file the rows before the damage are read.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.file_type import sniff
from phiscan.extract.core.labels import humanise
from phiscan.extract.core.magic_numbers import KINDS
from phiscan.extract.core.unsupported import read_strings
from phiscan.extract.databases.records import add_rows, cell_text
from phiscan.model import FailReason

PARQUET = "application/vnd.apache.parquet"
ARROW = "application/vnd.apache.arrow.file"
ORC = "application/vnd.apache.orc"
_NEEDS = "needs pyarrow, which is not installed (pip install 'phiscan[parquet]')"
_ROWS_AT_ONCE = 200  # one long value that all rows share is written out for each
_MOST_COLUMNS = 50_000


COLUMN_FILE_TYPES = frozenset({PARQUET, ARROW, ORC})


def read_column_file(content: Content, sink: Sink) -> None:
    """Add what is written about the table, ``#table``, then its rows, ``#row1``.

    Raises:
        ExtractError: unsupported, where neither a row nor a run of text can be read.
    """
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
        detail = f"{KINDS[media_type].called}: damaged or cut short"
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
                listed = (_listed(column) for column in batch.columns)
                # Bytes that are no text are left out.
                texts = ([_text_of(v) if isinstance(v, bytes) else v for v in column] for column in listed)
                yield list(zip(*texts, strict=True))
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


# SPSS, SAS and Stata files through pyreadstat: every row after the labels of its variables.
# Coded values are written by their labels ("prostate cancer", not 2). Rows are read in blocks, so that
# neither a large file nor a claim of one fills the memory; of a damaged file the rows before the damage
# are read.

# Media type: the function of pyreadstat.
_FUNCTIONS = {
    "application/x-spss-sav": "read_sav",
    "application/x-spss-por": "read_por",
    "application/x-sas-data": "read_sas7bdat",
    "application/x-sas-transport": "read_xport",
    "application/x-stata-dta": "read_dta",
}
_NEEDS_PYREADSTAT = "needs pyreadstat, which is not installed (pip install 'phiscan[statistics]')"
_CELLS_AT_ONCE = 200_000
_MOST_VARIABLES = 50_000
_MOST_LABELS = 2_000  # of values, for each variable
_ENCODINGS = (None, "WINDOWS-1252", "LATIN1")  # as iconv calls them; None is what the file says


STATISTICS_TYPES = frozenset(_FUNCTIONS)


def read_statistics(content: Content, sink: Sink) -> None:
    """Add the labels of variables and values, ``#variables``, notes, then the rows, ``#row1``.

    Raises:
        ExtractError: unsupported, where neither a row nor a run of text can be read.
    """
    media_type = sniff(content.data, content.name)
    if find_spec("pyreadstat") is None:
        read_strings(content, media_type, sink, _NEEDS_PYREADSTAT)
        return
    table = _Statistics(content.data, _FUNCTIONS[media_type])
    is_sound = media_type != "application/x-spss-sav" or has_sound_dictionary(content.data)
    heads = table.heads() if is_sound else None
    if heads is None:
        read_strings(content, media_type, sink, "damaged")
        return
    sink.add("\n".join(_variables(heads)), content.place("variables"))
    if any(len(values) > _MOST_LABELS for values in heads.variable_value_labels.values()):
        said = f"labels after the first {_MOST_LABELS} of a variable are read only with their rows"
        sink.fail(content.place("variables"), FailReason.TOO_LARGE, said)
    labels = [heads.column_names_to_labels.get(name) or humanise(name) for name in heads.column_names]
    row = 1
    for rows in table.blocks(heads):
        row = add_rows(rows, labels, content, sink, row)
    if table.is_damaged:
        detail = f"{KINDS[media_type].called}: damaged or cut short"
        sink.fail(content.place(f"row{row}"), FailReason.CORRUPT, detail)


class _Statistics:
    """One data file, read in blocks of rows."""

    def __init__(self, data: bytes, function: str) -> None:
        import pyreadstat  # noqa: PLC0415 (optional)

        self._data = data
        self._read = getattr(pyreadstat, function)
        self._encoding: str | None = None
        self.is_damaged = False

    def heads(self) -> Any:
        """Return what the file says of its variables; None where it cannot be read."""
        for encoding in _ENCODINGS:
            try:
                _, heads = self._parts(metadataonly=True, encoding=encoding)
                self._parts(row_limit=1, encoding=encoding)
            except MemoryError:
                raise
            except Exception:  # noqa: BLE001, S112 (the library's own errors, and of values out of range)
                continue
            self._encoding = encoding
            return heads if 0 < len(heads.column_names) <= _MOST_VARIABLES else None
        return None

    def blocks(self, heads: Any) -> Iterator[list[tuple[object, ...]]]:
        """Yield rows with coded values as their labels; before a damage down to the last row."""
        names = heads.column_names
        most = size = max(1, min(10_000, _CELLS_AT_ONCE // max(len(names), 1)))
        row = 0
        while size:
            try:
                columns, _ = self._parts(row_offset=row, row_limit=size, encoding=self._encoding)
            except MemoryError:
                raise
            except Exception:  # noqa: BLE001 (the library's own errors, and of values out of range)
                self.is_damaged = True
                size //= 2
                continue
            labels = [heads.variable_value_labels.get(name, {}) for name in names]
            labelled = [[of.get(v, v) for v in columns[name]] for name, of in zip(names, labels, strict=True)]
            rows = list(zip(*labelled, strict=True))
            if rows:
                yield rows
            row += len(rows)
            if len(rows) < size:
                return
            size = min(size, most)

    def _parts(self, **options: Any) -> tuple[Any, Any]:
        given = {name: value for name, value in options.items() if value is not None}
        columns, heads = self._read(io.BytesIO(self._data), output_format="dict", **given)
        return columns, heads


def _variables(heads: Any) -> Iterator[str]:
    """Yield what people wrote of the file, its variables and their values."""
    yield from (text for text in (heads.file_label, *(heads.notes or [])) if text and text.strip())
    for name in heads.column_names:
        label = heads.column_names_to_labels.get(name) or ""
        values = list((heads.variable_value_labels.get(name) or {}).items())[:_MOST_LABELS]
        if label or values:
            coded = "; ".join(f"{cell_text(value)} = {text}" for value, text in values)
            yield f"{name}: {label}" + (f" ({coded})" if coded else "")


_LAYOUT_AT, _HEADER_BYTES = 64, 176
_VARIABLE, _LABELS, _LABELLED, _DOCUMENT, _EXTENSION, _END = 2, 3, 4, 6, 7, 999
_LONGEST_LABEL = 64 * 1024
_CONTINUED = -1  # the type of a further eight bytes of a string
_SHORT_STRING, _WIDEST, _MOST_MISSING = 8, 255, 3


def has_sound_dictionary(data: bytes) -> bool:
    """Tell whether the records follow each other, and labels of values name variables of their type."""
    try:
        return _Walk(data).is_sound()
    except (struct.error, IndexError):
        return False


class _Walk:
    """Goes from record to record."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = _HEADER_BYTES
        self._order = "<" if struct.unpack_from("<i", data, _LAYOUT_AT)[0] in (2, 3) else ">"
        self._types: list[int] = []
        self._n_continued = 0  # records of the last string that must follow

    def is_sound(self) -> bool:
        steps = {_VARIABLE: self._variable, _LABELS: self._labels, _EXTENSION: self._extension}
        steps[_DOCUMENT] = self._document
        while (kind := self._integer()) != _END:
            step = steps.get(kind)
            if step is None or not step():
                return False
        return bool(self._types) and not self._n_continued

    def _integer(self) -> int:
        value: int = struct.unpack_from(self._order + "i", self._data, self._at)[0]
        self._at += 4
        return value

    def _skip(self, n_bytes: int) -> bool:
        self._at += n_bytes
        return n_bytes >= 0 and self._at <= len(self._data)

    def _variable(self) -> bool:
        width, has_label, n_missing = self._integer(), self._integer(), self._integer()
        self._types.append(width)
        if not self._skip(16) or not _CONTINUED <= width <= _WIDEST or abs(n_missing) > _MOST_MISSING:
            return False
        if (width == _CONTINUED) != (self._n_continued > 0):
            return False
        self._n_continued = self._n_continued - 1 if width == _CONTINUED else max(-(-width // 8) - 1, 0)
        if has_label:
            length = self._integer()
            if not 0 <= length <= _LONGEST_LABEL or not self._skip(-(-length // 4) * 4):
                return False
        return self._skip(abs(n_missing) * 8)

    def _labels(self) -> bool:
        values = self._labelled_values()
        if not values or self._integer() != _LABELLED:
            return False
        n_variables = self._integer()
        if not 0 < n_variables <= len(self._types):
            return False
        named = [self._integer() for _ in range(n_variables)]
        if not all(0 < number <= len(self._types) for number in named):
            return False
        widths = [self._types[number - 1] for number in named]
        if all(width == 0 for width in widths):
            return True
        return all(0 < width <= _SHORT_STRING for width in widths) and all(
            value.isascii() and b"\0" not in value for value in values
        )

    def _labelled_values(self) -> list[bytes]:
        """Return the values of a record of labels; none where it is damaged."""
        found = []
        for _ in range(max(min(self._integer(), len(self._data) // 16), 0)):
            found.append(self._data[self._at : self._at + 8])
            length = self._data[self._at + 8]
            if not self._skip(8 + (length // 8 + 1) * 8):
                return []
        return found

    def _document(self) -> bool:
        return self._skip(80 * self._integer())

    def _extension(self) -> bool:
        _, size, count = self._integer(), self._integer(), self._integer()
        return size >= 0 and count >= 0 and self._skip(size * count)
