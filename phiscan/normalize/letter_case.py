"""The letter case of texts: detection of texts in small letters, and recasing by the word lists.

Capitals are a feature of names, organizations and codes. A text without any (a chat, a quick note, an export
that lowers everything) is read in capitals for the shapes of numbers and addresses, and with a capital where
the word lists have a name for the recognizers of names. Every variant has as many characters as the text, so
offsets are the same in each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice, pairwise

from phiscan.lexicon.capitalized_words import LATIN_LOWER, LATIN_UPPER
from phiscan.lexicon.gazetteer import Gazetteer, Word
from phiscan.lexicon.ordinary_words import WORD, OrdinaryWords
from phiscan.text.intervals import is_taken

_MIN_WORDS = 5  # fewer say nothing of how a text is written
_MAX_CAPITALISED = 0.02  # of the words of a text in small letters; prose has a tenth
_MAX_IN_CAPITALS = 0.2  # abbreviations
_CHARS_OF_WORD = 3  # with its space, at least, over a whole text
_CAPITALISED = re.compile(f"[{LATIN_UPPER}][{LATIN_LOWER}]")
_SAMPLE_CHARS = 20_000
_MIN_CHARS = 3  # of a word that is a name without context
_MIN_UNKNOWN = 4  # of a word on no list that is a name beside one
_MAX_PLACE = 4  # words
_BESIDE = frozenset((" ", ", ", "-", "'", "’", ". ", ".", ' "', '" '))  # noqa: RUF001 (texts are written with it)
_AFTER_TITLE = frozenset((" ", ". ", "."))
_IN_PLACE = frozenset((" ", "-", ". "))
_NAMES = Word.FIRST | Word.LAST
_TITLES = Word.TITLE | Word.TITLE_HEALTH
_UNSPACED = re.compile(r"\S+")
_OF_ADDRESS = re.compile(r"@|://|www\.")
_APOSTROPHES = "'’"  # noqa: RUF001 (names are written with it)
# Where a town is expected: "moved to red deer", "12 elm st, grand forks nd".
_BEFORE_TOWN = re.compile(r"(?:(?<![^\W\d_])(?:in|from|to|at|near|via|of|à|de)[ ]|[,\n\t;|:][ ]?)$")
_BEFORE_TOWN_CHARS = 6
_SURE, _MAYBE, _UNKNOWN, _WORD_TOO, _TITLE, _INITIAL, _PARTICLE, _OTHER = range(8)
_MAY_BE = frozenset((_SURE, _MAYBE, _UNKNOWN, _WORD_TOO))
_BY_NEIGHBOUR = frozenset((_MAYBE, _UNKNOWN, _INITIAL))
_Words = Sequence[re.Match[str]]


def is_small(text: str) -> bool:
    """Tell whether a text is written in small letters, but for some abbreviations.

    >>> is_small("pt jane roy from rm 12 says her hip is worse, son rob will call the md tmrw re MRI")
    True
    """
    sample = text[:_SAMPLE_CHARS]
    if _has_more(_CAPITALISED, sample, _MAX_CAPITALISED * len(sample) / _CHARS_OF_WORD):
        return False  # most texts: their words need not be counted
    capitalised = len(_CAPITALISED.findall(sample))
    words = WORD.findall(sample)
    in_capitals = sum(word.isupper() and len(word) > 1 for word in words)
    return (
        len(words) >= _MIN_WORDS
        and capitalised <= _MAX_CAPITALISED * len(words)
        and in_capitals <= _MAX_IN_CAPITALS * len(words)
    )


def _has_more(pattern: re.Pattern[str], text: str, most: float) -> bool:
    """Tell whether a pattern matches more than ``most`` times; of more matches none is looked for."""
    return next(islice(pattern.finditer(text), math.floor(most), None), None) is not None


def in_capitals(text: str) -> str:
    """Return a text in capitals, as long as it was.

    >>> in_capitals("straße 5")
    'STRAßE 5'
    """
    return _as_long(text, str.upper)


def in_small_letters(text: str) -> str:
    """Return a text in small letters, as long as it was."""
    return _as_long(text, str.lower)


def _as_long(text: str, write: Callable[[str], str]) -> str:
    """Return a text written anew, with the characters left as they are that would be several then."""
    whole = write(text)
    if len(whole) == len(text):
        return whole
    return "".join(new if len(new := write(char)) == 1 else char for char in text)


def with_capitals(text: str, places: Iterable[tuple[int, int]]) -> str:
    """Return a text whose words at ``places`` have a capital, after an apostrophe as well.

    >>> with_capitals("pt jane d'amours", [(3, 7), (8, 16)])
    "pt Jane D'Amours"
    """
    chars = list(text)
    for start, end in places:
        for place in range(start, end):
            if place == start or (chars[place - 1] in _APOSTROPHES and end - place > 1):
                chars[place] = in_capitals(chars[place])
    return "".join(chars)


class Recaser:
    """Writes names with a capital."""

    def __init__(self, gazetteer: Gazetteer, ordinary: OrdinaryWords) -> None:
        self._gazetteer = gazetteer
        self._ordinary = ordinary

    def recased(self, text: str) -> str:
        """Return a text in small letters with a capital where the word lists know a name.

        A word that is a name and no ordinary word has one; so has, beside such a word or a title, one that
        is both or on no list; and towns of several words.
        """
        words = list(WORD.finditer(text))
        kinds = [self._kind(word[0]) for word in words]
        addresses = [match.span() for match in _UNSPACED.finditer(text) if _OF_ADDRESS.search(match[0])]
        gaps = [text[one.end() : other.start()] for one, other in pairwise(words)]
        chosen = {index for index, kind in enumerate(kinds) if kind == _SURE}
        chosen.update(self._places(text, words, kinds, gaps))
        chosen.update(_titled(kinds, gaps))
        for _ in range(2):
            chosen.update(_beside(kinds, gaps, chosen))
            chosen.update(self._of_two(words, kinds, gaps, chosen))
        chosen.update(index for index in range(len(gaps)) if kinds[index] == _PARTICLE and gaps[index] == "-")
        places = (words[index].span() for index in chosen)
        return with_capitals(text, (place for place in places if not is_taken(*place, addresses)))

    def has_unknown(self, text: str) -> bool:
        """Tell whether a text holds a longer word that is neither of the language nor of medicine."""
        words = WORD.findall(text)
        return any(len(word) >= _MIN_UNKNOWN and not self._ordinary.is_one(word) for word in words)

    def _kind(self, word: str) -> int:
        flags = self._gazetteer.of(word)
        if len(word) == 1:
            kind = _INITIAL
        elif self._ordinary.is_of_sentence(word):
            kind = _OTHER
        elif flags & _TITLES:
            kind = _TITLE
        elif flags & Word.CREDENTIAL:
            kind = _OTHER
        elif flags & Word.PARTICLE:
            kind = _PARTICLE
        elif flags & _NAMES or self._gazetteer.is_place(word):
            kind = _WORD_TOO if self._ordinary.is_one(word) else _MAYBE if len(word) < _MIN_CHARS else _SURE
        else:
            kind = _OTHER if self._ordinary.is_one(word) or len(word) < _MIN_UNKNOWN else _UNKNOWN
        return kind

    def _places(self, text: str, words: _Words, kinds: Sequence[int], gaps: Sequence[str]) -> Iterator[int]:
        """Yield the words of towns that have several, one of them no ordinary word."""
        index = 0
        while index < len(words):
            n_words = next(
                (
                    n
                    for n in range(_MAX_PLACE, 1, -1)
                    if index + n <= len(words)
                    and all(gap in _IN_PLACE for gap in gaps[index : index + n - 1])
                    and self._gazetteer.is_place(text[words[index].start() : words[index + n - 1].end()])
                    and self._is_town(text, words[index : index + n])
                ),
                0,
            )
            yield from (place for place in range(index, index + n_words) if kinds[place] != _PARTICLE)
            index += max(1, n_words)

    def _of_two(
        self, words: _Words, kinds: Sequence[int], gaps: Sequence[str], chosen: AbstractSet[int]
    ) -> list[int]:
        """Return words of the language that are the other half of a name: "hope okafor", "young, jane"."""
        found = []
        for index, gap in enumerate(gaps):
            for one, other in ((index, index + 1), (index + 1, index)):
                if kinds[one] != _WORD_TOO or other not in chosen or gap not in (" ", ", "):
                    continue
                is_first = (one < other) == (gap == " ")
                needed, beside = (Word.FIRST, Word.LAST) if is_first else (Word.LAST, Word.FIRST)
                if (
                    self._gazetteer.of(words[one][0]) & needed
                    and self._gazetteer.of(words[other][0]) & beside
                ):
                    found.append(one)
        return found

    def _is_town(self, text: str, words: _Words) -> bool:
        """Tell whether words with the name of a town are one: by the words, or where a town is expected."""
        if not all(self._ordinary.is_one(word[0]) for word in words):
            return True
        start = words[0].start()
        return _BEFORE_TOWN.search(text, max(0, start - _BEFORE_TOWN_CHARS), start) is not None


def _titled(kinds: Sequence[int], gaps: Sequence[str]) -> Iterator[int]:
    """Yield titles with the name after them, one initial between: "dr j roy"."""
    for index, gap in enumerate(gaps):
        if kinds[index] != _TITLE or gap not in _AFTER_TITLE:
            continue
        if kinds[index + 1] in _MAY_BE:
            yield index
            yield index + 1
        elif kinds[index + 1] == _INITIAL:
            yield index
            yield index + 1
            if index + 2 < len(kinds) and gaps[index + 1] in _AFTER_TITLE and kinds[index + 2] in _MAY_BE:
                yield index + 2


def _beside(kinds: Sequence[int], gaps: Sequence[str], chosen: AbstractSet[int]) -> list[int]:
    """Return the words that are a name beside a name, initials among them."""
    found = []
    for index, gap in enumerate(gaps):
        if gap not in _BESIDE:
            continue
        for one, other in ((index, index + 1), (index + 1, index)):
            if one in chosen or other not in chosen or kinds[other] not in _MAY_BE:
                continue
            if kinds[one] in _BY_NEIGHBOUR:
                found.append(one)
    return found
