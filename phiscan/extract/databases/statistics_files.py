"""SPSS, SAS and Stata files through pyreadstat: every row after the labels of its variables.

Coded values are written by their labels ("prostate cancer", not 2). Rows are read in blocks, so that neither
a large file nor a claim of one fills the memory; of a damaged file the rows before the damage are read.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.labels import humanise
from phiscan.extract.databases.named import KINDS, read_strings
from phiscan.extract.databases.records import add_rows, cell_text
from phiscan.extract.databases.spss_dictionary import has_sound_dictionary
from phiscan.model import FailReason

# Media type: the function of pyreadstat.
_FUNCTIONS = {
    "application/x-spss-sav": "read_sav",
    "application/x-spss-por": "read_por",
    "application/x-sas-data": "read_sas7bdat",
    "application/x-sas-transport": "read_xport",
    "application/x-stata-dta": "read_dta",
}
_NEEDS = "needs pyreadstat, which is not installed (pip install 'phiscan[statistics]')"
_CELLS_AT_ONCE = 200_000
_MOST_COLUMNS = 50_000
_MOST_LABELS = 2_000  # of values, for each variable
_ENCODINGS = (None, "WINDOWS-1252", "LATIN1")  # as iconv calls them; None is what the file says


class StatisticsExtractor:
    """Read the data files of statistics programs."""

    media_types = frozenset(_FUNCTIONS)

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the labels of variables and values, ``#variables``, notes, then the rows, ``#row1``.

        Raises:
            ExtractError: unsupported, where neither a row nor a run of text can be read.
        """
        from phiscan.extract.core.file_type import sniff  # noqa: PLC0415 (imports the tables of kinds)

        media_type = sniff(content.data, content.name)
        if find_spec("pyreadstat") is None:
            read_strings(content, media_type, sink, _NEEDS)
            return
        table = _Table(content.data, _FUNCTIONS[media_type])
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
            detail = f"{KINDS[media_type]}: damaged or cut short"
            sink.fail(content.place(f"row{row}"), FailReason.CORRUPT, detail)


class _Table:
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
            return heads if 0 < len(heads.column_names) <= _MOST_COLUMNS else None
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
            labelled = [_labelled(columns[name], heads.variable_value_labels.get(name, {})) for name in names]
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


def _labelled(values: list[object], labels: dict[object, str]) -> list[object]:
    return [labels.get(value, value) for value in values] if labels else values


def _variables(heads: Any) -> Iterator[str]:
    """Yield what people wrote of the file, its variables and their values."""
    yield from (text for text in (heads.file_label, *(heads.notes or [])) if text and text.strip())
    for name in heads.column_names:
        label = heads.column_names_to_labels.get(name) or ""
        values = list((heads.variable_value_labels.get(name) or {}).items())[:_MOST_LABELS]
        if label or values:
            coded = "; ".join(f"{cell_text(value)} = {text}" for value, text in values)
            yield f"{name}: {label}" + (f" ({coded})" if coded else "")
