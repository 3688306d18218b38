"""Names in the names of files: "Tremblay_Marie_results.pdf", "Okoro_C_facesheet.docx", "JohnSmith-labs".

What the crawled file, its members and its folders are called are segments of their own (``OWN_NAMES``):
blanks may part the name, its ending may be any, and a surname alone counts beside the kind of a document
("consult Okafor 2023-02-11.docx"). File names within a text are left to the tagger.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar

from phiscan.config import data_dir
from phiscan.lexicon.capitalized_words import FULL_NAME, LAST_ONLY, has_civil_title, name_finding
from phiscan.lexicon.gazetteer import Gazetteer, Word, fold, terms
from phiscan.model import OWN_NAMES, Document, Finding, PiiBit
from phiscan.screen.filters.eponyms import load_eponyms
from phiscan.screen.recognizer import CaseVariant, Cost

REASON = "the name of a file"
SOURCE = "names.file"
_SCORE = 0.6
_MIN_UNKNOWN = 4  # letters of a word that no list has and that may be a surname
_MIN_SMALL = 3  # letters of each where nothing is written with a capital
_BLOCK = Word.NOT_PERSON | Word.MONTH_OR_DAY | Word.CREDENTIAL
_PART = re.compile(
    r"[^\W\d_A-Z][^\W\d_]+|[A-Z](?![^\W_])|[A-Z]{2,}(?![^\W\d_])|[A-Z]'?[^\W\d_A-Z][^\W\d_A-Z]*"
)


_ENDING = re.compile(r"\.[A-Za-z0-9]{1,5}\Z")
_GAP = re.compile(r"[ _+,.-]{0,3}")  # between the parts of a name


@lru_cache(maxsize=1)
def load_file_words() -> frozenset[str]:
    """Return what files about one patient are called besides the patient's name, folded.

    Raises:
        DictionaryError: the list cannot be read.
    """
    return terms(data_dir("dictionaries") / "file_words.txt")


class OwnNameRecognizer:
    """What the crawled file, its members and its folders are called, where these are their own segments."""

    name: ClassVar = "person.file_names"
    cost: ClassVar = Cost.EXPENSIVE
    case_variants: ClassVar = CaseVariant.AS_WRITTEN

    def __init__(self, gazetteer: Gazetteer) -> None:
        self._gazetteer = gazetteer

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield names of people; spans are half-open, in code points."""
        for segment in reversed(document.segments):
            if not segment.locator.endswith(OWN_NAMES):
                return  # they stand last
            name = document.text[segment.start : segment.end]
            ending = _ENDING.search(name)
            stop = segment.start + ending.start() if ending else segment.end
            parts = list(_PART.finditer(document.text, segment.start, stop))
            yield from self._named(document.text, parts)

    def _named(self, text: str, parts: list[re.Match[str]]) -> Iterator[Finding]:
        pair = _pair(text, parts, self._gazetteer)
        if pair is not None:
            yield pair
            return
        for part in parts:
            if has_civil_title(text, part.start()) and self._gazetteer.of(part[0]) & Word.LAST:
                yield _found(part.start(), part.end(), LAST_ONLY)
                return
        others = [part for part in parts if fold(part[0]) not in load_file_words()]
        match others:
            case [only] if self._is_surname(only[0]):
                yield _found(only.start(), only.end(), LAST_ONLY)
            case [first, second] if self._are_unknown(text, first, second):
                yield _found(first.start(), second.end(), FULL_NAME)

    def _are_unknown(self, text: str, first: re.Match[str], second: re.Match[str]) -> bool:
        """Tell whether two neighbours are a surname and a word that no list has, written alike."""
        flags = [self._gazetteer.of(part[0]) for part in (first, second)]
        return (
            _GAP.fullmatch(text, first.end(), second.start()) is not None
            and _style(first[0]) == _style(second[0])
            and 0 in flags
            and any(self._is_surname(part[0]) for part in (first, second))
        )

    def _is_surname(self, word: str) -> bool:
        """Tell whether a word is foremost a surname: neither a thing, nor a town, nor a disease."""
        return (
            len(word) >= _MIN_UNKNOWN
            and self._gazetteer.of(word) & (Word.LAST | Word.ORDINARY) == Word.LAST
            and not self._gazetteer.is_place(word)
            and load_eponyms().get(fold(word)) != "thing"
        )


def _found(start: int, end: int, bits: frozenset[PiiBit]) -> Finding:
    reason = ("label", REASON)
    return name_finding(start, end, health=False, bits=bits, source=SOURCE, score=_SCORE, reason=reason)


def _pair(text: str, parts: list[re.Match[str]], gazetteer: Gazetteer) -> Finding | None:
    """Return two neighbours that are a first and a last name; without a gap the second has a capital."""
    for first, second in pairwise(parts):
        low, high = first.end(), second.start()
        is_beside = _GAP.fullmatch(text, low, high) is not None and (low < high or second[0][0].isupper())
        if is_beside and _are_a_name(first[0], second[0], gazetteer):
            return _found(first.start(), second.end(), FULL_NAME)
    return None


def _are_a_name(first: str, second: str, gazetteer: Gazetteer) -> bool:
    """Tell whether two parts are a given name and a surname, in any order, or a surname and an initial."""
    if len(second) == 1:
        return second.isupper() and gazetteer.of(first) & (Word.LAST | Word.ORDINARY) == Word.LAST
    style = _style(first)
    if style != _style(second) or gazetteer.is_place(f"{first} {second}".lower()):
        return False
    flags = gazetteer.of(first), gazetteer.of(second)
    if any(one & _BLOCK for one in flags) or (not style and min(len(first), len(second)) < _MIN_SMALL):
        return False
    return any(
        given & (Word.FIRST | Word.ORDINARY) == Word.FIRST
        and (other & Word.LAST or (style and not other and len(word) >= _MIN_UNKNOWN))
        for given, other, word in ((*flags, second), (*flags[::-1], first))
    )


def _style(word: str) -> int:
    return 0 if word.islower() else 1 if word.isupper() else 2
