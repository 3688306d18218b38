r"""Characters by their codes: percent-encoding, ``\x4c``, ``\u004c``, ``\114``, ``&#76;``, ``=4C``, UTF-7.

Each finder yields the runs of one code, in time linear in the text; a run ends at a blank or a quote.
Source: RFC 3986 (percent-encoding), RFC 2045 (quoted-printable), RFC 2152 (UTF-7), HL7 v2.5.1 2.7.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import unquote_to_bytes

import re2

from phiscan.extract.text_codes.coded_run import Code, CodedRun
from phiscan.extract.transport.decoding import from_quoted_printable

_PERCENT_CODES = rb"(?:%[0-9A-Fa-fu][0-9A-Fa-f][^\s\"'<>`|()\[\]{}%]*)"
_PERCENT = re2.compile(rb"[^\s\"'<>`|()\[\]{},%%]*%b{2,}" % _PERCENT_CODES)
_BLANK_IN_VALUE = rb"=[\w.%-]*[A-Za-z]\+[A-Za-z]"
_HAS_BLANK_IN_VALUE = re2.compile(_BLANK_IN_VALUE)
_WIDE_PERCENT = re.compile(rb"%u([0-9A-Fa-f]{4})")
_FORM = re.compile(
    rb"(?<![\w&=%.+-])(?:[\w.%-]{1,80}=[\w.%+@:-]{0,400}&){1,200}[\w.%-]{1,80}=[\w.%+@:-]{0,400}"
)
_BLANK_IN_FORM = re.compile(rb"[A-Za-z]\+[A-Za-z]")
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
# A word, as a name, of which letters are written so, alone between quotes or signs.
_ESCAPED_WORD = re.compile(
    rb"[A-Za-z'-]{0,40}(?:\\(?:u0[01]|x)[0-9A-Fa-f]{2}[A-Za-z'-]{0,40}){1,12}(?![\\\w])"
)
_LETTER_ESCAPE = re.compile(rb"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))")
_WIDE_LATIN = b"\\u0"
_OCTAL_ESCAPES = re.compile(rb"(?:\\[0-3][0-7]{2}[\w .,:;/@()-]{0,3}){4,}")
_OCTAL_ESCAPE = re.compile(rb"\\([0-3][0-7]{2})")
_REFERENCE = rb"&(?:#[0-9]{2,7}|#[xX][0-9A-Fa-f]{2,6}|[a-zA-Z]{1,2}(?:acute|grave|circ|cedil|uml|tilde|lig));"
_REFERENCES = re2.compile(_REFERENCE)
_MIN_REFERENCES = 2
_QUOTED = (
    rb"[A-Za-z0-9,.;:)]=(?:20|0D|0A|09|2[1-9A-F]|3[ABDF]|C[2-9A-F]=[89AB][0-9A-F]|E[0-9A-F])"
    rb"(?:[A-Za-z=]|\r?\n|$)"
)
_QUOTEDS = re2.compile(_QUOTED)
_MIN_QUOTED = 2
_QUERY = re.compile(rb"[?&][\w.%-]+=")
_MOST_LINE = 4000
_MOST_LINES = 200
_UTF7 = re.compile(rb"(?<![A-Za-z0-9+/])\+([A-Za-z0-9+/]{11,})-?")
_FIRST_UTF7 = b"+A"  # a character of Latin-1 begins with zeros
_CJK = range(0x2E80, 0xA000)
_MOST_SCRIPTS = 2  # of one run; random digits have many
_HL7 = re.compile(rb"\\X((?:[0-9A-F]{2}){2,})\\")
ESCAPED_WORD = "escaped word"
_LEAST_LETTERS = 3
_ROUNDS = 3  # a code within itself: %2520


def percent_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield percent-encoded words and query strings; the fields of a query come as ``name: value``."""
    for match in _PERCENT.finditer(text) if b"%" in text else ():
        found = match.group()
        for _ in range(_ROUNDS):
            if b"%" not in found:
                break
            found = unquote_to_bytes(found)
        if b"%u" in found:
            found = _WIDE_PERCENT.sub(_wide, found)
        yield CodedRun(match.start(), match.end(), "percent-encoding", _fields(found))


def form_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield the fields of a form that has no percent sign, its blanks written as plus signs."""
    if b"&" in text and b"+" in text and _HAS_BLANK_IN_VALUE.search(text):
        for match in _FORM.finditer(text):
            if _BLANK_IN_FORM.search(match.group()) and b"%" not in match.group():
                yield CodedRun(match.start(), match.end(), "form encoding", _fields(match.group()))


def _fields(query: bytes) -> bytes:
    """Return the fields of a query string on one line; a text without fields as it is."""
    head, mark, rest = query.partition(b"?")
    fields = rest if mark and b"=" in rest else query
    if b"=" not in fields:
        return query
    parts = [part.partition(b"=") for part in re.split(rb"[&;]", fields) if part]
    lines = [b"%s: %s" % (key, value.replace(b"+", b" ")) if value else key for key, _, value in parts]
    return (head + b" " if mark and fields is rest else b"") + b" | ".join(lines)


def escape_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield runs of backslash escapes as programs write them."""
    if b"\\" not in text or not _HAS_ESCAPE.search(text):
        return
    if b"\\x" in text:
        for match in _HEX_ESCAPES.finditer(text):
            plain = _HEX_ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), match.group())
            yield CodedRun(match.start(), match.end(), "escapes", plain)
    if b"\\u" in text:
        yield from _wide_runs(text)
    for match in _OCTAL_ESCAPES.finditer(text):
        plain = _OCTAL_ESCAPE.sub(lambda found: bytes([int(found[1], 8)]), match.group())
        yield CodedRun(match.start(), match.end(), "escapes", plain)
    if b"\\X" in text:
        for match in _HL7.finditer(text):
            yield CodedRun(match.start(), match.end(), "HL7 escapes", bytes.fromhex(match[1].decode("ascii")))


def _wide_runs(text: bytes) -> Iterator[CodedRun]:
    r"""Yield runs of ``\u004c``, each with the word in which it begins."""
    end = 0
    for match in _WIDE_ESCAPES.finditer(text):
        start = max(match.start() - _MOST_BEFORE, end)
        if stop := _TO_LAST_STOP.match(text, start, match.start()):
            start = stop.end()
        end = match.end()
        yield CodedRun(start, end, "escapes", _LETTER_ESCAPE.sub(_letter, text[start:end]))


def word_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield single words in which letters are written as escapes."""
    if _WIDE_LATIN in text:
        for match in _ESCAPED_WORD.finditer(text):
            plain = _LETTER_ESCAPE.sub(_letter, match.group())
            letters = plain.decode("utf-8", "replace").replace("'", "").replace("-", "")
            if len(letters) >= _LEAST_LETTERS and letters.isalpha():
                yield CodedRun(match.start(), match.end(), ESCAPED_WORD, plain)


def _letter(found: re.Match[bytes]) -> bytes:
    return chr(int(found[1] or found[2], 16)).encode("utf-8", "replace")


def _wide(found: re.Match[bytes]) -> bytes:
    return chr(int(found[1], 16)).encode("utf-8", "replace")


def reference_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield lines with character references of HTML, in a text that is none."""
    for start, end in _lines_with(_REFERENCES, text, _MIN_REFERENCES) if b"&" in text else ():
        plain = html.unescape(text[start:end].decode("utf-8", "replace")).encode("utf-8", "replace")
        yield CodedRun(start, end, "character references", plain)


def quoted_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield lines with two escapes or more of quoted-printable, with the lines that go on after them."""
    whole = 0
    for start, end in _lines_with(_QUOTEDS, text, _MIN_QUOTED) if b"=" in text else ():
        # In a paragraph that was decoded, or an address, whose values may begin with two digits.
        if start < whole or _QUERY.search(text, start, end):
            continue
        whole = _end_of_paragraph(text, start, end)
        yield CodedRun(start, whole, "quoted-printable", from_quoted_printable(text[start:whole]))


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


def _n_scripts(text: str) -> int:
    """Count the blocks of 256 code points beyond ASCII; those of Chinese and Japanese are one."""
    beyond_ascii = (ord(char) for char in text if not char.isascii())
    return len({-1 if code in _CJK else code >> 8 for code in beyond_ascii})


def utf7_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield runs of UTF-7 that spell printable characters of few scripts."""
    if _FIRST_UTF7 not in text:
        return
    for match in _UTF7.finditer(text):
        digits = match[1] + b"A" * (-len(match[1]) % 4)
        with suppress(ValueError):
            wide = base64.b64decode(digits)
            plain = wide[: len(match[1]) * 6 // 16 * 2].decode("utf-16-be", "replace")
            if plain.isprintable() and "\ufffd" not in plain and _n_scripts(plain) <= _MOST_SCRIPTS:
                yield CodedRun(match.start(), match.end(), "UTF-7", plain.encode())


CODES = (
    Code(percent_runs, _PERCENT_CODES + rb"%[0-9A-Fa-fu][0-9A-Fa-f]"),
    Code(form_runs, _BLANK_IN_VALUE),
    Code(escape_runs, _ANY_ESCAPE),
    Code(word_runs, re.escape(_WIDE_LATIN)),
    Code(reference_runs, _REFERENCE),
    Code(quoted_runs, _QUOTED),
    Code(utf7_runs, re.escape(_FIRST_UTF7)),
)
