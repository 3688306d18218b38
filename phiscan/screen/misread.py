"""Identifiers that a scanner misread: letters for digits, digits for letters, spaces inside numbers.

One automaton asks whether a text has such places at all; most have none, and cost no more than that. Lines
that have some are read as they were meant (``misread_words``, ``misread_numbers``), every character knowing
where it stands in the document, and the same recognizers go over these lines alone, each with the line
before it and the head of its table. What they find there is a finding where it covers something misread,
or stands behind a label that was.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, chain

from phiscan.model import Document, Finding, Reason, Span
from phiscan.screen.misread_batch import Batch, batches
from phiscan.screen.misread_line import Line
from phiscan.screen.misread_numbers import as_digits, run_together, without_loose_spaces
from phiscan.screen.misread_places import Places
from phiscan.screen.misread_words import Vocabulary
from phiscan.screen.organizations import OrganizationRecognizer
from phiscan.screen.patterns import PatternRecognizer

MIN_SCORE = 0.5  # a form that says little by itself says nothing when letters had to be digits for it
SCORE_FACTOR = 0.95  # what is read into a text is a little less sure than what stands in it
_READINGS = ("characters", "spaces", "spaces")


class MisreadRecognizer:
    """Find the identifiers of the rules where a scanner misread them; built once per process."""

    def __init__(self, patterns: PatternRecognizer, organizations: OrganizationRecognizer) -> None:
        self._patterns = patterns
        self._organizations = organizations

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words that a scanner may have misread."""
        return Vocabulary(self._patterns.contexts)

    @cached_property
    def places(self) -> Places:
        """What tells where a text seems to be misread."""
        return Places(self.vocabulary.misread_labels(), self.vocabulary.misread_short())

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings (they may overlap each other and those of the rules); spans are half-open."""
        text = document.text
        places = self.places.of(text)
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
