"""EBCDIC, the code of mainframes, detected by the byte values of blanks, letters and figures."""

from __future__ import annotations

import re

_LETTERS = frozenset(
    [
        *range(0x81, 0x8A),
        *range(0x91, 0x9A),
        *range(0xA2, 0xAA),
        *range(0xC1, 0xCA),
        *range(0xD1, 0xDA),
        *range(0xE2, 0xEA),
    ]
)
_FIGURES = frozenset(range(0xF0, 0xFA))
_BLANK = 0x40
_BETWEEN = frozenset({_BLANK, 0x15, 0x25, 0x6B, 0x5E, 0x4F, 0x05})  # and line ends, and what is between cells
_USUAL = (
    _LETTERS | _FIGURES | _BETWEEN | {0x4B, 0x61, 0x60, 0x7A, 0x5C, 0x4D, 0x5D, 0x7D, 0x15, 0x25, 0x0D, 0x6D}
)
_MIN_BYTES = 32
_USUAL_SHARE, _LETTER_SHARE, _BLANK_SHARE = 0.85, 0.4, 0.05
EBCDIC_PAGES = ("cp037", "cp500", "cp273", "cp1026")  # they differ in brackets and in letters with accents
_SIGN_WITHIN = re.compile(
    r"[^\W\d_][^\w\s'.,;:/&@()-][^\W\d_]|[a-z][A-ZÀ-Ý]|(?<=[a-z])[¦¬~{}¢](?=[\s.,])|(?<=\s)[¦¬~{}](?=[a-z])"
)


def ebcdic_page(sample: bytes) -> str:
    """Return the EBCDIC code page of a text, or the empty string when it is none.

    >>> ebcdic_page("PATIENT LENA OKAFOR BORN 1951-03-14 MRN 40718823".encode("cp037"))
    'cp037'
    """
    n_bytes = len(sample)
    if n_bytes < _MIN_BYTES or _n_of(_BETWEEN, sample) < _BLANK_SHARE * n_bytes:
        return ""
    if _n_of(_USUAL, sample) < _USUAL_SHARE * n_bytes:
        return ""
    if _n_of(_LETTERS, sample) < _LETTER_SHARE * n_bytes:
        return ""
    texts = {page: sample.decode(page, "replace") for page in EBCDIC_PAGES}
    # Where no page reads it better, the first.
    return min(EBCDIC_PAGES, key=lambda page: len(_SIGN_WITHIN.findall(texts[page])) - _n_pairs(texts[page]))


def _n_of(codes: frozenset[int], sample: bytes) -> int:
    """Return how many bytes of a sample are among the codes."""
    return len(sample) - len(sample.translate(None, bytes(codes)))


def _n_pairs(text: str) -> int:
    """Return the number of square brackets that are closed."""
    return min(text.count("["), text.count("]"))
