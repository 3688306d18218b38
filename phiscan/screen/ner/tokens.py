"""Text to the tokens of the tagger: classes of words, units (chains to label), the case of each line.

Every code point is in exactly one token, so that the offset of a token is the sum of the lengths before it. A
line break, a tab and a wide gap are tokens too: they end a unit, and the words beyond them are its context.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from phiscan.lexicon.gazetteer import Gazetteer, Word, fold

Ints = npt.NDArray[np.int64]
# Beside the flags of ``Word``: a word of the name of a place; of a term of medicine; of a country or people.
PLACE, HEALTH, NATION = 1 << 12, 1 << 13, 1 << 14
MIXED, CAPS, LOWER = 0, 1, 2  # the case of a line: as usual, all capitals, no capital in the whole document
N_MODES = 3
_MIN_DRUG_CHARS = 6  # of an English name that French writes with an e at its end: "metformine"
PARAGRAPH, LINE, GAP = "¶¶", "¶", "␣"  # the shapes of white space
MAX_UNIT = 120  # tokens; a longer unit is cut
_LOWER_SHARE = 0.02  # a document with fewer capitalised words than this is written in lower case
_MIN_LOWER_WORDS = 4
_LETTER = r"[^\W\d_]"
_TOKEN = re.compile(
    r"(?:[^\S\n]*+\n\s*+|[^\S\n]{2,}+|\t"
    r"|https?://\S+|www\.\S+|[\w.+%-]{1,64}+@[\w.-]{1,255}+"
    # French elision is no part of the word after it.
    rf"|[dlcjmnst]['\u2019](?={_LETTER})"
    rf"|{_LETTER}++(?:(?:-|['\u2019](?![sS](?!{_LETTER}))){_LETTER}++)*+(?![^\W_])"
    r"|[^\W_]++|['\u2019][sS](?![^\W_])|[^\S\n]|\S) ?"
)
_ENDS = {".": 1, "!": 2, "?": 2, ";": 2}
_N_CLASSES_REMEMBERED = 20_000  # there are some thousands, and one for every sign
_SIGNS = frozenset((*".,:;()-/'\"&@|0", LINE, GAP))


def split(text: str) -> list[str]:
    r"""Cut a text into tokens, each with the one space after it, so that they join to the text again.

    >>> split("Dr. O'Hara's  note\n")
    ['Dr', '. ', "O'Hara", "'s ", ' ', 'note', '\n']
    """
    return _TOKEN.findall(text.replace("\r", " ").replace("\u00a0", " "))


class Kind(NamedTuple):
    """The features of one word: form, shape, flags of the gazetteers."""

    folded: str  # lower case; digits as 0
    shape: str  # "Xx", "XX", "x", "X" (initial), "0", "x0", "@", white space, or a sign
    flags: int
    breaks: bool  # ends a unit and belongs to none
    ends: int  # 1 where it may end a sentence, 2 where it does
    size: int


class Kinds:
    """Word to ``Kind``, by gazetteers."""

    def __init__(
        self, gazetteer: Gazetteer, *, places: frozenset[str], health: frozenset[str], nations: frozenset[str]
    ) -> None:
        self._gazetteer = gazetteer
        self.places = places
        self.health = health
        self.nations = nations

    def of(self, token: str) -> Kind:
        """Return the kind of a token of ``split``."""
        word = token.strip()
        if not word:
            sign = PARAGRAPH if token.count("\n") > 1 else LINE if "\n" in token else GAP
            return Kind(sign, sign, 0, breaks=True, ends=0, size=0)
        shape = _shape(word)
        if shape == "@":
            return Kind("@", "@", 0, breaks=False, ends=0, size=0)
        folded = word.lower().replace("\u2019", "'")
        if shape in {"0", "x0"}:
            folded = re.sub(r"\d", "0", folded)
            return Kind(folded, shape, 0, breaks=False, ends=0, size=len(word))
        if not word[0].isalpha():
            return Kind(folded, word[0], 0, breaks=False, ends=_ENDS.get(word, 0), size=len(word))
        flags = self._gazetteer.of(word)
        if folded in self.places:
            flags |= PLACE
        plain = folded if folded.isascii() else fold(folded)
        if self._is_medical(plain):
            flags |= HEALTH
        if plain in self.nations:
            flags |= NATION
        return Kind(folded, shape, flags, breaks=False, ends=0, size=len(word))

    def _is_medical(self, plain: str) -> bool:
        """Is a folded word a term of medicine, or the plural or the French form of one?"""
        stem = plain.removesuffix("s")
        drug = stem.removesuffix("e")
        return (
            plain in self.health
            or stem in self.health
            or (len(drug) >= _MIN_DRUG_CHARS and drug in self.health)
        )


def _shape(word: str) -> str:
    if not word.isalpha():
        if "@" in word[1:] or (word.startswith(("http", "www.")) and "." in word):
            return "@"
        if any(c.isdecimal() for c in word):
            return "0" if not any(c.isalpha() for c in word) else "x0"
        if not word[0].isalpha():
            return word[0] if word[0].isprintable() else "?"
    if word[0].islower() or not word[0].isupper():
        return "x" if word.islower() or not word.isupper() else "XX"
    if len(word) == 1:
        return "X"
    return "XX" if word.isupper() else "Xx"


@lru_cache(maxsize=_N_CLASSES_REMEMBERED)
def classes(shape: str, flags: int, mode: int) -> tuple[str, str]:
    """Return the fine and the coarse class of a word by shape, gazetteers and the case of its line."""
    letter = {"x": "x", "Xx": "X", "XX": "C", "X": "I"}.get(shape)
    if letter is None:
        known = len(shape) > 1 or shape in _SIGNS
        sign = shape if known else "?"
        return sign, sign
    coarse = letter + _lexical(flags)
    if mode != MIXED and letter in "xXC":
        letter = "c" if mode == CAPS else "l"
    return letter + format(flags, "x"), coarse


# One letter for the gazetteers of a word: the first row of which every part has one of the word's flags.
_LEXICAL = (
    ("t", (Word.TITLE | Word.TITLE_HEALTH,)),
    ("m", (Word.MONTH_OR_DAY,)),
    ("n", (Word.NOT_PERSON | Word.EPONYM,)),
    ("w", (NATION, Word.FIRST | Word.LAST)),
    ("v", (NATION,)),
    ("p", (Word.PARTICLE,)),
    ("b", (Word.ORDINARY, Word.FIRST | Word.LAST)),
    ("o", (Word.ORDINARY,)),
    ("k", (Word.CREDENTIAL,)),
    ("d", (Word.FIRST, Word.LAST)),
    ("f", (Word.FIRST,)),
    ("l", (Word.LAST,)),
    ("g", (PLACE,)),
)


def _lexical(flags: int) -> str:
    if flags & HEALTH and not flags & (Word.FIRST | Word.LAST | Word.TITLE):
        return "h"
    return next((letter for letter, parts in _LEXICAL if all(flags & part for part in parts)), "u")


@dataclass(frozen=True, slots=True)
class Units:
    """The chains of tokens that are labelled: ``index``, the tokens of all units, and where each begins."""

    index: Ints = field(repr=False)  # (n,) token numbers, in text order
    starts: Ints = field(repr=False)  # (u,) where in ``index`` each unit begins
    lengths: Ints = field(repr=False)  # (u,)


def line_modes(line: Ints, lower: Ints, upper: Ints, mixed: Ints) -> Ints:
    """Return the case of every token's line.

    ``line``: (n,) line number of each token; the others: (n,) 0 or 1, whether the token is a word in lower
    case, in capitals (two letters and more), capitalised.
    """
    if not len(line):
        return np.zeros(0, dtype=np.int64)
    n_lower, n_upper, n_mixed = int(lower.sum()), int(upper.sum()), int(mixed.sum())
    if n_lower >= _MIN_LOWER_WORDS and n_upper + n_mixed <= _LOWER_SHARE * n_lower:
        return np.full(len(line), LOWER, dtype=np.int64)
    n_lines = int(line[-1]) + 1
    capital = np.bincount(line, upper, n_lines) > 0
    other = np.bincount(line, lower + mixed, n_lines) > 0
    return np.where(capital & ~other, CAPS, MIXED)[line]


def units(breaks: Ints, ends: Ints, closes: Ints) -> Units:
    """Group tokens into units, which end at a break or after a sign that ends a sentence.

    ``ends``: (n,) 1 where a sign may end a sentence, 2 where it does; ``closes``: (n,) 1 where a full stop
    after the token is the end of a sentence, for ``Dr. J. Roy`` is one name.
    """
    index = np.flatnonzero(breaks == 0)
    if not len(index):
        empty = np.zeros(0, dtype=np.int64)
        return Units(empty, empty, empty)
    stop = breaks == 1
    stop |= ends == 2  # noqa: PLR2004 (as above)
    stop[1:] |= (ends[1:] == 1) & (closes[:-1] == 1)
    group = (np.cumsum(stop) - stop)[index]  # breaks and ends before the token
    starts = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
    lengths = np.diff(np.concatenate((starts, [len(index)])))
    if lengths.max() > MAX_UNIT:
        pieces = [np.arange(s, s + n, MAX_UNIT) for s, n in zip(starts, lengths, strict=True)]
        starts = np.concatenate(pieces)
        lengths = np.diff(np.concatenate((starts, [len(index)])))
    return Units(index, starts, lengths)
