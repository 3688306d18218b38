"""Names that a scanner misread: "Mu11ins, Darre1", "0kafor", "Ga gnon Y.", "Rarnirez".

The lines of a scanned text are read as they were meant, and the recognizers of names go over them. What they
find is a finding where it covers something misread, or is after a label that was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Final

from phiscan.model import Document, EntityType, Finding, Reason
from phiscan.screen.ocr_confusions.batch import batches
from phiscan.screen.ocr_confusions.line import Line
from phiscan.screen.ocr_confusions.numbers import narrowed
from phiscan.screen.ocr_confusions.recognizer import SCORE_FACTOR, OcrRecognizer
from phiscan.screen.recognizer import CaseVariant, Cost
from phiscan.screen.recognizers.person.recognizer import NameSource

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
