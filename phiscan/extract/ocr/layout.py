"""Layout reconstruction: words with boxes in, text that keeps columns, rows, blank and wrapped lines out.

Words in columns keep their distance, in spaces, so that cells of a column are aligned in the text too.
Cells that were recognised column by column become rows again. Blank lines of the page remain. A wrapped line
is joined to the next one: the first word of the next one had no room on it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, compress, groupby, pairwise
from statistics import median, median_low, quantiles
from typing import Any

WIDE = 1.9  # letter widths between two words that belong to different columns
_COLUMNS, _PAGE_LEVEL, _WORD_LEVEL = 12, "1", "5"  # of tesseract's table
# Shares of the median word gap below which a gap separates no words: between digits and what follows, between
# any words of monospaced type, and next to a 1, which is narrow.
_NO_GAP, _NO_GAP_SET, _NO_GAP_ONE = 0.66, 0.7, 0.9
_MOST_PIXELS, _MOST_CONFIDENCE = 1_000_000, 100.0
_MIN_GAPS = 5  # between words of letters, for their median to be used
_EQUAL = 0.07  # of the median letter width: the interquartile range in monospaced type
_MIN_LETTERS = 4  # of a word whose letter width is measured
_FIGURE, _SIGN = re.compile(r"\d"), re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True, repr=False)
class Word:
    """A word and its box in pixels; ``place``: block, paragraph and line; ``certainty``: 0 to 100."""

    text: str
    left: int
    top: int
    right: int
    bottom: int
    place: tuple[int, int, int]
    certainty: float


@dataclass(frozen=True, eq=False, repr=False)
class Row:
    """Words of one line, from left to right."""

    words: Sequence[Word]

    @property
    def block(self) -> int:
        """The block of its first word."""
        return self.words[0].place[0]

    @cached_property
    def middle(self) -> float:
        """Median vertical centre of its words, in pixels from the top."""
        return median((word.top + word.bottom) / 2 for word in self.words)

    @cached_property
    def height(self) -> float:
        """Median height of its words, in pixels."""
        return median(word.bottom - word.top for word in self.words)

    @property
    def left(self) -> int:
        """Left edge, in pixels."""
        return self.words[0].left

    @property
    def right(self) -> int:
        """Right edge, in pixels."""
        return self.words[-1].right


def page_width(table: str) -> int:
    """Return the width of the page in pixels from tesseract's table; 0 where the table does not have it.

    Raises:
        ValueError: the width is no possible number of pixels.
    """
    cells = table.partition("\n")[2].partition("\n")[0].split("\t")
    return _pixels(cells[8]) if len(cells) == _COLUMNS and cells[0] == _PAGE_LEVEL else 0


def words_of(table: str) -> list[Word]:
    """Return the words of tesseract's table, in its order.

    The process that wrote the table has read a picture that nobody checked: the table may be a forgery.

    Raises:
        ValueError: a box, a position or a confidence is no possible number.
    """
    words = []
    for row in table.split("\n")[1:]:
        cells = row.split("\t")
        if len(cells) != _COLUMNS or cells[0] != _WORD_LEVEL or not cells[-1].strip():
            continue
        block, paragraph, line, _, left, top, width, height = map(_pixels, cells[2:10])
        place = (block, paragraph, line)
        confidence = float(cells[10])
        if not -1 <= confidence <= _MOST_CONFIDENCE:
            message = "no confidence of a word"
            raise ValueError(message)
        words.append(Word(cells[-1], left, top, left + width, top + height, place, confidence))
    return words


def _pixels(cell: str) -> int:
    """Return a number of pixels, or of a block or line, from a cell of the table."""
    number = int(cell)
    if not -_MOST_PIXELS <= number <= _MOST_PIXELS:
        message = "no number of pixels"
        raise ValueError(message)
    return number


@dataclass(frozen=True, slots=True)
class Type:
    """Typographic measures of a page: median letter width and word gap in pixels (gap 0: unknown)."""

    letter: float
    gap: float
    is_equal: bool  # monospaced

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Type:
        """Return the measures of a page, from the boxes of its words."""
        words = [word for row in rows for word in row.words]
        widths = [(word.right - word.left) / len(word.text) for word in words if len(word.text) > 1]
        letter = max(median(widths), 1.0) if widths else 10.0
        gaps = [
            after.left - before.right
            for row in rows
            for before, after in pairwise(row.words)
            if before.text[-1].isalpha() and after.text[0].isalpha()
        ]
        gaps = [gap for gap in gaps if 0 < gap < WIDE * letter]
        long = [(w.right - w.left) / (len(w.text) - 0.25) for w in words if len(w.text) >= _MIN_LETTERS]
        quarters = quantiles(long, n=4) if len(long) > _MIN_GAPS else [0.0, 1.0, 1.0]
        is_equal = quarters[2] - quarters[0] < _EQUAL * quarters[1]
        return cls(letter, median(gaps) if len(gaps) >= _MIN_GAPS else 0.0, is_equal)

    def is_gap(self, before: Word, after: Word) -> bool:
        """Return whether the gap between two neighbouring boxes separates words, or splits a number."""
        gap = after.left - before.right
        sides = before.text[-1] + after.text[0]
        if self.is_equal and gap < _NO_GAP_SET * self.gap:
            return False
        have_signs = _SIGN.search(before.text) and _SIGN.search(after.text)
        if not (_FIGURE.search(sides) and have_signs):
            return True
        return gap >= (_NO_GAP_ONE if "1" in sides else _NO_GAP) * self.gap


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


# Pictures as the recogniser saw them, with the box of each word: recorded only on request.
# A scan asks for none. A reveal does, so that a person can be shown the page itself with what was found
# on it.

MAX_PICTURES = 200
_MAX_WIDTH = 1200  # pixels; enough to read a letter
_QUALITY = 70  # of 100
_AHEAD = 200  # characters of the text in which the next word is looked for

_LOG: ContextVar[PictureLog | None] = ContextVar("picture log", default=None)


@dataclass(frozen=True, slots=True)
class SeenPicture:
    """One picture, upright and straightened, as JPEG; ``words`` are those of ``text`` in its order."""

    place: str
    text: str = field(repr=False)
    jpeg: bytes = field(repr=False)
    width: int
    height: int
    words: tuple[Word, ...] = field(repr=False)  # boxes in pixels of width and height


@dataclass(slots=True)
class PictureLog:
    """The pictures of one file, in the order in which they were read."""

    pictures: list[SeenPicture] = field(default_factory=list)
    _last: tuple[Any, Sequence[Word]] | None = None

    def note(self, image: Any, words: Sequence[Word]) -> None:
        """Remember what the recogniser was given and what it saw, until its place is known."""
        self._last = (image, words)

    def add(self, place: str, text: str) -> None:
        """Keep the picture that was read last."""
        if self._last is None or len(self.pictures) >= MAX_PICTURES:
            return
        (image, words), self._last = self._last, None
        stream = io.BytesIO()
        small = image.copy()
        small.thumbnail((_MAX_WIDTH, 4 * _MAX_WIDTH))
        small.save(stream, "JPEG", quality=_QUALITY)
        ordered = tuple(in_order(words))
        self.pictures.append(SeenPicture(place, text, stream.getvalue(), image.width, image.height, ordered))


@contextmanager
def logged_pictures() -> Iterator[PictureLog]:
    """Keep the pictures that are read within."""
    log = PictureLog()
    token = _LOG.set(log)
    try:
        yield log
    finally:
        _LOG.reset(token)


def current_log() -> PictureLog | None:
    """Return the log that pictures are to be recorded in; None = none is asked for."""
    return _LOG.get()


def word_spans(text: str, words: Sequence[Word]) -> list[tuple[int, int] | None]:
    r"""Return where each word is in the text that was put together from them; None where it was changed.

    >>> word = lambda text: Word(text, 0, 0, 1, 1, (1, 1, 1), 90.0)
    >>> word_spans("Ann  Roy\nx@y.org", [word(one) for one in ("Ann", "Roy", "x", "@", "y.org")])
    [(0, 3), (5, 8), (9, 10), (10, 11), (11, 16)]
    """
    spans: list[tuple[int, int] | None] = []
    at = 0
    for word in words:
        start = text.find(word.text, at, at + _AHEAD + len(word.text))
        if start < 0:
            spans.append(None)
            continue
        at = start + len(word.text)
        spans.append((start, at))
    return spans
