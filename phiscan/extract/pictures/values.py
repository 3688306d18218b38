"""Bytes of a picture's metadata to text: declared and undeclared encodings, compressed payloads, runs.

EXIF 2.x writes UTF-16 of either byte order under the name UNICODE and EXIF 3 writes UTF-8 there; cameras and
programs ignore both. So candidates are compared by the characters that they give.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import suppress

import re2

from phiscan.extract.core.charset import decode
from phiscan.extract.residue.prose import words_of

MOST_INFLATED = 1024**2  # bytes of one payload
_MARK_BYTES = 8  # the code name before an EXIF comment
_READABLE_SHARE = 0.9
_SAMPLE = 2000  # characters that are judged
_ODD = re.compile(r"[^\w\s.,;:!?'\"()\[\]{}/\\&%@+#*=<>|$-]|[\x7f-\x9f]")
_ODD_SHARE = 0.04
_MIN_SIGNS = 4  # letters and digits of a text in a block of unknown content
_ZLIB = re.compile(rb"[\x08-\x78][\x01\x5e\x9c\xda]|\x1f\x8b\x08")
_PAYLOAD_WITHIN = 256  # bytes of a block within which a compressed payload begins
_MOST_STARTS = 16
_RUN = re2.compile(rb"[\x20-\x7e\xc0-\xff]{8,200}")
_WIDE_RUN = re2.compile(rb"(?:[\x20-\x7e\xc0-\xff]\x00){8,200}")
_MOST_RUNS = 200
_PROSE_SIGNS = re.compile(r"[\w .,:;'/()-]+")
_NUMBER = re.compile(r"\d{5,}")
_BAD, _COMMON, _OTHER = -3.0, 1.0, 0.6  # of one character


def readable(text: str) -> bool:
    """Return whether nearly all characters are printable and some are letters or digits."""
    sample = text[:_SAMPLE]
    n_good = sum(char.isprintable() or char in "\r\n\t" for char in sample)
    return n_good >= _READABLE_SHARE * len(sample) and any(char.isalnum() for char in sample)


def text_of(data: bytes) -> str:
    """Return bytes as text, without padding; empty when they are none in any usual encoding."""
    data = data.lstrip(b"\0") if not data.startswith(b"\0\0\xfe\xff") else data
    if not data.strip(b"\0 "):
        return ""
    is_wide = data[1::2].count(0) > len(data) // 4 or data[::2].count(0) > len(data) // 4
    text = decode(data if is_wide else data.rstrip(b"\0"))[0].strip("\0 \t\r\n\ufeff")
    return text if readable(text) else ""


def comment_text(raw: bytes) -> str:
    r"""Return an EXIF comment: eight bytes with the name of its code, then the text.

    >>> comment_text(b"UNICODE\0" + "Ann Roy".encode("utf-16-be"))
    'Ann Roy'
    """
    mark, text = raw[:_MARK_BYTES].rstrip(b"\0 ").upper(), raw[_MARK_BYTES:]
    if mark == b"UNICODE":
        return best_decoded(text, ("utf-8", "utf-16-le", "utf-16-be"))
    if mark == b"JIS":
        escaped = b"" if b"\x1b" in text else b"\x1b$B"
        return best_decoded(escaped + text.rstrip(b"\0"), ("iso2022_jp",)) or text_of(text)
    if mark in (b"ASCII", b""):
        return text_of(text)
    return text_of(raw)


def best_decoded(data: bytes, encodings: tuple[str, ...]) -> str:
    """Return the text in the encoding that gives the most usual characters; empty when none can be right."""
    found = []
    for encoding in ("utf-16", *encodings) if data.startswith((b"\xfe\xff", b"\xff\xfe")) else encodings:
        even = data[: len(data) // 2 * 2] if encoding.startswith("utf-16") else data.rstrip(b"\0")
        with suppress(UnicodeDecodeError):
            text = even.decode(encoding).strip("\0 \t\r\n\ufeff")
            if text:
                found.append((_usualness(text), text))
    best = max(found, default=(_BAD, ""))
    return best[1] if best[0] > 0 else ""


def _usualness(text: str) -> float:
    """Return the mean score of the characters, less a part for each Unicode block among them."""
    sample = text[:_SAMPLE]
    score = 0.0
    for char in sample:
        if char.isascii():
            score += _COMMON if char.isprintable() or char in "\r\n\t" else _BAD
        else:
            category = unicodedata.category(char)[0]
            score += _OTHER if category in "LMNPZ" else 0.0 if category == "S" else _BAD
    blocks = {ord(char) >> 8 for char in sample}
    return score / len(sample) - (len(blocks) - 1) / (2 * len(sample))


def payload_texts(data: bytes) -> Iterator[str]:
    """Yield the texts of zlib, gzip and deflate payloads that begin near the start of a block."""
    starts = [match.start() for match in _ZLIB.finditer(data[:_PAYLOAD_WITHIN])][:_MOST_STARTS]
    for start, window in (*((at, zlib.MAX_WBITS | 32) for at in starts), (0, -zlib.MAX_WBITS)):
        with suppress(zlib.error, gzip.BadGzipFile):
            text = text_of(zlib.decompressobj(window).decompress(data[start:], MOST_INFLATED))
            if _is_prose(text):
                yield text
                return


def block_texts(data: bytes) -> Iterator[str]:
    """Yield the texts of a block of unknown content: the whole, a compressed payload, or runs of words."""
    found = list(payload_texts(data))
    text = "" if found else text_of(data)
    if _is_prose(text):
        yield text
    else:
        yield from found or run_texts(data)


def _is_prose(text: str) -> bool:
    """Return whether a text of unknown origin has hardly any sign that a person would not write."""
    sample = text[:_SAMPLE]
    n_odd = len(_ODD.findall(sample))
    return n_odd <= _ODD_SHARE * len(sample) and sum(map(str.isalnum, sample)) >= _MIN_SIGNS


def run_texts(data: bytes) -> Iterator[str]:
    """Yield runs of printable characters in binary data that hold two words, or a word and a long number."""
    n_runs = 0
    for pattern, encoding in ((_RUN, "cp1252"), (_WIDE_RUN, "utf-16-le")):
        for match in pattern.finditer(data):
            n_runs += 1
            if n_runs > _MOST_RUNS:
                return
            text = match.group().decode(encoding, "replace").strip()
            n_words = len(words_of(text))
            if _PROSE_SIGNS.fullmatch(text) and n_words + bool(_NUMBER.search(text)) > 1 <= n_words:
                yield text
