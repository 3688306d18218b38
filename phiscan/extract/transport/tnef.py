"""TNEF (winmail.dat): subject, body, properties and recipients, and the attached files as members.

Source: [MS-OXTNEF] 2.1; property numbers of [MS-OXPROPS].
"""

from __future__ import annotations

import datetime as dt
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from phiscan.errors import ExtractError
from phiscan.extract.compound_parts.text_runs import is_typed
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.mail.compressed_rtf import decompress
from phiscan.extract.office.compound_file import codec
from phiscan.extract.office.rich_text import rtf_text
from phiscan.extract.structured.html import html_text
from phiscan.model import FailReason

SIGNATURE = b"\x78\x9f\x3e\x22"
_HEAD_BYTES = 9  # level, attribute, length
_ATTRIBUTES = {0x8004: "Subject", 0x8000: "From"}
_BODY, _TITLE, _DATA, _RENDERING = 0x800C, 0x8010, 0x800F, 0x9002
_MESSAGE_PROPERTIES, _ATTACHMENT_PROPERTIES, _RECIPIENTS, _CODE_PAGE = 0x9003, 0x9005, 0x9004, 0x9007
_LABELS = {
    0x0037: "Subject",
    0x0C1A: "From",
    0x0C1F: "From address",
    0x0042: "Sent for",
    0x0E04: "To",
    0x0E03: "Cc",
    0x0E02: "Bcc",
    0x3001: "Name",
    0x3003: "Address",
    0x39FE: "Address",
    0x3A06: "First name",
    0x3A11: "Last name",
    0x3A08: "Business phone",
    0x3A09: "Home phone",
    0x3A1C: "Mobile phone",
    0x3A29: "Street address",
}
_TEXT, _HTML, _RTF, _LONG_NAME, _SHORT_NAME, _ATTACH_DATA = 0x1000, 0x1013, 0x1009, 0x3707, 0x3704, 0x3701
_STRING8, _STRING, _OBJECT, _BINARY, _TIME = 0x1E, 0x1F, 0x0D, 0x102, 0x40
_SIZES = {0x02: 4, 0x03: 4, 0x04: 4, 0x0A: 4, 0x0B: 4, 0x05: 8, 0x06: 8, 0x07: 8, 0x14: 8, 0x40: 8, 0x48: 16}
_OBJECT_ID_BYTES = 16
_CONTROLS = re.compile(r"[\x00-\x1f]+")
_MULTIPLE, _NAMED = 0x1000, 0x8000
_MOST_PROPERTIES = 20_000
_EPOCH = dt.datetime(1601, 1, 1, tzinfo=dt.UTC)


@dataclass(slots=True)
class _File:
    """One attached file."""

    name: str = ""
    data: bytes = field(default=b"", repr=False)


@dataclass(slots=True)
class _Found:
    """What one message says."""

    lines: list[str] = field(default_factory=list, repr=False)
    bodies: list[str] = field(default_factory=list, repr=False)
    files: list[_File] = field(default_factory=list)
    encoding: str = "cp1252"

    def take(self, number: int, data: bytes) -> None:
        """Take one attribute."""
        if number == _CODE_PAGE and len(data) >= 4:  # noqa: PLR2004 (a number)
            self.encoding = codec(struct.unpack_from("<I", data)[0])
        elif number in _ATTRIBUTES:
            shown = " ".join(_CONTROLS.sub(" ", _narrow(data, self.encoding)).split())
            self.lines.append(f"{_ATTRIBUTES[number]}: {shown}")
        elif number == _BODY:
            self.bodies.append(_narrow(data, self.encoding))
        elif number == _RENDERING:
            self.files.append(_File())
        elif number in (_TITLE, _DATA, _ATTACHMENT_PROPERTIES):
            _fill(self.files, number, data, self.encoding)
        elif number == _RECIPIENTS:
            _read_recipients(data, self.encoding, self.lines)
        elif number == _MESSAGE_PROPERTIES:
            _read_properties(data, self.encoding, self.lines, self.bodies)


class TnefExtractor:
    """Read winmail.dat."""

    media_types = frozenset({"application/ms-tnef"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add ``#headers`` and ``#body``, and read the attachments as members."""
        found = _Found()
        for number, data in _attributes(content, sink):
            found.take(number, data)
        lines, bodies, files = found.lines, found.bodies, found.files
        sink.add("\n".join(dict.fromkeys(line for line in lines if line.strip())), content.place("headers"))
        sink.add("\n".join(dict.fromkeys(bodies)), content.place("body"))
        for index, file in enumerate(files, 1):
            sink.take_member()
            if file.name:
                sink.add(f"Attachment: {file.name}", content.place("headers"))
            if file.data:
                sink.read_member(content.member(file.name or f"attachment{index}", file.data))


def _attributes(content: Content, sink: Sink) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of each attribute; where the stream is damaged, up to there."""
    data, at = content.data, 6
    if not data.startswith(SIGNATURE):
        raise ExtractError(FailReason.CORRUPT, "no TNEF signature")
    while at + _HEAD_BYTES <= len(data):
        level, number, _, size = struct.unpack_from("<BHHI", data, at)
        at += _HEAD_BYTES
        if level not in (1, 2):
            sink.fail(content.locator, FailReason.CORRUPT, f"damaged after {at - _HEAD_BYTES} bytes")
            return
        if at + size > len(data):
            sink.fail(content.locator, FailReason.CORRUPT, "cut short")
        yield number, data[at : at + size]
        at += size + 2


def _fill(files: list[_File], number: int, data: bytes, encoding: str) -> None:
    if not files:
        files.append(_File())
    file = files[-1]
    if number == _TITLE:
        file.name = file.name or _narrow(data, encoding)
    elif number == _DATA:
        file.data = file.data or data
    else:
        for key, kind, value in _properties(data):
            if key in (_LONG_NAME, _SHORT_NAME) and value:
                name = _text(kind, value, encoding)
                file.name = name if key == _LONG_NAME else file.name or name
            elif key == _ATTACH_DATA:
                inner = value[_OBJECT_ID_BYTES:] if kind == _OBJECT else value
                file.data = file.data if len(file.data) > len(inner) else inner


def _read_recipients(data: bytes, encoding: str, lines: list[str]) -> None:
    """Read a table: the number of rows, then the properties of each."""
    n_rows, at = min(struct.unpack_from("<I", data)[0] if len(data) >= 4 else 0, 5000), 4  # noqa: PLR2004
    for _ in range(n_rows):
        reader = _Reader(data, at)
        found = [
            _text(kind, value, encoding)
            for key, kind, value in reader.items()
            if key in (0x3001, 0x39FE, 0x3003) and kind in (_STRING, _STRING8)
        ]
        at = reader.at
        lines.append("Recipient: " + " ".join(dict.fromkeys(found)))


def _read_properties(data: bytes, encoding: str, lines: list[str], bodies: list[str]) -> None:
    for key, kind, value in _properties(data):
        if key == _TEXT:
            bodies.append(_text(kind, value, encoding))
        elif key == _HTML:
            bodies.append(html_text(_text(_STRING8 if kind == _BINARY else kind, value, encoding)))
        elif key == _RTF:
            bodies.append(_rich(value))
        elif kind == _TIME and key == 0x0039 and len(value) == 8:  # noqa: PLR2004 (sent, a FILETIME)
            ticks = struct.unpack("<Q", value)[0]
            if ticks < 2**61:
                lines.append(f"Date: {_EPOCH + dt.timedelta(microseconds=ticks // 10):%Y-%m-%d}")
        elif kind in (_STRING, _STRING8):
            text = _text(kind, value, encoding)
            if key in _LABELS or " " in text or "@" in text or (key >= _NAMED and is_typed(text)):
                lines.append(f"{_LABELS[key]}: {text}" if key in _LABELS else text)


def _rich(value: bytes) -> str:
    try:
        return rtf_text(decompress(value))
    except ExtractError:
        return ""


def _properties(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    return _Reader(data, 0).items()


class _Reader:
    """Walks one list of MAPI properties."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self.at = at

    def items(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield number, type and bytes of each value; up to the damage, where there is one."""
        try:
            for _ in range(min(self._number(), _MOST_PROPERTIES)):
                yield from self._property()
        except (struct.error, IndexError):
            self.at = len(self._data)

    def _property(self) -> Iterator[tuple[int, int, bytes]]:
        kind, key = struct.unpack_from("<HH", self._data, self.at)
        self.at += 4
        if key >= _NAMED:
            self._skip_name()
        plain = kind & ~_MULTIPLE
        is_long = plain in (_STRING, _STRING8, _OBJECT, _BINARY)
        count = self._number() if kind & _MULTIPLE or is_long else 1
        for _ in range(min(count, _MOST_PROPERTIES)):
            size = self._number() if is_long else _SIZES.get(plain, 0)
            if not size and not is_long:
                raise IndexError
            yield key, plain, self._data[self.at : self.at + size]
            self.at += size + -size % 4

    def _skip_name(self) -> None:
        self.at += 16
        if self._number():
            size = self._number()
            self.at += size + -size % 4
        else:
            self.at += 4

    def _number(self) -> int:
        value: int = struct.unpack_from("<I", self._data, self.at)[0]
        self.at += 4
        return value


def _text(kind: int, value: bytes, encoding: str) -> str:
    if kind == _STRING:
        return value.decode("utf-16-le", "replace").strip("\0")
    return _narrow(value, encoding)


def _narrow(data: bytes, encoding: str) -> str:
    data = data.rstrip(b"\0")
    try:
        return data.decode("ascii")
    except UnicodeDecodeError:
        pass
    try:
        return data.decode(encoding).replace("\r\n", "\n")
    except (UnicodeDecodeError, LookupError):
        return decode(data)[0]
