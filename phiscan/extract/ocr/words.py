"""The words that the recogniser saw on a page, with where they stand, and the type that they are set in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import median, quantiles

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
