"""Bytes written as digits: dumps, lists of numbers, hexadecimal, base64, uuencode without its first line.

Each finder yields the runs of one notation, in time linear in the text.
Source: RFC 4648 (base64), RFC 2849 (LDIF).
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from contextlib import suppress

import re2

from phiscan.extract.text_codes.escapes import Code, CodedRun, is_plain
from phiscan.extract.transport.decoding import from_base64

_DUMP_LINE = re.compile(
    rb"^[ \t>]*(?:0x)?([0-9A-Fa-f]{4,16})[:|]?[ \t]{1,3}"
    rb"((?:[0-9A-Fa-f]{2}){1,4}(?:[ \t-]{1,3}(?:[0-9A-Fa-f]{2}){1,4}){0,31})"
    rb"(?=[ \t]{2}|[ \t]*\r?$|[ \t]\|)[^\r\n]{0,80}\r?\n?",
    re.MULTILINE,
)
_MIN_DUMP_LINES = 2
_NUMBERS = rb"(?:[0-9A-Fa-fx]{2,8}[ ,:;\-\\\r\n\t]{1,4}){8}"
_HAS_NUMBERS = re2.compile(_NUMBERS)
_SEPARATOR = rb"(?:[ ,:;-]{1,2}|[ ,]{0,2}\\?\r?\n[ \t]{0,16})"
_LISTS: tuple[tuple[re.Pattern[bytes], int], ...] = (  # with the base of their numbers
    (re.compile(rb"0x[0-9A-Fa-f]{2}(?:[ ,;]{0,2}+[\r\n\t ]{0,16}+0x[0-9A-Fa-f]{2}){11,}+"), 16),
    (re.compile(rb"(?<![0-9A-Za-z])[0-9A-Fa-f]{2}(?:%b[0-9A-Fa-f]{2}){11,}(?![0-9A-Za-z])" % _SEPARATOR), 16),
    (re.compile(rb"(?<![0-9A-Za-z.])[0-9]{2,3}(?:%b[0-9]{2,3}){11,}(?![0-9A-Za-z.])" % _SEPARATOR), 10),
)
_ITEM = re.compile(rb"0x[0-9A-Fa-f]{2}|[0-9A-Fa-f]+")

_MIN_HEX = rb"[0-9A-Fa-f]{24}"
_SOLID_HEX = re2.compile(_MIN_HEX + rb"[0-9A-Fa-f]*")
_BEFORE_HEX = re.compile(rb"(?:(?<![0-9A-Za-z])(?:0[xX]|[xX]'|\\{1,2}x))\Z")
# Digits of base64 with capitals within words, or next to figures, near their beginning: no name or address.
_MIXED = rb"(?:[a-z0-9][A-Z][A-Z0-9]|[A-Z][a-z][A-Z])"
_MIXED_DIGITS = re.compile(rb"%b[A-Za-z0-9+/_-]{8}" % _MIXED)
_MOST_BEFORE = 32  # digits before the mixed ones
_MIN_BASE64 = 20
# 18 digits, two signs of padding left out; after the mixed ones are eight or more.
_MIN_SOLID = b"|".join(
    rb"[A-Za-z0-9+/_-]{%d}%b[A-Za-z0-9+/_-]{%d}" % (n_before, _MIXED, _MIN_BASE64 - 5 - n_before)
    for n_before in range(_MIN_BASE64 - 12)
)
_FURTHER_LINE = re.compile(rb"[ \t]*\r?\n[ \t>]{0,8}[A-Za-z0-9+/_-]{20,}={0,2}(?![A-Za-z0-9+/_-])")
_LAST_LINE = re.compile(rb"[ \t]*\r?\n[ \t>]{0,8}([A-Za-z0-9+/_-]{2,19}={0,2})(?=\s|[<\"']|\Z)")
_DIGITS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
_MARKED_DIGITS = bytes(b"x"[0] if code in _DIGITS else b" "[0] for code in range(256))
_LONG_WORD = b"x" * (_MIN_BASE64 - 2)
_HEAD_DIGITS = 32
_LONGEST_NAME = 56  # digits; a file has longer lines
_LONG = 100  # digits; as many can be a file
_LDIF = re.compile(
    rb"^([A-Za-z][\w;.-]{0,80}):: ([A-Za-z0-9+/=]{4,}(?:\r?\n [A-Za-z0-9+/=]+){0,4096})", re.MULTILINE
)
# Two characters within a hundred that base85 uses as often as any other, and texts hardly ever.
_UU_LINE = rb"(?m:^)M[!-`]{60}"
_UU = re.compile(rb"^(?:M[!-`]{60}\r?\n)+(?:[!-L][!-`]{4,60}(?:\r?\n|\Z))?", re.MULTILINE)


def dump_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield dumps of bytes (xxd, hexdump, od) whose offsets count the bytes of their lines."""
    if not _HAS_NUMBERS.search(text):
        return
    start = end = n_lines = following = 0
    pieces: list[bytes] = []
    for match in _DUMP_LINE.finditer(text):
        data = bytes.fromhex(re.sub(rb"[ \t-]", b"", match[2]).decode("ascii"))
        goes_on = match.start() == end and _offset(match[1], following) == following
        if not goes_on:
            if n_lines >= _MIN_DUMP_LINES:
                yield CodedRun(start, end, "dump of bytes", b"".join(pieces))
            start, n_lines, pieces = match.start(), 0, []
            following = int(match[1], 16)
        end, n_lines, following = match.end(), n_lines + 1, following + len(data)
        pieces.append(data)
    if n_lines >= _MIN_DUMP_LINES:
        yield CodedRun(start, end, "dump of bytes", b"".join(pieces))


def _offset(digits: bytes, wanted: int) -> int:
    """Read an offset, which od writes in octal digits."""
    with suppress(ValueError):
        if int(digits, 8) == wanted:
            return wanted
    return int(digits, 16)


def list_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield lists of bytes as numbers: ``0x4c, 0x65``, ``4c 65``, ``76, 101``."""
    if _HAS_NUMBERS.search(text):
        for pattern, base in _LISTS:
            for match in pattern.finditer(text):
                data = _numbers(match.group(), base)
                if data:
                    yield CodedRun(*match.span(), "list of bytes", data)


def _numbers(listed: bytes, base: int) -> bytes:
    try:
        return bytes(int(item, base) for item in _ITEM.findall(listed))
    except ValueError:
        return b""  # numbers over 255


def hex_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield solid hexadecimal digits, as of a value of a database."""
    for match in _SOLID_HEX.finditer(text):
        start, found = match.start(), match.group()
        prefix = _BEFORE_HEX.search(text, max(start - 3, 0), start)
        if len(found) % 2 and found[:1] == b"0":
            found = found[1:]
        if len(found) % 2 == 0 and not found.isdigit():
            begin = prefix.start() if prefix else start
            yield CodedRun(begin, match.end(), "hexadecimal digits", bytes.fromhex(found.decode("ascii")))


def base64_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield base64 of any width of line whose first bytes can be text or a file."""
    for start, end in _solid_lines(text):
        digits = text[start:end]
        if len(digits) > _LONG or is_plain(_from_base64(digits[:_HEAD_DIGITS])):
            yield CodedRun(start, end, "base64", _from_base64(digits))


def _solid_lines(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the offsets of lines of digits that follow one another, with the short one at their end."""
    end = 0
    for start, stop in _mixed_words(text):
        if start < end or stop - start < _MIN_BASE64:
            continue  # in lines that were given, or a word
        if stop - start < _LONGEST_NAME:
            head = text[start : min(start + _HEAD_DIGITS, stop)]
            if not is_plain(_from_base64(head)):
                continue
        end = stop
        while following := _FURTHER_LINE.match(text, end):
            end = following.end()
        end = last.end() if (last := _LAST_LINE.match(text, end)) else end
        yield start, end


def _mixed_words(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the offsets of words of digits with mixed ones near their beginning, with their padding."""
    marked = text.translate(_MARKED_DIGITS)
    at = marked.find(_LONG_WORD)
    while at >= 0:
        stop = marked.find(b" ", at)
        stop = stop if stop >= 0 else len(marked)
        if mixed := _MIXED_DIGITS.search(text, at, stop):
            padding = text[stop : stop + 2]
            n_padding = len(padding) - len(padding.lstrip(b"="))
            yield max(at, mixed.start() - _MOST_BEFORE), stop + n_padding
        at = marked.find(_LONG_WORD, stop)


def ldif_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield values that LDIF declares as base64 (RFC 2849), after their names, however short."""
    for match in _LDIF.finditer(text) if b":: " in text else ():
        yield CodedRun(*match.span(), "LDIF", match[1] + b": " + _from_base64(match[2]))


def _from_base64(lines: bytes) -> bytes:
    """Return the bytes after lines of base64, also of quoted ones."""
    return from_base64(lines.replace(b">", b"")) or b""


def uuencoded_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield lines of uuencode whose first line, ``begin``, is lost."""
    for match in _UU.finditer(text) if b"\nM" in text or text.startswith(b"M") else ():
        lines = match.group().splitlines()
        with suppress(binascii.Error):
            yield CodedRun(*match.span(), "uuencode", b"".join(map(binascii.a2b_uu, lines)))


LONG_CODES = (Code(hex_runs, _MIN_HEX), Code(uuencoded_runs, _UU_LINE))
SHORT_CODES = (Code(base64_runs, _MIN_SOLID),)
LISTED_CODES = (
    Code(dump_runs, _NUMBERS),
    Code(ldif_runs, rb":: [A-Za-z0-9+/=]{4}"),
    Code(list_runs, _NUMBERS),
)


# Documents written into a text by programs: RTF in a field of a record; strings of PDF.

_RTF = re.compile(rb"\{\\rtf[1-9]?\b")
_MOST_RTF = 1024**2
_CONTROL_WORD = re.compile(rb"\\[a-z]+")
_MOST_OPEN = 8  # groups without an end that are followed to the end of the text
_MENTION_BYTES, _CUT_DOCUMENT_WORDS = 2000, 8
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r?\n|.)", re.DOTALL)
_NAMED = {b"n": b"\n", b"r": b"\n", b"t": b"\t", b"b": b"", b"f": b""}


def rtf_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield documents in RTF that stand in a longer text, from their first brace to its partner.

    One without an end is a document that was cut only if it has many control words; else a mention.
    """
    at = n_open = 0
    while text.find(b"{\\rtf", at) >= 0 and (match := _RTF.search(text, at)):
        end = _partner(text, match.start(), _MOST_RTF if n_open < _MOST_OPEN else _MENTION_BYTES)
        n_open += not end
        run = text[match.start() : end or match.start() + _MOST_RTF]
        if end or len(_CONTROL_WORD.findall(run, 0, _MENTION_BYTES)) >= _CUT_DOCUMENT_WORDS:
            yield CodedRun(match.start(), match.start() + len(run), "RTF", run)
            at = match.start() + len(run)
        else:
            at = match.end()


def _partner(text: bytes, start: int, most: int) -> int:
    """Return where the group that begins at ``start`` ends; 0 where it does not within ``most`` bytes."""
    depth = 0
    for found in re.finditer(rb"\\.|[{}]", text[start : start + most], re.DOTALL):
        depth += {b"{": 1, b"}": -1}.get(found.group(), 0)
        if depth == 0:
            return start + found.end()
    return 0


def plain_literal(literal: bytes) -> bytes:
    """Return a string of PDF without its escapes."""
    return _ESCAPE.sub(_unescaped, literal) if b"\\" in literal else literal


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if code[:1] in b"01234567":
        return bytes([int(code, 8) & 0xFF])
    return _NAMED.get(code, b"" if code.endswith(b"\n") else code)


def from_hex(digits: bytes) -> bytes:
    """Return the bytes of hexadecimal digits, between which may be white space; half a byte is left out."""
    solid = b"".join(digits.split())
    return bytes.fromhex(solid[: len(solid) // 2 * 2].decode("ascii"))


PROGRAM_CODES = (Code(rtf_runs, rb"\{\\rtf"),)
