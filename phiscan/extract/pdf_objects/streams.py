"""Streams in the bytes of a PDF: their dictionaries, and their content after the filters of text.

Source: ISO 32000-1, 7.3.8 (streams) and 7.4 (filters).
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

_STREAM = re.compile(rb">>\s{0,4}stream(?:\r?\n|\r)")
_BEGIN = re.compile(rb"(\d{1,10})\s+\d{1,5}\s+obj\b")
_LENGTH = re.compile(rb"/Length\s+(\d{1,10})\b(?!\s+\d+\s+R)")
_LINE_ENDS = (b"", b"\n", b"\r\n", b"\r")
_FILTER = re.compile(rb"/Filter\s*(?:\[([^\]]{0,200})\]|/(\w{1,20}))")
_NAME = re.compile(rb"/(\w{1,20})")
_PREDICTOR = re.compile(rb"/Predictor\s+(\d{1,2})")
_COLUMNS = re.compile(rb"/Columns\s+(\d{1,5})")
_COLORS = re.compile(rb"/Colors\s+(\d)")
_BITS = re.compile(rb"/BitsPerComponent\s+(\d{1,2})")
_REFERENCE = re.compile(rb"\s*(\d{1,10}\s+\d{1,5}\s+R)")
_LONGEST_DICTIONARY = 4096
_MOST_STREAMS = 100_000
_MOST_FILTERS = 4
_MOST_LZW = 512 * 1024  # bytes, packed
_CHUNK = 64 * 1024
_CLEAR, _END = 256, 257
_LAST_WIDTH = 12
_PNG = 10  # the first predictor that writes its kind before each row


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream with the number of its object, its dictionary, and where its packed bytes lie."""

    number: int
    head: bytes = field(repr=False)
    start: int
    end: int
    gap: int  # where the bytes before it begin that belong to no stream


def streams(data: bytes) -> Iterator[Stream]:
    """Yield the streams in the order of the file; what looks like one within another is none."""
    at = 0
    for number, match in enumerate(_STREAM.finditer(data)):
        if number > _MOST_STREAMS:
            return
        if match.start() < at:
            continue
        end = data.find(b"endstream", match.end())
        end = len(data) if end < 0 else end
        head = data[max(at, match.start() - _LONGEST_DICTIONARY) : match.start()]
        begins = list(_BEGIN.finditer(head))
        if begins:
            head = head[begins[-1].end() :]
        stated = _LENGTH.search(head)
        stop = match.end() + int(stated[1]) if stated else end
        if not (stop <= end and data[stop:end] in _LINE_ENDS):
            stop = end
        yield Stream(int(begins[-1][1]) if begins else 0, head, match.end(), stop, at)
        at = end


def filters(head: bytes) -> list[bytes]:
    """Return the names of a stream's filters, in their order.

    >>> filters(b"<</Filter [/ASCII85Decode /FlateDecode]"), filters(b"<</Length 5")
    ([b'ASCII85Decode', b'FlateDecode'], [])
    """
    found = _FILTER.search(head)
    if found is None:
        return []
    return [found[2]] if found[2] else _NAME.findall(found[1])


def unpacked(body: bytes, head: bytes, most: int) -> bytes:
    """Return up to ``most`` bytes of a stream after its filters; nothing after one that is for pictures."""
    names = filters(head)
    if len(names) > _MOST_FILTERS:
        return b""
    for name in names:
        decoder = _DECODERS.get(name)
        if decoder is None:
            return b""
        try:
            body = decoder(body, most)
        except (ValueError, zlib.error):
            return b""
        if decoder in (_inflated, _lzw):
            body = _without_predictor(body, head)
    return body[:most]


def resources(head: bytes) -> bytes:
    """Return what a dictionary has as its resources: a reference, or a dictionary; empty without any.

    >>> resources(b"/Resources 12 0 R /X"), resources(b"/Resources<</Font<</F1 5 0 R>>>>/X 1")
    (b'12 0 R', b'<</Font<</F1 5 0 R>>>>')
    """
    at = head.find(b"/Resources")
    if at < 0:
        return b""
    at += len(b"/Resources")
    reference = _REFERENCE.match(head, at)
    if reference:
        return reference[1]
    start = head.find(b"<<", at)
    depth, place = 0, start
    while 0 <= place < len(head):
        opening, closing = head.find(b"<<", place), head.find(b">>", place)
        if closing < 0:
            return b""
        is_opening = 0 <= opening < closing
        depth += 1 if is_opening else -1
        place = (opening if is_opening else closing) + 2
        if depth == 0:
            return head[start:place]
    return b""


def _inflated(body: bytes, most: int) -> bytes:
    """Unpack up to ``most`` bytes; what comes before damage is kept."""
    engine = zlib.decompressobj()
    out = bytearray()
    with suppress(zlib.error):
        for start in range(0, len(body), _CHUNK):
            out += engine.decompress(body[start : start + _CHUNK], most - len(out))
            while engine.unconsumed_tail and len(out) < most:
                out += engine.decompress(engine.unconsumed_tail, most - len(out))
            if engine.eof or len(out) >= most:
                break
    return bytes(out)


def _ascii85(body: bytes, most: int) -> bytes:
    return base64.a85decode(body[: 2 * most].strip().removeprefix(b"<~").partition(b"~")[0])


def _hexadecimal(body: bytes, most: int) -> bytes:
    digits = b"".join(body[: 3 * most].partition(b">")[0].split())
    return bytes.fromhex(digits[: len(digits) // 2 * 2].decode("ascii"))


def _run_length(body: bytes, most: int) -> bytes:
    out = bytearray()
    at = 0
    while at < len(body) and body[at] != 128 and len(out) < most:  # noqa: PLR2004 (the end)
        length = body[at]
        if length < 128:  # noqa: PLR2004 (as they are)
            out += body[at + 1 : at + 2 + length]
            at += 2 + length
        else:
            out += body[at + 1 : at + 2] * (257 - length)
            at += 2
    return bytes(out)


def _lzw(body: bytes, most: int) -> bytes:
    """Unpack codes of 9 to 12 bits; a new code is the last string and the first byte of the next one."""
    out = bytearray()
    table = [bytes([code]) for code in range(256)] + [b"", b""]
    width, last, bits, n_bits = 9, b"", 0, 0
    for byte in body[:_MOST_LZW]:
        bits, n_bits = (bits << 8 | byte) & 0xFFFFFF, n_bits + 8
        if n_bits < width:
            continue
        n_bits -= width
        code = bits >> n_bits & (1 << width) - 1
        if code == _END or len(out) >= most:
            break
        if code == _CLEAR:
            del table[_END + 1 :]
            width, last = 9, b""
            continue
        if code > len(table) or (code == len(table) and not last):
            break  # damaged
        entry = table[code] if code < len(table) else last + last[:1]
        out += entry
        if last and len(table) < 1 << _LAST_WIDTH:
            table.append(last + entry[:1])
        last = entry
        width = min(max((len(table) + 1).bit_length(), 9), _LAST_WIDTH)
    return bytes(out)


def _without_predictor(body: bytes, head: bytes) -> bytes:
    """Undo PNG's rows of the kinds none, sub and up; rows of other kinds are returned as they are."""
    found = _PREDICTOR.search(head)
    if found is None or int(found[1]) < _PNG:
        return body
    sizes = [pattern.search(head) for pattern in (_COLUMNS, _COLORS, _BITS)]
    columns, colors, bits = (
        int(size[1]) if size else usual for size, usual in zip(sizes, (1, 1, 8), strict=True)
    )
    width = max((columns * colors * bits + 7) // 8, 1)
    above, rows = bytes(width), []
    for at in range(0, len(body), width + 1):
        kind, row = body[at], body[at + 1 : at + 1 + width]
        if kind == 2:  # noqa: PLR2004 (up)
            row = bytes((one + two) & 0xFF for one, two in zip(row, above, strict=False))
        elif kind == 1:  # sub; one byte for a sample
            line = bytearray(row)
            for place in range(1, len(line)):
                line[place] = (line[place] + line[place - 1]) & 0xFF
            row = bytes(line)
        rows.append(row)
        above = row
    return b"".join(rows)


_DECODERS: dict[bytes, Callable[[bytes, int], bytes]] = {
    b"FlateDecode": _inflated,
    b"Fl": _inflated,
    b"LZWDecode": _lzw,
    b"LZW": _lzw,
    b"ASCII85Decode": _ascii85,
    b"A85": _ascii85,
    b"ASCIIHexDecode": _hexadecimal,
    b"AHx": _hexadecimal,
    b"RunLengthDecode": _run_length,
    b"RL": _run_length,
}
