"""Text to the word pieces of a unigram vocabulary (SentencePiece): the likeliest division of each word.

Every digit is read as 0: no number is in the input of a model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Self

UNKNOWN, FIRST, SEPARATOR = "<unk>", "<s>", "</s>"
SPECIAL: Final = (UNKNOWN, FIRST, SEPARATOR)
BEGINS_WORD: Final = "\u2581"
MAX_WORD_CHARS: Final = 100  # a longer word is unknown
_UNKNOWN_LOSS: Final = 10.0  # by which an unknown character is less likely than any piece


@dataclass(frozen=True, slots=True)
class WordPieces:
    """A vocabulary: each piece with its number, from 1, and its log probability."""

    pieces: Mapping[str, tuple[int, float]] = field(repr=False)
    special: Mapping[str, int] = field(repr=False)  # the numbers of ``SPECIAL``, which no text has
    longest: int
    least: float  # the lowest log probability

    @classmethod
    def of(cls, rows: Iterable[tuple[str, float]]) -> Self:
        """Return the vocabulary of pieces with their log probabilities, numbered in this order."""
        pieces = {piece: (number, value) for number, (piece, value) in enumerate(rows, 1)}
        special = {piece: pieces.pop(piece)[0] for piece in SPECIAL}
        return cls(pieces, special, max(map(len, pieces)), min(value for _, value in pieces.values()))

    def encode(self, text: str, most: int) -> list[int]:
        """Return the numbers of the first ``most`` pieces of a text."""
        found: list[int] = []
        for word in re.sub(r"\d", "0", unicodedata.normalize("NFKC", text)).split():
            found += _pieces_of(self, word)
            if len(found) >= most:
                break
        return found[:most]

    def __hash__(self) -> int:
        return id(self.pieces)


@lru_cache(maxsize=1 << 14)
def _pieces_of(vocabulary: WordPieces, word: str) -> tuple[int, ...]:
    """Return the numbers of the pieces of one word, by the Viterbi algorithm."""
    unknown = vocabulary.special[UNKNOWN]
    if len(word) > MAX_WORD_CHARS:
        return (unknown,)
    word = BEGINS_WORD + word
    # For each end: the highest log probability, where its last piece begins, and the number of that piece.
    best = [(0.0, 0, unknown)]
    for end in range(1, len(word) + 1):
        ways = (
            (best[start][0] + piece[1], start, piece[0])
            for start in range(max(end - vocabulary.longest, 0), end)
            if (piece := vocabulary.pieces.get(word[start:end])) is not None
        )
        rare = (best[end - 1][0] + vocabulary.least - _UNKNOWN_LOSS, end - 1, unknown)
        best.append(max((rare, *ways)))
    found, end = [], len(word)
    while end:
        _, end, number = best[end]
        found.append(number)
    return tuple(reversed(found))
