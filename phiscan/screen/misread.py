"""Identifiers that a scanner misread: letters for digits, digits for letters, spaces inside numbers.

One automaton asks whether a text has such places at all; most have none, and cost no more than that. Lines
that have some are read as they were meant (``misread_words``, ``misread_numbers``), every character knowing
where it stands in the document, and the same rules go over these lines alone, each with the line before it
and the head of its table. What they find there is a finding where it covers something misread, or stands
behind a label that was.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import re2

from phiscan.model import Document, Finding, Reason, Span
from phiscan.screen.misread_line import Line
from phiscan.screen.misread_numbers import as_digits, run_together, without_loose_spaces
from phiscan.screen.misread_words import Vocabulary
from phiscan.screen.offsets import code_points
from phiscan.screen.patterns import MIN_SCORE, PatternRecognizer

SCORE_FACTOR = 0.95  # what is read into a text is a little less sure than what stands in it
BATCH_CHARS = 1 << 16  # of lines that are looked at in one go
MAX_LINE_CHARS = 4000  # longer ones are cut at a space
MIN_PLACES = 3
PLACE_CHARS = 600  # a text with a misread place in so many characters was scanned: all its lines are read
LABEL_CHARS = 80  # how far before a value its misread label may begin
_READINGS = ("characters", "spaces", "spaces")

# Where a scanner misread something, as far as that can be seen without looking closer. Whole tokens only: in
# codes, keys and base64 everything stands beside everything.
_SIGNS = (
    r"\b(?:[0-9]{2,}[OolI]|[0-9][OolI][0-9OolI]|[OlI]{1,2}[0-9]{2}|[OlI][0-9][OolI])[0-9OolI]*\b",
    r"\b[A-Z]{1,4}[0-9]+[Ol][0-9Ol]+\b",
    r"\b[0-9]+[SBZ][0-9]{2,}\b|\b[0-9]{2,}[SBZ][0-9]+\b|\b[0-9]{2}S-[0-9]{4}\b",
    r"\b[0-9OlI]{0,3}[0-9] ?[-/.)] ?(?:[0-9][OlI]|[OlI][0-9OlI])\b[^a-z%]",
    r"\b[0-9OlI]{0,3}[0-9] ?[-/] ?[OlI]\b[^a-z%]",
    r"\b(?:[0-9][OlI]|[OlI]{2})[-/][0-9OlI]",
    r"\b[0-9OlI](?: (?:- )?[0-9OlI]){4,}\b",
    r"\b[ABCEGHJ-NPRSTVXY][0-9OIl][A-Z] ?[OIl][A-Z][0-9]\b|\b[A-Z][0-9][A-Z] ?[0-9OIl][A-Z][OIl]\b",
    r"[0-9] (?:[0-9][OlI]|[OlI][0-9])\b|\b(?:l[0-9]|[0-9][Ol]) [0-9OlI]",
    r"\b[A-Z]{2}(?:[0-9]l|l[0-9])\b|\b[A-Z0-9]{2,15}[0-9][A-Z]?[OIl]{1,3}[0-9]{1,6}\b",
    r"\b[0-9][A-Z][A-Z0-9][0-9]-?[A-Z][A-Z0-9][0-9]-?[A-Z]{2}(?:[0-9][OlI]|[OlI][0-9OlI])\b",
    r"\b[A-Z]?[a-z]{0,8}[g-z][a-z]{0,8}[01]{1,2}[a-z]{1,12}\b",
    r"\b[A-Z]?[a-z]{1,12}[01]{1,2}[a-z]{0,8}[g-z][a-z]{0,8}\b",
    r"\bTe1\b|\b[A-Z]{2,12}[0l][A-Z]{1,12}\b|\bD0B\b|\b0[A-Z]{3,12}\b",
    r"\b[A-Z]?[a-z]{1,6}\|[a-z]{1,6} [0-9OlI]",
)
_PLACES = re2.compile("|".join(_SIGNS).encode())
_TABLE = re.compile(r"\|[^|\n]*\|")


class MisreadRecognizer:
    """Find the identifiers of the rules where a scanner misread them; built once per process."""

    def __init__(self, patterns: PatternRecognizer) -> None:
        self._patterns = patterns

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self._patterns.contexts)

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings (they may overlap each other and those of the rules); spans are half-open."""
        text = document.text
        places = _places(text)
        if not places:
            return
        seen: set[tuple[str, str, int, int]] = set()
        for batch in self._batches(text, places):
            for finding in self._found(batch):
                key = (finding.source, finding.entity_type.value, finding.span.start, finding.span.end)
                if key not in seen:
                    seen.add(key)
                    yield finding

    def _batches(self, text: str, places: Sequence[int]) -> Iterator[_Batch]:
        """Yield the lines that are read otherwise than they stand, in each of their readings."""
        bars = _TABLE.search(text) is None  # between cells, a bar is no letter
        batches = [_Batch(reading) for reading in _READINGS]
        before: tuple[tuple[int, int], tuple[Line, ...]] | None = None
        heads: tuple[tuple[int, int], ...] = ()
        heads_read: list[tuple[Line, ...]] = []
        for block, start, end in _lines(text, places):
            readings = self._read(text, start, end, bars=bars)
            previous = _line_before(text, start, block)
            for index, batch in enumerate(batches):
                line = readings[index]
                if not line.is_changed or (index and line.text == readings[index - 1].text):
                    continue
                if not batch.goes_on(start):
                    found_heads = _heads(text, block, previous)
                    if found_heads != heads:
                        heads = found_heads
                        heads_read = [self._read(text, *head, bars=bars) for head in heads]
                    batch.begin([read[index] for read in heads_read])
                    if previous is not None:
                        if before is None or before[0] != previous:
                            before = (previous, self._read(text, *previous, bars=bars))
                        batch.add(before[1][index], is_context=True)
                batch.add(line, is_context=False)
            before = ((start, end), readings)
            for index, batch in enumerate(batches):
                if batch.n_chars > BATCH_CHARS:
                    yield batch
                    batches[index] = _Batch(batch.reading)
        yield from (batch for batch in batches if batch.n_chars)

    def _read(self, text: str, start: int, end: int, *, bars: bool) -> tuple[Line, ...]:
        """Return the readings of a line: digits for letters; and without the spaces in numbers."""
        line = self._vocabulary.read(Line.of(text, start, end), bars=bars)
        digits = as_digits(line, bars=bars)
        return digits, without_loose_spaces(digits), run_together(digits)

    def _found(self, batch: _Batch) -> Iterator[Finding]:
        for finding in self._patterns.recognize(Document(batch.text(), (), "")):
            span = batch.origin(finding)
            score = finding.score * SCORE_FACTOR
            if span is not None and score >= MIN_SCORE:
                reason = Reason("misread", batch.reading, score)
                yield replace(finding, span=span, score=score, reasons=(*finding.reasons, reason))


@dataclass(slots=True, repr=False)
class _Batch:
    """Lines in one reading, as the rules look at them, with the way back into the document."""

    reading: str
    n_chars: int = 0
    _lines: list[Line] = field(default_factory=list)
    _begins: list[int] = field(default_factory=list)
    _is_context: list[bool] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)

    def goes_on(self, start: int) -> bool:
        """Tell whether a line of the document that begins at ``start`` follows the last one."""
        return bool(self._lines) and self._lines[-1].ends[-1] + 1 >= start

    def begin(self, heads: Sequence[Line]) -> None:
        """Begin another stretch of the document, with the first lines of its block."""
        self._parts.append("\n\n")
        self.n_chars += 2
        for head in heads:
            self.add(head, is_context=True)

    def add(self, line: Line, *, is_context: bool) -> None:
        """Add a line; in one of context alone nothing is found."""
        if not line.text:
            return
        self._lines.append(line)
        self._begins.append(self.n_chars)
        self._is_context.append(is_context)
        self._parts += (line.text, "\n")
        self.n_chars += len(line.text) + 1

    def text(self) -> str:
        """Return the lines as one text."""
        return "".join(self._parts)

    def origin(self, finding: Finding) -> Span | None:
        """Return where a finding stands in the document; None where nothing misread has a part in it."""
        first, start = self._at(finding.span.start)
        last, end = self._at(finding.span.end - 1)
        if first < 0 or self._is_context[first]:
            return None
        tail = self._lines[last]
        if start >= len(self._lines[first].text) or end >= len(tail.text):
            return None
        if end and tail.text[end] in ".," and tail.starts[end] > tail.ends[end - 1]:
            end -= 1  # a stop that stood apart ends the sentence
        span = (self._lines[first].starts[start], tail.ends[end])
        misread = self._touches(finding.span.start, finding.span.end) or self._is_labelled(finding)
        return Span(*span) if misread and span[0] < span[1] else None

    def _is_labelled(self, finding: Finding) -> bool:
        """Tell whether a misread word stands before a finding that its label made, or heads its column."""
        start = finding.span.start
        kinds = {reason.kind for reason in finding.reasons}
        if "label" in kinds and self._touches(max(0, start - LABEL_CHARS), start):
            return True
        if "header" not in kinds:
            return False
        number = self._at(start)[0]
        while number and not self._is_context[number]:
            number -= 1
        while number >= 0 and self._is_context[number]:
            if self._lines[number].is_changed:
                return True
            number -= 1
        return False

    def _at(self, place: int) -> tuple[int, int]:
        number = bisect_right(self._begins, place) - 1
        return number, place - self._begins[number]

    def _touches(self, start: int, end: int) -> bool:
        for number in range(max(0, self._at(start)[0]), self._at(max(start, end - 1))[0] + 1):
            begin = self._begins[number]
            if 1 in self._lines[number].changed[max(0, start - begin) : max(0, end - begin)]:
                return True
        return False


def _places(text: str) -> list[int]:
    """Return where something seems to be misread, in code points."""
    raw = text.encode("utf-8", "surrogatepass")
    found = [match.start() for match in _PLACES.finditer(raw)]
    if not found or len(raw) == len(text):
        return found
    places: list[int] = code_points(raw, np.asarray(found, dtype=np.int64)).tolist()
    return places


def _lines(text: str, places: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield the lines to be read: the start of their block, and their own start and end.

    All lines where the text has many misread places, else those with one.
    """
    block = done = 0
    if len(places) >= MIN_PLACES and len(places) * PLACE_CHARS >= len(text):
        start = 0
        while start < len(text):
            end = _line_end(text, start)
            if start < end:
                yield block, start, end
            else:
                block = end + 1
            start = end + (text[end : end + 1] == "\n")
        return
    for place in places:
        if place < done:
            continue
        start = text.rfind("\n", done, place) + 1 or done
        empty = text.rfind("\n\n", block, start)
        block = block if empty < 0 else empty + 2
        start = max(start, place - MAX_LINE_CHARS // 2)
        end = _line_end(text, start)
        yield block, start, max(end, place + 1)
        done = max(end, place + 1)


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start, start + MAX_LINE_CHARS)
    if end >= 0:
        return end
    end = min(len(text), start + MAX_LINE_CHARS)
    return end if end == len(text) else max(text.rfind(" ", start + MAX_LINE_CHARS // 2, end), end - 100)


def _line_before(text: str, start: int, block: int) -> tuple[int, int] | None:
    """Return the line before one, within its block."""
    if start <= block or text[start - 1] != "\n":
        return None
    low = max(block, start - 1 - MAX_LINE_CHARS)
    begin = text.rfind("\n", low, start - 1) + 1 or low
    return (begin, start - 1) if begin < start - 1 else None


def _heads(text: str, block: int, previous: tuple[int, int] | None) -> tuple[tuple[int, int], ...]:
    """Return the first two lines of a block before the line ``previous``: a title, the head of a table."""
    heads: list[tuple[int, int]] = []
    start = block
    while previous is not None and len(heads) < _N_HEADS and start < previous[0]:
        end = text.find("\n", start, start + MAX_LINE_CHARS)
        if end < 0:
            break
        if end > start:
            heads.append((start, end))
        start = end + 1
    return tuple(heads)


_N_HEADS = 2
