"""Cities, states, provinces and countries by the gazetteer, where the words around speak of a place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from phiscan.model import EntityType, Finding, Reason, Span
from phiscan.screen.gazetteer import Gazetteer, Word, fold
from phiscan.screen.name_tokens import Token
from phiscan.screen.patterns import bits_of

SCORE = 0.5
MAX_WORDS = 3
_BEFORE = re.compile(
    r"(?<!\w)(?:in|from|near|to|at|of|via|visiting|toward|towards|around|across|outside|leaving"
    r"|reaching|moved to|à"
    r"|de|du|au|aux|en|vers|depuis|chez|and|or|et|the|,)[ ]$",
    re.IGNORECASE,
)


def find_places(text: str, tokens: Sequence[Token], gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield places of one to three capitalised words behind a preposition, alone on a line or after another.

    A place that is also an ordinary word ("Reading", "Of") or a first name needs a preposition.
    """
    index = 0
    while index < len(tokens):
        length = _place_length(text, tokens, index, gazetteer)
        if not length:
            index += 1
            continue
        first, last = tokens[index], tokens[index + length - 1]
        index += length
        if _stands_as_place(text, first, last):
            reason = Reason("gazetteer", "place", SCORE)
            kind = EntityType.LOCATION
            yield Finding(Span(first.start, last.end), kind, "places", SCORE, bits_of(kind), (reason,))


def _place_length(text: str, tokens: Sequence[Token], index: int, gazetteer: Gazetteer) -> int:
    for length in range(min(MAX_WORDS, len(tokens) - index), 0, -1):
        last = tokens[index + length - 1]
        name = text[tokens[index].start : last.end]
        if len(name) > 40 or "\n" in name:  # noqa: PLR2004 (no place of the list is longer)
            continue
        if fold(name) in gazetteer.places:
            return length
    return 0


def _stands_as_place(text: str, first: Token, last: Token) -> bool:
    after = text[last.end : last.end + 1]
    if after in ("-", "@", "_") or (after == " " and text[last.end + 1 : last.end + 2].isupper()):
        following = text[last.end + 1 : last.end + 6]
        if not (after == " " and following[:2].isupper()):  # "Boston MA"
            return False
    before = text[max(0, first.start - 12) : first.start]
    if _BEFORE.search(before):
        return not first.flags & Word.ORDINARY or first is not last
    line_start = not before or before[-1] in "\n>"
    line_end = after in ("\n", "\r", "", ",") or text[last.end : last.end + 2] in (", ", " (")
    return line_start and line_end and not first.flags & (Word.FIRST | Word.ORDINARY)
