"""Layout reconstruction: words with boxes in, text that keeps columns, rows, blank and wrapped lines out.

Words in columns keep their distance, in spaces, so that cells of a column are aligned in the text too.
Cells that were recognised column by column become rows again. Blank lines of the page remain. A wrapped line
is joined to the next one: the first word of the next one had no room on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress, groupby, pairwise
from statistics import median_low

from phiscan.extract.ocr.words import WIDE, Row, Type, Word

_BLANK = 1.5  # median line distances, from which on there is a blank line
_FEW_WORDS = 4.0  # words per line, up to which a block is a column of cells
_SAME_ROW = 0.6  # of the line height: most vertical distance of cells in one row
_MIN_OVERLAP = 0.5  # vertical overlap of neighbouring blocks, of the smaller height
_FULL_CHARS = 30  # letter widths of a line that may be wrapped
_FULL_LINES = 3  # least number of lines that end near a right margin
_NEAR = 12  # letter widths from the margin
_INDENTED = 3  # letter widths; a line indented by more is not a continuation
_ADDRESS = re.compile(r"(?<=[\w-]) ?@ ?(?=[\w-]+(?:\.[\w-]+)*\.[a-z]{2,8}\b)")
# What begins a new line: a bullet or number of a list, a label.
_BEGINS = re.compile(r"[-–—•*·>\[□☐☒✓]|\d{1,2}[.)]|[A-Z][.)]|[A-ZÀ-Þ][^\W\d_]{0,19}\s?:")  # noqa: RUF001 (dashes that lists have)
_DELIMITER = re.compile(r"[;|]|,(?=\S)")
_DELIMITERS = 3  # least number in a row of a delimited table


def laid_out(words: Sequence[Word], width: int = 0) -> str:
    """Return the text of a page from its words: columns aligned by spaces, blank lines kept, wraps joined.

    ``width``: of the page, in pixels; 0 = unknown.
    """
    if not words:
        return ""
    rows = _rows_across([Row(list(line)) for _, line in groupby(words, lambda word: word.place)])
    type_ = Type.of(rows)
    letter = type_.letter
    start = min(row.left for row in rows)
    steps = [after.middle - before.middle for before, after in pairwise(rows)]
    usual = median_low([step for step in steps if step > 0] or [0])
    margin = _margin(rows, letter, width)
    pieces = [_line(rows[0], start, type_)]
    for (before, after), step in zip(pairwise(rows), steps, strict=True):
        if not 0 < step <= _BLANK * max(usual, before.height):
            pieces.append("\n\n")
        elif _goes_on(before, after, margin, letter):
            pieces.append(" ")
        else:
            pieces.append("\n")
        pieces.append(_line(after, start, type_))
    return _ADDRESS.sub("@", "".join(pieces))


def in_order(words: Sequence[Word]) -> list[Word]:
    """Return the words in the reading order of ``laid_out``."""
    rows = [Row(list(line)) for _, line in groupby(words, lambda word: word.place)]
    return [word for row in _rows_across(rows) for word in row.words] if rows else []


def _line(row: Row, start: int, type_: Type) -> str:
    """Return a row as text; a word after a wide gap is aligned to its column where there is room."""
    letter = type_.letter
    parts = [row.words[0].text]
    n_chars = len(parts[0])
    for before, after in pairwise(row.words):
        n_spaces = int(type_.is_gap(before, after))
        if after.left - before.right > WIDE * letter:
            n_spaces = max(2, round((after.left - start) / letter) - n_chars)
        parts += (" " * n_spaces, after.text)
        n_chars += n_spaces + len(after.text)
    return "".join(parts)


def _has_columns(row: Row, letter: float) -> bool:
    return any(after.left - before.right > WIDE * letter for before, after in pairwise(row.words))


def _margin(rows: Sequence[Row], letter: float, width: int) -> float | None:
    """Return the right margin: where several long lines end, or one as near to the edge as all begin."""
    ends = sorted((row.right for row in rows if row.right - row.left > _FULL_CHARS * letter), reverse=True)
    near = [end for end in ends if end > ends[0] - _NEAR * letter]
    if len(near) >= _FULL_LINES:
        return ends[0]
    is_at_edge = ends and width - ends[0] < min(row.left for row in rows) + _NEAR * letter
    return ends[0] if is_at_edge and width else None


def _goes_on(before: Row, after: Row, margin: float | None, letter: float) -> bool:
    """Return whether a line was wrapped: the first word of the next had no room before the margin."""
    if margin is None or abs(after.left - before.left) > _INDENTED * letter:
        return False
    if _shape(before) == _shape(after) is not None or _has_columns(after, letter):
        return False
    lines = [" ".join(word.text for word in row.words) for row in (before, after)]
    if all(len(_DELIMITER.findall(line)) >= _DELIMITERS for line in lines):
        return False
    is_open = lines[0].count("(") > lines[0].count(")")  # so that "9)" ends a remark
    if _BEGINS.match(lines[1]) and not is_open:
        return False
    first = after.words[0]
    return before.right + letter + (first.right - first.left) > margin


def _shape(row: Row) -> str | None:
    """Return the shape of a row's first token (letters a, digits 9); None if it begins with a letter."""
    first = row.words[0].text
    return None if first[0].isalpha() else _FIGURES.sub("9", _LETTERS.sub("a", first))


_FIGURES, _LETTERS = re.compile(r"\d+"), re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, eq=False, repr=False)
class _Block:
    """Rows of one block of the page segmentation, with their bounding box."""

    rows: Sequence[Row]

    @cached_property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        first, last = self.rows[0], self.rows[-1]
        return (
            min(row.left for row in self.rows),
            first.middle - first.height / 2,
            max(row.right for row in self.rows),
            last.middle + last.height / 2,
        )

    @cached_property
    def holds_cells(self) -> bool:
        """Whether its lines are too short for prose."""
        return sum(len(row.words) for row in self.rows) <= _FEW_WORDS * len(self.rows)

    def is_row_with(self, other: _Block) -> bool:
        """Return whether two blocks are side by side and one of them is a column of cells."""
        left, top, right, bottom = self.box
        left_2, top_2, right_2, bottom_2 = other.box
        overlap = min(bottom, bottom_2) - max(top, top_2)
        is_beside = right <= left_2 or right_2 <= left
        is_level = overlap >= _MIN_OVERLAP * min(bottom - top, bottom_2 - top_2)
        return is_beside and is_level and (self.holds_cells or other.holds_cells)


def _rows_across(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of a page; side-by-side blocks of cells are merged into rows across them."""
    groups: list[list[_Block]] = []
    for _, lines in groupby(rows, lambda row: row.block):
        block = _Block(list(lines))
        beside = [any(other.is_row_with(block) for other in group) for group in groups]
        if not any(beside):
            groups.append([block])
            continue
        first = beside.index(True)
        chosen = chain.from_iterable(compress(groups, beside))
        apart = [group for group, is_beside in zip(groups, beside, strict=True) if not is_beside]
        groups = [*apart[:first], [*chosen, block], *apart[first:]]
    return [row for group in groups for row in (group[0].rows if len(group) == 1 else _in_rows(group))]


def _in_rows(blocks: Iterable[_Block]) -> Iterator[Row]:
    """Yield the merged rows of side-by-side blocks, top down."""
    rows = sorted((row for block in blocks for row in block.rows), key=lambda row: row.middle)
    together: list[Row] = []
    for row in rows:
        if together and row.middle - together[0].middle > _SAME_ROW * max(row.height, together[0].height):
            yield _joined(together)
            together = []
        together.append(row)
    yield _joined(together)


def _joined(rows: Sequence[Row]) -> Row:
    return Row(sorted((word for row in rows for word in row.words), key=lambda word: word.left))
