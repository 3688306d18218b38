"""Places that the tagger took for people, or along with them: "Kuujjuaq", "stéphane à repentigny".

A place of the lists that nobody is called after is a place wherever the tagger saw a name in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from phiscan.lexicon.gazetteer import Gazetteer, Word
from phiscan.model import EntityType, Finding, Span
from phiscan.screen.filters.place_or_person import as_location

_PEOPLE = frozenset((EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL))
# Between somebody and where they are.
_BETWEEN = re.compile(
    r"(?P<at>(?:^|[ ])(?:à|in|from|near)[ ])|(?:^|[ ])(?:de|of)[ ]|(?:^|[ ])d['’]|,[ ]|[ ][–—-][ ]|[ ]\(",  # noqa: RUF001 (texts are written with it)
    re.IGNORECASE,
)
# Before somebody, whatever else is called so.
_SOMEBODY = re.compile(
    r"\b(?:bed|rm|room|lit|ch|chambre|pt|patiente?|mrs?|ms|miss|drs?|dre|mme|mlle|m)\b"
    r"\.?[ ]?#?\d{0,4}[A-Z]?[ ]$",
    re.IGNORECASE,
)
_REACH = 20
_MIN_CHARS = 4


def without_places(text: str, tagged: Iterable[Finding], gazetteer: Gazetteer) -> list[Finding]:
    """Return what the tagger found, with places for the names that are places, or that end in one."""
    return [part for finding in tagged for part in _parts(text, finding, gazetteer)]


def _parts(text: str, finding: Finding, gazetteer: Gazetteer) -> Iterator[Finding]:
    if finding.entity_type not in _PEOPLE:
        yield finding
        return
    start, end = finding.span.start, finding.span.end
    if _is_only_place(text[start:end], gazetteer) and not _SOMEBODY.search(
        text, max(0, start - _REACH), start
    ):
        yield as_location(finding, EntityType.LOCATION)
        return
    name = text[start:end]
    for between in _BETWEEN.finditer(name):
        place = name[between.end() :]
        is_place = gazetteer.is_place(place) if between["at"] else _is_only_place(place, gazetteer)
        if not is_place:
            continue
        somebody = name[: between.start()].rstrip()
        if somebody:
            yield replace(finding, span=Span(start, start + len(somebody)))
        yield replace(as_location(finding, EntityType.LOCATION), span=Span(start + between.end(), end))
        return
    yield finding


def _is_only_place(name: str, gazetteer: Gazetteer) -> bool:
    """Tell whether a name is a place of the lists and nobody's: no first or last name, no word."""
    if len(name) < _MIN_CHARS or not gazetteer.is_place(name):
        return False
    flags = [gazetteer.of(word) for word in name.split()]
    if len(flags) == 1:
        return not flags[0] & (Word.FIRST | Word.LAST | Word.ORDINARY) or (
            "-" in name and not flags[0] & Word.FIRST
        )
    return not (flags[0] & Word.FIRST and flags[-1] & Word.LAST)
