"""The words of a text as hashes, single and in pairs: what the model of words (``told.py``) reads.

A health term is one word, read as its kind (a diagnosis, a drug), a number is read as a number: which illness
it is, and how much of what, is not asked. Inflection, case and accents are folded (``tokens.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from phiscan.classify.features import Reading
from phiscan.classify.lexicon import Lexicon
from phiscan.classify.tokens import Hashes, Offsets, chunks, tokenize

BUCKET_BITS: Final = 18
N_BUCKETS: Final = 1 << BUCKET_BITS
LENGTH: Final = 5.0  # of the row of a window's words, so that they weigh about as much as its cues
PAIR: Final = 0.7  # what a pair of words counts, a word counting 1
_SHIFT: Final = np.uint64(64 - BUCKET_BITS)
_PAIRING: Final = np.uint64(0x9E3779B97F4A7C15)
_NUMBER: Final = np.uint64(0xB5297A4D3F84D5B5)

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text in order: where each begins (code points), and its hash."""

    starts: Offsets
    hashes: Hashes = field(repr=False)


def words_of(text: str, reading: Reading, lexicon: Lexicon) -> Words:
    """Return the words of a text whose health terms have been read."""
    parts = [tokenize(part, offset) for offset, part in chunks(text)]
    if not parts:
        return Words(np.zeros(0, np.int64), np.zeros(0, np.uint64))
    starts = np.concatenate([part.starts for part in parts])
    hashes = np.concatenate([part.hashes for part in parts])
    first = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")[starts]
    hashes[(first >= ord("0")) & (first <= ord("9"))] = _NUMBER
    health = reading.health
    if not len(health.starts):
        return Words(starts, hashes)
    kinds = [_kind_hash(lexicon.marks[index][1]) for index in health.terms.tolist()]
    # A term begins with a word; the other words that it covers are dropped.
    term = np.maximum(health.starts.searchsorted(starts, side="right") - 1, 0)
    covered = (starts >= health.starts[term]) & (starts < health.ends[term])
    begins = covered & (starts == health.starts[term])
    hashes[begins] = np.array(kinds, dtype=np.uint64)[term[begins]]
    kept = ~covered | begins
    return Words(starts[kept], hashes[kept])


@cache
def _kind_hash(kind: str) -> int:
    """Return the hash by which a kind of health term (``kind:dx``, ``kind:rx``) is read."""
    return int(tokenize(f"term{kind.removeprefix('kind:')}").hashes[0] ^ _PAIRING)


def word_features(words: Words, start: int, end: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return the buckets of the words and pairs that begin between two places, and their values.

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
