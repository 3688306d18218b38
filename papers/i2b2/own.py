"""phiscan's own screener as a system: shipped rules and tagger, without training on the corpus."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from papers.i2b2.corpus import DATE
from papers.i2b2.tokens import TokenizedRecord
from phiscan.config import Config, load_config
from phiscan.metrics.deidentification.spans import LabelledSpan
from phiscan.model import Document, Segment
from phiscan.report.spans.files import read_type_map
from phiscan.screen import build_screener, screen

_YEAR = re.compile(r"\A(\d{1,2}/\d{1,2}|[A-Z][a-z]+ \d{1,2})(?:/|,? )\d{2,4}\Z")


@dataclass
class OwnRecognizer:
    """The screener's findings in the eight categories, without years, which are not PHI there."""

    name: str = "phiscan"
    config: Config = field(default_factory=load_config, repr=False)

    def fit(self, records: Sequence[TokenizedRecord]) -> OwnRecognizer:
        """Return itself: the shipped models are not trained."""
        del records
        return self

    def predict(self, records: Sequence[TokenizedRecord]) -> Iterator[tuple[LabelledSpan, ...]]:
        """Yield the spans of each record; of two that overlap, the longer one."""
        screener, types = build_screener(self.config), read_type_map("i2b2-2006")
        for record in records:
            text = record.text
            segments = (Segment("", 0, len(text)),) if text else ()
            found = [
                _without_year(
                    text, LabelledSpan(item.span.start, item.span.end, types[item.entity_type.value])
                )
                for item in screen(Document(text, segments, "text/plain"), screener).findings
                if item.entity_type.value in types
            ]
            yield _apart(found)


def _without_year(text: str, span: LabelledSpan) -> LabelledSpan:
    match = _YEAR.match(text[span.start : span.end]) if span.type == DATE else None
    return span if match is None else LabelledSpan(span.start, span.start + match.end(1), DATE)


def _apart(spans: Sequence[LabelledSpan]) -> tuple[LabelledSpan, ...]:
    chosen: list[LabelledSpan] = []
    for span in sorted(set(spans), key=lambda item: (item.start - item.end, item)):
        if all(span.end <= other.start or other.end <= span.start for other in chosen):
            chosen.append(span)
    return tuple(sorted(chosen))
