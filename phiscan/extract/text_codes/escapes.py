r"""Characters by their codes: percent-encoding, ``\x4c``, ``\u004c``, ``\114``, ``&#76;``, ``=4C``.

Each finder yields the runs of one code, in time linear in the text; a run ends at a blank or a quote.
Source: RFC 3986 (percent-encoding), RFC 2045 (quoted-printable), HL7 v2.5.1 2.7.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_to_bytes

import re2

from phiscan.extract.core.charset import decode
from phiscan.extract.core.prose import words_of
from phiscan.extract.transport.decoding import from_quoted_printable
from phiscan.extract.transport.header_words import decode_words

# One run of coded text: its offsets in the bytes that hold it, and the decoded bytes.

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
    """Half-open byte offsets of a run, its code, the decoded bytes, and the name that they are given."""

    start: int
    end: int
    code: str
    data: bytes = field(repr=False)
    name: str = ""
    is_document: bool = True  # False for keys and signatures


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


_PERCENT_CODES = rb"(?:%[0-9A-Fa-fu][0-9A-Fa-f][^\s\"'<>`|()\[\]{}%]*)"
_PERCENT = re2.compile(rb"[^\s\"'<>`|()\[\]{},%%]*%b{2,}" % _PERCENT_CODES)
_BLANK_IN_VALUE = rb"=[\w.%-]*[A-Za-z](?:\+|%20)[A-Za-z]"
_HAS_BLANK_IN_VALUE = re2.compile(_BLANK_IN_VALUE)
_WIDE_PERCENT = re.compile(rb"%u([0-9A-Fa-f]{4})")
_FIELD = rb"[\w.%-]{1,80}=[\w.%+@:-]{0,400}"
# Two fields of a form; after the sign that begins a query or a fragment one is enough.
_FORM = re.compile(
    rb"(?:(?<=[?#])(?:%b[&;]){0,200}|(?<![\w&=%%.+-])(?:%b&){1,200})%b" % (_FIELD, _FIELD, _FIELD)
)
_BLANK_IN_FORM = re.compile(rb"[A-Za-z](?:\+|%20)[A-Za-z]")
_ANY_ESCAPE = rb"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[0-3][0-7]{2}\\|X[0-9A-F]{4})"
_HAS_ESCAPE = re2.compile(_ANY_ESCAPE)
_HEX_ESCAPES = re.compile(rb"(?:\\x[0-9A-Fa-f]{2}[\w .,:;/@()-]{0,3}){6,}")
_HEX_ESCAPE = re.compile(rb"\\x([0-9A-Fa-f]{2})")
_WIDE_ESCAPES = re.compile(
    rb"\\u[0-9A-Fa-f]{4}[\w .,:;/@()-]{0,80}"
    rb"(?:\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})[\w .,:;/@()-]{0,80})*"
)
_TO_LAST_STOP = re.compile(rb".*[\s\"'\\]", re.DOTALL)
_MOST_BEFORE = 80
_LETTER_ESCAPE = re.compile(rb"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))")
_OCTAL_ESCAPES = re.compile(rb"(?:\\[0-3][0-7]{2}[\w .,:;/@()-]{0,3}){4,}")
_OCTAL_ESCAPE = re.compile(rb"\\([0-3][0-7]{2})")
_REFERENCE = rb"&(?:#[0-9]{2,7}|#[xX][0-9A-Fa-f]{2,6}|[a-zA-Z]{1,2}(?:acute|grave|circ|cedil|uml|tilde|lig));"
_REFERENCES = re2.compile(_REFERENCE)
_QUOTED = (
    rb"[A-Za-z0-9,.;:)]=(?:20|0D|0A|09|2[1-9A-F]|3[ABDF]|C[2-9A-F]=[89AB][0-9A-F]|E[0-9A-F])"
    rb"(?:[A-Za-z=]|\r?\n|$)|[a-z]=\r?\n[a-z]"
)
_QUOTEDS = re2.compile(_QUOTED)
_MIN_CODES = 2  # in a line
_ENCODED_WORD = rb"=\?[A-Za-z0-9-]{3,20}\?[BbQq]\?[^?\s]+\?="
_ENCODED_WORDS = re2.compile(_ENCODED_WORD)
_QUERY = re.compile(rb"[?&][\w.%-]+=")
_MOST_LINE, _MOST_LINES = 4000, 200  # bytes of a line, lines of a paragraph
_HL7 = re.compile(rb"\\X((?:[0-9A-F]{2}){2,})\\")
_ROUNDS = 3  # a code within itself: %2520


def percent_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield percent-encoded words and query strings; the fields of a query come as ``name: value``."""
    for match in _PERCENT.finditer(text) if b"%" in text else ():
        found = match.group()
        for _ in range(_ROUNDS if b"%" in found else 0):
            found = unquote_to_bytes(found)
        if b"%u" in found:
            found = _WIDE_PERCENT.sub(_letter, found)
        yield CodedRun(match.start(), match.end(), "percent-encoding", _fields(found))


def form_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield the fields of a form or query with one percent sign or none, its blanks written as plus signs."""
    if b"=" in text and _HAS_BLANK_IN_VALUE.search(text):
        for match in _FORM.finditer(text):
            if _BLANK_IN_FORM.search(match.group()) and match.group().count(b"%") <= 1:
                yield CodedRun(*match.span(), "form encoding", _fields(unquote_to_bytes(match.group())))


def _fields(query: bytes) -> bytes:
    """Return the fields of a query string on one line; a text without fields as it is."""
    head, mark, rest = query.partition(b"?" if b"?" in query else b"#")
    fields = rest if mark and b"=" in rest else query
    if b"=" not in fields:
        return query
    parts = [part.partition(b"=") for part in re.split(rb"&(?:amp;)?|;", fields) if part]
    lines = [b"%s: %s" % (key, value.replace(b"+", b" ")) if value else key for key, _, value in parts]
    return (head + b" " if mark and fields is rest else b"") + b" | ".join(lines)


def escape_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield runs of backslash escapes as programs write them."""
    if b"\\" not in text or not _HAS_ESCAPE.search(text):
        return
    if b"\\x" in text:
        for match in _HEX_ESCAPES.finditer(text):
            plain = _HEX_ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), match.group())
            yield CodedRun(*match.span(), "escapes", plain)
    if b"\\u" in text:
        yield from _wide_runs(text)
    for match in _OCTAL_ESCAPES.finditer(text):
        plain = _OCTAL_ESCAPE.sub(lambda found: bytes([int(found[1], 8)]), match.group())
        yield CodedRun(*match.span(), "escapes", plain)
    if b"\\X" in text:
        for match in _HL7.finditer(text):
            yield CodedRun(*match.span(), "HL7 escapes", bytes.fromhex(match[1].decode("ascii")))


def _wide_runs(text: bytes) -> Iterator[CodedRun]:
    r"""Yield runs of ``\u004c``, each with the word in which it begins."""
    end = 0
    for match in _WIDE_ESCAPES.finditer(text):
        start = max(match.start() - _MOST_BEFORE, end)
        if stop := _TO_LAST_STOP.match(text, start, match.start()):
            start = stop.end()
        end = match.end()
        yield CodedRun(start, end, "escapes", _LETTER_ESCAPE.sub(_letter, text[start:end]))


def _letter(found: re.Match[bytes]) -> bytes:
    return chr(int(found[1] or found[2], 16)).encode("utf-8", "replace")


def reference_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield lines with character references of HTML, in a text that is none."""
    for start, end in _lines_with(_REFERENCES, text, _MIN_CODES) if b"&" in text else ():
        plain = html.unescape(text[start:end].decode("utf-8", "replace")).encode("utf-8", "replace")
        yield CodedRun(start, end, "character references", plain)


def quoted_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield lines with two escapes or more of quoted-printable, with the lines that go on after them."""
    whole, n_least = 0, 1 if b"rintable" in text else _MIN_CODES  # mail that says how it is encoded
    for start, end in _lines_with(_QUOTEDS, text, n_least) if b"=" in text else ():
        # In a paragraph that was decoded, or an address, whose values may begin with two digits.
        if start < whole or _QUERY.search(text, start, end):
            continue
        whole = _end_of_paragraph(text, start, end)
        yield CodedRun(start, whole, "quoted-printable", from_quoted_printable(text[start:whole]))


def encoded_word_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield lines with encoded words of header fields (RFC 2047), in a text that is no mail."""
    for start, end in _lines_with(_ENCODED_WORDS, text, 1) if b"=?" in text else ():
        plain = decode_words(text[start:end].decode("utf-8", "replace"))
        yield CodedRun(start, end, "encoded words", plain.encode("utf-8", "replace"))


def _end_of_paragraph(text: bytes, start: int, end: int) -> int:
    """Return the end of the line on which a paragraph of quoted-printable ends."""
    for _ in range(_MOST_LINES):
        if end >= len(text) or not text[start:end].rstrip().endswith(b"="):
            break
        stop = text.find(b"\n", end + 1, end + _MOST_LINE)
        start, end = end, stop if stop >= 0 else min(end + _MOST_LINE, len(text))
    return end


def _lines_with(pattern: Any, text: bytes, n_least: int) -> Iterator[tuple[int, int]]:
    """Yield the offsets of lines in which a pattern is found often enough; the middle of very long ones."""
    start = end = -1
    n_found = 0
    for match in pattern.finditer(text):
        if match.start() >= end:
            if n_found >= n_least:
                yield start, end
            n_found = 0
            start = max(
                text.rfind(b"\n", end + 1 if end >= 0 else 0, match.start()) + 1,
                match.start() - _MOST_LINE,
                end,
            )
            stop = text.find(b"\n", match.end(), match.end() + _MOST_LINE)
            end = stop if stop >= 0 else min(match.end() + _MOST_LINE, len(text))
        n_found += 1
    if n_found >= n_least:
        yield start, end


CODES = (
    Code(percent_runs, _PERCENT_CODES + rb"%[0-9A-Fa-fu][0-9A-Fa-f]"),
    Code(form_runs, _BLANK_IN_VALUE),
    Code(escape_runs, _ANY_ESCAPE),
    Code(reference_runs, _REFERENCE),
    Code(quoted_runs, _QUOTED),
    Code(encoded_word_runs, _ENCODED_WORD),
)
