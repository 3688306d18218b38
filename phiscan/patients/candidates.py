"""Findings of a document to the values of match keys, and which values belong together.

Values belong together if they are in one row of a table, or within a few lines of each other.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from phiscan.model import OWN_NAMES, Document, EntityType, Finding, Span
from phiscan.patients import normalise
from phiscan.patients.names import tokens_of

PASSAGE_CHARS: Final = 500  # largest distance between a name and its birth date outside a row
MAX_PARTNERS: Final = 6  # nearest values of one kind that a name is paired with
MAX_VALUES: Final = 20_000  # of one document
_NEAR_CHARS: Final = 60  # between a given and a family name that were found separately
_LATEST: Final = "20991231"
_CELL: Final = re.compile(r" \| |\t|[;,](?=\S)|\|")
_MIN_CELLS: Final = 2
_POSTAL: Final = re.compile(r"\b[A-Za-z]\d[A-Za-z][ -]?\d[A-Za-z]\d\b|\b\d{5}(?:-\d{4})?\b")
_PART_OF: Final = {
    EntityType.DATE_OF_BIRTH: "birth",
    EntityType.DATE: "birth",
    EntityType.PHONE: "phone",
    EntityType.FAX: "phone",
    EntityType.EMAIL: "email",
    EntityType.STREET_ADDRESS: "street",
    EntityType.POSTAL_CODE: "postal",
    EntityType.ACCOUNT: "account",
}
_NUMBERS: Final = frozenset(
    {
        EntityType.MRN,
        EntityType.HEALTH_CARD,
        EntityType.HEALTH_PLAN,
        EntityType.OTHER_ID,
        EntityType.ACCOUNT,
    }
)


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a document in its normal forms, with its span."""

    span: Span
    forms: tuple[str, ...] = field(repr=False)
    cards: tuple[str, ...] = field(default=(), repr=False)  # of a number: as a health card


@dataclass(frozen=True, slots=True)
class Candidates:
    """The values of a document by kind, each list in text order."""

    names: Sequence[Value]  # forms: the words of the name
    numbers: Sequence[Value]
    parts: Mapping[str, Sequence[Value]]
    rows: Sequence[tuple[int, int]] = ()  # lines of tables

    def partners(self, value: Value, part: str) -> Iterator[Value]:
        """Yield the values of a kind that belong to a value, the nearest first.

        In a row of a table that has one of this kind, only those of the row.
        """
        values = self.numbers if part == "number" else self.parts.get(part, ())
        if not values:
            return
        starts = [one.span.start for one in values] if len(values) < MAX_PARTNERS else None
        row = self._row(value.span.start)
        if row is not None and (inside := list(_between(values, starts, *row))):
            yield from inside[:MAX_PARTNERS]
            return
        low, high = value.span.start - PASSAGE_CHARS, value.span.end + PASSAGE_CHARS
        near = sorted(
            _between(values, starts, low, high),
            key=lambda one: max(one.span.start - value.span.end, value.span.start - one.span.end),
        )
        yield from near[:MAX_PARTNERS]

    def _row(self, at: int) -> tuple[int, int] | None:
        place = bisect_right(self.rows, (at, len(self.rows) + (1 << 60))) - 1
        if place < 0 or not self.rows[place][0] <= at < self.rows[place][1]:
            return None
        return self.rows[place]


def _between(values: Sequence[Value], starts: list[int] | None, low: int, high: int) -> Sequence[Value]:
    if starts is None:
        first = bisect_left(values, low, key=_start)
        return values[first : bisect_left(values, high, first, key=_start)]
    return [value for value, start in zip(values, starts, strict=True) if low <= start < high]


def _start(value: Value) -> int:
    return value.span.start


def candidates_of(document: Document, findings: Sequence[Finding]) -> Candidates:
    """Return the values of match keys in the findings of a document."""
    text = document.text
    names: list[Value] = []
    numbers: list[Value] = []
    parts: dict[str, list[Value]] = defaultdict(list)
    for finding in sorted(findings, key=lambda one: (one.span.start, -one.span.end))[:MAX_VALUES]:
        span, kind = finding.span, finding.entity_type
        written = span.of(text)
        if kind is EntityType.PERSON:
            if tokens := tokens_of(written):
                names.append(Value(span, tuple(tokens)))
        elif (part := _PART_OF.get(kind)) and (forms := _forms(part, written)):
            parts[part].append(Value(span, forms))
        if kind is EntityType.STREET_ADDRESS:
            parts["postal"] += _postal_codes(span, written)
        if kind in _NUMBERS and (value := _number(span, written)) is not None:
            numbers.append(value)
    for values in parts.values():
        values.sort(key=_start)
    spans = [value.span for value in (*names, *(one for some in parts.values() for one in some))]
    return Candidates(tuple(_joined(names, document)), numbers, parts, _rows(text, spans))


def _forms(part: str, written: str) -> tuple[str, ...]:
    if part == "birth":
        return tuple(day for day in normalise.date_forms(written) if day <= _LATEST)
    form = {
        "phone": normalise.phone_form,
        "email": normalise.email_form,
        "street": normalise.street_form,
        "postal": normalise.postal_form,
        "account": normalise.number_form,
    }[part](written)
    return (form,) if form else ()


def _postal_codes(span: Span, written: str) -> list[Value]:
    return [
        Value(Span(span.start + match.start(), span.start + match.end()), (form,))
        for match in _POSTAL.finditer(written)
        if (form := normalise.postal_form(match[0]))
    ]


def _number(span: Span, written: str) -> Value | None:
    form, card = normalise.number_form(written), normalise.card_form(written)
    cards = dict.fromkeys(filter(None, (card, form[:10] if 10 < len(form) <= 12 else "")))  # noqa: PLR2004 (a version code with OCR errors)
    return Value(span, (form,), tuple(cards)) if form else None


def _joined(names: Sequence[Value], document: Document) -> Iterator[Value]:
    """Yield the names, and a joined name for each given and family name that were found separately."""
    for before, after in zip([None, *names], names, strict=False):
        yield after
        if before is None or len(before.forms) > 1 or len(after.forms) > 1:
            continue
        gap = after.span.start - before.span.end
        if 0 <= gap <= _NEAR_CHARS and not document.locate(after.span.start).endswith(OWN_NAMES):
            yield Value(Span(before.span.start, after.span.end), (*before.forms, *after.forms))


def _rows(text: str, spans: Sequence[Span]) -> Sequence[tuple[int, int]]:
    """Return the lines with values that are rows of a table."""
    rows: dict[tuple[int, int], None] = {}
    end = -1
    for span in sorted(spans):
        if span.start < end:
            continue
        start = text.rfind("\n", 0, span.start) + 1
        end = text.find("\n", span.start)
        end = len(text) if end < 0 else end
        if sum(1 for _ in _CELL.finditer(text, start, end)) >= _MIN_CELLS:
            rows[start, end] = None
    return sorted(rows)
