"""A normalized document: escapes decoded, spoken numbers as digits, SQL, listings.

Recognizers see such a text; what they find is put back to where it is in the document. Most documents
hold nothing of the kind and are read as they are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from phiscan.formats.ruled_tables import ruled_tables
from phiscan.formats.sql_rows import holds_rows, sql_rows
from phiscan.model import Document, Finding, Span
from phiscan.normalize.spoken_numbers import HINT as SPOKEN
from phiscan.normalize.spoken_numbers import spoken_numbers
from phiscan.text.automata import automaton, matches
from phiscan.text.escapes import Edit, escapes
from phiscan.text.passages import Joined, Piece

# What every edit holds.
_HINT = (
    r"&(?:#[0-9xX]|[A-Za-z]{2})|\\u[0-9A-Fa-f]{2}|\\[\"nrt]|%[0-9A-Fa-f]{2}|[?&]\w+=[^\s&]*\+"
    r"|(?i:(?:insert|ignore|replace|abort|fail|rollback)\s+into\s|from stdin)"
    r"|(?:-{2,}|={2,}) {1,3}[-=]{2}"
)
_SOME = automaton(_HINT)
_SOME_SPOKEN = automaton(SPOKEN)


@dataclass(frozen=True, slots=True)
class NormalizedText:
    """A normalized document, and the map of its offsets to the original."""

    document: Document
    joined: Joined

    def to_document(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Yield findings in text order at their offsets in the original document, without overlaps."""
        done = 0
        for finding in findings:
            for span in self.joined.places(finding.span):
                start = max(done, span.start)  # two may be in the text of one edit
                if start < span.end:
                    yield replace(finding, span=Span(start, span.end))
                    done = span.end


def normalized(document: Document) -> NormalizedText | None:
    """Return a normalized document; None where nothing changes."""
    text = document.text
    raw = text.encode("utf-8", "surrogatepass")
    edits: list[Edit] = []
    if matches(_SOME_SPOKEN, raw):
        edits = [*spoken_numbers(text)]
    if matches(_SOME, raw):
        edits += [*(sql_rows(text) if holds_rows(text) else ()), *ruled_tables(text), *escapes(text)]
    if not edits:
        return None
    joined = Joined.of([list(_pieces(text, edits))])
    starts = [piece.start for piece in joined.pieces]
    segments = tuple(
        replace(segment, start=_there(joined, starts, segment.start), end=_there(joined, starts, segment.end))
        for segment in document.segments
    )
    return NormalizedText(replace(document, text=joined.text, segments=segments), joined)


def _pieces(text: str, edits: Iterable[Edit]) -> Iterator[Piece]:
    done = 0
    for start, end, meant in sorted(edits, key=lambda edit: edit[:2]):
        if start < done:
            continue  # within another, as an entity in a query
        if start > done:
            yield Piece(done, start, text[done:start])
        yield Piece(start, end, meant)
        done = end
    if done < len(text):
        yield Piece(done, len(text), text[done:])


def _there(joined: Joined, starts: list[int], place: int) -> int:
    """Return where a place of the document is in the normalized text."""
    number = bisect_right(starts, place) - 1
    if number < 0:
        return 0
    piece = joined.pieces[number]
    return joined.piece_starts[number] + min(place - piece.start, len(piece.text))
