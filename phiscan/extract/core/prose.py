"""Words of a value that a text does not hold: the measure of what was left unread."""

from __future__ import annotations

import re
from functools import cached_property

_WORD = re.compile(r"[^\W\d_]{3,}")
# Bytes of UTF-8 with small letters, and with blanks for what parts words: faster than a search for words.
_SMALL_LETTERS = bytes(
    code if code > 127 else ord(chr(code).lower()) if chr(code).isalpha() else 32  # noqa: PLR2004 (ASCII)
    for code in range(256)
)
_VOWEL = re.compile(
    r"[aeiouyàâéèêëîïôûùäöü\u0430\u0435\u0438\u043e\u0443\u044b\u044d\u044e\u044f\u03b1\u03b5\u03b7\u03b9\u03bf\u03c5\u03c9]",
    re.IGNORECASE,
)
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)
MIN_CHARS = 3  # of a word
MIN_WORDS = 3  # fewer are a name of a style, a font or a field
_MISSING_SHARE, _MIN_MISSING = 0.5, 2  # of the words of a value
_NEXT_CHARS = 4096  # after the last value, where the next one is looked for first
_MOST_COMPARED = 20_000_000  # characters of text
_MOST_CHARS = 200_000  # of one value that are looked at


class ShownWords:
    """The words of a text, collected at the first comparison."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._at = 0  # of the value that was found last: values and text come in the same order, mostly
        self._left = _MOST_COMPARED

    @cached_property
    def _words(self) -> frozenset[str]:
        return _words(self.text)

    def lacks(self, value: str) -> bool:
        """Tell whether a value has three words or more, at least half of them nowhere in the shown text."""
        value = value[:_MOST_CHARS]
        is_short = len(value.split(None, MIN_WORDS)) < MIN_WORDS
        return not self.holds(value) and not is_short and self._lacks_half(value)

    def holds(self, value: str) -> bool:
        """Tell whether the text holds a value as it is, as far as the budget of comparisons reaches."""
        value = value[:_MOST_CHARS].strip()
        at = self.text.find(value, self._at, self._at + _NEXT_CHARS)
        if at < 0 and self._left > 0:
            self._left -= len(self.text)
            at = self.text.find(value)
        if at < 0:
            return False
        self._at = at
        return True

    def _lacks_half(self, value: str) -> bool:
        """Tell whether at least half of the words of a value, three or more, are missing."""
        found = _words_in_order(value)
        if len(found) < MIN_WORDS or sum(word not in self._words for word in found) < _MIN_MISSING:
            return False
        words = _spelled(found)
        n_missing = sum(word not in self._words and self._is_nowhere(word) for word in words)
        return len(words) >= MIN_WORDS and n_missing >= max(_MIN_MISSING, _MISSING_SHARE * len(words))

    def _is_nowhere(self, word: str) -> bool:
        """Tell whether a word is missing; in a script without blanks a word may lie within a longer one."""
        if _LATIN.search(word) or self._left <= 0:
            return True
        self._left -= len(self.text)
        return word not in self.text


def _words(text: str) -> frozenset[str]:
    """Return the words of a text in small letters; of those in ASCII the ones of one or two letters, too."""
    raw = text.encode("utf-8", "surrogatepass").translate(_SMALL_LETTERS)
    found = frozenset(raw.decode("utf-8", "surrogatepass").split())
    if raw.isascii():
        return found
    others = [word for word in found if not word.isascii()]
    return found.difference(others).union(_WORD.findall(" ".join(others).casefold()))


def _words_in_order(text: str) -> list[str]:
    """Return the words of three letters or more, in small letters."""
    if not text.isascii():
        return _WORD.findall(text.casefold())
    words = text.encode("ascii").translate(_SMALL_LETTERS).decode("ascii").split()
    return [word for word in words if len(word) >= MIN_CHARS]


def words_of(value: str) -> list[str]:
    """Return the words of a value in small letters; letters that spell nothing are none.

    >>> words_of("Lena Okafor, MRN 40718823, admitted xkcdvbn")
    ['lena', 'okafor', 'admitted']
    """
    return _spelled(_WORD.findall(value.casefold()))


def _spelled(words: list[str]) -> list[str]:
    return [word for word in words if _VOWEL.search(word) or not _LATIN.search(word)]
