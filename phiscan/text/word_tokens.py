"""Text to word tokens as arrays: where each word is, and the hash of its folded form.

A Python loop over words reads about 3 MB/s; here every step is one numpy operation over a whole chunk. A
word is a run of letters and digits (Latin script, accents dropped, case dropped). Its hash is the
difference of two prefix sums of a polynomial over the characters, so that cutting a plural ending only
moves an end: inflection is folded without making any string.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from phiscan.text.intervals import chunks

CHUNK_CHARS: Final = 1 << 17  # small enough that the arrays of one chunk stay in the processor's cache
_LIMIT: Final = 0x2020  # code points from here on separate words (but for nothing that we list)
_BASE: Final = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2**64
# No phrase goes on after these; control characters stand between words of binary data.
_BREAKS: Final = ';:|!?()[]{}\t,"^~=<>*$@%\\`\u2022' + "".join(map(chr, {*range(32), 127} - {10, 13}))
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
_ASCII_FOLD = _FOLD[:256].tobytes()
_S, _STOP, _NEWLINE = ord("s"), ord("."), ord("\n")
_BEFORE_PLURAL = ~_class_table("sui")[:256]  # of folded characters: after these an s is no plural's
_DROPPED = _class_table("ey")[:256]

Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a text in which no word is cut, and its words."""

    offset: int
    n_chars: int
    tokens: Tokens


def tokenized(text: str) -> tuple[Chunk, ...]:
    """Return the words of a text, chunk by chunk.

    >>> [len(chunk.tokens.starts) for chunk in tokenized("one two")]
    [2]
    """
    return tuple(
        Chunk(offset, len(part), tokenize(part, offset)) for offset, part in chunks(text, CHUNK_CHARS)
    )


def codes_of(text: str) -> Codes:
    """Return the code points of a text."""
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def fold_codes(text: str) -> tuple[Codes, npt.NDArray[np.uint8]]:
    """Return the code points of a text, and each folded to lower-case ASCII; 0 = not part of a word."""
    if text.isascii():
        raw = text.encode("ascii")
        return np.frombuffer(raw, dtype=np.uint8), np.frombuffer(raw.translate(_ASCII_FOLD), dtype=np.uint8)
    codes = codes_of(text)
    return codes, _FOLD.take(codes, mode="clip")


def tokenize(text: str, offset: int = 0) -> Tokens:
    """Find the words of one chunk (at most CHUNK_CHARS code points); ``offset`` is added to positions.

    >>> tokens = tokenize("Allergies: allergy")
    >>> bool(tokens.hashes[0] == tokens.hashes[1]), bool(tokens.joined[0])
    (True, False)
    """
    codes, folded = fold_codes(text)
    inside = np.zeros(len(folded) + 2, dtype=np.bool_)
    np.not_equal(folded, 0, out=inside[1:-1])
    edges = (inside[1:] != inside[:-1]).nonzero()[0]
    starts, ends = edges[::2], edges[1::2]
    lengths = ends - starts
    possessive = _possessives(codes, folded, starts, lengths)
    if possessive:
        starts, ends, lengths = (np.delete(part, possessive) for part in (starts, ends, lengths))
    sums = np.zeros(len(folded) + 1, dtype=np.uint64)
    np.cumsum(folded * _POWERS[: len(folded)], out=sums[1:])
    hashes = sums[_folded_ends(folded, starts, ends, lengths)]
    hashes -= sums[starts]
    hashes *= _INVERSES[starts]
    hashes ^= hashes >> np.uint64(29)
    hashes *= np.uint64(0xBF58476D1CE4E5B9)
    hashes ^= hashes >> np.uint64(32)
    joined = _joined(codes, starts, ends)
    return Tokens(starts + offset, ends + offset, hashes, joined)


def _possessives(codes: Codes, folded: npt.NDArray[np.uint8], starts: Offsets, lengths: Offsets) -> list[int]:
    """Return which words are the s after an apostrophe."""
    single = (lengths == 1).nonzero()[0]
    at = starts[single]
    return [
        index
        for index, place in zip(single[folded[at] == _S].tolist(), at[folded[at] == _S].tolist(), strict=True)
        if place and codes[place - 1] in _APOSTROPHES
    ]


def _folded_ends(folded: npt.NDArray[np.uint8], starts: Offsets, ends: Offsets, lengths: Offsets) -> Offsets:
    """Return where each word ends without its inflection: -s, -es, -ies and -y, -e in both languages."""
    cut = ends.copy()
    long = (lengths >= _MIN_PLURAL).nonzero()[0]
    at = ends[long]
    at -= (folded[at - 1] == _S) & _BEFORE_PLURAL[folded[at - 2]]
    last = folded[at - 1]
    dropped = _DROPPED[last] & (at - starts[long] > _MIN_PLURAL)
    at -= dropped
    at -= dropped & (last == ord("e")) & (folded[at - 1] == ord("i"))
    cut[long] = at
    return cut


def _joined(codes: Codes, starts: Offsets, ends: Offsets) -> npt.NDArray[np.bool_]:
    joined = np.zeros(len(starts), dtype=np.bool_)
    if len(starts) <= 1:
        return joined
    left = ends[:-1]
    gap = starts[1:] - left
    # One character between: any but a break. More: no break and no sentence end among the first ones.
    ok = joined[:-1]
    np.logical_not(_BREAK.take(codes[left], mode="clip"), out=ok)
    ok &= gap <= _MAX_GAP
    wide = ((gap > 1) & ok).nonzero()[0]
    if len(wide):
        at = left[wide]
        first, second, third = (codes[at], codes[at + 1], codes[at + 2])
        stop = (first == _STOP) & _SPACE.take(second, mode="clip")
        stop |= (second == _STOP) & _SPACE.take(third, mode="clip")
        stop |= (first == _NEWLINE) & (second == _NEWLINE)
        stop |= _BREAK.take(second, mode="clip")
        ok[wide] = ~stop
    return joined
