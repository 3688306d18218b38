"""Tables of a revealed text: labelled rows to columns; the headers of a message to a list of fields.

Extracted tables repeat the column's header in each cell (``Name: Roy | DOB: 1950-01-02``). Consecutive rows
of that form become one table; every cell has the offset of its value in the text, so that a selection in
it can be located. Rows of another form, and everything else, remain text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from phiscan.language import gettext
from phiscan.web.views.reveal import (
    Block,
    Marks,
    Spans,
    Stretch,
    marks_between,
    marks_of,
    shown,
    stretches_of,
)

MIN_ROWS = 2
MAX_COLUMNS = 60
_SEPARATOR = " | "
_LABEL = re.compile(r"([^|\n]{1,60}?): (?=\S)")
_HEADERS = "headers"  # locator of a message's headers
_FIELD = re.compile(r"(?m)^[A-Za-z][A-Za-z0-9-]{0,60}:")
_KNOWN = ("from", "to", "cc", "bcc", "date", "subject")
_ROLE_SHARE = 0.5  # of the filled cells of a column that hold a finding of one type


@dataclass(frozen=True, slots=True)
class Cell:
    """One value: its offset in the text, and its text with findings marked."""

    start: int
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its header, and the type of identifier that most of its cells hold, "" = none."""

    label: str
    role: str
    colour: str


@dataclass(frozen=True, slots=True)
class RevealedTable:
    """Consecutive rows; an empty cell is None."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]  # location, cells


@dataclass(frozen=True, slots=True)
class MailHeaders:
    """The headers of a message: name and value; the important ones, and all others."""

    where: str
    first: tuple[tuple[str, Cell], ...]
    others: tuple[tuple[str, Cell], ...]


Values = dict[str, tuple[int, int]]
"""The values of a row by label: start and end in the text."""


Part = Block | RevealedTable | MailHeaders


def with_tables(text: str, blocks: Sequence[Block], spans: Spans) -> tuple[Part, ...]:
    """Return the blocks of a revealed text, consecutive rows of labelled cells as tables."""
    rows = [(block, _values(text, block)) for block in blocks]
    marks = marks_of(spans, blocks[0].start, _end(blocks[-1])) if blocks else ()
    parts: list[Part] = []
    for is_row, run in groupby(rows, key=lambda row: row[1] is not None):
        run_of = list(run)
        labels = tuple(dict.fromkeys(label for _, values in run_of for label in values or ()))
        if is_row and len(run_of) >= MIN_ROWS and len(labels) <= MAX_COLUMNS:
            parts.append(_table(text, run_of, labels, marks))
        else:
            parts.extend(_headers(text, block, marks) or block for block, _ in run_of)
    return tuple(parts)


def _headers(text: str, block: Block, marks: Marks) -> MailHeaders | None:
    """Return the headers of a message as fields, None if the block has none; folded lines are joined."""
    if block.where.rpartition(", ")[2] != _HEADERS:
        return None
    end = _end(block)
    starts = [found.start() for found in _FIELD.finditer(text, block.start, end)]
    if not starts or starts[0] != block.start:
        return None
    fields: list[tuple[str, Cell]] = []
    for start, stop in zip(starts, [*starts[1:], end], strict=True):
        colon = text.index(":", start)
        value = colon + 1 + (text[colon + 1 : colon + 2] == " ")
        last = value + len(text[value:stop].rstrip("\n"))
        here = marks_between(marks, value, last)
        fields.append((shown(text[start:colon]), Cell(value, tuple(stretches_of(text, here, value, last)))))
    order = {name: at for at, name in enumerate(_KNOWN)}
    known = sorted(
        (one for one in fields if one[0].casefold() in order), key=lambda one: order[one[0].casefold()]
    )
    others = [one for one in fields if one[0].casefold() not in order]
    return MailHeaders(block.where, tuple(known), tuple(others))


@cache
def _row_place(word: str) -> re.Pattern[str]:
    """Return the pattern of a location in a table, by the word for a row in the language of the page."""
    return re.compile(rf"(?:.*, )?(?:{re.escape(word)} |A)\d+", re.DOTALL)


def _values(text: str, block: Block) -> Values | None:
    """Return the values of a row by label; None if it is no row, or a cell has no label of its own."""
    if not _row_place(gettext("row")).fullmatch(block.where):
        return None
    values: Values = {}
    for start, stop in _cells(text, block.start, _end(block)):
        found = _LABEL.match(text, start, stop)
        if found is None or found[1] in values:
            return None
        values[found[1]] = found.end(), stop
    return values or None


def _end(block: Block) -> int:
    return block.start + sum(len(one.text) for one in block.stretches)


def _cells(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    end = start + len(text[start:end].rstrip("\n"))
    while (stop := text.find(_SEPARATOR, start, end)) >= 0:
        yield start, stop
        start = stop + len(_SEPARATOR)
    yield start, end


def _table(
    text: str, rows: Sequence[tuple[Block, Values | None]], labels: Sequence[str], marks: Marks
) -> RevealedTable:
    laid: list[tuple[str, tuple[Cell | None, ...]]] = []
    for block, values in rows:
        end = _end(block)
        here = marks_between(marks, block.start, end)
        found = [
            Cell(at[0], tuple(stretches_of(text, here, *at)))
            if values and (at := values.get(label))
            else None
            for label in labels
        ]
        laid.append((block.where, tuple(found)))
    columns = tuple(_column(label, [cells[index] for _, cells in laid]) for index, label in enumerate(labels))
    return RevealedTable(columns, tuple(laid))


def _column(label: str, cells: Sequence[Cell | None]) -> Column:
    filled = [cell for cell in cells if cell is not None]
    kinds = Counter(
        kind
        for cell in filled
        for kind in {(one.kind, one.colour) for one in cell.stretches if one.position is not None}
    )
    for (kind, colour), n in kinds.most_common(1):
        if n >= _ROLE_SHARE * len(filled):
            return Column(shown(label), kind, colour)
    return Column(shown(label), "", "")
