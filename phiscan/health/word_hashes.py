"""Text to hashed words and word pairs: the features of the patient classifier (``patient_classifier.py``).

A health term is one word, replaced by its kind (diagnosis, drug), and every number has the same hash, so that
the model learns no illness and no value. Inflection, case and accents are folded (``text/word_tokens.py``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from phiscan.health.features import Reading, Window
from phiscan.health.term_lexicon import Lexicon
from phiscan.health.terms import Hits
from phiscan.text.word_tokens import Hashes, Offsets, chunks, fold_codes, tokenize

BUCKET_BITS: Final = 18
N_BUCKETS: Final = 1 << BUCKET_BITS
LENGTH: Final = 5.0  # norm of a window's word features, so that they weigh about as much as its cues
PAIR: Final = 0.7  # value of a word pair; a single word has 1
_SHIFT: Final = np.uint64(64 - BUCKET_BITS)
_PAIRING: Final = np.uint64(0x9E3779B97F4A7C15)
_NUMBER: Final = np.uint64(0xB5297A4D3F84D5B5)

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text in order: start offsets (code points) and hashes."""

    starts: Offsets
    hashes: Hashes = field(repr=False)


def words_of(text: str, reading: Reading, lexicon: Lexicon, windows: Sequence[Window]) -> Words:
    """Return the words of a text, health terms by kind; of a long text those in chunks with ``windows``."""
    starts = [window.start for window in windows]  # in order, and so are their ends
    parts = [
        _words_of_chunk(part, offset, reading.health, lexicon)
        for offset, part in chunks(text)
        if (before := bisect_left(starts, offset + len(part))) and windows[before - 1].end > offset
    ]
    if not parts:
        return Words(np.zeros(0, np.int64), np.zeros(0, np.uint64))
    return Words(
        np.concatenate([part.starts for part in parts]), np.concatenate([part.hashes for part in parts])
    )


def _words_of_chunk(part: str, offset: int, health: Hits, lexicon: Lexicon) -> Words:
    tokens = tokenize(part, offset)
    starts, hashes = tokens.starts, tokens.hashes
    codes, _ = fold_codes(part)
    first = codes[starts - offset]
    hashes[(first >= ord("0")) & (first <= ord("9"))] = _NUMBER
    if not len(health.starts) or not len(starts):
        return Words(starts, hashes)
    # The first word of a term is replaced by its kind, its other words are dropped.
    term = np.maximum(health.starts.searchsorted(starts, side="right") - 1, 0)
    covered = (starts >= health.starts[term]) & (starts < health.ends[term])
    begins = covered & (starts == health.starts[term])
    kinds = [_kind_hash(lexicon.marks[index][1]) for index in health.terms[term[begins]].tolist()]
    hashes[begins] = np.array(kinds, dtype=np.uint64)
    selected = ~covered | begins
    return Words(starts[selected], hashes[selected])


@cache
def _kind_hash(kind: str) -> int:
    """Return the hash that replaces a kind of health term (``kind:dx``, ``kind:rx``)."""
    return int(tokenize(f"term{kind.removeprefix('kind:')}").hashes[0] ^ _PAIRING)


def word_features(words: Words, start: int, end: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return the buckets of the words and pairs that begin in ``[start, end)``, and their values.

    A word counts 1 + log(occurrences), a pair ``PAIR``; all together have the length ``LENGTH``.
    """
    low, high = np.searchsorted(words.starts, (start, end)).tolist()
    one = words.hashes[low:high]
    if not len(one):
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    single, counts = np.unique(one >> _SHIFT, return_counts=True)
    pairs = np.unique(((one[:-1] * _PAIRING) ^ one[1:]) * _PAIRING >> _SHIFT)
    values = np.concatenate([1.0 + np.log(counts), np.full(len(pairs), PAIR)])
    values *= LENGTH / np.sqrt(values @ values)
    return np.concatenate([single, pairs]).astype(np.int64), values.astype(np.float32)
