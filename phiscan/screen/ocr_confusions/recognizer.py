"""Identifiers and names with OCR errors: findings of the other recognizers in corrected lines of a text.

One automaton asks whether a text has such places at all; most have none, and cost no more than that. Lines
that have some are corrected (``words``, ``numbers``), with the original offset of each character, and the
rules and the recognizers of names read these lines alone, each with the line before it and the head of its
table. What they find is a finding where it covers a corrected character, or is after a corrected label.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from typing import ClassVar, Final

from phiscan.model import Document, EntityType, Finding, Reason, Span
from phiscan.screen.ocr_confusions.batch import Batch, batches
from phiscan.screen.ocr_confusions.candidates import Places
from phiscan.screen.ocr_confusions.line import Line
from phiscan.screen.ocr_confusions.numbers import as_digits, narrowed, run_together, without_loose_spaces
from phiscan.screen.ocr_confusions.words import Vocabulary
from phiscan.screen.recognizer import CaseVariant, Cost
from phiscan.screen.recognizers.person.recognizer import NameSource
from phiscan.screen.rules.recognizer import PatternRecognizer

MIN_SCORE = 0.5  # a form that says little by itself says nothing when letters had to be digits for it
SCORE_FACTOR = 0.95  # what is read into a text is a little less sure than what is in it
_READINGS = ("characters", "spaces", "spaces")


class OcrRecognizer:
    """Find the identifiers of the rules where a scanner misread them; built once per process."""

    name: ClassVar = "ocr_confusions"
    cost: ClassVar = Cost.EXPENSIVE
    case_variants: ClassVar = CaseVariant.AS_WRITTEN

    def __init__(self, patterns: PatternRecognizer) -> None:
        self._patterns = patterns
        # The text last asked about, by its length and hash, and its places.
        self._asked: tuple[tuple[int, int], Sequence[int]] = ((0, 0), ())

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words that a scanner may have misread."""
        return Vocabulary(self._patterns.contexts)

    def places_of(self, text: str) -> Sequence[int]:
        """Return where a text seems to be misread, in code points; names are looked for in the same ones."""
        key = (len(text), hash(text))
        if self._asked[0] != key:
            self._asked = (key, self._places.of(text))
        return self._asked[1]

    @cached_property
    def _places(self) -> Places:
        return Places(self.vocabulary.ocr_labels(), self.vocabulary.ocr_short_labels())

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
        line = self.vocabulary.read(line, bars=bars)
        digits = as_digits(line, bars=bars)
        return digits, without_loose_spaces(digits), run_together(digits)

    def _found(self, batch: Batch) -> Iterator[Finding]:
        document = Document(batch.text(), (), "")
        for finding in self._patterns.recognize(document):
            span = batch.origin(finding)
            score = finding.score * SCORE_FACTOR
            if span is not None and score >= MIN_SCORE:
                reason = Reason("misread", batch.reading, score)
                yield replace(finding, span=span, score=score, reasons=(*finding.reasons, reason))


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
    reaches = {}  # how far those reach that begin there or before
    for source, spans in wholes.items():
        spans.sort()
        starts[source] = [span.start for span in spans]
        reaches[source] = list(accumulate((span.end for span in spans), max))

    def lies_in(key: str, span: Span) -> bool:
        if key not in wholes:
            return False
        last = bisect_right(starts[key], span.start) - 1
        return last >= 0 and reaches[key][last] >= span.end

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
                    score = finding.score * SCORE_FACTOR
                    reason = Reason("misread", batch.reading, score)
                    yield replace(finding, span=span, score=score, reasons=(*finding.reasons, reason))

    def _read(self, line: Line, *, bars: bool) -> tuple[Line, ...]:
        return (narrowed(self._misread.vocabulary.read(line, bars=bars)),)
