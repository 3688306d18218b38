"""The columns of tables in a text: delimited rows, columns set with spaces or bars, lists merely aligned."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import partial
from itertools import chain

import numpy as np

from phiscan.lexicon.identifier_labels import label_words
from phiscan.screen.rules.context import CELL_END, canonical

MAX_COLUMN_CELLS = 20_000
MAX_HEADER_CELLS = 400
MAX_HEADER_CHARS = 8000  # from the start of its line to a label
MAX_HEADER_LINE = 32_000
MAX_LABELS_PER_COLUMN = 8  # a title, a group and a name of the column, in two languages
MAX_LABEL_CHARS = 64
_MIN_COLUMNS = 2
Cells = list[tuple[int, int]]
Splitter = Callable[[str, int, int], Cells]  # cuts the line [start, end) of a text into cells
MAX_ALIGNED_ROWS = 400
_FIRST_ROWS = 4  # that are read one by one: most headers have few below them
_CHUNK_CHARS = 2048  # of rows that are read in one go; doubled as long as they are rows of the table
ALIGNED_CHARS = 2  # how far from its head a cell may begin where rows do not fill every column


class Tables:
    """Finds the column under a header cell, in delimited rows and in columns set with spaces or bars.

    Every row is cut once per way of cutting, and a column is given out once per label, so that the work is
    linear in the text however many rows look like a header.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._line = _Line(text, 0)
        self._blocks = {split: _Block(text) for split in (_split_delimited, split_spaced)}
        self._aligned = _Aligned("", -1, 0)

    def column(self, start: int, end: int) -> list[tuple[int, int]] | None:
        """Return the cells ``[start, end)`` below a label, top down; None when it heads no column.

        A label heads a column when it is (nearly) alone in its cell, no cell of its row holds a digit run,
        and the next row has as many cells. Where the same label is repeated further down in its own column,
        the cells below were returned already and the list is empty. Labels must be passed in text order.
        """
        text = self._text
        if not (_CELL_END.match(text, end) and (start == 0 or text[start - 1] in '\t|;,"\n\r ')):
            return None
        line = self._line_of(start, end)
        if line is None or line.end >= len(text) or line.next_is_empty:
            return None
        for split, block in self._blocks.items():
            header = line.header(split)
            if header is None:
                continue
            index = bisect_right(header, (start, len(text))) - 1
            if index < 0 or end > header[index][1]:
                continue
            if _numbers_goods(text, header, index, start, end):
                return []
            n_columns = len(header)
            if block.n_columns != n_columns or not block.start <= line.end + 1 < block.end:
                block.read(line.delimiter(split), line.end + 1, n_columns)
            cells = block.below(line.end + 1, index, canonical(text[start:end]))
            # Rows that leave a column empty end a block, but are aligned all the same.
            aligned = self._aligned_below(line, header[index][0]) if split is split_spaced else []
            cells = aligned if len(aligned) > len(cells or ()) else cells
            if cells is not None:
                return _after_label(text, header[index], cells)
        return [] if line.rows_are_labelled() else None

    def _aligned_below(self, line: _Line, start: int) -> Cells:
        """Return the cells that begin where a header does; none in a row of the table above."""
        if self._aligned.line_start != line.start:
            if line.start < self._aligned.end:
                return []
            self._aligned = _Aligned(self._text, line.start, line.end + 1)
        return self._aligned.below(start - line.start)

    def _line_of(self, start: int, end: int) -> _Line | None:
        """Return the line that a label is in; None where it begins too far ahead, or is too long."""
        if not self._line.start <= start <= self._line.end:
            low = max(0, start - MAX_HEADER_CHARS)
            line_start = self._text.rfind("\n", low, start) + 1
            if line_start == 0 and low > 0:
                return None
            self._line = _Line(self._text, line_start)
        line = self._line
        return None if line.is_long or end - line.start > MAX_HEADER_CHARS else line


class _Line:
    """One line of a text, cut into the cells of a header on first use."""

    def __init__(self, text: str, start: int) -> None:
        self.start = start
        limit = start + MAX_HEADER_LINE + 1
        end = text.find("\n", start, limit)
        self.is_long = end < 0 and len(text) >= limit
        self.end = min(len(text), limit) if end < 0 else end
        self.next_is_empty = text[self.end + 1 : self.end + 2] in {"", "\n"}
        self._text = text
        self._headers: dict[Splitter, Cells | None] = {}

    def header(self, split: Splitter) -> Cells | None:
        """Return the cells of the line if they can head a table."""
        if split not in self._headers:
            cells = split(self._text, self.start, self.end)
            usable = _MIN_COLUMNS <= len(cells) <= MAX_HEADER_CELLS and not any(
                _has_value(self._text[a:b]) for a, b in cells
            )
            self._headers[split] = cells if usable else None
        return self._headers[split]

    def delimiter(self, split: Splitter) -> str:
        """Return where the rows below are cut: at the delimiter of this line, whatever their cells hold.

        Empty for rows that are cut at spaces.
        """
        return delimiter_of(self._text[self.start : self.end]) if split is _split_delimited else ""

    def rows_are_labelled(self) -> bool:
        """Tell whether the next line repeats these headers in its cells, as extracted tables do."""
        text = self._text
        stop = text.find(": ", self.end + 1, self.end + 1 + MAX_LABEL_CHARS)
        label = text[self.end + 1 : stop] if stop >= 0 else ""
        return (
            bool(label)
            and _BAR in text[self.start : self.end]
            and f"{_BAR}{label}{_BAR}" in (f"{_BAR}{text[self.start : self.end]}{_BAR}")
        )


class _Block:
    """Rows of equally many cells that follow each other (ruled lines between them count for nothing)."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.start = self.end = self.n_columns = 0
        self._rows: list[int] = []  # where each row starts
        self._bounds = array("i")  # start and end of each cell, row after row
        self._given: dict[int, dict[str, int]] = {}  # by column and label, where the last cell begins

    def read(self, delimiter: str, position: int, n_columns: int) -> None:
        """Read the rows from ``position`` on, until one has other than ``n_columns`` cells."""
        text = self._text
        split = partial(split_at, delimiter) if delimiter else split_spaced
        self.start, self.n_columns = position, n_columns
        self._rows, self._bounds, self._given = [], array("i"), {}
        n_chars = 0
        for number in range(MAX_COLUMN_CELLS):
            if number == _FIRST_ROWS and delimiter:
                n_chars = _CHUNK_CHARS
            if n_chars:
                begun = position
                position = self._read_plain_rows(delimiter, position, n_chars)
                n_chars = 2 * n_chars if position > begun + n_chars // 2 else 0
            if position >= len(text) or len(self._rows) >= MAX_COLUMN_CELLS:
                break
            line_end = _line_end(text, position)
            row = split(text, position, line_end)
            if len(row) == n_columns:
                self._rows.append(position)
                self._bounds.extend(chain.from_iterable(row))
            elif not _is_rule_line(text[position:line_end]):
                break
            position = line_end + 1
        # At least one position, so that the header above an empty block is not read again for each label.
        self.end = max(position, self.start + 1)

    def _read_plain_rows(self, delimiter: str, position: int, n_chars: int) -> int:
        """Read rows that hold no quotes, many in one go; return the offset of the first that is not read."""
        chunk = self._text[position : position + n_chars]
        chunk = chunk[: min(chunk.rfind("\n") + 1, chunk.find('"') % (n_chars + 1))]
        codes = np.frombuffer(chunk.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        ends = np.flatnonzero(codes == ord("\n"))
        cuts = np.flatnonzero(codes == ord(delimiter))
        n_cuts = np.diff(np.searchsorted(cuts, ends), prepend=0)
        n_rows = min(
            int(np.argmin(np.append(n_cuts == self.n_columns - 1, False))), MAX_COLUMN_CELLS - len(self._rows)
        )
        if not n_rows:
            return position
        ends = ends[:n_rows]
        starts = np.concatenate(([0], ends[:-1] + 1))
        inner = cuts[: n_rows * (self.n_columns - 1)].reshape(n_rows, -1)
        bounds = np.empty((n_rows, self.n_columns, 2), dtype=np.intc)
        bounds[:, 0, 0], bounds[:, 1:, 0] = starts, inner + 1
        bounds[:, -1, 1], bounds[:, :-1, 1] = ends, inner
        self._rows.extend((starts + position).tolist())
        self._bounds.frombytes((bounds + np.intc(position)).tobytes())
        return position + int(ends[-1]) + 1

    def below(self, position: int, index: int, label: str) -> Cells | None:
        """Return the cells of a column from ``position`` on.

        Empty when this label had them before; None where there are none.
        """
        given = self._given.setdefault(index, {})
        if label in given:
            return [] if given[label] >= position else None
        if len(given) >= MAX_LABELS_PER_COLUMN:
            return None
        width = 2 * self.n_columns
        first = bisect_left(self._rows, position) * width + 2 * index
        bounds = zip(self._bounds[first::width], self._bounds[first + 1 :: width], strict=True)
        stripped = (strip_cell(self._text, start, end) for start, end in bounds)
        cells = [(start, end) for start, end in stripped if start < end]
        if not cells:
            return None
        given[label] = cells[-1][0]
        return cells


class _Aligned:
    """Lines below a header that is set with spaces, up to an empty one: their cells by where they begin."""

    def __init__(self, text: str, line_start: int, position: int) -> None:
        self.line_start = line_start
        self._text = text
        self._rows: list[tuple[int, Cells]] = []
        while position < len(text) and len(self._rows) < MAX_ALIGNED_ROWS:
            line_end = min(_line_end(text, position), position + MAX_HEADER_CHARS)
            row = split_spaced(text, position, line_end)
            if not row:
                break
            self._rows.append((position, row))
            position = _line_end(text, position) + 1
        self.end = position

    def below(self, offset: int) -> Cells:
        """Return the cells that begin near a head; none if half of the lines lack one."""
        cells = []
        for start, row in self._rows:
            if len(row) < _MIN_COLUMNS:
                continue  # a line of prose begins below the first head, too
            place = start + offset
            low, high = min(row, key=lambda cell: abs(cell[0] - place))
            if abs(low - place) <= ALIGNED_CHARS:
                cells.append((low, high))
        return cells if 2 * len(cells) > len(self._rows) else []


def _numbers_goods(text: str, header: Cells, index: int, start: int, end: int) -> bool:
    """Tell whether a label heads the numbers of goods: "Part no.", or lots beside prices, without people."""
    if _OF_GOODS.search(text, header[index][0], start):
        return True
    if canonical(text[start:end]) not in _STOCK_LABELS:
        return False
    heads = {canonical(text[low:high].strip(' "')) for low, high in header}
    return not heads.isdisjoint(_STOCK_HEADS) and heads.isdisjoint(_PEOPLE_HEADS)


def _after_label(text: str, header: tuple[int, int], cells: Cells) -> Cells:
    """Leave out the header that each cell of an extracted table repeats before its value."""
    start, end = strip_cell(text, *header)
    label = f"{text[start:end]}: "
    return [(a + len(label), b) if text.startswith(label, a) else (a, b) for a, b in cells]


# What numbers a kind of goods, not one of them, before "no." in its cell.
_OF_GOODS = re.compile(
    r"\b(?:part|item|article|cat|catalog(?:ue)?|stock|product|model|sku|drawing|material|bin|pièce|produit|modèle"
    r"|step|line|page|form|table)s?\.?[ ]?\Z",
    re.IGNORECASE,
)
_STOCK_LABELS = frozenset(
    "lot lots lotno lot# lotnumber no number ref refno account accountno acct compte order orderno".split()  # noqa: SIM905 (a list of words reads best as a text)
)
_STOCK_HEADS = frozenset(
    "qty quantity qte quantite price listprice unitprice prix prixunitaire onhand reorder min max peremption"  # noqa: SIM905 (a list of words reads best as a text)
    " torque budget actual variance var ecart uom unitcost coutunitaire stock minimum maximum enmain".split()
)
_PEOPLE_HEADS = frozenset(
    "name nom patient patientname client clientname resident residentname usager member membername chart"  # noqa: SIM905 (a list of words reads best as a text)
    " dossier lastname last firstname first prenom subject beneficiaire beneficiary"
    " employee employe owner assignedto insured assure donor recipient rx claim room chambre bed lit".split()
).union(label_words())
_BAR = " | "  # between the cells of a table as it is laid out when it is extracted
_VALUE = re.compile(r"[@:=]|\d(?:[^\d\n]{0,40}\d){2}")
_CELL_END = re.compile(CELL_END)
_QUOTED_CELL = re.compile(r'\s*"(?:[^"\n]|"")*"\s*')
_SPACED_CELL = re.compile(r"\S+(?: \S+)*")


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _split_delimited(text: str, start: int, end: int) -> Cells:
    """Cut a line at its most frequent delimiter."""
    return split_at(delimiter_of(text[start:end]), text, start, end)


def delimiter_of(line: str) -> str:
    """Return the most frequent of the delimiters of tables in a line."""
    return max("\t|;,", key=line.count)


def split_at(delimiter: str, text: str, start: int, end: int) -> Cells:
    """Cut a line at a delimiter, leaving quoted cells whole."""
    line = text[start:end]
    cells: Cells = []
    if '"' not in line:
        for cell in line.split(delimiter):
            stop = start + len(cell)
            cells.append((start, stop))
            start = stop + 1
        return cells
    position = 0
    while True:
        quoted = _QUOTED_CELL.match(line, position)
        if quoted and (quoted.end() == len(line) or line[quoted.end()] == delimiter):
            stop = quoted.end()
        else:
            stop = line.find(delimiter, position)
            stop = len(line) if stop < 0 else stop
        cells.append((start + position, start + stop))
        if stop >= len(line):
            return cells
        position = stop + 1


def split_spaced(text: str, start: int, end: int) -> Cells:
    """Cut a line at two or more spaces."""
    return [m.span() for m in _SPACED_CELL.finditer(text, start, end)]


def strip_cell(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a cell without the spaces and quotation marks around what is in it."""
    while start < end and text[start] in ' \t"\r':
        start += 1
    while start < end and text[end - 1] in ' \t"\r':
        end -= 1
    return start, end


def _has_value(cell: str) -> bool:
    """Tell whether a cell holds a value rather than a heading: three digits or more, or an address sign."""
    return _VALUE.search(cell) is not None


def _is_rule_line(line: str) -> bool:
    return bool(line) and not line.strip("-=+|: \t")
