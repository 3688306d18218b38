"""One run of coded text: its offsets in the bytes that hold it, and the decoded bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from phiscan.extract.core.charset import decode
from phiscan.extract.residue.prose import words_of

_SAMPLE_CHARS = _SAMPLE_BYTES = 4096
_ASCII = bytes({*range(0x20, 0x7F), *b"\t\r\n"})
_ASCII_SHARE = 0.85
_BLANK = re.compile(r"[^\W\d_][^\W\d_][,;:.\"]*\s+[\"(]?\w")
_MOST_CUT = 3  # bytes of a character that goes on after the head
_PRINTABLE_SHARE = 0.97
_LETTER_SHARE = 0.6
MIN_WORDS = 2  # fewer are a name of a field or letters by chance


@dataclass(frozen=True, slots=True)
class CodedRun:
    """Half-open byte offsets of a run, the name of the code, and the decoded bytes."""

    start: int
    end: int
    code: str
    data: bytes = field(repr=False)


Finder = Callable[[bytes], Iterator[CodedRun]]


@dataclass(frozen=True, slots=True)
class Code:
    """A finder of coded runs, and a pattern in RE2 syntax: a text that does not match it is not searched."""

    find: Finder
    hint: bytes


def readable(data: bytes) -> str:
    r"""Return decoded bytes as text; nothing unless they are printable and hold two words or more.

    Bytes of one code page above ASCII are text only where most of them are ASCII: any bytes spell something.

    >>> readable(b"Lena Okafor, MRN 40718823"), readable(b"\x93a\x1f\x07ng\xee"), readable(b"width 20")
    ('Lena Okafor, MRN 40718823', '', '')
    """
    if not is_plain(data[:_SAMPLE_BYTES]):
        return ""
    text = decode(data)[0].strip("\0 ") if data else ""
    sample = text[:_SAMPLE_CHARS]
    n_printable = sum(map(str.isprintable, sample)) + sum(map(sample.count, "\t\r\n\f"))
    n_letters = sum(map(str.isalpha, sample)) + sum(map(sample.count, " \n"))
    if n_printable < max(_PRINTABLE_SHARE * len(sample), 1) or n_letters < _LETTER_SHARE * len(sample):
        return ""
    if not _BLANK.search(sample) and sample.isascii():
        return ""
    return text if len(words_of(sample)) >= MIN_WORDS or _is_other_script(sample) else ""


def is_plain(head: bytes) -> bool:
    """Tell the first bytes of a text: ASCII for the most part, UTF-8, or UTF-16."""
    n_ascii = len(head) - len(head.translate(None, _ASCII))
    return n_ascii >= _ASCII_SHARE * len(head) or _is_wide(head) or _is_utf8(head)


def _is_wide(head: bytes) -> bool:
    """Tell UTF-16 of a Latin text: every second byte is NUL."""
    n_nul = head.count(0)
    return 3 * n_nul > len(head) and max(head[::2].count(0), head[1::2].count(0)) >= n_nul * _ASCII_SHARE


def _is_utf8(head: bytes) -> bool:
    try:
        return bool(head.decode("utf-8"))
    except UnicodeDecodeError as error:
        return error.start >= max(len(head) - _MOST_CUT, 1)  # it may be cut within a character


def _is_other_script(sample: str) -> bool:
    """Tell a text whose words are not set apart by blanks, or are few: Chinese, Japanese."""
    return sum(char.isalpha() and char >= "\u0370" for char in sample) >= MIN_WORDS
