"""Snappy streams: the strings of iWork's archives (IWA) and the member of the framing format, block by block.

Source: Snappy framing format description. IWA has the same blocks without identifier and checksums, and in
them messages of protocol buffers, each after its length. Blocks are decompressed by pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import utf8_or_none
from phiscan.extract.core.content import Content, Meter, Sink
from phiscan.model import FailReason

IWA, FRAMED = "application/x-iwa", "application/x-snappy-framed"
_NEEDS = "needs pyarrow, which is not installed (pip install 'phiscan[parquet]')"
_HEAD, _CHECKSUM = 4, 4  # bytes: the kind of a block and its size; in the framing format its checksum
_MOST_IN_BLOCK, _MOST_PACKED = 65_536, 76_496  # what a block can hold, and the most that it takes packed
_PACKED, _PLAIN = 0, 1
_FURTHER, _MOST_SHIFT = 0x80, 63
_LONGEST = 127  # bytes; the size of a longer value takes two
_SIZE, _DEPTH = 3, 24  # the field with the size of a described message; messages within each other
_BREAKS = "\n\r\t\x0b\u2028\u2029\ufffc"


def read_snappy_blocks(content: Content, sink: Sink) -> None:
    """Add the strings of an archive whole, ``#strings``, or read the framed member; damage is recorded.

    Raises:
        ExtractError: unsupported without pyarrow; corrupt, where no block can be read.
    """
    if find_spec("pyarrow") is None:
        raise ExtractError(FailReason.UNSUPPORTED, _NEEDS)
    is_archive = is_iwa(content.data)
    meter = Meter(sink, content.n_bytes)
    try:
        for block in _blocks(content.data, is_framed=not is_archive):
            meter.take(block)
    except ValueError:
        if not meter.data():
            raise ExtractError(FailReason.CORRUPT, "damaged compressed data") from None
        sink.fail(content.locator, FailReason.CORRUPT, "damaged compressed data")
    if is_archive:
        found = dict.fromkeys(text for text in _strings(meter.data()) if any(map(str.isalnum, text)))
        sink.add("\n".join(found), content.place("strings"))
    else:
        sink.add_member(content, content.name.removesuffix(".sz") or "data", meter.data())


def is_iwa(data: bytes) -> bool:
    """Tell an archive of iWork by the sizes of its first block and its first message."""
    size = int.from_bytes(data[1:_HEAD], "little")
    if data[:1] != b"\0" or not 0 < size <= _MOST_PACKED:
        return False
    try:
        n_bytes, at = _varint(data, _HEAD)
    except ValueError:
        return False
    # A literal begins the block; in it the length of the first description and its field 1, a number.
    literal = data[at : at + 6]
    return 0 < n_bytes <= _MOST_IN_BLOCK and b"\x08" in literal[1:] and literal[0] & 3 == 0


def _blocks(data: bytes, *, is_framed: bool) -> Iterator[bytes]:
    """Yield the blocks of a stream, unpacked; ValueError where one is damaged or cut short."""
    from pyarrow import ArrowException, decompress  # noqa: PLC0415 (rarely needed)

    at = 0
    while at < len(data):
        kind, size = data[at], int.from_bytes(data[at + 1 : at + _HEAD], "little")
        block, at = data[at + _HEAD : at + _HEAD + size], at + _HEAD + size
        if len(block) < size or size > _MOST_PACKED:
            raise ValueError
        block = block[_CHECKSUM * is_framed :] if kind in (_PACKED, _PLAIN) else b""
        if kind != _PACKED:
            yield block  # what is no data, an identifier or padding, is empty
            continue
        n_bytes, _ = _varint(block, 0)
        if n_bytes > _MOST_IN_BLOCK:
            raise ValueError
        try:
            yield decompress(block, decompressed_size=n_bytes, codec="snappy", asbytes=True)
        except (ArrowException, OSError):
            raise ValueError from None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number of variable length at a place, and where it ends; ValueError where it has no end."""
    number = shift = 0
    while at < len(data) and shift <= _MOST_SHIFT:
        number |= (data[at] & ~_FURTHER) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & _FURTHER:
            return number, at
    raise ValueError


def _strings(data: bytes) -> Iterator[str]:
    """Yield the strings of an archive: descriptions after their length, and the messages they describe."""
    at = 0
    with suppress(ValueError):
        while at < len(data):
            size, at = _varint(data, at)
            values = [value for _, value in _fields(data[at : at + size]) if isinstance(value, bytes)]
            described = [dict(_fields(value)) for value in values]
            at += size
            for n_bytes in (message.get(_SIZE) for message in described):
                end = at + (n_bytes if isinstance(n_bytes, int) else 0)
                yield from _texts(data[at:end])
                at = end


def _texts(message: bytes, depth: int = _DEPTH) -> Iterator[str]:
    """Yield the strings of a message and of the messages within it.

    A value that is no text is a message. So is a short one of which values of its own are the half: letters
    of a word may be read as fields, too, but a longer message holds a size that is no letter.
    """
    for value in (value for _, value in _fields(message) if isinstance(value, bytes)):
        text = _text(value)
        within = [] if text and len(value) > _LONGEST else _fields(value)
        n_nested = sum(len(field) for _, field in within if isinstance(field, bytes))
        if depth and (not text or n_nested * 2 >= len(value)):
            yield from _texts(value, depth - 1)
        elif text:
            yield text


def _text(value: bytes) -> str:
    """Return a value as text; nothing where it is none."""
    text = utf8_or_none(value) or ""
    return text if all(char.isprintable() or char in _BREAKS for char in text) else ""


def _fields(message: bytes) -> list[tuple[int, Any]]:
    """Return number and value of each field of a message; none of what is no message."""
    from google.protobuf.empty_pb2 import Empty  # noqa: PLC0415 (rarely needed)
    from google.protobuf.message import DecodeError  # noqa: PLC0415 (rarely needed)
    from google.protobuf.unknown_fields import UnknownFieldSet  # noqa: PLC0415 (rarely needed)

    unknown = Empty()
    try:
        unknown.ParseFromString(message)
    except DecodeError:
        return []
    return [(field.field_number, field.data) for field in UnknownFieldSet(unknown)]
