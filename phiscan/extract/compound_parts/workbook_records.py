"""Texts in the records of a legacy workbook beside its cells: names, validation, filters, links, caches.

Source: [MS-XLS] 2.3 (records), 2.5.294 (XLUnicodeString), 2.4.265 (SST).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from phiscan.extract.compound_parts.text_runs import (
    FEW_CHARS,
    is_prose,
    is_typed,
    long_narrow_runs,
    narrow_runs,
    wide_runs,
)

# Cells, pictures, fonts, formats of cells, printer settings: read elsewhere, or no text.
_LEFT_OUT = frozenset(
    {
        0x0204,
        0x0208,
        0x00BE,
        0x0201,
        0x0205,
        0x00D7,
        0x007D,
        0x0092,
        0x0225,
        0x00D6,
        0x00FD,
        0x0207,
        0x00EB,
        0x0031,
        0x00E0,
        0x004D,
        0x0203,
        0x027E,
        0x00BD,
        0x0809,
        0x0014,
        0x0015,
        0x005B,
        0x005C,
        0x0892,
        0x087D,
        0x0896,
    }
)
# Formulas, names, notes, links, filters, scenarios, caches of pivot tables, hyperlinks, validation,
# conditions, titles of series, list tables, names of views: what a person typed, one word or several.
_TYPED = frozenset(
    {0x0006, 0x0018, 0x001C, 0x0023, 0x005A, 0x01AE, 0x009E, 0x00AF, 0x00AE, 0x00CD, 0x00C5}
    | {0x00B1, 0x00B0, 0x00C7, 0x01B0, 0x01B1, 0x01B2, 0x01BE, 0x01B8, 0x0800, 0x100D, 0x0872, 0x0878, 0x0894}
    | {0x01AA, 0x00DC, 0x00EC, 0x01C0, 0x020B, 0x005D, 0x00E3, 0x0087, 0x0221, 0x0051, 0x0052}
)
_SST, _CONTINUE, _NOTE_TEXT, _PICTURES = 0x00FC, 0x003C, 0x01B6, 0x00EB
_NAME, _NAME_AT, _BUILT_IN = 0x0018, 15, 0x20
_FORMAT = 0x041E
_FORMULA, _TEXT_TOKEN = 0x0006, b"\x17"
_HEAD = struct.Struct("<HH")
_SHORTEST = 6  # bytes of a record that can hold a word
_LITERAL = re.compile(r"\"([^\"]*[^\W\d_]{3,}[^\"]* [^\"]*[^\W\d_]{3,}[^\"]*)\"")  # of two words and more
_WIDE_FLAG, _RICH, _EXTENDED = 1, 8, 4
_MOST_RECORDS = 400_000  # that are searched for text
_MOST_STRINGS = 200_000


def _records_with_text(stream: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield owner, kind and body of each record that may hold text; a damaged stream ends early.

    The owner is the kind of the last record that is no continuation.
    """
    head = _HEAD.unpack_from
    at, last, owner = 0, len(stream) - _HEAD.size, 0
    while at <= last:
        kind, size = head(stream, at)
        at += 4 + size
        if kind != _CONTINUE:
            owner = kind
        if (owner not in _LEFT_OUT and size >= _SHORTEST) or owner == _SST:
            yield owner, kind, stream[at - size : at]


def record_texts(stream: bytes) -> Iterator[str]:
    """Yield the texts of a stream of records that are no cells; shared strings too, which may be unused."""
    shared: list[bytes] = []
    n_records = 0
    for owner, kind, body in _records_with_text(stream):
        if shared and (owner != _SST or kind != _CONTINUE):
            yield from shared_strings(shared)
            shared = []
        if owner == _SST:
            shared.append(body)
        elif kind == _NAME:
            yield from _name(body)
        elif kind == _FORMAT:
            yield from (text for text in _LITERAL.findall(body.decode("latin-1").replace("\0", "")))
        elif owner == _FORMULA and _TEXT_TOKEN not in body:
            continue
        elif len(body) >= _SHORTEST and (kind != _CONTINUE or owner != _NOTE_TEXT):
            n_records += 1
            if n_records > _MOST_RECORDS:
                return
            if owner in _TYPED or (b" " in body and len(body) >= FEW_CHARS):  # else no prose
                yield from _record(body, is_known=owner in _TYPED)
    yield from shared_strings(shared)


def _name(body: bytes) -> Iterator[str]:
    """Yield a defined name, and the texts in its formula and descriptions."""
    if len(body) > _NAME_AT and not body[0] & _BUILT_IN:
        length, width = body[3], 1 + (body[_NAME_AT - 1] & 1)
        raw = body[_NAME_AT : _NAME_AT + length * width]
        name = raw.decode("utf-16-le" if width > 1 else "latin-1", "replace").replace("_", " ").strip()
        if is_typed(name):
            yield name
        yield from _record(body[_NAME_AT + length * width :], is_known=True)


def _record(body: bytes, *, is_known: bool) -> Iterator[str]:
    """Yield the runs of text in a record: prose, and where texts are known to be, any with its length."""
    for start, run in narrow_runs(body) if is_known else long_narrow_runs(body):
        yield from _typed(body, start, run, 1, is_known=is_known)
    if is_known or b" \0" in body:  # else no prose
        for start, run in wide_runs(body):
            yield from _typed(body, start, run, 2, is_known=is_known)


def _typed(body: bytes, start: int, run: str, width: int, *, is_known: bool) -> Iterator[str]:
    """Yield the text at the beginning of a run up to the length that is written before it, and the rest."""
    text, is_counted = _cut(body, start, run, width)
    shown = text.strip()
    if is_typed(shown) if is_known and (is_counted or width > 1) else is_prose(shown):
        yield shown
    if len(text) < len(run) and is_prose(rest := run[len(text) :].strip()):
        yield rest


def _cut(body: bytes, start: int, text: str, width: int) -> tuple[str, bool]:
    """Return the text up to the length that is written before it, and whether there is one."""
    if start < 1 or body[start - 1] != width - 1:
        return text, False
    lengths = [struct.unpack_from("<H", body, start - 3)[0]] if start > 2 else []  # noqa: PLR2004 (number and flag)
    lengths += [body[start - 2]] if start > 1 else []
    return next(((text[:length], True) for length in lengths if 2 < length <= len(text)), (text, False))  # noqa: PLR2004


def shared_strings(bodies: list[bytes]) -> Iterator[str]:
    """Yield the strings of a shared string table, which may go on in further records."""
    if not bodies or len(bodies[0]) < 8:  # noqa: PLR2004 (two numbers)
        return
    reader = _Strings(bodies)
    try:
        for _ in range(min(struct.unpack_from("<I", bodies[0], 4)[0], _MOST_STRINGS)):
            yield reader.string()
    except (struct.error, IndexError):
        return


class _Strings:
    """Walks the strings in several records; a string that is cut says its width anew."""

    def __init__(self, bodies: list[bytes]) -> None:
        self._bodies = bodies
        self._index, self._at = 0, 8

    def string(self) -> str:
        """Return the next string."""
        if self._at >= len(self._bodies[self._index]):
            self._next()
        body = self._bodies[self._index]
        n_chars, flags = struct.unpack_from("<HB", body, self._at)
        self._at += 3
        n_formats = n_further = 0
        if flags & _RICH:
            n_formats = struct.unpack_from("<H", body, self._at)[0]
            self._at += 2
        if flags & _EXTENDED:
            n_further = struct.unpack_from("<I", body, self._at)[0]
            self._at += 4
        text = self._characters(n_chars, flags & _WIDE_FLAG)
        if n_formats or n_further:
            self._skip(4 * n_formats + n_further)
        return text

    def _characters(self, n_chars: int, is_wide: int) -> str:
        body = self._bodies[self._index]
        end = self._at + n_chars * (2 if is_wide else 1)
        if end <= len(body):  # the usual case
            raw = body[self._at : end]
            self._at = end
            return raw.decode("utf-16-le", "replace") if is_wide else raw.decode("latin-1")
        pieces: list[str] = []
        while n_chars:
            body = self._bodies[self._index]
            width = 2 if is_wide else 1
            n_here = min(n_chars, (len(body) - self._at) // width)
            raw = body[self._at : self._at + n_here * width]
            pieces.append(raw.decode("utf-16-le", "replace") if is_wide else raw.decode("latin-1"))
            n_chars -= n_here
            self._at += n_here * width
            if n_chars:
                self._next()
                is_wide = self._bodies[self._index][0] & _WIDE_FLAG
                self._at = 1
        return "".join(pieces)

    def _skip(self, n_bytes: int) -> None:
        while n_bytes:
            n_here = min(n_bytes, len(self._bodies[self._index]) - self._at)
            self._at += n_here
            n_bytes -= n_here
            if n_bytes:
                self._next()

    def _next(self) -> None:
        self._index, self._at = self._index + 1, 0
        if self._index >= len(self._bodies):
            raise IndexError
