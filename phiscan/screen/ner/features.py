"""Tokens to the features of the tagger: names of word features, and integer codes of context features.

Word features depend on one word, the case of its line and its distance in tokens, so that their scores are
summed once per word. Context features combine two or three tokens: each is one code per token and template.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from phiscan.lexicon.gazetteer import Word
from phiscan.screen.ner.tokens import (
    LINE,
    N_MODES,
    PARAGRAPH,
    Ints,
    Kind,
    Kinds,
    Units,
    classes,
    line_modes,
    split,
    units,
)

REACH = 3  # how many tokens to each side are seen
OFFSETS = tuple(range(-REACH, REACH + 1))
TEMPLATES = ("pair-", "pair+", "left", "middle", "right", "previous", "next", "line")
_LETTERS = frozenset({"x", "Xx", "XX", "X"})  # shapes
_MIN_AFFIX = 3
_MAX_TRIGRAM_WORD = 22  # letters
_ABBREVIATED = Word.TITLE | Word.TITLE_HEALTH | Word.CREDENTIAL | Word.MONTH_OR_DAY
_LONG = 8
Names = tuple[str, ...]
# Columns of the table of words: of the codes of classes, and of the entries, one for each case of a line.
_CLASSES = 8
_ENTRY = _CLASSES + 2 * N_MODES
_N_COLUMNS = _ENTRY + N_MODES
_NO_ENTRIES = (-1,) * N_MODES
# Words by the case of their line that are cached; clearing the cache beyond them bounds the memory.
_MAX_ENTRIES = 100_000
_N_CACHED_FEATURES = 8192  # of entries: both models read those of a new word, one after the other


@dataclass(frozen=True, slots=True)
class Inventory:
    """The words and classes that are features; code 0 is everything else."""

    words: tuple[str, ...] = field(repr=False)
    fine: tuple[str, ...] = field(repr=False)
    coarse: tuple[str, ...] = field(repr=False)


def word_features(kind: Kind, mode: int, words: frozenset[str]) -> tuple[Names, Names, Names]:
    """Return the features of a word without the offset: at it, up to two tokens away, and further."""
    fine, coarse = classes(kind.shape, kind.flags, mode)
    word = (f"w={kind.folded}",) if kind.folded in words else ()
    far = (*word, f"k={coarse}")
    near = (*word, f"c={fine}", f"k={coarse}")
    here = ["b", *near, f"s={kind.shape}"]
    if coarse[-1:] in "bogdflukhw" and kind.shape in _LETTERS and kind.size >= _MIN_AFFIX:
        case = fine[0]
        text = kind.folded
        here += (
            f"p2={case}{text[:2]}",
            f"p3={case}{text[:3]}",
            f"s2={case}{text[-2:]}",
            f"s3={case}{text[-3:]}",
            f"s4={case}{text[-4:]}",
            f"n={case}{min(kind.size, _LONG)}",
        )
        if "-" in text:
            here.append(f"h={case}")
    return tuple(here), near, far


def features_by_offset(kind: Kind, mode: int, words: frozenset[str]) -> tuple[Names, ...]:
    """Return the features of a word for each offset of ``OFFSETS`` at which it may be."""
    here, near, far = word_features(kind, mode, words)
    by_offset = {0: here, 1: near, -1: near, 2: near, -2: near, 3: far, -3: far}
    return tuple(tuple(f"{offset}{name}" for name in by_offset[offset]) for offset in OFFSETS)


@dataclass(frozen=True, slots=True)
class Stream:
    """A text as arrays over its n tokens."""

    offsets: Ints = field(repr=False)  # (n + 1,) where each token begins, in code points
    sizes: Ints = field(repr=False)  # (n,) code points without the space after
    entries: Ints = field(
        repr=False
    )  # (n + 2 REACH,) entries of the lexicon, padded with the end of a paragraph
    codes: Ints = field(repr=False)  # (len(TEMPLATES), n) code of each context feature
    units: Units = field(repr=False)


class Lexicon:
    """Text to ``Stream``, with a cache of the words seen so far."""

    def __init__(self, kinds: Kinds, inventory: Inventory, hidden: frozenset[str] = frozenset()) -> None:
        """Number the words and classes; words of ``hidden`` have numbers, and are unknown words in a text."""
        self._kinds = kinds
        self._words = {word: i for i, word in enumerate(inventory.words, start=1) if word not in hidden}
        self._n_words = len(inventory.words)
        self._fine = {name: i for i, name in enumerate(inventory.fine, start=1)}
        self._coarse = {name: i for i, name in enumerate(inventory.coarse, start=1)}
        self.vocabulary = frozenset(inventory.words) - hidden
        self._class_codes = lru_cache(None)(self._codes_of_classes)  # some hundreds
        self.generation = 0
        self._start()

    def _start(self) -> None:
        self.generation += 1
        self.entries: list[tuple[Kind, int]] = []  # words met, each with the case of its line
        self._kinds_met: list[Kind] = []
        self._index: dict[str, int] = {}
        self._table = np.zeros((1024, _N_COLUMNS), dtype=np.int64)
        self.features = lru_cache(_N_CACHED_FEATURES)(self._features)
        self._add(["\n\n"])
        self._entries_of(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))  # entry 0: the padding

    def _add(self, tokens: Iterable[str]) -> None:
        """Number new tokens, and write what is known of each to the table."""
        rows = []
        for token in tokens:
            kind = self._kinds.of(token)
            self._index[token] = len(self._kinds_met)
            self._kinds_met.append(kind)
            shape = kind.shape
            letters = shape in _LETTERS
            rows.append((
                self._words.get(kind.folded, 0),
                letters,
                kind.breaks,
                kind.ends,
                shape in (LINE, PARAGRAPH),
                kind.size if kind.breaks or not token.endswith(" ") else len(token) - 1,
                0 if not letters else {"x": 1, "XX": 2}.get(shape, 3 if kind.size > 1 else 0),
                _closes(kind),
                *self._class_codes(shape, kind.flags),
                *_NO_ENTRIES,
            ))  # fmt: skip
        end = len(self._kinds_met)
        while end > len(self._table):
            self._table = np.concatenate((self._table, np.zeros_like(self._table)))
        self._table[end - len(rows) : end] = rows

    def _codes_of_classes(self, shape: str, flags: int) -> tuple[int, ...]:
        """Return the codes of the fine and the coarse class of such a word, for each case of its line."""
        codes = []
        for mode in range(N_MODES):
            fine, coarse = classes(shape, flags, mode)
            codes += [self._fine.get(fine, 0), self._coarse.get(coarse, 0)]
        return tuple(codes)

    def _entries_of(self, number: Ints, mode: Ints) -> Ints:
        """Return the entry of every token by the numbers of its word and of the case of its line."""
        column = _ENTRY + mode
        entries = self._table[number, column]
        for place in np.flatnonzero(entries < 0).tolist():
            row, case = int(number[place]), int(mode[place])
            if self._table[row, _ENTRY + case] < 0:
                self._table[row, _ENTRY + case] = len(self.entries)
                self.entries.append((self._kinds_met[row], case))
            entries[place] = self._table[row, _ENTRY + case]
        return entries

    def flags(self, word: str) -> int:
        """Return the gazetteers of a word."""
        number = self._index.get(word) or self._index.get(f"{word} ")  # a token has the space after it
        return self._kinds.of(word).flags if number is None else self._kinds_met[number].flags

    def _features(self, entry: int) -> tuple[Names, Names, Names]:
        """Return the features of an entry without the offset: ``word_features``."""
        return word_features(*self.entries[entry], self.vocabulary)

    def features_by_offset(self, entry: int) -> tuple[Names, ...]:
        """Return the features that an entry gives to the tokens at each of ``OFFSETS`` from it."""
        return features_by_offset(*self.entries[entry], self.vocabulary)

    def trigrams(self, entry: int) -> list[str]:
        """Return the different runs of three letters in a word, sorted; none of a short or very long one.

        They identify parts of long or misread names, beside the prefixes and suffixes of the other features.
        """
        kind = self.entries[entry][0]
        if kind.shape not in _LETTERS or not _MIN_AFFIX < kind.size <= _MAX_TRIGRAM_WORD:
            return []
        word = kind.folded
        return sorted({word[start : start + 3] for start in range(len(word) - 2)})

    def recurrent_features(self, entry: int) -> Names:
        """Return the names of the features by which the recurrent network knows an entry."""
        here = self.features(entry)[0]
        return (*(f"0{name}" for name in here), *(f"g={letters}" for letters in self.trigrams(entry)))

    def read(self, text: str) -> Stream:
        """Return the stream of a text."""
        tokens = split(text)
        if len(self.entries) > _MAX_ENTRIES:
            self._start()
        found = list(map(self._index.get, tokens))
        if None in found:
            self._add(dict.fromkeys(token for token in tokens if token not in self._index))
            found = list(map(self._index.get, tokens))
        number = np.array(found, dtype=np.int64)
        offsets = np.zeros(len(tokens) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens)), out=offsets[1:])
        table = self._table[number]
        word, letters, breaks, ends, newline, sizes, case, closes = table[:, :_CLASSES].T
        line = np.cumsum(newline) - newline
        mode = line_modes(line, case == 1, case == 2, case == 3)  # noqa: PLR2004 (codes of _add)
        grouped = units(breaks, ends, closes)
        every = np.arange(len(tokens))
        fine = table[every, _CLASSES + 2 * mode]
        coarse = table[every, _CLASSES + 1 + 2 * mode]
        codes = self._codes(word, letters, line, fine, coarse)
        entries = np.zeros(len(tokens) + 2 * REACH, dtype=np.int64)
        entries[REACH : REACH + len(tokens)] = self._entries_of(number, mode)
        return Stream(offsets, sizes, entries, codes, grouped)

    def _codes(self, word: Ints, letters: Ints, line: Ints, fine: Ints, coarse: Ints) -> Ints:
        n_tokens = len(word)
        n_fine, n_coarse = len(self._fine) + 1, len(self._coarse) + 1
        edge_fine, edge_coarse = self._fine.get(PARAGRAPH, 0), self._coarse.get(PARAGRAPH, 0)
        c = np.full(n_tokens + 2, edge_fine, dtype=np.int64)
        k = np.full(n_tokens + 4, edge_coarse, dtype=np.int64)
        c[1:-1], k[2:-2] = fine, coarse
        codes = np.empty((len(TEMPLATES), n_tokens), dtype=np.int64)
        codes[0] = c[:-2] * n_fine + c[1:-1]
        codes[1] = c[1:-1] * n_fine + c[2:]
        for row in range(3):
            codes[2 + row] = (k[row : row + n_tokens] * n_coarse + k[row + 1 : row + 1 + n_tokens]) * n_coarse
            codes[2 + row] += k[row + 2 : row + 2 + n_tokens]
        before, after, first = _neighbours(letters, line)
        padded = np.append(word, 0)  # index -1: no such word
        codes[5] = padded[before] * n_coarse + coarse
        codes[6] = padded[after] * n_coarse + coarse
        codes[7] = padded[first]
        return codes

    def sizes(self) -> tuple[int, ...]:
        """Return how many codes each template has."""
        n_word, n_fine, n_coarse = self._n_words + 1, len(self._fine) + 1, len(self._coarse) + 1
        pair, triple, worded = n_fine**2, n_coarse**3, n_word * n_coarse
        return (pair, pair, triple, triple, triple, worded, worded, n_word)


# Abbreviations of four letters and more that a full stop follows in the middle of a name or an address.
_SHORTENED = frozenset(
    "prof capt corp blvd dept univ hosp assn bros messrs prov terr apto bldg hwy pkwy revd mgmt attn".split()  # noqa: SIM905 (a list of words reads best as a text)
)
_SHORT = 2  # a word in small letters of no more letters may be an abbreviation
_SHORT_CAPITALISED = 3


def _closes(kind: Kind) -> bool:
    """Tell whether a full stop after a word ends a sentence.

    It does after a number, whatever closes a bracket, and a word long enough to be no abbreviation.
    """
    if kind.breaks:
        return False
    if kind.shape == "x":
        return kind.size > _SHORT
    if kind.shape in {"Xx", "XX"}:
        short = kind.flags & _ABBREVIATED or kind.folded in _SHORTENED
        return kind.size > _SHORT_CAPITALISED and not short
    return kind.shape != "X"


_FAR = 8  # the greatest distance of the next or previous word, in tokens


def _neighbours(letters: Ints, line: Ints) -> tuple[Ints, Ints, Ints]:
    """Return which token is each one's previous word, next word and first word of the line; -1 for none."""
    n_tokens = len(letters)
    every = np.arange(n_tokens)
    last = np.maximum.accumulate(np.where(letters == 1, every, -1))
    before = np.concatenate(([-1], last[:-1]))
    before = np.where(every - before > _FAR, -1, before)
    ahead = np.minimum.accumulate(np.where(letters == 1, every, n_tokens)[::-1])[::-1]
    after = np.concatenate((ahead[1:], [n_tokens]))
    after = np.where(after - every > _FAR, -1, np.where(after == n_tokens, -1, after))
    begins = np.concatenate(([0], np.flatnonzero(line[1:] != line[:-1]) + 1)) if n_tokens else every
    lead = ahead[begins][np.cumsum(np.isin(every, begins)) - 1] if n_tokens else every
    first = np.where((lead < n_tokens) & (lead < every), lead, -1)
    return before, after, first
