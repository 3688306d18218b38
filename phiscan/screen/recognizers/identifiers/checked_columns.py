"""Columns of bare numbers that all carry a check digit, whatever their header says or where there is none.

One random number in ten passes such a check, so a bare number needs a label (decision 14). Of four different
numbers in one column all pass in one of ten thousand: then the column is its own label.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from phiscan.model import Document, EntityType, Finding, Reason, Span, bits_of
from phiscan.screen.recognizer import CaseVariant, Cost
from phiscan.screen.validators.check_digits import bc_phn, luhn, npi, sin
from phiscan.screen.validators.verdicts import Verdict
from phiscan.text.prefilter import Rare

SCORE = 0.8
SOURCE = "checked_column"
MIN_DIFFERENT = 4
MIN_SHARE = 0.9  # of the numbers of a long column: some are mistyped
MAX_CELLS = 20_000  # of one column
MAX_LINE_CHARS = 8000
_CELL = Rare(
    re.compile(
        r"(?:^|(?<=[\t|;,\"])) ?(?P<number>\d{9,10}|\d{4} \d{3} \d{3}|\d{3} \d{3} \d{3})"
        r"(?= ?(?:[\t|;,\"\r\n]|\Z))",
        re.MULTILINE,
    ),
    r"\p{Nd}{9}|\p{Nd}{3} \p{Nd}{3} \p{Nd}{3}",
)
_QUOTED = re.compile(r"\"[^\"\n]{0,200}\"")
_KINDS: tuple[tuple[int, str, Callable[[str], Verdict], EntityType], ...] = (
    (10, "npi", npi, EntityType.LICENSE),
    (10, "bc_phn", bc_phn, EntityType.HEALTH_CARD),
    (10, "luhn", luhn, EntityType.HEALTH_CARD),
    (9, "sin", sin, EntityType.SIN),
)


@dataclass(slots=True)
class _Column:
    """The numbers of one place in the rows, and how many pass each check."""

    cells: list[tuple[int, int]] = field(default_factory=list)
    different: set[str] = field(default_factory=set)
    passed: list[int] = field(default_factory=lambda: [0] * len(_KINDS))


class CheckedColumnRecognizer:
    """Find columns of National Provider Identifiers, health numbers and social insurance numbers."""

    name: ClassVar = "identifiers.checked_columns"
    cost: ClassVar = Cost.CHEAP
    case_variants: ClassVar = CaseVariant.AS_WRITTEN

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings; spans are half-open, in code points."""
        for (_, _, length), column in _columns(document.text).items():
            if len(column.different) < MIN_DIFFERENT:
                continue
            for number, (n_digits, check, _, entity_type) in enumerate(_KINDS):
                if n_digits == length and column.passed[number] >= MIN_SHARE * len(column.cells):
                    reasons = (Reason("check", check, SCORE),)
                    for start, end in column.cells:
                        yield Finding(
                            Span(start, end), entity_type, SOURCE, SCORE, bits_of(entity_type), reasons
                        )
                    break


def _columns(text: str) -> dict[tuple[str, int, int], _Column]:
    """Return the columns by delimiter, place in the row and count of digits."""
    columns: dict[tuple[str, int, int], _Column] = defaultdict(_Column)
    first = _CELL.search(text)
    position = len(text) if first is None else text.rfind("\n", 0, first.start() + 1) + 1
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        if end - position <= MAX_LINE_CHARS:
            _read_row(text, position, end, columns)
        position = end + 1
    return columns


def _read_row(text: str, row_start: int, row_end: int, columns: dict[tuple[str, int, int], _Column]) -> None:
    row, delimiter, place, done = "", "", 0, 0
    for match in _CELL.pattern.finditer(text, row_start, row_end):
        start, end = match.span("number")
        if not row:
            row = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), text[row_start:row_end])
            delimiter = max("\t|;,", key=row.count)
            if delimiter not in row:
                return
        place += row.count(delimiter, done, start - row_start)
        done = start - row_start
        digits = match["number"].replace(" ", "")
        column = columns[delimiter, place, len(digits)]
        if len(column.cells) < MAX_CELLS:
            column.cells.append((start, end))
            column.different.add(digits)
            for number, (n_digits, _, check, _) in enumerate(_KINDS):
                # Where half have failed, the rest need no look.
                if n_digits == len(digits) and 2 * column.passed[number] + 10 >= len(column.cells):
                    column.passed[number] += _may_be(number, digits) and check(digits) is Verdict.CONFIRM


def _may_be(number: int, digits: str) -> bool:
    """Tell whether a number of this kind may begin so."""
    return len(set(digits)) > 1 and (_KINDS[number][1] != "luhn" or digits[0] != "0")
