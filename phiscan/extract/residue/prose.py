"""Words of a value that a text does not hold: the measure of what was left unread."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]{3,}")
_VOWEL = re.compile(
    r"[aeiouyàâéèêëîïôûùäöü\u0430\u0435\u0438\u043e\u0443\u044b\u044d\u044e\u044f\u03b1\u03b5\u03b7\u03b9\u03bf\u03c5\u03c9]",
    re.IGNORECASE,
)
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)
MIN_WORDS = 3  # fewer are a name of a style, a font or a field
_MISSING_SHARE = 0.5
_NEXT_CHARS = 4096  # after the last value, where the next one is looked for first
_MOST_COMPARED = 20_000_000  # characters of text
_MOST_CHARS = 200_000  # of one value that are looked at


class ShownWords:
    """The words of a text, gathered when they are first asked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words: frozenset[str] | None = None
        self._at = 0  # of the value that was found last: values and text come in the same order, mostly
        self._left = _MOST_COMPARED

    def lacks(self, value: str) -> bool:
        """Tell whether a value is text of which the shown text holds less than half."""
        value = value[:_MOST_CHARS]
        if self._holds(value.strip()):
            return False
        words = words_of(value)
        if len(words) < MIN_WORDS or len(value.split()) < MIN_WORDS:
            return False
        if self._words is None:
            self._words = frozenset(_WORD.findall(self._text.casefold()))
        n_missing = sum(word not in self._words for word in words)
        return n_missing >= max(2, _MISSING_SHARE * len(words))

    def _holds(self, value: str) -> bool:
        """Tell whether the text holds a value as it is, as far as the budget of comparisons reaches."""
        at = self._text.find(value, self._at, self._at + _NEXT_CHARS)
        if at < 0 and self._left > 0:
            self._left -= len(self._text)
            at = self._text.find(value)
        if at < 0:
            return False
        self._at = at
        return True


def words_of(value: str) -> list[str]:
    """Return the words of a value in small letters; letters that spell nothing are none.

    >>> words_of("Lena Okafor, MRN 40718823, admitted xkcdvbn")
    ['lena', 'okafor', 'admitted']
    """
    return [
        word for word in _WORD.findall(value.casefold()) if _VOWEL.search(word) or not _LATIN.search(word)
    ]
