"""Rules alone (Guillen 1): the position of a line in the record, lexical cues, and regular expressions.

Source: Uzuner, Luo & Szolovits (2007), "Submissions": headers hold identifiers, hospitals and dates; footers
hold doctors, identifiers and dates; the body is read by cues and format patterns. No list of names is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from papers.i2b2.corpus import AGE, DATE, DOCTOR, HOSPITAL, ID, LOCATION, PATIENT, PHONE
from papers.i2b2.features import shape, templates
from papers.i2b2.tokens import OUTSIDE, TokenizedRecord, from_types
from phiscan.metrics.deidentification.spans import LabelledSpan

_HEAD, _FOOT = 4, 6
_MEASURES = frozenset({"rated", "was", "pressure", "reflexes", "were"})
_DOCTOR_LABELS = frozenset({"By", "Attending", "ATTENDING", "CC"})
_HOSPITAL_HEADS = frozenset({"Hospital", "Center", "Home", "Clinic"})
_NAME = re.compile(r"[A-Z][A-Za-z'-]+|[A-Z]\.|[A-Z]")


@dataclass
class RuleRecognizer:
    """Rules without training."""

    name: str = "Guillen 1"

    def fit(self, records: Sequence[TokenizedRecord]) -> RuleRecognizer:
        """Return itself: rules are written, not trained."""
        del records
        return self

    def predict(self, records: Sequence[TokenizedRecord]) -> Iterator[tuple[LabelledSpan, ...]]:
        """Yield the spans of each record."""
        for record in records:
            types = _regular(record)
            _names(record, types)
            yield from_types(record, types)


def regular_spans(record: TokenizedRecord) -> tuple[LabelledSpan, ...]:
    """Return the dates, identifiers, phones and ages found by regular expressions and positions."""
    return from_types(record, _regular(record))


def _regular(record: TokenizedRecord) -> list[str]:
    n_lines = record.lines[-1] + 1 if record.lines else 0
    types = [OUTSIDE] * len(record.words)
    for position, word in enumerate(record.words):
        line = record.lines[position]
        in_head, in_foot = line < _HEAD, n_lines - line <= _FOOT
        before = record.words[position - 1] if position else ""
        after = record.words[position + 1] if position + 1 < len(record.words) else ""
        fits = templates(word)
        if "date" in fits and before not in _MEASURES:
            types[position] = DATE
        elif "month" in fits and re.fullmatch(r"\d{1,2}", after):
            types[position] = types[position + 1] = DATE
        elif "phone" in fits or (before == "x" and word.isdecimal()) or before in {"number", "call"}:
            types[position] = PHONE if any(map(str.isdigit, word)) else OUTSIDE
        elif "unit" in fits or (in_foot and _is_code(word)):
            types[position] = ID
        elif in_head and re.fullmatch(r"[A-Z]{2,3}", word):
            types[position] = HOSPITAL
        elif "age" in fits and after in {"year", "-year-old"}:
            types[position] = AGE
    return types


def _is_code(word: str) -> bool:
    return len(word) > 2 and any(map(str.isdigit, word)) and word.replace("-", "").isalnum()  # noqa: PLR2004


def _names(record: TokenizedRecord, types: list[str]) -> None:
    words = record.words
    for position, word in enumerate(words):
        if word in {"Mr.", "Ms.", "Mrs."}:
            _run(record, types, position + 1, PATIENT)
        elif word in {"Dr.", "DRS."} or (word == ":" and position and words[position - 1] in _DOCTOR_LABELS):
            _run(record, types, position + 1, DOCTOR)
        elif word == ":" and position and words[position - 1] == "NAME":
            _run(record, types, position + 1, PATIENT, with_comma=True)
        elif word in _HOSPITAL_HEADS:
            _back(record, types, position)
        elif word == "in" and "lives" in words[max(0, position - 2) : position]:
            _run(record, types, position + 1, LOCATION)


def _run(
    record: TokenizedRecord, types: list[str], position: int, kind: str, *, with_comma: bool = False
) -> None:
    """Mark capitalised words from a position on, to the end of the line at most."""
    line = record.lines[position] if position < len(record.words) else -1
    while position < len(record.words) and record.lines[position] == line:
        word = record.words[position]
        if not (_NAME.fullmatch(word) or (with_comma and word == ",")) or word == "M.D.":
            return
        if types[position] == OUTSIDE:
            types[position] = kind
        position += 1


def _back(record: TokenizedRecord, types: list[str], position: int) -> None:
    """Mark a head noun of a hospital and the capitalised words before it."""
    first = position
    while first and record.lines[first - 1] == record.lines[position]:
        before = record.words[first - 1]
        if not (shape(before) == "Aa" or before in {"of", "and"}) or types[first - 1] == DOCTOR:
            break
        first -= 1
    if first < position:
        for index in range(first, position + 1):
            types[index] = HOSPITAL
