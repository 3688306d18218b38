"""Convert labelled documents to training data of CRFsuite: features and labels of every unit."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from phiscan.lexicon.gazetteer import Gazetteer, Word
from phiscan.screen.ner.features import OFFSETS, TEMPLATES, Inventory, Lexicon, Stream
from phiscan.screen.ner.tokens import N_MODES, Kinds, classes, split
from training.corpora.documents import Labelled
from training.corpora.open_texts import doubtful

HIDDEN = 0.3  # share of the name lists that is hidden in a training document
HIDDEN_WORDS = (
    0.25  # share of the word features that is hidden, because the context of a name is often new, too
)
MIN_WORD_DOCUMENTS = 6
MAX_WORDS = 4000
MIN_CLASS_TOKENS = 25
_ALWAYS_KNOWN = 3
_MAX_NAMED = 0.6  # a word with a higher share of occurrences in names is no feature


class Unit(NamedTuple):
    """A line or sentence to train on: indices of its tokens, and their labels (BIO)."""

    tokens: list[int]
    labels: list[str]


class HiddenNames(Gazetteer):
    """A gazetteer that hides a random share of its names."""

    def __init__(self, gazetteer: Gazetteer, variant: int) -> None:
        self._gazetteer = gazetteer
        self._variant = variant

    def of(self, word: str) -> int:
        """Return the flags of a word; a hidden name is an unknown word."""
        flags = self._gazetteer.of(word)
        if flags & (Word.FIRST | Word.LAST) and not flags & Word.ORDINARY:
            draw = zlib.crc32(f"{self._variant}{word.lower()}".encode()) / 2**32
            if draw < HIDDEN:
                flags &= ~(Word.FIRST | Word.LAST)
        return flags


def seen_in_part(words: frozenset[str], variant: int) -> frozenset[str]:
    """Return the words without a hidden part, so that the generator's terms are not all known."""
    return frozenset(w for w in words if zlib.crc32(f"{variant}{w}".encode()) / 2**32 >= HIDDEN)


def hidden_words(words: Sequence[str], variant: int) -> frozenset[str]:
    """Return the words that a variant hides; signs and short words (of, at, the) are never hidden."""
    return frozenset(
        w
        for w in words
        if len(w) > _ALWAYS_KNOWN and zlib.crc32(f"word{variant}{w}".encode()) / 2**32 < HIDDEN_WORDS
    )


def inventory(documents: Sequence[Labelled], kinds: Kinds, *, min_documents: int) -> Inventory:
    """Choose the words and classes that become features.

    A word needs ``min_documents`` documents, so that no text can be recovered from the weights.
    """
    seen: Counter[str] = Counter()
    named: Counter[str] = Counter()
    fine: Counter[str] = Counter()
    coarse: Counter[str] = Counter()
    for document in documents:
        inside = np.zeros(len(document.text) + 1, dtype=bool)
        for start, end, _label in document.spans:
            inside[start:end] = True
        place = 0
        met: set[str] = set()
        for token in split(document.text):
            kind = kinds.of(token)
            for mode in range(N_MODES):
                a, b = classes(kind.shape, kind.flags, mode)
                fine[a] += 2 if mode == 0 else 1
                coarse[b] += 1
            if kind.folded not in met:
                met.add(kind.folded)
                seen[kind.folded] += 1
                named[kind.folded] += bool(inside[place])
            place += len(token)
    words = [
        w for w, n in seen.most_common() if n >= min_documents and named[w] < _MAX_NAMED * n and w != "\0"
    ][:MAX_WORDS]
    return Inventory(
        tuple(sorted(words)),
        tuple(sorted(name for name, n in fine.items() if n >= 2 * MIN_CLASS_TOKENS)),
        tuple(sorted(coarse)),
    )


def units(document: Labelled, stream: Stream, source: str) -> Iterator[Unit]:
    """Yield the units to train on, without those that may hold an unmarked name in ``source``."""
    labels = _gold(document, stream)
    index = stream.units.index
    for start, length in zip(stream.units.starts.tolist(), stream.units.lengths.tolist(), strict=True):
        tokens = index[start : start + length].tolist()
        low, high = stream.offsets[tokens[0]], stream.offsets[tokens[-1] + 1]
        if doubtful(source, document.text[low:high]):
            continue
        first, *others = (labels[token] for token in tokens)
        if first.startswith("I-"):
            first = f"B{first[1:]}"
        yield Unit(tokens, [first, *others])


def sequences(
    learned: Iterable[Unit], stream: Stream, lexicon: Lexicon
) -> Iterator[tuple[list[list[str]], list[str]]]:
    """Yield the features of the tokens of each unit, in CRFsuite's form, and their labels."""
    names_of: dict[int, tuple[tuple[str, ...], ...]] = {}
    for unit in learned:
        features = []
        for token in unit.tokens:
            codes = stream.codes[:, token].tolist()
            names = [f"{template}:{code}" for template, code in zip(TEMPLATES, codes, strict=True)]
            for place in range(len(OFFSETS)):
                row = int(stream.entries[token + place])
                if row not in names_of:
                    names_of[row] = lexicon.features_by_offset(row)
                names += names_of[row][place]
            features.append(names)
        yield features, unit.labels


def _gold(document: Labelled, stream: Stream) -> list[str]:
    """Return the label of every token: BIO."""
    labels = ["O"] * len(stream.sizes)
    starts = stream.offsets[:-1]
    for low, high, label in document.spans:
        first = int(np.searchsorted(starts, low, side="right")) - 1
        last = int(np.searchsorted(starts, high, side="left"))
        for token in range(first, last):
            labels[token] = f"{'B' if token == first else 'I'}-{label}"
    return labels
