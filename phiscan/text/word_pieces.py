"""Text to the word pieces of an uncased BERT vocabulary: the longest known piece first, for each word.

Same pieces as the ``tokenizers`` library gives for such a vocabulary, except that every digit is read as 0:
no number is in the input of a model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

UNKNOWN, FIRST, SEPARATOR = "[UNK]", "[CLS]", "[SEP]"
MAX_WORD_CHARS: Final = 100  # a longer word is unknown
_IDEOGRAPH: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ceaf\U0002f800-\U0002fa1f"
# An ASCII sign, an ideograph, or a run of anything else; other punctuation is split off afterwards.
_WORD: Final = re.compile(rf"[!-/:-@\[-`{{-~{_IDEOGRAPH}]|[^\s!-/:-@\[-`{{-~{_IDEOGRAPH}]+")


@dataclass(frozen=True, slots=True)
class WordPieces:
    """A vocabulary: each piece with its number; a piece within a word begins with ``##``."""

    numbers: Mapping[str, int] = field(repr=False)

    def encode(self, text: str, most: int) -> list[int]:
        """Return the numbers of the first ``most`` pieces of a text."""
        found: list[int] = []
        cleaned = (
            "".join(_plain(letter) for letter in text) if not text.isascii() else _without_controls(text)
        )
        for match in _WORD.finditer(_digits_as_zero(unicodedata.normalize("NFD", cleaned.lower()))):
            for word in _split(match.group()):
                found += _pieces_of(self, word)
            if len(found) >= most:
                break
        return found[:most]

    def __hash__(self) -> int:
        return id(self.numbers)


def _plain(letter: str) -> str:
    """Return a letter as it is read: a blank for any white space, "" for a control character."""
    if (letter.isspace() and letter in "\t\n\r") or unicodedata.category(letter) == "Zs":
        return " "
    return "" if letter == "\ufffd" or unicodedata.category(letter)[0] == "C" else letter


def _without_controls(text: str) -> str:
    return text if text.isprintable() else "".join(map(_plain, text))


def _digits_as_zero(text: str) -> str:
    return re.sub(r"\d", "0", text)


def _split(word: str) -> list[str]:
    """Return a word without its accents, split at punctuation that is not ASCII."""
    if word.isascii():
        return [word]
    parts = [""]
    for letter in word:
        category = unicodedata.category(letter)
        if category[0] == "P":
            parts += [letter, ""]
        elif category != "Mn":
            parts[-1] += letter
    return [part for part in parts if part]


@lru_cache(maxsize=1 << 14)
def _pieces_of(vocabulary: WordPieces, word: str) -> tuple[int, ...]:
    """Return the numbers of the pieces of one word."""
    numbers, found, start = vocabulary.numbers, [], 0
    unknown = (numbers[UNKNOWN],)
    if len(word) > MAX_WORD_CHARS:
        return unknown
    while start < len(word):
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            if (number := numbers.get(prefix + word[start:end])) is not None:
                found.append(number)
                start = end
                break
        else:
            return unknown
    return tuple(found)
