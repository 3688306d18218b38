"""The allow list of masked prose: which words of a document may be shown without a reveal.

A word is shown only if a list of ordinary or medical words has it and nothing suggests that it is somebody's
name, a place, a number or part of an address. Everything else is masked: an error must hide a word, never
show a value that no recognizer found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from phiscan.config import data_dir
from phiscan.health.term_lexicon import HEALTH_FILES
from phiscan.lexicon.dictionary import load_dictionary
from phiscan.lexicon.gazetteer import Gazetteer, Word, fold, load_gazetteer, terms
from phiscan.lexicon.identifier_labels import label_words

Piece = tuple[str, bool]
"""A stretch of text, and whether it may be shown."""

# Words that are names or places as well, but that stand in every letter and form; shown in any case.
_COMMON: Final = frozenset(
    "a i y the she he her his him they we you it its an and or of in on at to by for with from is was are"  # noqa: SIM905 (a list of words reads best as a text)
    " were been has had have no not yes none dear re date day days blood card doctor dr mr mrs ms high low"
    " son daughter husband wife father mother le la les un une des du de et ou est née ne il elle son sa"
    " ses au aux par sur dans madame monsieur page pages name names first last given family surname born"
    " phone fax sex male female patient foot chart diagnosis doses dose prénom nom".split()
).union(label_words())
_TITLES: Final = frozenset("mr mrs ms miss dr doctor docteur madame monsieur mme m".split())  # noqa: SIM905
_NAMES: Final = Word.FIRST | Word.LAST
_ABBREVIATIONS: Final = frozenset(
    {"e.g", "i.e", "b.i.d", "t.i.d", "q.i.d", "p.o", "p.r.n", "a.m", "p.m", "d.o.b"}
)
# Number words: a telephone number may be written out. A run of this many of them is masked.
_NUMBER_WORDS: Final = frozenset(
    "zero oh one two three four five six seven eight nine ten double triple"  # noqa: SIM905 (a list of words reads best as a text)
    " un une deux trois quatre cinq sept huit neuf dix".split()
)
_MAX_NUMBER_WORDS: Final = 3
_MIN_MEDICAL_CHARS: Final = 3
_MAX_SHORTENED_CHARS: Final = 4  # "Mrs.", "St.", "J.": the dot does not end a sentence

_CHUNK: Final = re.compile(r"[^\s,;|=<>\"“”«»()\[\]{}:/!?•*…]+")
_TRIMMED: Final = ".'’‘`-–—"  # noqa: RUF001 (quotation marks as people type them)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")  # noqa: RUF001
_INNER: Final = re.compile(r"['’-]")  # noqa: RUF001
_BETWEEN: Final = re.compile(r"[\s.,;|=<>\"“”«»()\[\]{}:/!?•*…'’‘`–—-]*")  # noqa: RUF001


class AllowList:
    """Tells which words may be shown: the gazetteer's ordinary words and the words of the health lexicons."""

    def __init__(self, gazetteer: Gazetteer, medical: frozenset[str]) -> None:
        self._gazetteer = gazetteer
        self._medical = medical

    def pieces(self, text: str) -> Iterator[Piece]:
        """Cut a text into stretches that may be shown and stretches that may not, in order, without a gap."""
        chunks = [match.span() for match in _CHUNK.finditer(text)]
        shown = [self.is_allowed(text[start:end]) for start, end in chunks]
        self._mask_neighbours(text, chunks, shown)
        at = 0
        for (start, end), ok in zip(chunks, shown, strict=True):
            if start > at:
                yield text[at:start], _BETWEEN.fullmatch(text[at:start]) is not None
            yield text[start:end], ok
            at = end
        if at < len(text):
            yield text[at:], _BETWEEN.fullmatch(text[at:]) is not None

    def is_allowed(self, chunk: str) -> bool:
        """Tell whether a chunk between blanks may be shown, looked at by itself."""
        core = chunk.strip(_TRIMMED)
        if not core:
            return True
        if core.lower() in _ABBREVIATIONS:
            return True
        if not _WORD.fullmatch(core):
            return False  # digits, addresses, file names, what is in no script that we know
        return self._is_word(core) or (
            _INNER.search(core) is not None and all(self._is_word(part) for part in _INNER.split(core))
        )

    def is_name(self, word: str) -> bool:
        """Tell whether a word is on a list of names or places."""
        return bool(self._gazetteer.of(word) & _NAMES) or self._gazetteer.is_place(word)

    def _is_word(self, word: str) -> bool:
        key = fold(word)
        if key in _COMMON:
            return True
        if len(key) == 1:
            return False
        flags = self._gazetteer.of(word)
        is_capital = word[0].isupper()
        if is_capital and (flags & (_NAMES | Word.MONTH_OR_DAY) or self._gazetteer.is_place(word)):
            return False
        if flags & Word.ORDINARY:
            return True
        return key in self._medical and not flags & _NAMES

    def _mask_neighbours(self, text: str, chunks: list[tuple[int, int]], shown: list[bool]) -> None:
        """Mask what is allowed by itself, but not beside its neighbours.

        A capitalised word beside a masked capitalised one may be the other half of a name; two words in small
        letters that are names, one after the other, may be somebody's full name; a run of number words may be
        a number.
        """
        words = [text[start:end].strip(_TRIMMED) for start, end in chunks]
        adjacent = [
            _is_one_phrase(text[left[0] : left[1]], text[left[1] : right[0]])
            for left, right in pairwise(chunks)
        ]
        masked_alone = [not ok and word[:1].isupper() for ok, word in zip(shown, words, strict=True)]
        for at, is_adjacent in enumerate(adjacent):
            if not is_adjacent:
                continue
            for one, other in ((at, at + 1), (at + 1, at)):
                is_half = words[one][:1].isupper() and fold(words[one]) not in _COMMON and masked_alone[other]
                shown[one] = shown[one] and not is_half
            after_name = masked_alone[at] or fold(words[at]) in _TITLES
            if after_name and words[at + 1][:1].isupper() and self.is_name(words[at + 1]):
                shown[at + 1] = False  # "Larry Page", "Mr. Day"
            if self._are_name(words[at], words[at + 1]):
                shown[at] = shown[at + 1] = False
        self._mask_numbers(words, shown)

    def _are_name(self, first: str, last: str) -> bool:
        if not first or not last or fold(first) in _COMMON or fold(last) in _COMMON:
            return False
        return bool(self._gazetteer.of(first) & Word.FIRST and self._gazetteer.of(last) & Word.LAST)

    @staticmethod
    def _mask_numbers(words: list[str], shown: list[bool]) -> None:
        run: list[int] = []
        for at, word in enumerate([*words, ""]):
            if word.lower() in _NUMBER_WORDS:
                run.append(at)
                continue
            if len(run) > _MAX_NUMBER_WORDS:
                for one in run:
                    shown[one] = False
            run = []


def _is_one_phrase(chunk: str, between: str) -> bool:
    """Tell whether the next word continues with the phrase: after blanks, not after a sentence's end."""
    ends = chunk.endswith(".") and len(chunk) > _MAX_SHORTENED_CHARS
    return between.isspace() and "\n" not in between and not ends


@cache
def load_allow_list() -> AllowList:
    """Return the allow list of this process, read once.

    Raises:
        DictionaryError: names the file and the line.
    """
    folder = data_dir("dictionaries")
    return AllowList(load_gazetteer(), frozenset(_medical_words(folder)))


def _medical_words(folder: Path) -> Iterator[str]:
    for name in HEALTH_FILES:
        if name == "health_icd10cm_codes":
            continue  # codes are no words
        for row in load_dictionary(folder / f"{name}.txt").rows:
            for word in row[0].split():
                key = fold(word.strip("(),;:"))
                if len(key) >= _MIN_MEDICAL_CHARS and key.isalpha():
                    yield key
    yield from (word for word in terms(folder / "clinical_shorthand.txt") if word.isalpha())
