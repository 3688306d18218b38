"""Detector C's model: a linear classifier over hashed character n-grams and layout, in numpy alone.

The text is masked first: the hits of patterns, name recognizers and dictionaries are replaced by ``#``,
digits by ``0``, so that C uses only style and layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from numpy.lib.npyio import NpzFile

from phiscan.errors import DAMAGED_ARRAYS, ModelError
from phiscan.health.layout import layout_words
from phiscan.model import Span

N_NGRAMS: Final = 1 << 16
N_LAYOUT: Final = 1 << 10  # separate buckets: a model without them uses n-grams alone
N_BUCKETS: Final = N_NGRAMS + N_LAYOUT
LAYOUT_VALUE: Final = 0.1  # of each layout word; the n-grams together have length 1
SIZES: Final = (3, 5)
PIECE_CHARS: Final = 4000  # a long text is scored in pieces
MAX_PIECES: Final = 24  # at most, evenly spread over the text
_CAP: Final = 0x250
_MASK: Final = ord("#")
_MULTIPLIER: Final = 0x9E3779B1
_FINISH: Final = 0xBF58476D1CE4E5B9

Weights = npt.NDArray[np.float32]


def _plain_table() -> npt.NDArray[np.uint32]:
    """Return the normalised form of each code point: digits as ``0``, ASCII letters in lower case."""
    table = np.arange(_CAP + 1, dtype=np.uint32)
    table[ord("0") : ord("9") + 1] = ord("0")
    table[ord("A") : ord("Z") + 1] += 32
    return table


_PLAIN: Final = _plain_table()
_LOG1P: Final = np.log1p(np.arange(len(SIZES) * PIECE_CHARS + 1)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class TextModel:
    """The weights (one per bucket), the intercept, and the decision threshold in log-odds."""

    weights: Weights = field(repr=False)
    intercept: float
    threshold: float = 0.0
    version: str = "text-1"

    def decide(self, codes: npt.NDArray[np.uint32]) -> float:
        """Return the highest log-odds of any piece of a masked text."""
        return max(map(self.log_odds, pieces(codes)), default=-np.inf)

    def log_odds(self, codes: npt.NDArray[np.uint32]) -> float:
        """Return the log-odds of one piece of a masked text."""
        buckets, values = features(codes)
        return float(self.weights[buckets] @ values) + self.intercept


@contextmanager
def arrays_of(path: Path, what: str) -> Iterator[NpzFile]:
    """Open a file of arrays; damage found now or while arrays are read becomes a one-line ModelError.

    Raises:
        ModelError: names the file, and ``what`` was expected.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            yield file
    except DAMAGED_ARRAYS as error:
        message = f"{path}: cannot be read as {what} ({type(error).__name__}); reinstall phiscan"
        raise ModelError(message) from None


def load_text_model(path: Path) -> TextModel:
    """Read the weights; a model older than the layout features (text-1) gets weights 0 for them.

    Raises:
        ModelError: names the file and what was expected.
    """
    with arrays_of(path, "a text model") as file:
        weights = file["weights"].astype(np.float32)
        intercept, threshold = (float(value) for value in file["constants"])
        version = str(file["version"]) if "version" in file.files else "text-1"
    if weights.shape == (N_NGRAMS,):
        weights = np.concatenate([weights, np.zeros(N_LAYOUT, dtype=np.float32)])
    if weights.shape != (N_BUCKETS,):
        message = f"{path}: weights: expected {N_BUCKETS} numbers"
        raise ModelError(message)
    return TextModel(weights, intercept, threshold, version)


def masked(text: str, spans: Iterable[Span]) -> npt.NDArray[np.uint32]:
    """Return the code points of a text: ``spans`` as ``#``, digits as ``0``, letters in lower case.

    >>> bytes(masked("Age 7: Mr Doe", [Span(10, 13)]).astype("u1")).decode()
    'age 0: mr ###'
    """
    raw = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    codes: npt.NDArray[np.uint32] = _PLAIN[np.minimum(raw, _CAP)]
    for span in spans:
        codes[span.start : span.end] = _MASK
    return codes


def pieces(codes: npt.NDArray[np.uint32]) -> list[npt.NDArray[np.uint32]]:
    """Return pieces of PIECE_CHARS code points, at most MAX_PIECES, evenly spread over the text."""
    starts = range(0, max(len(codes) - PIECE_CHARS // 4, 1), PIECE_CHARS)
    if len(starts) > MAX_PIECES:
        chosen = np.linspace(0, len(starts) - 1, MAX_PIECES).astype(int).tolist()
        return [codes[starts[index] : starts[index] + PIECE_CHARS] for index in chosen]
    return [codes[start : start + PIECE_CHARS] for start in starts]


def features(codes: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.int64], Weights]:
    """Return the buckets of a masked piece and their values.

    First its n-grams as log counts, together of length 1; then its layout words, ``LAYOUT_VALUE`` each.
    """
    buckets, values = _ngrams(codes)
    layout = np.array(
        sorted({N_NGRAMS + _layout_bucket(word) for word in layout_words(codes)}), dtype=np.int64
    )
    return (
        np.concatenate([buckets, layout]),
        np.concatenate([values, np.full(len(layout), LAYOUT_VALUE, dtype=np.float32)]),
    )


def _ngrams(codes: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.int64], Weights]:
    shortened = codes
    if len(codes):
        # A run of masks counts as one, so that the length of a name is no feature.
        drop = codes == _MASK
        drop[1:] &= drop[:-1].copy()
        drop[0] = False
        shortened = codes[~drop]
    wide = shortened.astype(np.uint64)
    parts = [_hashes(wide, size) for size in SIZES if len(wide) >= size]
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    hashes = np.concatenate(parts)
    hashes.sort(kind="stable")  # a radix sort for 16-bit numbers: faster than counting into all buckets
    first = np.empty(len(hashes), dtype=np.bool_)
    first[0] = True
    np.not_equal(hashes[1:], hashes[:-1], out=first[1:])
    at = first.nonzero()[0]
    seen = np.empty(len(at), dtype=np.int64)
    np.subtract(at[1:], at[:-1], out=seen[:-1])
    seen[-1] = len(hashes) - at[-1]
    values = _LOG1P[seen] if len(hashes) < len(_LOG1P) else np.log1p(seen).astype(np.float32)
    values /= np.sqrt(values.dot(values))
    return hashes[at].astype(np.int64), values


def _hashes(wide: npt.NDArray[np.uint64], size: int) -> npt.NDArray[np.uint16]:
    """Return a 16-bit hash of every run of ``size`` characters."""
    n_grams = len(wide) - size + 1
    key = wide[:n_grams] ^ np.uint64(size * _MULTIPLIER)
    for step in range(1, size):
        key *= np.uint64(_MULTIPLIER)
        key ^= wide[step : step + n_grams]
    key *= np.uint64(_FINISH)
    key >>= np.uint64(48)
    return key.astype(np.uint16)


@cache
def _layout_bucket(word: str) -> int:
    """Return the bucket of a layout word: the hash of its characters; there are about a hundred words."""
    wide = np.array([ord(letter) for letter in word], dtype=np.uint64)
    return int(_hashes(wide, len(word))[0]) % N_LAYOUT
