"""Identifiers that a scanner misread: letters for digits, digits for letters, spaces inside numbers.

One automaton asks whether a text has such places at all; most have none, and cost no more than that. Lines
that have some are read as they were meant (``misread_words``, ``misread_numbers``), every character knowing
where it stands in the document, and the same recognizers go over these lines alone, each with the line
before it and the head of its table. What they find there is a finding where it covers something misread,
or stands behind a label that was.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain

from phiscan.model import Document, Finding, Reason, Span
from phiscan.screen.misread_line import Line
from phiscan.screen.misread_numbers import as_digits, run_together, without_loose_spaces
from phiscan.screen.misread_places import heads_of, line_before, lines_with, places_of
from phiscan.screen.misread_words import Vocabulary
from phiscan.screen.organizations import OrganizationRecognizer
from phiscan.screen.patterns import PatternRecognizer
from phiscan.screen.scanner import WITHOUT_DIGITS

MIN_SCORE = 0.5  # a form that says little by itself says nothing when letters had to be digits for it
SCORE_FACTOR = 0.95  # what is read into a text is a little less sure than what stands in it
BATCH_CHARS = 1 << 16  # of lines that are looked at in one go
LABEL_CHARS = 80  # how far before a value its misread label may begin
_READINGS = ("characters", "spaces", "spaces")

_TABLE = re.compile(r"\|[^|\n]*\|")


class MisreadRecognizer:
    """Find the identifiers of the rules where a scanner misread them; built once per process."""

    def __init__(self, patterns: PatternRecognizer, organizations: OrganizationRecognizer) -> None:
        self._patterns = patterns
        self._organizations = organizations

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self._patterns.contexts)

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings (they may overlap each other and those of the rules); spans are half-open."""
        text = document.text
        places = places_of(text)
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
        for block, start, end in lines_with(text, places):
            readings = self._read(text, start, end, bars=bars)
            previous = line_before(text, start, block)
            for index, batch in enumerate(batches):
                line = readings[index]
                if not line.is_changed or (index and line.text == readings[index - 1].text):
                    continue
                if not batch.goes_on(start):
                    found_heads = heads_of(text, block, previous)
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
        document = Document(batch.text(), (), "")
        for finding in chain(self._patterns.recognize(document), self._organizations.recognize(document)):
            span = batch.origin(finding)
            score = finding.score * SCORE_FACTOR
            if span is not None and score >= MIN_SCORE:
                reason = Reason("misread", batch.reading, score)
                yield replace(finding, span=span, score=score, reasons=(*finding.reasons, reason))


def without_parts(findings: Iterable[Finding]) -> list[Finding]:
    """Leave out what is only the part of a misread value that the same rule could read as it stands.

    "Dec 9" of "Dec 9 2O2O" is surer than the whole, but the whole is what stands there.
    """
    found = list(findings)
    wholes: dict[str, list[Span]] = {}
    for finding in found:
        if _is_misread(finding):
            wholes.setdefault(finding.source, []).append(finding.span)
    if not wholes:
        return found
    starts = {}
    reaches = {}  # how far those reach that begin there or before
    for source, spans in wholes.items():
        spans.sort()
        starts[source] = [span.start for span in spans]
        reaches[source] = list(accumulate((span.end for span in spans), max))

    def is_part(finding: Finding) -> bool:
        if finding.source not in wholes or _is_misread(finding):
            return False
        last = bisect_right(starts[finding.source], finding.span.start) - 1
        return last >= 0 and reaches[finding.source][last] >= finding.span.end

    return [finding for finding in found if not is_part(finding)]


def _is_misread(finding: Finding) -> bool:
    return any(reason.kind == "misread" for reason in finding.reasons)


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
        """Tell whether a misread word stands before a finding that its label made, or heads its column.

        Values without digits are left out: behind a label that is only guessed they are any words.
        """
        start = finding.span.start
        if finding.entity_type in WITHOUT_DIGITS:
            return False
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
