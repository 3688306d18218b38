"""Tables as text: every data row keeps its column headers with it.

One row is one line, ``Header: value | Header: value``, so that each identifier stands right after its
best label and the whole stays linear in the number of cells. Rows above the header, and tables
without one, are written as ``value | value``, or as ``label: value`` where the first cell is a label.
"""

from __future__ import annotations

import csv
import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.labels import is_label, pair
from phiscan.model import FailReason

SEPARATOR = " | "
MOST_CELL = 1_000_000  # characters
ROWS_AT_ONCE = 200  # of a database
_LARGEST_WHOLE = 1e16
_LOOK_AHEAD = 30  # rows read to find the header
_HEADER_WITHIN = 12  # the header is among this many rows that hold anything
_MAX_FORM_CELLS = 12  # a wider row is not a form of labels and values
_MAX_HEADER_CHARS = 60
_MIN_HEADER_CELLS = 2
_NUMERIC_SHARE = 0.5
_MAX_HEADS = 3  # rows of heads of a survey's export
_IMPORT_ID = '"ImportId"'

_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")

Row = tuple[int, Sequence[str]]  # row number as its reader counts it, cells


def lay_out(rows: Iterable[Row]) -> Iterator[tuple[int, str]]:
    """Yield ``(row number, line)`` for every row that holds anything.

    >>> list(lay_out([(1, ["Patient name", "DOB"]), (2, ["Roy", "1950-01-02"])]))
    [(1, 'Patient name | DOB'), (2, 'Patient name: Roy | DOB: 1950-01-02')]
    """
    source = iter(rows)
    first = [row for row in islice(source, _LOOK_AHEAD) if any(cell.strip() for cell in row[1])]
    header_at = _find_header(first)
    heads = [cells for _, cells in first[header_at:]] if header_at >= 0 else []
    more = _further_heads(heads)
    groups = heads[0] if _has_sub_heads(heads) else ()
    more = max(more, int(bool(groups)))
    header: list[str] = []
    for index, (number, cells) in enumerate(first):
        if header_at <= index <= header_at + more and header_at >= 0:
            if index > header_at and _is_machine_head(cells):
                continue  # what a survey tool writes for itself
            line = SEPARATOR.join(value for cell in cells if (value := cell.strip()))
            header = [_prefix(cell) for cell in (_joined(groups, cells) if groups else cells)]
        else:
            line = _labelled(header, cells) if header else _unlabelled(cells)
        if line:
            yield number, line
    for number, cells in source:
        line = _labelled(header, cells) if header else _unlabelled(cells)
        if line:
            yield number, line


def unescaped(cell: str) -> str:
    """Return a text without the escapes of characters that XML cannot hold, ``_x000D_``."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), cell) if "_x" in cell else cell


def cell_text(value: object) -> str:
    """Return a value as a person sees it, on one line; nothing for what is missing.

    >>> cell_text(40718823.0), cell_text(dt.datetime(1951, 3, 14)), cell_text(float("nan"))
    ('40718823', '1951-03-14', '')
    """
    if value is None or value != value:  # noqa: PLR0124 (not a number)
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _LARGEST_WHOLE else repr(value)
    if isinstance(value, dt.datetime):
        return value.date().isoformat() if value.time() == dt.time(0) else value.isoformat(" ")
    return " ".join(str(value)[:MOST_CELL].split())


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
    while block := list(islice(source, ROWS_AT_ONCE)):
        lines = (row_text(labels, row) for row in block)
        place = content.place(f"{within}row{first}")
        sink.add("\n".join(line for line in lines if line), place)
        if n_chars := sum(
            max(len(value) - MOST_CELL, 0) for row in block for value in row if isinstance(value, str)
        ):
            sink.fail(place, FailReason.TOO_LARGE, f"{n_chars} characters of long cells are not read")
        first += len(block)
    return first


def has_header(rows: Sequence[Row]) -> bool:
    """Tell a table whose columns have heads."""
    first = [row for row in rows[:_LOOK_AHEAD] if any(cell.strip() for cell in row[1])]
    return _find_header(first) >= 0


def _clean(cell: str) -> str:
    return " ".join(cell.split())


def _labelled(header: Sequence[str], cells: Sequence[str]) -> str:
    values = map(str.strip, cells)
    parts = [prefix + value for prefix, value in zip(header, values, strict=False) if value]
    if len(cells) > len(header):
        parts += [value for cell in cells[len(header) :] if (value := cell.strip())]
    return SEPARATOR.join(parts)


def _prefix(cell: str) -> str:
    """Return what a column's header puts before each value, ``Name: ``; nothing without a header."""
    label = pair(_clean(cell), "")
    return label if label.strip() else ""


def _unlabelled(cells: Sequence[str]) -> str:
    values = [value for cell in cells if (value := cell.strip())]
    if len(values) > _MAX_FORM_CELLS:
        return SEPARATOR.join(values)
    parts: list[str] = []
    label = ""
    for value in values:
        if label and not is_label(value):
            parts[-1] = pair(label, value)
            label = ""
        else:
            parts.append(value)
            label = value if is_label(value) or value.endswith(":") else ""
    return SEPARATOR.join(parts)


def _find_header(rows: Sequence[Row]) -> int:
    """Return the index of the header row among the first rows, or -1."""
    for index, (_, cells) in enumerate(rows[:_HEADER_WITHIN]):
        below = [row[1] for row in rows[index + 1 :]]
        if below and _may_be_header(cells) and _differs(cells, below):
            return index
    return -1


def _further_heads(rows: Sequence[Sequence[str]]) -> int:
    """Return how many rows after the first are heads as well, as exports of surveys have them.

    The second says in words what the first says in names ("StartDate", "Start Date"), and the third what the
    tool needs to read it back.
    """
    machine_at = next((at for at, cells in enumerate(rows[:_MAX_HEADS]) if at and _is_machine_head(cells)), 0)
    if machine_at:
        return machine_at
    n_more = 0
    for cells in rows[1:_MAX_HEADS]:
        same = sum(
            bool(_letters(name)) and _letters(name) == _letters(cell)
            for name, cell in zip(rows[0], cells, strict=False)
        )
        is_words = same >= _MIN_HEADER_CELLS and not any(map(_is_numeric, filter(str.strip, cells)))
        if not is_words:
            break
        n_more += 1
    return n_more


def _has_sub_heads(rows: Sequence[Sequence[str]]) -> bool:
    """Tell a second row of heads below questions that reach over several columns, as surveys have them.

    It has a head where the first row has none, none below the first head, and no figures.
    """
    if len(rows) <= _MIN_HEADER_CELLS:
        return False
    heads, cells, below = ([cell.strip() for cell in row] for row in rows[:3])
    if not (heads and cells and below) or not heads[0] or cells[0] or not below[0]:
        return False
    n_new = sum(not head and bool(cell) for head, cell in zip(heads, cells, strict=False))
    return n_new > 0 and not any(map(_is_numeric, filter(None, cells)))


def _joined(groups: Sequence[str], cells: Sequence[str]) -> list[str]:
    """Return the heads of columns after questions and the choices below them."""
    found = []
    group = ""
    for index, cell in enumerate(cells):
        group = (groups[index].strip() if index < len(groups) else "") or group
        is_question = not cell.strip() or cell.strip().lower().endswith("response")
        found.append(group if is_question else cell if is_label(cell) else f"{group} {cell}")
    return found


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _is_machine_head(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and all(_IMPORT_ID in cell for cell in filled)


def _may_be_header(cells: Sequence[str]) -> bool:
    """Several short distinct texts, none of them a number, a date or an address."""
    texts = [_clean(cell) for cell in cells if cell.strip()]
    if len(texts) < _MIN_HEADER_CELLS or len(set(texts)) < len(texts):
        return False
    return all(len(text) <= _MAX_HEADER_CHARS and "@" not in text and not _is_numeric(text) for text in texts)


def _differs(cells: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """A header has label words, or is above columns that are mostly numbers."""
    texts = [cell for cell in cells if cell.strip()]
    n_labels = sum(is_label(text) for text in texts)
    widest = max(sum(bool(cell.strip()) for cell in row) for row in below)
    if widest < _MIN_HEADER_CELLS or len(texts) * 2 < widest:
        return False  # a title, or a form of labels and values
    if any(text.rstrip().endswith(":") for text in texts) and n_labels < len(texts):
        return False
    if n_labels * 3 >= len(texts):
        # "Name | SMITH" above "Date | 1 May": labels on the left only make a form, not a table.
        return n_labels > 1 or not all(is_label(row[0]) for row in below[:5] if row and row[0].strip())
    return any(_column_is_numeric(below, index) for index, cell in enumerate(cells) if cell.strip())


def _column_is_numeric(below: Sequence[Sequence[str]], index: int) -> bool:
    values = [row[index] for row in below if index < len(row) and row[index].strip()]
    return bool(values) and sum(_is_numeric(value) for value in values) > _NUMERIC_SHARE * len(values)


def _is_numeric(text: str) -> bool:
    """Mostly digits: a number, a date, a telephone."""
    solid = "".join(text.split())
    if solid.isalpha():
        return False
    return solid.isdecimal() or sum(map(str.isdecimal, solid)) * 2 > len(solid)


# CSV, TSV and their kin: dialect and encoding found, not assumed.

_DELIMITERS = ",;\t|\x01\x1e\x1f"
_SAMPLE_LINES = 50


def read_delimited(content: Content, sink: Sink) -> None:
    """Add one segment per row, ``#row7``; the number is that of the row's first line."""
    text, _ = decode(sink.bound(content.data, content.locator))
    # The reader knows no line that ends with a carriage return alone.
    text = text.replace("\0", " ").replace("\r\n", "\n").replace("\r", "\n")
    for number, line in lay_out(_rows(text)):
        sink.add(line, content.place(f"row{number}"))


def find_delimiter(text: str) -> str:
    r"""Return the delimiter whose count per line is the highest and the most even.

    >>> find_delimiter("a;b;c\n1,5;2;3\n")
    ';'
    """
    lines = [line for line in text.splitlines()[:_SAMPLE_LINES] if line.strip()]

    def evenness(delimiter: str) -> tuple[float, float]:
        counts = [line.count(delimiter) for line in lines]
        if not any(counts):
            return (0.0, 0.0)
        usual = max(set(counts), key=counts.count)
        share = counts.count(usual) / len(counts) if usual else 0.0
        return (share, sum(counts) / len(counts))

    return max(_DELIMITERS, key=evenness)


def _rows(text: str) -> Iterator[Row]:
    delimiter = find_delimiter(text[:65536])
    csv.field_size_limit(2**31 - 1)
    # An unbalanced quote would swallow the rest of the file into one cell.
    balanced = text.count('"') % 2 == 0
    reader = csv.reader(
        _lines(text),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if balanced else csv.QUOTE_NONE,
        skipinitialspace=True,
    )
    number = 1
    for row in reader:
        yield number, row
        number = reader.line_num + 1


def _lines(text: str) -> Iterator[str]:
    """Yield the lines with their ends; a copy of the whole text would cost four bytes a character."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start : end + 1]
        start = end + 1
    if start < len(text):
        yield text[start:]
