"""A document's signature, by which near-duplicates are found: MinHash over its word triples, keyed.

Every word is hashed with the secret key, so that nobody without the key can try words against a signature;
the permutations are seeded with it too. Two signatures agree in as many of their values, on average, as the
two documents share word triples (Jaccard).

Source: Broder (1997), "On the resemblance and containment of documents"; Broder et al. (2000), "Min-wise
independent permutations".
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from phiscan.hasher import Hasher
from phiscan.store.identity import Key, hasher_of

N_VALUES = 64
MAX_WORDS = 200_000  # of one document; beyond that its beginning speaks for it
_CHUNK = 20_000  # triples permuted at once: 5 MB of memory
_WORD = re.compile(r"\w+")


def signature(text: str, key: Key) -> bytes:
    """Return the signature of a text: 64 values of 32 bits, little-endian; b"" without words.

    >>> one = signature("the lungs are clear today", b"k" * 32)
    >>> len(one), one == signature("The lungs  are clear, today", b"k" * 32), signature("...", b"k" * 32)
    (256, True, b'')
    """
    from datasketch import MinHash  # noqa: PLC0415 (brings scipy.integrate: a second that only workers spend)

    hasher = hasher_of(key)
    words = _hashed_words(text, hasher)
    if not len(words):
        return b""
    triples = np.unique(_triples(words))
    seed = hasher.seed()
    sketch = MinHash(
        num_perm=N_VALUES, seed=seed, hashfunc=int, permutations=_permutations(seed), scheme="affine32"
    )
    for start in range(0, len(triples), _CHUNK):
        sketch.update_batch(triples[start : start + _CHUNK].tolist())
    values: bytes = sketch.hashvalues.astype("<u4").tobytes()
    return values


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
def _permutations(seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the permutations of a seed; making them takes longer than a short text does."""
    from datasketch import MinHash  # noqa: PLC0415 (see above)

    made: tuple[NDArray[np.uint32], NDArray[np.uint32]] = MinHash(
        num_perm=N_VALUES, seed=seed, scheme="affine32"
    ).permutations
    return made
