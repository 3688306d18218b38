"""Rows of a table as text: each value after the head of its column, a block of rows to a segment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.spreadsheets.rows import MOST_CELL, SEPARATOR, cell_text
from phiscan.model import FailReason

_ROWS_AT_ONCE = 200


def row_text(labels: Sequence[str], row: Sequence[object]) -> str:
    """Return one row, ``Name: Okafor | Age: 61``; cells without a value are left out."""
    cells = ((label, cell_text(value)) for label, value in zip(labels, row, strict=False))
    return SEPARATOR.join(f"{label}: {text}" if label else text for label, text in cells if text)


def add_rows(  # noqa: PLR0917 (rows and where they lie)
    rows: Iterable[Sequence[object]],
    labels: Sequence[str],
    content: Content,
    sink: Sink,
    first: int = 1,
    within: str = "",
) -> int:
    """Add rows as segments ``#row1``, ``#row201``; return the number of the row after the last.

    How much of the cells that are longer than the limit is not read is recorded.
    """
    source = iter(rows)
    while block := list(islice(source, _ROWS_AT_ONCE)):
        lines = (row_text(labels, row) for row in block)
        place = content.place(f"{within}row{first}")
        sink.add("\n".join(line for line in lines if line), place)
        if n_chars := sum(
            max(len(value) - MOST_CELL, 0) for row in block for value in row if isinstance(value, str)
        ):
            sink.fail(place, FailReason.TOO_LARGE, f"{n_chars} characters of long cells are not read")
        first += len(block)
    return first
