"""A document's signature, by which near-duplicates are found: MinHash over its word triples, keyed.

Findings and words with digits are masked first: form letters that differ in name, day and number are alike.

Every word is hashed with the secret key, so that nobody without the key can try words against a signature;
the permutations are seeded with it too. Two signatures agree in as many of their values, on average, as the
two documents share word triples (Jaccard).

Sources: Broder (1997), "On the resemblance and containment of documents"; for the hash functions, of 32 bits
to 32 bits, Dietzfelbinger (1996), "Universal hashing and k-wise independent random variables via integer
arithmetic without primes".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from phiscan.hasher import Hasher
from phiscan.model import Span
from phiscan.store.identity import Key, hasher_of

N_VALUES = 64
MIN_TRIPLES = 20  # of a masked text; with fewer, unlike texts would be alike
MAX_WORDS = 200_000  # of one document; beyond that its beginning speaks for it
_CHUNK = 10_000  # triples hashed at once: 5 MB of memory
_HIGHEST = np.uint64(2**32 - 1)
_KEPT = np.uint64(32)  # bits above these
_WORD = re.compile(r"\w+")
_WITH_DIGIT = re.compile(r"\w*\d[\w.,/:-]*\w|\w*\d\w*")
_VALUE = "_"


def signature(text: str, key: Key, findings: Sequence[Span] = ()) -> bytes:
    """Return the signature of a text: 64 values of 32 bits, little-endian; b"" without words.

    ``findings``: what was found in the text, in any order; all of them count as one and the same word.

    >>> one = signature("the lungs are clear today", b"k" * 32)
    >>> len(one), one == signature("The lungs  are clear, today", b"k" * 32), signature("...", b"k" * 32)
    (256, True, b'')
    """
    hasher = hasher_of(key)
    masked = without_values(text, findings)
    triples = np.unique(_triples(_hashed_words(masked, hasher)))
    if len(triples) < MIN_TRIPLES and masked != text:
        triples = np.unique(_triples(_hashed_words(text, hasher)))  # a text of little else but values
    if not len(triples) or not _WORD.search(text):
        return b""
    factors, offsets = _permutations(hasher.seed())
    values = np.full(N_VALUES, _HIGHEST, dtype=np.uint64)
    for start in range(0, len(triples), _CHUNK):
        part = triples[start : start + _CHUNK, None]
        values = np.minimum(values, ((part * factors + offsets) >> _KEPT).min(axis=0))
    return values.astype("<u4").tobytes()


def without_values(text: str, findings: Sequence[Span]) -> str:
    """Return a text with a word in place of each finding and of each word with a digit.

    >>> without_values("Re: Ann Roe, room 4b", [Span(4, 11)])
    'Re:  _ , room _'
    """
    parts, at = [], 0
    for span in sorted(findings, key=lambda one: (one.start, one.end)):
        if span.end <= at:
            continue
        parts += [text[at : max(at, span.start)], f" {_VALUE} "]
        at = span.end
    parts.append(text[at:])
    return _WITH_DIGIT.sub(_VALUE, "".join(parts))


def _hashed_words(text: str, hasher: Hasher) -> NDArray[np.uint64]:
    """Return a keyed 64-bit hash of each word, its case folded, in text order."""
    words = list(islice((match[0] for match in _WORD.finditer(text)), MAX_WORDS))
    distinct = list(dict.fromkeys(words))
    digests = hasher.words([word.casefold().encode("utf-8", "surrogatepass") for word in distinct])
    hashed = {word: int.from_bytes(digest, "little") for word, digest in zip(distinct, digests, strict=True)}
    return np.array([hashed[word] for word in words], dtype=np.uint64)


def _triples(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return 32 bits of each three words that follow each other; of a shorter text, of all its words."""
    factors = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)  # odd: no bit is lost
    n = max(1, len(words) - len(factors) + 1)
    mixed = np.zeros(n, dtype=np.uint64)
    for place, factor in enumerate(factors):
        part = words[place : place + n]
        mixed[: len(part)] += part * np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
    return mixed >> np.uint64(32)


@lru_cache(maxsize=4)
def _permutations(seed: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return factors and offsets modulo 2^64 of the hash functions; the high 32 bits of each sum count."""
    factors, offsets = np.random.default_rng(seed).integers(0, 2**64, (2, N_VALUES), dtype=np.uint64)
    return factors, offsets
