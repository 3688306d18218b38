"""Things that are called after somebody, or as people are: "Braden Scale", "Penrose Drain", "Bair Hugger".

The tagger, and whoever goes by the form of a name or by its sentence alone, take them for people where a
heading or a list has nothing else; so they do with words for somebody that begin a sentence ("Elle veut",
"Maman a appelé"). What a label, a title or a column says is somebody stays somebody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from phiscan.lexicon.gazetteer import Gazetteer, Word, fold
from phiscan.model import EntityType, Finding
from phiscan.screen.filters.eponyms import load_eponyms
from phiscan.screen.ner.tagger import SOURCE
from phiscan.screen.recognizers.identifiers.device_and_insurer_numbers import load_code_words

_SOURCES: Final = frozenset({SOURCE, "names.form", "names.context", "names.said"})
_SOMEBODY: Final = frozenset(
    ("maman", "papa", "bebe", "baby", "elle", "doctor", "docteur", "mom", "mum", "dad", "epouse", "epoux")
)
_WORD = re.compile(r"[^\W\d_]+")
_NEXT_WORD = re.compile(r"[ -]([^\W\d_]+)")
# "Échelle de Braden": French says first what it is.
_CALLED_AFTER = re.compile(
    r"(?:[ée]chelles?|[ée]preuves?|signes?|tests?|scores?|grilles?|paralysies?|luxations?|indices?|sondes?"
    r"|attelles?|maladies?|syndromes?|fractures?|man(?:œ|oe)uvres?|r[ée]flexes?|triades?|crit[eè]res)"
    r"[ ](?:de|du|d['\N{RIGHT SINGLE QUOTATION MARK}])",
    re.IGNORECASE,
)
_MIN_WORDS = 2


def without_things(text: str, findings: Iterable[Finding], gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield ``findings`` without the people that are things by their last word, or goods by their name."""
    for finding in findings:
        is_guess = finding.source in _SOURCES and finding.entity_type is EntityType.PERSON
        if not (is_guess and _is_thing(text, finding.span.start, finding.span.end, gazetteer)):
            yield finding


def _is_thing(text: str, start: int, end: int, gazetteer: Gazetteer) -> bool:
    if _CALLED_AFTER.match(text, start, end):
        return True
    words = [fold(word) for word in _WORD.findall(text, start, end)]
    behind = _NEXT_WORD.match(text, end)
    ahead = [*words, fold(behind[1])] if behind else words
    if " ".join(words) in _goods() or " ".join(ahead) in _goods():
        return True
    if len(words) == 1 and words[0] in _SOMEBODY:
        return True
    if len(words) < _MIN_WORDS or "," in text[start:end] or not gazetteer.of(words[-1]) & Word.EPONYM:
        return False
    # "Walter Block" and "Hackman Gene" are people, "Penrose Drain" and "Allen Test" are not.
    if not gazetteer.of(words[-1]) & (Word.FIRST | Word.LAST):
        return True
    kinds = load_eponyms()
    return any(
        kinds.get(word) == "thing" or (word in kinds and not gazetteer.of(word) & Word.FIRST)
        for word in words[:-1]
    )


@lru_cache(maxsize=1)
def _goods() -> frozenset[str]:
    """Return the names of goods of two words or more.

    Raises:
        DictionaryError: the list cannot be read.
    """
    names = (" ".join(map(fold, _WORD.findall(word))) for word, kind in load_code_words() if kind == "device")
    return frozenset(name for name in names if " " in name)
