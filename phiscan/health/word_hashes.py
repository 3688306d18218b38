"""The words of a text as hashes, single and in pairs: the input of the patient classifier and of P(PHI).

A health term is one word, read as its kind (a diagnosis, a drug), a number is read as a number: which illness
it is, and how much of what, is not asked. Inflection, case and accents are folded (``tokens.py``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from phiscan.health.features import Reading, Window
from phiscan.health.term_lexicon import Lexicon
from phiscan.health.terms import Hits
from phiscan.text.word_tokens import Chunk, Hashes, Offsets, codes_of, tokenize

BUCKET_BITS: Final = 18
N_BUCKETS: Final = 1 << BUCKET_BITS
LENGTH: Final = 5.0  # of the row of a window's words, so that they weigh about as much as its cues
PAIR: Final = 0.7  # what a pair of words counts, a word counting 1
_SHIFT: Final = np.uint64(64 - BUCKET_BITS)
_PAIRING: Final = np.uint64(0x9E3779B97F4A7C15)
_NUMBER: Final = np.uint64(0xB5297A4D3F84D5B5)
_IS_PAIR: Final = np.uint64(N_BUCKETS)  # the bit above those of a bucket
_PASSAGE_SHIFT: Final = np.uint64(BUCKET_BITS + 1)
_WORDS_AT_ONCE: Final = 1 << 17  # of all passages that are counted together, so that their arrays stay small

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text in order: where each begins (code points), and its hash."""

    starts: Offsets
    hashes: Hashes = field(repr=False)


def words_of(text: str, reading: Reading, lexicon: Lexicon, windows: Sequence[Window]) -> Words:
    """Return the words of a text whose health terms have been read; of a long one those near ``windows``."""
    starts = [window.start for window in windows]  # in order, and so are their ends
    parts = [
        _words_of_chunk(text, chunk, reading.health, lexicon)
        for chunk in reading.words
        if (before := bisect_left(starts, chunk.offset + chunk.n_chars))
        and windows[before - 1].end > chunk.offset
    ]
    if not parts:
        return Words(np.zeros(0, np.int64), np.zeros(0, np.uint64))
    return Words(
        np.concatenate([part.starts for part in parts]), np.concatenate([part.hashes for part in parts])
    )


def _words_of_chunk(text: str, chunk: Chunk, health: Hits, lexicon: Lexicon) -> Words:
    starts, hashes = chunk.tokens.starts, chunk.tokens.hashes.copy()
    codes = codes_of(text[chunk.offset : chunk.offset + chunk.n_chars])
    first = codes[starts - chunk.offset]
    hashes[(first >= ord("0")) & (first <= ord("9"))] = _NUMBER
    if not len(health.starts) or not len(starts):
        return Words(starts, hashes)
    # A term begins with a word; the other words that it covers are dropped.
    term = np.maximum(health.starts.searchsorted(starts, side="right") - 1, 0)
    covered = (starts >= health.starts[term]) & (starts < health.ends[term])
    begins = covered & (starts == health.starts[term])
    kinds = [lexicon.marks[index][1].removeprefix("kind:") for index in health.terms[term[begins]].tolist()]
    hashes[begins] = np.array([hash_of(f"term{kind}") for kind in kinds], dtype=np.uint64)
    kept = ~covered | begins
    return Words(starts[kept], hashes[kept])


@cache
def hash_of(name: str) -> int:
    """Return the hash by which a kind of health term (``termdx``) or a type of finding is read."""
    return int(tokenize(name).hashes[0] ^ _PAIRING)


def word_features(words: Words, start: int, end: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return the buckets of the words and pairs that begin between two offsets, and their values.

    A word counts 1 + log(occurrences), a pair ``PAIR``; all together have the length ``LENGTH``.
    """
    return next(passage_features(words, np.array([start]), np.array([end])))


def passage_features(
    words: Words, starts: Offsets, ends: Offsets
) -> Iterator[tuple[npt.NDArray[np.int64], Floats]]:
    """Yield the ``word_features`` of passages, which are counted together: one sort for many passages."""
    low, high = words.starts.searchsorted(starts), words.starts.searchsorted(ends)
    single, pairs = buckets_of(words)
    pairs |= _IS_PAIR
    n_words = np.cumsum(high - low)
    first = 0
    while first < len(low):
        stop = max(int(n_words.searchsorted(n_words[first] + _WORDS_AT_ONCE)), first + 1)
        yield from _counted(single, pairs, low[first:stop], high[first:stop])
        first = stop


def buckets_of(words: Words) -> tuple[Hashes, Hashes]:
    """Return the bucket of each word, and of each word with the next."""
    hashes = words.hashes
    return hashes >> _SHIFT, ((hashes[:-1] * _PAIRING) ^ hashes[1:]) * _PAIRING >> _SHIFT


def _counted(
    single: Hashes, pairs: Hashes, low: Offsets, high: Offsets
) -> Iterator[tuple[npt.NDArray[np.int64], Floats]]:
    """Yield the features of passages from the first to before the last of their words."""
    keys = np.concatenate([_keys(single, low, high), _keys(pairs, low, np.maximum(high - 1, low))])
    keys.sort()
    is_first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    at = is_first.nonzero()[0]
    found = keys[at]
    values = np.where(found & _IS_PAIR, PAIR, 1.0 + np.log(np.diff(at, append=len(keys))))
    bounds = found.searchsorted(np.arange(len(low) + 1, dtype=np.uint64) << _PASSAGE_SHIFT).tolist()
    buckets = (found & np.uint64(N_BUCKETS - 1)).astype(np.int64)
    for begin, end in pairwise(bounds):
        value = values[begin:end]
        if begin < end:
            value *= LENGTH / np.sqrt(value @ value)
        yield buckets[begin:end], value.astype(np.float32)


def _keys(hashes: Hashes, low: Offsets, high: Offsets) -> Hashes:
    """Return the hashes ``[low, high)`` of all passages, each with the number of its passage before it."""
    lengths = high - low
    ends = np.cumsum(lengths)
    index = np.arange(ends[-1]) + np.repeat(low - ends + lengths, lengths)
    found: Hashes = hashes[index]
    found |= np.repeat(np.arange(len(low), dtype=np.uint64) << _PASSAGE_SHIFT, lengths)
    return found
