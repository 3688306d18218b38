"""Text to word tokens as arrays: where each word is, and the hash of its folded form.

A Python loop over words reads about 3 MB/s; here every step is one numpy operation over a whole chunk. A
word is a run of letters and digits (Latin script, accents dropped, case dropped). Its hash is the
difference of two prefix sums of a polynomial over the characters, so that cutting a plural ending only
moves an end: inflection is folded without making any string.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

CHUNK_CHARS: Final = 1 << 17  # small enough that the arrays of one chunk stay in the processor's cache
_LIMIT: Final = 0x2020  # code points from here on separate words (but for nothing that we list)
_BASE: Final = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2**64
_BREAKS: Final = ';:|!?()[]{}\t,"^~=<>*\u2022\x0b\x0c'
_APOSTROPHES: Final = (0x27, 0x2019)
_MIN_PLURAL: Final = 4  # shorter words keep their ending
_MAX_GAP: Final = 4  # two words further apart are no phrase

Hashes = npt.NDArray[np.uint64]
Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The words of one chunk; every array has one element per word, in text order."""

    starts: Offsets  # code points, in the whole text
    ends: Offsets
    hashes: Hashes  # of the folded word
    joined: npt.NDArray[np.bool_]  # whether nothing but space, hyphen or apostrophe parts it from the next


def _fold_table() -> npt.NDArray[np.uint8]:
    table = np.zeros(_LIMIT + 1, dtype=np.uint8)
    for code in range(_LIMIT):
        character = chr(code)
        if not character.isalnum():
            continue
        base = unicodedata.normalize("NFKD", character)[0].lower()
        base = {"œ": "o", "æ": "a", "ø": "o", "ß": "s"}.get(base, base)
        table[code] = ord(base) if base.isascii() and base.isalnum() else 0xFF
    return table


def _class_table(characters: str) -> npt.NDArray[np.bool_]:
    table = np.zeros(_LIMIT + 1, dtype=np.bool_)
    for character in characters:
        table[min(ord(character), _LIMIT)] = True
    return table


def _powers(base: int) -> Hashes:
    """Return base**0, base**1, ... modulo 2**64, one for each character of a chunk."""
    powers = np.full(CHUNK_CHARS + 1, base, dtype=np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)


_FOLD = _fold_table()
_BREAK = _class_table(_BREAKS)
_SPACE = _class_table(" \n\r\t")
_POWERS = _powers(_BASE)
_INVERSES = _powers(pow(_BASE, -1, 1 << 64))


def fold_codes(text: str) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
    """Return the code points of a text, and each folded to lower-case ASCII; 0 = not part of a word."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(
        np.uint32, copy=False
    )
    codes = np.minimum(codes, _LIMIT)
    return codes, _FOLD[codes]


def chunks(text: str) -> Iterator[tuple[int, str]]:
    """Cut a text where no word is cut; yields (offset, chunk).

    >>> [(at, len(part)) for at, part in chunks("one two")]
    [(0, 7)]
    """
    start = 0
    while start < len(text):
        end = min(start + CHUNK_CHARS, len(text))
        if end < len(text):
            space = max(text.rfind(" ", start + 1, end), text.rfind("\n", start + 1, end))
            end = space if space > start + CHUNK_CHARS // 2 else end
        yield start, text[start:end]
        start = end


def tokenize(text: str, offset: int = 0) -> Tokens:
    """Find the words of one chunk (at most CHUNK_CHARS code points); ``offset`` is added to positions.

    >>> tokens = tokenize("Allergies: allergy")
    >>> bool(tokens.hashes[0] == tokens.hashes[1]), bool(tokens.joined[0])
    (True, False)
    """
    codes, folded = fold_codes(text)
    inside = np.zeros(len(folded) + 2, dtype=np.bool_)
    inside[1:-1] = folded != 0
    edges = (inside[1:] != inside[:-1]).nonzero()[0]
    starts, ends = edges[::2], edges[1::2]
    possessive = _possessive(codes, folded, starts, ends)
    if possessive.any():
        starts, ends = starts[~possessive], ends[~possessive]
    sums = np.zeros(len(codes) + 1, dtype=np.uint64)
    np.cumsum(folded * _POWERS[: len(codes)], out=sums[1:])
    cut = _folded_ends(folded, starts, ends)
    hashes = (sums[cut] - sums[starts]) * _INVERSES[starts]
    hashes ^= hashes >> np.uint64(29)
    hashes *= np.uint64(0xBF58476D1CE4E5B9)
    hashes ^= hashes >> np.uint64(32)
    return Tokens(starts + offset, ends + offset, hashes, _joined(codes, starts, ends))


def _possessive(
    codes: npt.NDArray[np.uint32], folded: npt.NDArray[np.uint8], starts: Offsets, ends: Offsets
) -> npt.NDArray[np.bool_]:
    single = (ends - starts == 1) & (starts > 0)
    at = starts[single]
    before = codes[at - 1]
    found: npt.NDArray[np.bool_] = single.copy()
    found[single] = (folded[at] == ord("s")) & ((before == _APOSTROPHES[0]) | (before == _APOSTROPHES[1]))
    return found


def _folded_ends(folded: npt.NDArray[np.uint8], starts: Offsets, ends: Offsets) -> Offsets:
    """Return where each word ends without its inflection: -s, -es, -ies and -y, -e in both languages."""
    cut = ends.copy()
    long = (ends - starts >= _MIN_PLURAL).nonzero()[0]
    at = ends[long]
    last, before = folded[at - 1], folded[at - 2]
    plural = (last == ord("s")) & (before != ord("s")) & (before != ord("u")) & (before != ord("i"))
    at = at - plural
    longer = at - starts[long] > _MIN_PLURAL
    last = folded[at - 1]
    at = at - (longer & ((last == ord("e")) | (last == ord("y"))))
    ie = longer & (last == ord("e")) & (folded[at - 1] == ord("i"))
    cut[long] = at - ie
    return cut


def _joined(codes: npt.NDArray[np.uint32], starts: Offsets, ends: Offsets) -> npt.NDArray[np.bool_]:
    joined = np.zeros(len(starts), dtype=np.bool_)
    if len(starts) <= 1:
        return joined
    left, right = ends[:-1], starts[1:]
    gap = right - left
    first, second, third = (codes[np.minimum(left + step, len(codes) - 1)] for step in range(3))
    # One character between: any but a break. More: no break and no sentence end among the first ones.
    ok = ~_BREAK[first]
    stop = ((first == ord(".")) & _SPACE[second]) | ((second == ord(".")) & _SPACE[third])
    blank_line = (first == ord("\n")) & (second == ord("\n"))
    ok &= ~((gap > 1) & (stop | _BREAK[second] | blank_line))
    joined[:-1] = ok & (gap <= _MAX_GAP)
    return joined
