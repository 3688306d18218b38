"""Outlook messages (MSG): headers, bodies, recipients, contact fields, attachments and messages within.

Read through olefile from the streams themselves: each property is a stream named after its number and
type, so a message with a damaged index or an unknown code page still gives its text.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.office.compound_file import codec, is_cut, open_ole
from phiscan.extract.office.rich_text import rtf_text
from phiscan.extract.office.storage import is_prose, is_typed, narrow_runs, storage_file, unshown, wide_runs
from phiscan.extract.structured.html import html_text, read_inline_files
from phiscan.model import FailReason
from phiscan.sandbox import programs
from phiscan.sandbox.channel import in_memory

# The compressed RTF of Outlook messages: an LZ77 window of 4,096 bytes with a known beginning.

# The initial dictionary is part of the format, [MS-OXRTFCP] 2.1.2.1.
_START = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript "
    b"\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
    b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
_WINDOW = 4096
_HEADER_BYTES = 16
_TOKEN_BYTES = 2
_COMPRESSED = b"LZFu"
_UNCOMPRESSED = b"MELA"
_MAX_BYTES = 256 * 1024**2


def decompress(data: bytes) -> bytes:
    """Return the RTF in ``data``; a stream that ends early gives what it has.

    Raises:
        ExtractError: corrupt; not compressed RTF.
    """
    if len(data) < _HEADER_BYTES:
        raise ExtractError(FailReason.CORRUPT, "compressed RTF too short")
    raw_bytes, kind = struct.unpack_from("<I4s", data, 4)
    if kind == _UNCOMPRESSED:
        return data[_HEADER_BYTES : _HEADER_BYTES + raw_bytes]
    if kind != _COMPRESSED:
        raise ExtractError(FailReason.CORRUPT, "not compressed RTF")
    return bytes(_unpack(data[_HEADER_BYTES:], min(raw_bytes, _MAX_BYTES)))


def _unpack(data: bytes, n_wanted: int) -> bytearray:
    """Follow the control bytes: a set bit is a reference into the window, a clear one a byte.

    The window is the last 4,096 bytes of what is known and written so far; its place ``write`` is that of the
    next byte.
    """
    out = bytearray(bytes(_WINDOW - len(_START)) + _START)  # what the window holds at the beginning
    n_known = len(out)
    at, end = 0, len(data)
    while at < end and len(out) - n_known < n_wanted:
        control = data[at]
        at += 1
        if not control:
            out += data[at : at + 8]
            at += 8
            continue
        for bit in range(8):
            if not control >> bit & 1:
                out += data[at : at + 1]
                at += 1
                continue
            if at + _TOKEN_BYTES > end:
                return out[n_known : n_known + n_wanted]  # a stream cut short
            offset = (data[at] << 4) | (data[at + 1] >> 4)
            length = (data[at + 1] & 15) + 2
            at += _TOKEN_BYTES
            distance = (len(out) + len(_START) - offset) % _WINDOW
            if not distance:
                return out[n_known : n_known + n_wanted]  # the end mark
            run = out[len(out) - distance :][:length] if distance > length else out[-distance:]
            out += run if len(run) == length else (run * (length // distance + 1))[:length]
    return out[n_known : n_known + n_wanted]


# Property numbers of [MS-OXPROPS] and how a form would label them.
_LABELS = {
    0x0037: "Subject",
    0x0C1A: "From",
    0x0C1F: "From address",
    0x5D01: "From address",
    0x0042: "Sent for",
    0x0E04: "To",
    0x0E03: "Cc",
    0x0E02: "Bcc",
    0x3001: "Name",
    0x3003: "Address",
    0x39FE: "Address",
    0x3A06: "First name",
    0x3A11: "Last name",
    0x3A44: "Middle name",
    0x3A16: "Company name",
    0x3A17: "Title",
    0x3A18: "Department",
    0x3A08: "Business phone",
    0x3A09: "Home phone",
    0x3A1C: "Mobile phone",
    0x3A24: "Fax",
    0x3A15: "Postal address",
    0x3A29: "Street address",
    0x3A27: "City",
    0x3A28: "State",
    0x3A2A: "Postal code",
    0x3A26: "Country",
    0x3A48: "Spouse",
    0x3A4E: "Manager",
}
_DATES = {0x0039: "Date", 0x3A42: "Date of birth"}
_BODY, _HTML, _RTF, _HEADERS = 0x1000, 0x1013, 0x1009, 0x007D
_ATTACH_DATA = 0x3701
_ATTACH_LONG_NAME, _ATTACH_SHORT_NAME = 0x3707, 0x3704
_ATTACH_NAMES = (0x3001, 0x370D, 0x3708)  # as shown, and the path of what is linked
_EMBEDDED = "__substg1.0_3701000D"
# Strings for machines: message class, address types, search keys, entry names.
_MACHINE = frozenset(
    {0x001A, 0x0C1E, 0x0064, 0x0077, 0x3002, 0x0070, 0x1035, 0x0E1D, 0x003D, 0x5D02, 0x800C, 0x3FFA}
)
_STRING, _STRING8, _BINARY, _TIME, _INTEGER = 0x001F, 0x001E, 0x0102, 0x0040, 0x0003
_CODE_PAGES = (0x3FDE, 0x3FFD)
_EPOCH = dt.datetime(1601, 1, 1, tzinfo=dt.UTC)
_LAST_TICKS = 2_650_467_743_990_000_000  # the year 9999
_RECIPIENT_NAMES = (0x3001, 0x39FE, 0x3003, 0x3A20, 0x5FF6)
_NUMBER = re.compile(r"\d{6,}|\d{4}-\d\d-\d\d")
# Of a field without a blank: a name with a hyphen, a number, a date.
_FIELD_VALUE = re.compile(r"[^\W\d_]{2,}(?:[-'][^\W\d_]{2,})+|\d{6,}|\d{4}-\d\d-\d\d")
_STYLE_RULE = re.compile(
    r"[{}]|^\s*(?:/\*|@|//|\[|<|\.|#)|=\"|\bMso[A-Z]|[a-z-]+:[^ ]*;|[a-z]+-[a-z-]+:|&nbsp;"
)
_PREFIX = "__substg1.0_"
_SEVERAL = re.compile(r"__substg1\.0_([0-9A-Fa-f]{4})(1[0-9A-Fa-f]{3})-[0-9A-Fa-f]{8}")
_MULTIPLE, _NAMED = 0x1000, 0x8000
_MOST_BINARY = 1024**2
_NAME_ENTRIES, _NAME_STRINGS = "__substg1.0_00030102", "__substg1.0_00040102"
_TAG = re.compile(r"[0-9A-Fa-f]{8}")  # the number of a property, and its kind


def read_outlook_message(content: Content, sink: Sink) -> None:
    """Add ``#headers`` and ``#body``, and read the attachments as members."""
    with open_ole(content.data) as ole:
        if not _Storage(ole, ()).strings and not ole.exists("__properties_version1.0"):
            raise ExtractError(FailReason.CORRUPT, "no message properties")
        if is_cut(ole):
            sink.fail(content.locator, FailReason.CORRUPT, "cut short")
        _read_message(ole, (), content, sink)


class _Storage:
    """The properties of one message, recipient or attachment."""

    def __init__(self, ole: Any, path: tuple[str, ...]) -> None:
        self.path = path
        self._ole = ole
        self.strings: dict[int, tuple[int, tuple[str, ...]]] = {}
        self.several: list[tuple[int, int, tuple[str, ...]]] = []  # values of properties with more than one
        self.children: list[tuple[str, ...]] = []
        depth = len(path)
        for entry in ole.listdir(streams=True, storages=True):
            if len(entry) != depth + 1 or tuple(entry[:depth]) != path:
                continue
            name = entry[-1]
            if _TAG.fullmatch(name.removeprefix(_PREFIX)) and name.startswith(_PREFIX):
                number, kind = int(name[-8:-4], 16), int(name[-4:], 16)
                if kind in (_STRING, _STRING8, _BINARY):
                    self.strings.setdefault(number, (kind, tuple(entry)))
            elif match := _SEVERAL.fullmatch(name):
                self.several.append((int(match[1], 16), int(match[2], 16) & ~_MULTIPLE, tuple(entry)))
            elif name.startswith(("__attach", "__recip")):
                self.children.append(tuple(entry))
        self.fixed = self._fixed()

    def data(self, number: int) -> bytes:
        """Return the bytes of a property of variable length, none when it is absent or damaged."""
        return self._stream(self.strings[number][1]) if number in self.strings else b""

    def _stream(self, path: tuple[str, ...]) -> bytes:
        try:
            return bytes(self._ole.openstream(list(path)).read())
        except (OSError, ValueError):
            return b""

    def further_texts(self) -> Iterator[tuple[int, str]]:
        """Yield number and text of the values of properties with several, and the prose in binary ones."""
        binary = [(number, path) for number, (kind, path) in self.strings.items() if kind == _BINARY]
        for number, kind, path in self.several:
            data = self._stream(path)
            if kind in (_STRING, _STRING8):
                yield number, self.decoded(data, kind)
            elif kind == _BINARY:
                binary.append((number, path))
        for number, path in binary:
            if number not in (_HTML, _RTF, _BODY, _ATTACH_DATA):
                data = self._stream(path)[:_MOST_BINARY]
                runs = (text for run in (narrow_runs, wide_runs) for _, text in run(data))
                yield from ((number, text) for text in runs if is_prose(text))

    def decoded(self, data: bytes, kind: int) -> str:
        """Return a string of one byte or two for each character."""
        text = data.decode("utf-16-le", "replace") if kind == _STRING else self.narrow(data)
        return text.strip("\0")

    def text(self, number: int) -> str:
        """Return a string property."""
        data = self.data(number)
        return self.decoded(data, self.strings[number][0]) if data else ""

    def narrow(self, data: bytes) -> str:
        """Decode 8-bit text by the message's code page, which is often absent or wrong."""
        for number in _CODE_PAGES:
            page = self.fixed.get(number)
            if page and len(page) >= 4:  # noqa: PLR2004 (an Int32)
                try:
                    return data.decode(codec(struct.unpack_from("<i", page)[0]))
                except (LookupError, UnicodeDecodeError):
                    continue
        return decode(data)[0]

    def _fixed(self) -> dict[int, bytes]:
        """Properties of fixed length stand in the index stream, 16 bytes each."""
        path = [*self.path, "__properties_version1.0"]
        if not self._ole.exists(path):
            return {}
        try:
            data = self._ole.openstream(path).read()
        except OSError:
            return {}
        start = 8 if self.path and not self.path[-1].startswith("__substg") else 24 if self.path else 32
        return {
            struct.unpack_from("<H", data, at + 2)[0]: data[at + 8 : at + 16]
            for at in range(start, len(data) - 15, 16)
            if struct.unpack_from("<H", data, at)[0] in (_TIME, _INTEGER)
        }


def _read_message(ole: Any, path: tuple[str, ...], content: Content, sink: Sink) -> None:
    storage = _Storage(ole, path)
    sink.add("\n".join(_header_lines(ole, storage)), content.place("headers"))
    plain, formatted = _bodies(storage)
    sink.add(plain or formatted, content.place("body"))
    if plain and formatted:
        lines = (line for line in formatted.split("\n") if _is_sentence(line))
        sink.add("\n".join(unshown(lines, plain)), content.place("body2"))
    html = storage.data(_HTML).replace(b"\0", b"")  # as ASCII, also where it is UTF-16
    if b"data:" in html:
        read_inline_files(html.decode("latin-1"), content, sink)
    for number, child in enumerate(sorted(c for c in storage.children if c[-1].startswith("__attach")), 1):
        sink.take_member()
        _read_attachment(ole, _Storage(ole, child), number, content, sink)


def _header_lines(ole: Any, storage: _Storage) -> list[str]:
    lines = []
    transport = storage.text(_HEADERS)
    if transport:
        lines.append(transport.replace("\r\n", "\n"))
    for number, label in _DATES.items():
        value = storage.fixed.get(number, b"")
        ticks = struct.unpack("<Q", value)[0] if len(value) == 8 else 0  # noqa: PLR2004 (a FILETIME)
        if 0 < ticks < _LAST_TICKS:
            lines.append(f"{label}: {_EPOCH + dt.timedelta(microseconds=ticks // 10):%Y-%m-%d}")
    names = _property_names(ole) if not storage.path else {}
    for number in sorted(storage.strings):
        kind = storage.strings[number][0]
        if kind == _BINARY or number in (_BODY, _HTML, _RTF, _HEADERS) or number in _MACHINE:
            continue
        text = storage.text(number)
        is_field = number >= _NAMED and is_typed(text) and _FIELD_VALUE.fullmatch(text)
        if text.strip() and (number in _LABELS or _is_for_people(text) or is_field):
            label = _LABELS.get(number, "") or names.get(number, "")
            lines.append(f"{label}: {text}" if label else text)
    lines += [text for _, text in storage.further_texts() if is_typed(text) and _is_for_people(text)]
    for child in sorted(c for c in storage.children if c[-1].startswith("__recip")):
        recipient = _Storage(ole, child)
        given = [recipient.text(number) for number in _RECIPIENT_NAMES]
        lines.append(
            "Recipient: " + " ".join(dict.fromkeys(name for name in given if name and name[0] != "/"))
        )
    return list(dict.fromkeys(lines))


def _is_for_people(text: str) -> bool:
    """Leave out directory paths, class names and keys."""
    return not text.startswith(("/", "IPM.", "{", "SMTP", "EX:")) and (
        " " in text or "@" in text or text.isalpha()
    )


def _bodies(storage: _Storage) -> tuple[str, str]:
    """Return the plain body, and that of the HTML or the RTF, which may say something else.

    Raises:
        ExtractError: there is only a body in RTF, and it is damaged.
    """
    plain = storage.text(_BODY).replace("\r\n", "\n").replace("\0", " ").strip()
    html = storage.data(_HTML)
    if html:
        wide = storage.strings[_HTML][0] == _STRING
        return plain, html_text(html.decode("utf-16-le", "replace") if wide else storage.narrow(html))
    packed = storage.data(_RTF)
    try:
        return plain, rtf_text(decompress(packed)) if packed else ""
    except ExtractError:
        if not plain:
            raise
        return plain, ""


def _is_sentence(line: str) -> bool:
    """Tell a line of a formatted body from rules of style and marks of templates."""
    return not _STYLE_RULE.search(line) and (is_prose(line) or _NUMBER.search(line) is not None)


def _property_names(ole: Any) -> dict[int, str]:
    """Return the names that users and add-ins gave to properties, by their numbers.

    Source: [MS-OXMSG] 2.2.3 (entries of 8 bytes: place of the name, its set and kind, number).
    """
    folder = "__nameid_version1.0"
    if not ole.exists([folder, _NAME_ENTRIES]) or not ole.exists([folder, _NAME_STRINGS]):
        return {}
    entries = ole.openstream([folder, _NAME_ENTRIES]).read()
    names = ole.openstream([folder, _NAME_STRINGS]).read()
    found = {}
    for at in range(0, len(entries) - 7, 8):
        place, kind, number = struct.unpack_from("<IHH", entries, at)
        if kind & 1 and place + 4 <= len(names):  # named by a string
            size = struct.unpack_from("<I", names, place)[0]
            name = names[place + 4 : place + 4 + size].decode("utf-16-le", "replace")
            found[_NAMED + number] = name if name.replace(" ", "").isalpha() else ""
    return found


def _read_attachment(ole: Any, attachment: _Storage, number: int, content: Content, sink: Sink) -> None:
    own = attachment.text(_ATTACH_LONG_NAME) or attachment.text(_ATTACH_SHORT_NAME)
    names = [own, *(attachment.text(key) for key in _ATTACH_NAMES)]
    names = list(dict.fromkeys(name for name in names if name.strip())) or [f"attachment{number}"]
    name = names[0]
    sink.add(f"Attachment: {' '.join(names)}", content.place("headers"))
    embedded = (*attachment.path, _EMBEDDED)
    if ole.exists(list(embedded)):
        member = content.member(f"{name}.msg", b"")
        if member.depth > sink.limits.depth:
            sink.fail(member.locator, FailReason.NESTED_TOO_DEEP)
        elif ole.get_type(list(embedded)) == 1:  # a storage: a message, or an OLE object
            if ole.exists([*embedded, "__properties_version1.0"]):
                _read_message(ole, embedded, member, sink)
            else:
                sink.read_member(content.member(name, storage_file(ole, embedded)))
        return
    data = attachment.data(_ATTACH_DATA)
    if data:
        sink.read_member(content.member(name, data))


# TNEF (winmail.dat): subject, body, properties and recipients, and the attached files as members.
# Source: [MS-OXTNEF] 2.1; property numbers of [MS-OXPROPS].

SIGNATURE = b"\x78\x9f\x3e\x22"
_HEAD_BYTES = 9  # level, attribute, length
_ATTRIBUTES = {0x8004: "Subject", 0x8000: "From"}
_BODY_ATTRIBUTE, _TITLE, _DATA, _RENDERING = 0x800C, 0x8010, 0x800F, 0x9002
_MESSAGE_PROPERTIES, _ATTACHMENT_PROPERTIES, _RECIPIENTS, _CODE_PAGE = 0x9003, 0x9005, 0x9004, 0x9007
_OBJECT = 0x0D
_SIZES = {0x02: 4, 0x03: 4, 0x04: 4, 0x0A: 4, 0x0B: 4, 0x05: 8, 0x06: 8, 0x07: 8, 0x14: 8, 0x40: 8, 0x48: 16}
_OBJECT_ID_BYTES = 16
_CONTROLS = re.compile(r"[\x00-\x1f]+")
_MOST_PROPERTIES = 20_000


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
        elif number == _BODY_ATTRIBUTE:
            self.bodies.append(_narrow(data, self.encoding))
        elif number == _RENDERING:
            self.files.append(_File())
        elif number in (_TITLE, _DATA, _ATTACHMENT_PROPERTIES):
            _fill(self.files, number, data, self.encoding)
        elif number == _RECIPIENTS:
            _read_recipients(data, self.encoding, self.lines)
        elif number == _MESSAGE_PROPERTIES:
            _read_properties(data, self.encoding, self.lines, self.bodies)


def read_tnef(content: Content, sink: Sink) -> None:
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
            if key in (_ATTACH_LONG_NAME, _ATTACH_SHORT_NAME) and value:
                name = _text(kind, value, encoding)
                file.name = name if key == _ATTACH_LONG_NAME else file.name or name
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
        if key == _BODY:
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


# Outlook stores (PST) through readpst, where it is installed: one mailbox per folder.
# readpst writes files. They lie in a private temporary folder, lose their names as soon as it has ended
# and are handed over open; what a killed scan leaves is removed with that folder.

_OFFLINE = b"SO"
_ENDINGS = {"mbox": ".mbox", "contacts": ".vcf", "calendar": ".ics", "journal": ".ics"}


def read_outlook_store(content: Content, sink: Sink) -> None:
    """Read every folder's mailbox as a member.

    Raises:
        ExtractError: unsupported (readpst is missing), timed_out or corrupt.
    """
    if not programs.is_installed("readpst"):
        raise ExtractError(FailReason.UNSUPPORTED, f"{_kind(content)}needs readpst, which is not installed")
    if content.n_bytes > sink.limits.member_bytes:  # readpst would write that much
        detail = f"{content.n_bytes} bytes, limit {sink.limits.member_bytes}"
        raise ExtractError(FailReason.TOO_LARGE, detail)
    written = _unpacked_store(content, sink.limits.time_s)
    try:
        if not written.files:
            raise ExtractError(FailReason.CORRUPT, f"{_kind(content)}readpst gave nothing")
        for name, descriptor in written.files:
            sink.take_member()
            path = Path(name)
            shown = str(path.parent / path.stem) + _ENDINGS.get(path.name, path.suffix)
            with os.fdopen(descriptor, "rb", closefd=False) as stream:
                data = sink.unpack(stream, content.n_bytes)
            sink.read_member(content.member(shown, data))
    finally:
        written.close()


def _kind(content: Content) -> str:
    """Return the name of an OST file, recognised by the magic number of its client, and advice.

    Source: Microsoft, [MS-PST] section 2.2.2.6, wMagicClient.
    """
    is_offline = bytes(content.data[8:10]) == _OFFLINE
    return "Outlook offline store (OST), export it to PST from Outlook; " if is_offline else ""


def _unpacked_store(content: Content, seconds: float) -> programs.Finished:
    """Return the mailboxes of a store as open files that have no name any more."""
    held = None if content.stream is not None else in_memory(content.data)
    descriptor = content.stream.fileno() if held is None and content.stream is not None else held
    try:
        return programs.run("readpst", descriptor, seconds)
    except subprocess.TimeoutExpired:
        raise ExtractError(FailReason.TIMED_OUT, "readpst") from None
    finally:
        if held is not None:
            os.close(held)
