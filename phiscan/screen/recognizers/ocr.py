"""Identifiers and names with OCR errors: findings of the other recognizers in corrected lines of a text.

One automaton finds signs of OCR errors; most texts have none, and cost no more than that. Lines with some are
corrected (``normalize/ocr_words.py``, ``ocr_numbers.py``), with the original offset of each character. The
rules and the recognizers of names read these lines alone, each with the head of its table. What they find is
a finding where it covers a corrected character, or is after a corrected label.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import ClassVar, Final, Protocol

from phiscan.model import Document, EntityType, Finding, Reason, Span
from phiscan.normalize.ocr_line import Line
from phiscan.normalize.ocr_numbers import as_digits, narrowed, run_together
from phiscan.normalize.ocr_places import LABEL_CHARS, OcrErrorPlaces, heads_of, lines_with
from phiscan.normalize.ocr_words import Vocabulary
from phiscan.screen.recognizer import CaseVariant, Cost
from phiscan.screen.recognizers.person.recognizer import NameSource
from phiscan.screen.rules.recognizer import PatternRecognizer
from phiscan.screen.rules.scanner import WITHOUT_DIGITS

BATCH_CHARS = 1 << 16  # of lines that are looked at in one go
MAX_CONTEXT = 8  # times a text, of lines that are repeated ahead of others; beyond, lines get no context
UNIT_CHARS = 10  # between an age and its misread unit, or a town and its postal code
# A misread unit or postal code after these belongs to them: 97 ons, 9l-year-o1d, Peguis MB ROC 3J0.
_WITH_WHAT_FOLLOWS = frozenset((EntityType.AGE_OVER_89, EntityType.LOCATION))
_TABLE = re.compile(r"\|[^|\n]*\|")
MIN_SCORE = 0.5  # a weak form does not count when letters had to be read as digits for it
SCORE_FACTOR = 0.95  # a corrected text is less certain than one as written
_READINGS = ("characters", "spaces")


class OcrRecognizer:
    """Find the identifiers of the rules where a scanner misread them; built once per process."""

    name: ClassVar = "ocr_confusions"
    cost: ClassVar = Cost.EXPENSIVE
    case_variants: ClassVar = CaseVariant.AS_WRITTEN

    def __init__(self, patterns: PatternRecognizer) -> None:
        self._patterns = patterns
        # The last text, by its length and hash, and its places.
        self._last: tuple[tuple[int, int], Sequence[int]] = ((0, 0), ())

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words that a scanner may have misread."""
        contexts = self._patterns.contexts.values()
        return Vocabulary([((*words.labels, *words.headers), words.near) for words in contexts])

    def places_of(self, text: str) -> Sequence[int]:
        """Return where a text seems to be misread, in code points; names are looked for in the same ones."""
        key = (len(text), hash(text))
        if self._last[0] != key:
            self._last = (key, self._places.of(text))
        return self._last[1]

    @cached_property
    def _places(self) -> OcrErrorPlaces:
        return OcrErrorPlaces(self.vocabulary.label_variants())

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings (they may overlap each other and those of the rules); spans are half-open."""
        text = document.text
        places = self.places_of(text)
        if not places:
            return
        seen: set[tuple[str, str, int, int]] = set()
        for batch in batches(text, places, self._read, _READINGS):
            for finding in self._found(batch):
                key = (finding.source, finding.entity_type.value, finding.span.start, finding.span.end)
                if key not in seen:
                    seen.add(key)
                    yield finding

    def _read(self, line: Line, *, bars: bool) -> tuple[Line, ...]:
        """Return the readings of a line: digits for letters; and without the spaces in numbers."""
        digits = as_digits(self.vocabulary.corrected(line, bars=bars), bars=bars)
        return digits, run_together(digits)

    def _found(self, batch: Batch) -> Iterator[Finding]:
        document = Document(batch.text(), (), "")
        for finding in self._patterns.recognize(document):
            span = batch.origin(finding)
            if span is not None and finding.score * SCORE_FACTOR >= MIN_SCORE:
                yield _corrected(finding, span, batch.reading)


def _corrected(finding: Finding, span: Span, reading: str) -> Finding:
    """Return a finding of a corrected line at its original span, with less confidence and rank."""
    score = finding.score * SCORE_FACTOR
    priority = None if finding.priority is None else round(finding.priority * SCORE_FACTOR)
    reasons = (*finding.reasons, Reason("misread", reading, score))
    return replace(finding, span=span, score=score, reasons=reasons, priority=priority)


def without_parts(findings: Iterable[Finding]) -> list[Finding]:
    """Leave out what is only the part of a misread value, and addresses that are misread days.

    "Dec 9" of "Dec 9 2O2O" is surer than the whole to the same rule, but the whole is what is there. A
    number before a word with a capital looks like an address: "14 Novembcr 2023".
    """
    found = list(findings)
    wholes: dict[str, list[Span]] = {}
    for finding in found:
        if _is_misread(finding):
            wholes.setdefault(finding.source, []).append(finding.span)
            if finding.entity_type in _DAYS:
                wholes.setdefault(_OF_DAYS, []).append(finding.span)
    if not wholes:
        return found
    starts = {}
    last_ends = {}  # how far those reach that begin there or before
    for source, spans in wholes.items():
        spans.sort()
        starts[source] = [span.start for span in spans]
        last_ends[source] = list(accumulate((span.end for span in spans), max))

    def lies_in(key: str, span: Span) -> bool:
        if key not in wholes:
            return False
        last = bisect_right(starts[key], span.start) - 1
        return last >= 0 and last_ends[key][last] >= span.end

    def is_part(finding: Finding) -> bool:
        if _is_misread(finding):
            return False
        is_address = finding.entity_type is EntityType.STREET_ADDRESS
        return lies_in(finding.source, finding.span) or (is_address and lies_in(_OF_DAYS, finding.span))

    return [finding for finding in found if not is_part(finding)]


_DAYS = frozenset({EntityType.DATE, EntityType.DATE_OF_BIRTH})
_OF_DAYS = "days"


def _is_misread(finding: Finding) -> bool:
    return any(reason.kind == "misread" for reason in finding.reasons)


_NAMES: Final = frozenset({EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL})


class OcrNameRecognizer:
    """Find names in scanned text; built once per process."""

    name: ClassVar = "ocr_confusions.names"
    cost: ClassVar = Cost.EXPENSIVE
    case_variants: ClassVar = CaseVariant.AS_WRITTEN

    def __init__(self, names: NameSource, misread: OcrRecognizer) -> None:
        self._names = names
        self._misread = misread

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings of people (they may overlap those of the text as it is); spans are half-open."""
        places = self._misread.places_of(document.text)
        for batch in batches(document.text, places, self._read, ("names",)) if places else ():
            for finding in self._names.recognize(Document(batch.text(), (), "")):
                span = batch.origin(finding) if finding.entity_type in _NAMES else None
                if span is not None:
                    yield _corrected(finding, span, batch.reading)

    def _read(self, line: Line, *, bars: bool) -> tuple[Line, ...]:
        return (narrowed(self._misread.vocabulary.corrected(line, bars=bars)),)


class Read(Protocol):
    """How lines are read: once for every reading; with ``bars``, | may be a letter."""

    def __call__(self, line: Line, *, bars: bool) -> tuple[Line, ...]:
        """Return the readings of a line, each of which continues where the one before it ended."""
        ...


def batches(text: str, places: Sequence[int], read: Read, readings: Sequence[str]) -> Iterator[Batch]:
    """Yield the lines that a correction changes, and those below a misread label, in each of their readings.

    Each stretch of them has the first lines of its block ahead of it, as long as these are not far more than
    the text itself.
    """
    room = MAX_CONTEXT * len(text) * len(readings)
    bars = _TABLE.search(text) is None  # between cells, a bar is no letter
    open_ = [Batch(reading) for reading in readings]
    heads: tuple[tuple[int, int], ...] = ()
    heads_read: list[tuple[Line, ...]] = []
    labelled = -1  # where the line below a misread label begins
    for block, start, end in lines_with(text, places):
        lines = read(Line.of(text, start, end), bars=bars)
        for index, batch in enumerate(open_):
            line = lines[index]
            is_read = line.is_changed or labelled == start
            if not is_read or (index and line.text == lines[index - 1].text):
                continue
            if not batch.goes_on(start):
                begun = batch.n_chars
                found_heads = heads_of(text, block, start) if room > 0 else ()
                if found_heads != heads:
                    heads = found_heads
                    heads_read = [read(Line.of(text, *head), bars=bars) for head in heads]
                batch.begin([head[index] for head in heads_read])
                room -= batch.n_chars - begun
            batch.add(line)
        labelled = end + 1 if 1 in lines[0].changed[-LABEL_CHARS:] else -1
        for index, batch in enumerate(open_):
            if batch.n_chars > BATCH_CHARS:
                yield batch
                open_[index] = Batch(batch.reading)
    yield from (batch for batch in open_ if batch.n_chars)


@dataclass(slots=True, repr=False)
class Batch:
    """Lines in one reading, as the rules look at them, with the way back into the document."""

    reading: str
    n_chars: int = 0
    _lines: list[Line] = field(default_factory=list)
    _begins: list[int] = field(default_factory=list)
    _is_context: list[bool] = field(default_factory=list)
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

    def add(self, line: Line, *, is_context: bool = False) -> None:
        """Add a line; in one of context alone nothing is found."""
        if not line.text:
            return
        self._lines.append(line)
        self._begins.append(self.n_chars)
        self._is_context.append(is_context)
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
            end -= 1  # a stop after a space ends the sentence
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
        number = self._context[self._at(start)[0]]
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
