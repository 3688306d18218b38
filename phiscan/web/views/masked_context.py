"""Masked context: shapes of findings in text order; the database contains no text.

One line per location of the document (line, page, cell). It contains the shapes of the findings, the health
concepts, and between them the length of the masked text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from phiscan.health.topics import label_of
from phiscan.model import StoredFinding, StoredTerm
from phiscan.web.views.plain_words import SHORT, colour, locator_words

MIN_GAP = 3  # code points: a shorter gap is a space or a comma


@dataclass(frozen=True, slots=True)
class Piece:
    """One element of a line: a finding's shape, a health concept, or a gap of masked text."""

    start: int
    kind: str  # a colour of plain_words, "term" or "gap"
    label: str
    shape: str = ""
    position: int | None = None  # of the finding among the file's findings


@dataclass(frozen=True, slots=True)
class MaskedLine:
    """The elements of one location, in text order."""

    where: str
    pieces: tuple[Piece, ...]


def count_places(findings: Sequence[StoredFinding], terms: Sequence[StoredTerm]) -> int:
    """Count the locations of a file with a finding or a health concept."""
    return len({found.locator for found in findings} | {term.locator for term in terms})


def masked_lines(
    findings: Sequence[StoredFinding],
    terms: Sequence[StoredTerm],
    *,
    most: int | None = None,
    most_findings: int | None = None,
) -> tuple[MaskedLine, ...]:
    """Return the lines of a file in text order: the first ``most`` of them, of its first ``most_findings``.

    Only the first occurrence of a health concept is stored, so it is shown once.
    """
    findings = findings[:most_findings]  # stored in text order
    placed = sorted(
        [(one.span.start, one.locator) for one in findings]
        + [(term.first.start, term.locator) for term in terms]
    )
    shown = frozenset(islice(dict.fromkeys(locator for _, locator in placed), most))
    marks: list[tuple[int, int, str, Piece]] = [
        (
            found.span.start,
            found.span.end,
            found.locator,
            Piece(
                found.span.start, colour(found.entity_type), SHORT[found.entity_type], found.preview, index
            ),
        )
        for index, found in enumerate(findings)
        if found.locator in shown
    ]
    marks += [
        (
            term.first.start,
            term.first.end,
            term.locator,
            Piece(term.first.start, "term", label_of(term.concept)),
        )
        for term in terms
        if term.locator in shown
    ]
    marks.sort(key=lambda mark: (mark[0], mark[1]))
    places: dict[str, list[tuple[int, int, Piece]]] = {}
    for start, end, locator, piece in marks:
        places.setdefault(locator, []).append((start, end, piece))
    return tuple(MaskedLine(locator_words(place), tuple(_spaced(found))) for place, found in places.items())


def _spaced(found: Sequence[tuple[int, int, Piece]]) -> Iterator[Piece]:
    reached: int | None = None
    for start, end, piece in found:
        if reached is not None and start - reached >= MIN_GAP:
            yield Piece(reached, "gap", f"{start - reached:,}".replace(",", "\N{NARROW NO-BREAK SPACE}"))
        reached = max(end, reached or 0)
        yield piece
