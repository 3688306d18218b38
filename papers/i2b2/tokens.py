"""Tokenize records, and convert spans to BIO labels and back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from phiscan.metrics.deidentification.spans import AnnotatedText, LabelledSpan

# A date is split from its year and an age from "-year-old", like the gold spans.
_TOKEN = re.compile(r"\d{1,2}/\d{1,2}(?=/\d)|(?<=\d)/\d{2,4}\b|\d+(?=-year)|[^\s/]+(?:/[^\s/]+)*|\S")
OUTSIDE = "O"


@dataclass(frozen=True, slots=True)
class TokenizedRecord:
    """A record as tokens: their words, extents, line numbers, and the lines' headings."""

    name: str
    words: tuple[str, ...] = field(repr=False)
    extents: tuple[tuple[int, int], ...] = field(repr=False)
    lines: tuple[int, ...] = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)  # BIO
    text: str = field(default="", repr=False)


def tokenize(record: AnnotatedText) -> TokenizedRecord:
    """Cut a record into tokens and label each by the span that covers its first character.

    >>> tokenize(AnnotatedText("1", "on 10/29/1997", (LabelledSpan(3, 8, "DATE"),))).words
    ('on', '10/29', '/1997')
    >>> tokenize(AnnotatedText("1", "on 10/29/1997", (LabelledSpan(3, 8, "DATE"),))).labels
    ('O', 'B-DATE', 'O')
    """
    text = record.text or ""
    words, extents, lines = [], [], []
    for match in _TOKEN.finditer(text):
        words.append(match.group())
        extents.append(match.span())
    number, newlines = 0, [position for position, character in enumerate(text) if character == "\n"]
    for start, _ in extents:
        while number < len(newlines) and newlines[number] < start:
            number += 1
        lines.append(number)
    return TokenizedRecord(
        record.name, tuple(words), tuple(extents), tuple(lines), _labels(extents, record.spans), text
    )


def _labels(extents: Sequence[tuple[int, int]], spans: Sequence[LabelledSpan]) -> tuple[str, ...]:
    labels = [OUTSIDE] * len(extents)
    ordered = sorted(spans)
    position = 0
    for span in ordered:
        first = True
        while position < len(extents) and extents[position][0] < span.end:
            if extents[position][1] > span.start:
                labels[position] = f"{'B' if first else 'I'}-{span.type}"
                first = False
            position += 1
    return tuple(labels)


def spans_of(record: TokenizedRecord, labels: Sequence[str]) -> tuple[LabelledSpan, ...]:
    """Join BIO labels into spans; an inside label after another type begins a new span.

    >>> made = TokenizedRecord("1", ("A", "B"), ((0, 1), (2, 3)), (0, 0), ("O", "O"))
    >>> spans_of(made, ["B-DOCTOR", "I-DOCTOR"])
    (LabelledSpan(start=0, end=3, type='DOCTOR'),)
    """
    spans: list[LabelledSpan] = []
    previous = OUTSIDE
    for (start, end), label in zip(record.extents, labels, strict=True):
        kind = label[2:]
        if label == OUTSIDE:
            pass
        elif label[0] == "I" and previous != OUTSIDE and previous[2:] == kind:
            spans[-1] = LabelledSpan(spans[-1].start, end, kind)
        else:
            spans.append(LabelledSpan(start, end, kind))
        previous = label
    return tuple(spans)


def from_types(record: TokenizedRecord, types: Sequence[str]) -> tuple[LabelledSpan, ...]:
    """Join runs of one type (no BIO) into spans; a line end ends a run.

    >>> made = TokenizedRecord("1", ("A", "B"), ((0, 1), (2, 3)), (0, 0), ("O", "O"))
    >>> from_types(made, ["DATE", "O"])
    (LabelledSpan(start=0, end=1, type='DATE'),)
    """
    labels: list[str] = []
    for position, kind in enumerate(types):
        if kind == OUTSIDE:
            labels.append(OUTSIDE)
            continue
        goes_on = (
            position > 0
            and types[position - 1] == kind
            and record.lines[position] == record.lines[position - 1]
        )
        labels.append(f"{'I' if goes_on else 'B'}-{kind}")
    return spans_of(record, labels)
