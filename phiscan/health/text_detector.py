"""Detector C's model: a linear classifier over hashed character n-grams and layout, in numpy alone.

The text is masked first: the hits of patterns, name recognizers and dictionaries are replaced by ``#``,
digits by ``0``, so that C uses only style and layout.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
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

# Of the lines of a text, each feature of whose layout is a word such as ``labels:3``.
LABEL_CHARS: Final = 30  # a line with a colon within this many characters is a labelled line
MIN_CELLS: Final = 3  # separators in a line that make it a row of a table
SHARES: Final = (0.001, 0.05, 0.15, 0.35, 0.65)  # bin limits of shares
LENGTHS: Final = (16, 40, 64, 100, 200, 600)  # bin limits of line lengths, in characters
N_LINES: Final = (2, 4, 8, 16, 40, 100)
HEADERS: Final = (b"from:", b"to:", b"subject:", b"date:", b"cc:", b"de :", b"objet :", b"de:", b"objet:")
_SEPARATORS: Final = b"|;,\t^"
_AS_COMMAS: Final = bytes.maketrans(_SEPARATORS, b"," * len(_SEPARATORS))
_BULLETS: Final = b"-*>+"
_STOPS: Final = b".!?"
_GAP: Final = b"   "  # inside a line: the space between two columns

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

    def decide(self, codes: npt.NDArray[np.uint32]) -> float:
        """Return the highest log-odds of any piece of a masked text."""
        return max(map(self.log_odds, pieces(codes)), default=-np.inf)

    def log_odds(self, codes: npt.NDArray[np.uint32]) -> float:
        """Return the log-odds of one piece of a masked text."""
        buckets, values = features(codes)
        return float(self.weights[buckets] @ values) + self.intercept


@dataclass(frozen=True, slots=True)
class TextScores:
    """Log-odds by the text detector; those of a passage are computed on first use and cached."""

    model: TextModel = field(repr=False)
    codes: npt.NDArray[np.uint32] = field(repr=False)  # of the masked text
    document: float  # of the whole text
    _by_passage: dict[tuple[int, int], float] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, model: TextModel, codes: npt.NDArray[np.uint32]) -> TextScores:
        """Return the scores of a masked text."""
        return cls(model, codes, model.decide(codes))

    def passage(self, start: int, end: int) -> float:
        """Return the log-odds of ``[start, end)`` as a text by itself."""
        if (start, end) not in self._by_passage:
            self._by_passage[start, end] = self.model.log_odds(self.codes[start:end])
        return self._by_passage[start, end]


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
        raise ModelError(
            path, f"cannot be read as {what} ({type(error).__name__}); reinstall phiscan"
        ) from None


def load_text_model(path: Path) -> TextModel:
    """Read the weights.

    Raises:
        ModelError: names the file and what was expected.
    """
    with arrays_of(path, "a text model") as file:
        weights = file["weights"].astype(np.float32)
        intercept, threshold = (float(value) for value in file["constants"])
    if weights.shape != (N_BUCKETS,):
        raise ModelError(path, f"weights: expected {N_BUCKETS} numbers")
    return TextModel(weights, intercept, threshold)


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


def layout_words(codes: npt.NDArray[np.uint32]) -> tuple[str, ...]:
    r"""Return the layout features of the lines of a masked text, each as ``name:level``.

    A piece has at most a few hundred lines: methods of ``bytes`` are faster than building arrays.

    >>> def words(text): return layout_words(np.frombuffer(text.encode("utf-32-le"), dtype="<u4"))
    >>> "labels:5" in words("name: ###\nborn: 0000\n"), "labels:0" in words("a walk.\nin the park.")
    (True, True)
    """
    raw = np.minimum(codes, 0xFF).astype(np.uint8).tobytes()
    lines = [line for line in raw.split(b"\n") if line]
    if not lines:
        return ()
    lengths = sorted([len(line) for line in lines])
    n_lines, n_chars = len(lines), len(raw)
    firsts, lasts = bytes([line[0] for line in lines]), bytes([line[-1] for line in lines])
    n_separators = _count(raw, _SEPARATORS)
    n_labels = sum([b":" in line[:LABEL_CHARS] for line in lines]) if b":" in raw else 0
    n_rows = sum([line.count(b",") >= MIN_CELLS for line in raw.translate(_AS_COMMAS).split(b"\n")])
    n_columns = sum([_GAP in line.lstrip(b" ") for line in lines]) if _GAP in raw else 0
    shares = {
        "labels": n_labels / n_lines,
        "rows": n_rows / n_lines,
        "columns": n_columns / n_lines,
        "bullets": _count(firsts, _BULLETS) / n_lines,
        "numbered": firsts.count(b"0") / n_lines,
        "indented": firsts.count(b" ") / n_lines,
        "sentences": _count(lasts, _STOPS) / n_lines,
        "headers": sum([line.startswith(HEADERS) for line in lines]) / n_lines,
        "short": bisect_left(lengths, LENGTHS[1]) / n_lines,
        "digits": raw.count(b"0") / n_chars * 2,
        "marks": n_separators / n_chars * 5,
    }
    found = [f"{name}:{bisect_right(SHARES, share)}" for name, share in shares.items()]
    median = (lengths[(n_lines - 1) // 2] + lengths[n_lines // 2]) / 2
    found.append(f"length:{bisect_right(LENGTHS, median)}")
    found.append(f"longest:{bisect_right(LENGTHS, lengths[-1])}")
    found.append(f"lines:{bisect_right(N_LINES, n_lines)}")
    return tuple(found)


def _count(raw: bytes, characters: bytes) -> int:
    """Return the number of bytes that are in ``characters``."""
    return len(raw) - len(raw.translate(None, characters))
