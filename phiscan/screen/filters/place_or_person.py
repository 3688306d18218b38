"""Places and organizations that are called as people are, told by where they stand.

"Port Denise" below the head "city", "St-Laurent" after "City:", a line between a street and a postal code:
the words say a name, their place says what of.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

import re2

from phiscan.model import EntityType, Finding, Reason, Span
from phiscan.screen.characteristics import bits_of
from phiscan.screen.ner.spans import ADDRESS, Tagged
from phiscan.screen.rules.context import canonical
from phiscan.screen.rules.files import load_rules
from phiscan.screen.table_columns import Tables
from phiscan.text.automata import automaton
from phiscan.text.offsets import spans_of
from phiscan.text.phrase_patterns import any_label

_LOCATION: Final = "LOC"
_OF_CONTEXT = {
    "place": EntityType.LOCATION,
    "province": EntityType.LOCATION,
    "address": EntityType.STREET_ADDRESS,
    "postal": EntityType.STREET_ADDRESS,
    "organization": EntityType.ORGANIZATION,
    "organization_sure": EntityType.ORGANIZATION,
}
# Of the labels of our rules those that head other columns as well.
_NO_HEADS = frozenset({"line", "office", "st", "plan name", "insurance", "domicile"})
_COUNTRIES = (
    "country", "nationality", "citizenship", "region", "county", "pays", "nationalité", "citoyenneté",
)  # fmt: skip
# A label right before a name, or before the quotation marks in which it stands.
_LABEL_BEFORE = re.compile(
    r"([^\W\d_](?:[^\W\d_]|['’ /-](?=[^\W\d_])){0,32})"  # noqa: RUF001 (texts are written with it)
    r"(?:[ ]{0,2}[:=][ ]{0,2}|[\"'][ ]{0,2}[:=][ ]{0,2}\[?[\"'](?P<quoted>[^\"'\n]{0,40}))$"
)
_LABEL_WORDS = 3
_LABEL_REACH = 80
_STREET_REACH = 24
_MIN_ROWS = 2
_CELL_REACH, _CELL_STARTS = 4, "\n\t;|,"
_WORD = re.compile(r"[^\W\d_]{3}")
_MARKS = "\n \t>*•?-\"'.,;"  # around what stands alone in a line: of quotations, lists, the end of a sentence
# Before the name of whom a street is called after.
_STREETS = (
    "rue|avenue|boulevard|boul|chemin|allée|impasse|viale|piazza|calle|avenida|ronda|rambla|rua|jalan|ulica|ul"
    "|strada|bulevardul|corso|travessa"
)
_STREET_BEFORE = re.compile(
    rf"(?<!\w)(?:{_STREETS})\.?[ ](?:(?:de|du|des|de[ ]la|del|della|do|da|dos)[ ])?$", re.IGNORECASE
)


@lru_cache(maxsize=1)
def _heads() -> tuple[dict[str, EntityType], re2._Regexp]:
    """Return what the labels of places and organizations say, and what finds them at the start of a cell."""
    contexts = load_rules().contexts
    phrases = {
        phrase: kind
        for name, kind in _OF_CONTEXT.items()
        for phrase in (*contexts[name].labels, *contexts[name].headers)
        if phrase not in _NO_HEADS
    }
    phrases |= dict.fromkeys(_COUNTRIES, EntityType.LOCATION)
    kinds = {canonical(phrase): kind for phrase, kind in phrases.items()}
    return kinds, automaton(any_label(phrases))


class PlaceFields:
    """Which fields of one text hold places or organizations; read when first asked."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._cells: list[tuple[int, int, EntityType]] | None = None

    def kind(self, span: Span) -> EntityType | None:
        """Return what a name in a text is by its label, its column or the word before it; None for a name."""
        text, start, end = self._text, span.start, span.end
        is_spaced = text[start - 1 : start] == " "
        if is_spaced and _STREET_BEFORE.search(text, max(0, start - _STREET_REACH), start):
            return EntityType.STREET_ADDRESS
        kind = self._labelled(start)
        if kind is not None:
            return kind
        if self._cells is None:
            self._cells = sorted(_columns(text), key=lambda cell: cell[:2])
        index = bisect_right(self._cells, (start, len(text) + 1)) - 1
        if index >= 0 and end <= self._cells[index][1]:
            return self._cells[index][2]
        return None

    def _labelled(self, start: int) -> EntityType | None:
        """Return what the label before a name says; an address may begin with who lives there."""
        line = self._text.rfind("\n", max(0, start - _LABEL_REACH), start) + 1
        before = self._text[max(line, start - _LABEL_REACH) : start]
        found = _LABEL_BEFORE.search(before) if ":" in before or "=" in before else None
        if found is None:
            return None
        kinds, _ = _heads()
        words = found[1].split(" ")
        for n_words in range(min(len(words), _LABEL_WORDS), 0, -1):
            kind = kinds.get(canonical(" ".join(words[-n_words:])))
            if kind is not None:
                is_whole = found["quoted"] is not None
                return kind if is_whole or kind is not EntityType.STREET_ADDRESS else None
        return None


def _columns(text: str) -> Iterator[tuple[int, int, EntityType]]:
    """Yield the cells below heads of places and organizations."""
    kinds, scanner = _heads()
    places = spans_of(scanner, text)
    if not places:
        return
    tables = Tables(text)
    for start, end in places:
        kind = kinds.get(canonical(text[start:end]))
        before = text[max(0, start - _CELL_REACH) : start].rstrip(' "')
        if kind is None or (before and before[-1] not in _CELL_STARTS):
            continue  # "12 Elm Street" is no head of its column
        cells = tables.column(start, end)
        if cells is not None and len(cells) >= _MIN_ROWS:
            yield from ((low, high, kind) for low, high in cells)


def as_location(finding: Finding, kind: EntityType) -> Finding:
    """Return what was found as a name as a place or organization; as sure as it was."""
    reasons = (*finding.reasons, Reason("place", "stands where a place stands", finding.score))
    bits = bits_of(kind) if finding.bits else finding.bits
    return replace(finding, entity_type=kind, bits=bits, reasons=reasons)


def in_block(text: str, tagged: Sequence[Tagged], index: int) -> bool:
    """Tell whether a name fills the line of a city: between a street and a postal code or country.

    ``tagged``: what the tagger found, in text order; ``index``: of the name.
    """
    if not 0 < index < len(tagged) - 1:
        return False
    before, name, after = tagged[index - 1 : index + 2]
    if before.kind != ADDRESS or not (after.kind == _LOCATION or _is_code(text, after)):
        return False
    return all(
        gap.count("\n") == 1 and not gap.strip(_MARKS)
        for gap in (text[before.end : name.start], text[name.end : after.start])
    )


def _is_code(text: str, tagged: Tagged) -> bool:
    """Tell whether an address is a postal code and nothing else."""
    return tagged.kind == ADDRESS and _WORD.search(text, tagged.start, tagged.end) is None
