"""Corrected lines of a scanned text, joined for a recognizer, with their original offsets."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from phiscan.model import EntityType, Finding, Span
from phiscan.screen.ocr_confusions.candidates import LABEL_CHARS, heads_of, is_head, line_before, lines_with
from phiscan.screen.ocr_confusions.line import Line
from phiscan.screen.rules.scanner import WITHOUT_DIGITS

BATCH_CHARS = 1 << 16  # of lines that are looked at in one go
MAX_CONTEXT = 8  # times a text, of lines that are repeated ahead of others; beyond, others stand without
UNIT_CHARS = 10  # how far after an age its misread unit may stand, or a postal code after a town
# A misread unit or postal code after these belongs to them: 97 ons, 9l-year-o1d, Peguis MB ROC 3J0.
_WITH_WHAT_FOLLOWS = frozenset((EntityType.AGE_OVER_89, EntityType.LOCATION))
_TABLE = re.compile(r"\|[^|\n]*\|")


class Read(Protocol):
    """How lines are read: once for every reading; with ``bars``, | may be a letter."""

    def __call__(self, line: Line, *, bars: bool) -> tuple[Line, ...]:
        """Return the readings of a line, each of which continues where the one before it ended."""
        ...


def batches(text: str, places: Sequence[int], read: Read, readings: Sequence[str]) -> Iterator[Batch]:
    """Yield the lines that a correction changes, in each of their corrections.

    So are the rows below the head of a table that was misread. Each stretch of them has the line before it
    and the first lines of its block ahead of it, as long as these are not far more than the text itself.
    """
    room = MAX_CONTEXT * len(text) * len(readings)
    bars = _TABLE.search(text) is None  # between cells, a bar is no letter
    open_ = [Batch(reading) for reading in readings]
    before: tuple[tuple[int, int], tuple[Line, ...]] | None = None
    heads: tuple[tuple[int, int], ...] = ()
    heads_read: list[tuple[Line, ...]] = []
    for block, start, end, lines, is_below in _lines_read(text, places, partial(read, bars=bars)):
        previous = line_before(text, start, block)
        for index, batch in enumerate(open_):
            line = lines[index]
            if not (line.is_changed or is_below) or (index and line.text == lines[index - 1].text):
                continue
            if not batch.goes_on(start):
                begun = batch.n_chars
                previous = previous if room > 0 else None  # without it there are no heads either
                found_heads = heads_of(text, block, previous)
                if found_heads != heads:
                    heads = found_heads
                    heads_read = [read(Line.of(text, *head), bars=bars) for head in heads]
                batch.begin([head[index] for head in heads_read])
                if previous is not None:
                    if before is None or before[0] != previous:
                        before = (previous, read(Line.of(text, *previous), bars=bars))
                    batch.add(before[1][index], is_context=True)
                room -= batch.n_chars - begun
            batch.add(line, is_context=False, is_below=is_below)
        before = ((start, end), lines)
        for index, batch in enumerate(open_):
            if batch.n_chars > BATCH_CHARS:
                yield batch
                open_[index] = Batch(batch.reading)
    yield from (batch for batch in open_ if batch.n_chars)


def _lines_read(
    text: str, places: Sequence[int], read: Callable[[Line], tuple[Line, ...]]
) -> Iterator[tuple[int, int, int, tuple[Line, ...], bool]]:
    """Yield the lines to be looked at, read, and whether they are below a misread head or label."""
    headed = -1  # the block whose columns have such a head
    labelled = -1  # where the line below a misread label begins
    for block, start, end in lines_with(text, places):
        lines = read(Line.of(text, start, end))
        if lines[0].is_changed and is_head(text, start, end):
            headed = block
        yield block, start, end, lines, headed == block or labelled == start
        labelled = end + 1 if 1 in lines[0].changed[-LABEL_CHARS:] else -1


@dataclass(slots=True, repr=False)
class Batch:
    """Lines in one reading, as the rules look at them, with the way back into the document."""

    reading: str
    n_chars: int = 0
    _lines: list[Line] = field(default_factory=list)
    _begins: list[int] = field(default_factory=list)
    _is_context: list[bool] = field(default_factory=list)
    _is_below: list[bool] = field(default_factory=list)
    _context: list[int] = field(default_factory=list)  # of each line, the last line up to it that is context
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

    def add(self, line: Line, *, is_context: bool, is_below: bool = False) -> None:
        """Add a line; in one of context alone nothing is found. ``is_below``: below a misread head."""
        if not line.text:
            return
        self._lines.append(line)
        self._begins.append(self.n_chars)
        self._is_context.append(is_context)
        self._is_below.append(is_below)
        last = self._context[-1] if self._context else -1
        self._context.append(len(self._lines) - 1 if is_context else last)
        self._parts += (line.text, "\n")
        self.n_chars += len(line.text) + 1

    def text(self) -> str:
        """Return the lines as one text."""
        return "".join(self._parts)

    def origin(self, finding: Finding) -> Span | None:
        """Return where a finding is in the document; None where nothing misread has a part in it."""
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
        around = UNIT_CHARS if finding.entity_type in _WITH_WHAT_FOLLOWS else 0
        misread = self._touches(finding.span.start, finding.span.end + around) or self._is_labelled(finding)
        return Span(*span) if misread and span[0] < span[1] else None

    def _is_labelled(self, finding: Finding) -> bool:
        """Tell whether a misread word is before a finding that its label made, or heads its column.

        Values without digits are left out: after a label that is only guessed they are any words.
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
        if self._is_below[number]:
            return True
        number = self._context[number]
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
