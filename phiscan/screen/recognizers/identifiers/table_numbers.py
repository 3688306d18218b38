"""Numbers in the columns of tables, without a label: findings by check digits, or beside the names of people.

``checked_column_findings``: one random number in ten passes a check digit, so a bare number needs a label
(docs/decisions/0014). Of four different numbers in one column all pass in one of ten thousand: then the
column needs none. ``row_codes``: where four rows or more of a table name a person each, a column whose cells
are all of one form (seven digits; a letter, a hyphen and five digits) and differ numbers those people.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from phiscan.model import Document, EntityType, Finding, Reason, Span, bits_of
from phiscan.screen.table_columns import delimiter_of, split_at, split_spaced, strip_cell
from phiscan.screen.validators.check_digits import bc_phn, luhn, npi, sin
from phiscan.screen.validators.dates import is_day
from phiscan.screen.validators.verdicts import Verdict, digits_of
from phiscan.text.automata import Rare
from phiscan.text.intervals import is_taken

CHECKED_SCORE = 0.8
CHECKED_SOURCE = "checked_column"
MIN_CHECKED = 4
MIN_PASSED = 0.9  # of the numbers of a long column: some are mistyped
MAX_CELLS = 20_000  # of one column
MAX_ROW_CHARS = 8000
_NUMBER = Rare(
    re.compile(r"\d{9,10}|\d{4} \d{3} \d{3}|\d{3} \d{3} \d{3}"), r"\p{Nd}{9}|\p{Nd}{3} \p{Nd}{3} \p{Nd}{3}"
)
_QUOTED = re.compile(r"\"[^\"\n]{0,200}\"")
_CHECKS: tuple[tuple[int, str, Callable[[str], Verdict], EntityType], ...] = (
    (10, "npi", npi, EntityType.LICENSE),
    (10, "bc_phn", bc_phn, EntityType.HEALTH_CARD),
    (10, "luhn", luhn, EntityType.HEALTH_CARD),
    (9, "sin", sin, EntityType.SIN),
)


@dataclass(slots=True)
class _NumberColumn:
    """The numbers of one place in the rows, and how many pass each check."""

    cells: list[tuple[int, int]] = field(default_factory=list)
    different: set[str] = field(default_factory=set)
    passed: list[int] = field(default_factory=lambda: [0] * len(_CHECKS))


def checked_column_findings(document: Document) -> Iterator[Finding]:
    """Yield columns of National Provider Identifiers, health numbers and social insurance numbers."""
    for (_, _, length), column in _number_columns(document.text).items():
        if len(column.different) < MIN_CHECKED:
            continue
        for number, (n_digits, check, _, entity_type) in enumerate(_CHECKS):
            if n_digits == length and column.passed[number] >= MIN_PASSED * len(column.cells):
                reasons = (Reason("check", check, CHECKED_SCORE),)
                for start, end in column.cells:
                    yield Finding(
                        Span(start, end),
                        entity_type,
                        CHECKED_SOURCE,
                        CHECKED_SCORE,
                        bits_of(entity_type),
                        reasons,
                    )
                break


def _number_columns(text: str) -> dict[tuple[str, int, int], _NumberColumn]:
    """Return the columns by delimiter, place in the row and count of digits."""
    columns: dict[tuple[str, int, int], _NumberColumn] = defaultdict(_NumberColumn)
    position = 0 if _NUMBER.search(text) else len(text)
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        if end - position <= MAX_ROW_CHARS and _NUMBER.pattern.search(text, position, end):
            cells, delimiter = _cells(text, position, end, least=1)
            for place, (low, high) in enumerate(cells if delimiter != _SPACES else ()):
                if _NUMBER.pattern.fullmatch(text, low, high):
                    digits = text[low:high].replace(" ", "")
                    _count(columns[delimiter, place, len(digits)], (low, high), digits)
        position = end + 1
    return columns


def _count(column: _NumberColumn, cell: _Cell, digits: str) -> None:
    """Add a number to its column, and to the counts of the checks that it passes."""
    if len(column.cells) < MAX_CELLS:
        column.cells.append(cell)
        column.different.add(digits)
        for number, (n_digits, _, check, _) in enumerate(_CHECKS):
            # Where half have failed, the rest need no look.
            if n_digits == len(digits) and 2 * column.passed[number] + 10 >= len(column.cells):
                column.passed[number] += _may_be(number, digits) and check(digits) is Verdict.CONFIRM


def _may_be(number: int, digits: str) -> bool:
    """Tell whether a number of this kind may begin so."""
    return len(set(digits)) > 1 and (_CHECKS[number][1] != "luhn" or digits[0] != "0")


SCORE = 0.4
SOURCE = "row_codes"
MIN_ROWS, MIN_DIFFERENT = 4, 3
MIN_SHARE = 0.9  # of the filled cells of a column that have one form
MIN_SAME = 3  # one in so many has it as it is, where others were misread
MAX_LINE_CHARS = 4000
_MIN_DELIMITERS = 2
_SPACES = "  "
# A cell as its digits are written 9 and its capitals A.
_FORM = re.compile(
    r"9{6,12}|9{3}[ -]?9{3}(?:[ -]?9{3,4})?|A{1,4}[- ]?9{5,10}|9{2,6}-9{4,7}|A{1,3}-99-9{3,6}|99-99-99"
)
_SHAPES = str.maketrans("0123456789", "9" * 10) | dict.fromkeys(range(ord("A"), ord("Z") + 1), "A")
_MISREAD = {"9": "OQDolI|SZBGbgq", "A": "0158"}
_PHONE = re.compile(r"[2-9]\d{2}[2-9]\d{6}")
# Columns of goods, of places and of sums.
_OF_THINGS = re.compile(
    r"\b(?:din|ndc|upc|sku|lot|cpt|hcpcs|icd|code|amount|amt|total|balance|price|cost|fee|charge|salary|votes?|population"
    r"|montant|solde|prix|salaire|zip|postal|year|ann[ée]e|version|size|count|qty|qt[ée]|distance|km|score)\b",
    re.IGNORECASE,
)
_CARD_DIGITS, _DAY_DIGITS = 9, 8
_Cell = tuple[int, int]


def row_codes(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the cells of such columns; ``findings`` in text order, without overlaps."""
    rows: dict[tuple[str, int], list[list[_Cell]]] = defaultdict(list)
    done = -1
    for finding in findings:
        start = finding.span.start
        if finding.entity_type is not EntityType.PERSON or start <= done:
            continue
        before = text.rfind("\n", max(0, start - MAX_LINE_CHARS), start)
        behind = text.find("\n", start, start + MAX_LINE_CHARS)
        if (before < 0 and start > MAX_LINE_CHARS) or (behind < 0 and len(text) > start + MAX_LINE_CHARS):
            done = start + MAX_LINE_CHARS if behind < 0 else behind  # a line too long for a row
            continue
        done = len(text) if behind < 0 else behind
        cells, delimiter = _cells(text, before + 1, done)
        if len(cells) > 2:  # noqa: PLR2004 (a name and two more)
            rows[delimiter, len(cells)].append(cells)
    taken = [(finding.span.start, finding.span.end) for finding in findings]
    for (delimiter, n_cells), table in rows.items():
        if len(table) >= MIN_ROWS:
            heads = _heads(text, table[0][0][0], delimiter, n_cells)
            for number, column in enumerate(zip(*table, strict=True)):
                if not _OF_THINGS.search(heads[number] if heads else ""):
                    yield from _column(text, column, taken)


def _column(text: str, cells: Sequence[_Cell], taken: Sequence[tuple[int, int]]) -> Iterator[Finding]:
    filled = [cell for cell in cells if cell[0] < cell[1]]
    values = [text[low:high] for low, high in filled]
    if len(set(values)) < MIN_DIFFERENT or len(filled) < MIN_ROWS:
        return
    form, n_same = Counter(value.translate(_SHAPES) for value in values).most_common(1)[0]
    if MIN_SAME * n_same < len(filled) or not _FORM.fullmatch(form):
        return
    n_alike = n_same if n_same == len(filled) else sum(_is_of(form, value) for value in values)
    if n_alike < MIN_SHARE * len(filled):
        return
    if all(value.endswith("000") for value in values) or _are_days(values):
        return
    for (low, high), value in zip(filled, values, strict=True):
        if is_taken(low, high, taken):
            continue  # another finding has it
        kind = _kind(value, form)
        yield Finding(
            Span(low, high), kind, SOURCE, SCORE, bits_of(kind), (Reason("column", "beside people", SCORE),)
        )


def _is_of(form: str, value: str) -> bool:
    """Tell whether a cell has a form, with figures that a scanner took for letters or letters for figures."""
    return len(value) == len(form) and all(
        sign == shape or char in _MISREAD.get(shape, "")
        for char, sign, shape in zip(value, value.translate(_SHAPES), form, strict=True)
    )


def _are_days(values: Sequence[str]) -> bool:
    return all(len(value) == _DAY_DIGITS and value.isdecimal() and is_day(value) for value in values)


def _kind(value: str, form: str) -> EntityType:
    if any(c.isalpha() for c in value) and "A" in form:
        return EntityType.OTHER_ID
    if _PHONE.fullmatch(value):
        return EntityType.PHONE
    return EntityType.HEALTH_CARD if len(digits_of(value)) == _CARD_DIGITS else EntityType.MRN


def _cells(text: str, start: int, end: int, least: int = _MIN_DELIMITERS) -> tuple[list[_Cell], str]:
    """Cut a line at its most frequent delimiter, leaving quoted cells whole; without spaces around cells.

    A line with fewer than ``least`` of them is set with spaces.
    """
    line = _QUOTED.sub("", text[start:end])
    delimiter = delimiter_of(line)
    if line.count(delimiter) < least:
        return split_spaced(text, start, end), _SPACES
    return [strip_cell(text, *cell) for cell in split_at(delimiter, text, start, end)], delimiter


def _heads(text: str, first: int, delimiter: str, n_cells: int) -> list[str]:
    """Return the heads in the line above the first row, if it has as many cells and none holds a number."""
    line_start = text.rfind("\n", max(0, first - MAX_LINE_CHARS), first) + 1
    if line_start == 0:
        return []
    low = max(0, line_start - MAX_LINE_CHARS)
    above = text.rfind("\n", low, line_start - 1) + 1
    if above == 0 and low > 0:
        return []  # a line too long for heads
    cells, cut = _cells(text, above, line_start - 1)
    heads = [text[low:high] for low, high in cells]
    is_head = (
        cut == delimiter and len(heads) == n_cells and not any(re.search(r"\d{3}", head) for head in heads)
    )
    return heads if is_head else []
