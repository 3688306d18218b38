"""Outlook messages (MSG): headers, bodies, recipients, contact fields, attachments and messages within.

Read through olefile from the streams themselves: each property is a stream named after its number and
type, so a message with a damaged index or an unknown code page still gives its text.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.labels import pair
from phiscan.extract.office.compound_file import codec, is_cut, open_ole
from phiscan.extract.office.legacy import program_runs
from phiscan.extract.office.rich_text import rtf_text
from phiscan.extract.office.storage import is_prose, is_typed, prose, storage_file, unshown
from phiscan.extract.structured.html import html_text, read_inline_files
from phiscan.model import FailReason
from phiscan.sandbox import programs

# The compressed RTF of Outlook messages: an LZ77 window of 4,096 bytes with a known beginning.

# The initial dictionary is part of the format, [MS-OXRTFCP] 2.1.2.1.
_START = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript "
    b"\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
    b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
_WINDOW = 4096
_HEADER_BYTES = 16
_COMPRESSED = b"LZFu"
_UNCOMPRESSED = b"MELA"
_MAX_BYTES = 256 * 1024**2


def decompress(data: bytes) -> bytes:
    """Return the RTF in ``data``; a stream that ends early gives what it has.

    A set bit of a control byte is a reference into the window, a clear one a byte. The window is the last
    4,096 bytes of what is known and written so far.

    Raises:
        ExtractError: corrupt; not compressed RTF.
    """
    if len(data) < _HEADER_BYTES:
        raise ExtractError(FailReason.CORRUPT, "compressed RTF too short")
    n_wanted, kind = struct.unpack_from("<I4s", data, 4)
    if kind == _UNCOMPRESSED:
        return data[_HEADER_BYTES : _HEADER_BYTES + n_wanted]
    if kind != _COMPRESSED:
        raise ExtractError(FailReason.CORRUPT, "not compressed RTF")
    out = bytearray(bytes(_WINDOW - len(_START)) + _START)  # what the window holds at the beginning
    at, end = _HEADER_BYTES, _WINDOW + min(n_wanted, _MAX_BYTES)
    while at < len(data) and len(out) < end:
        control = data[at]
        at += 1
        for bit in range(8):
            if not control >> bit & 1:
                out += data[at : at + 1]
                at += 1
                continue
            token = int.from_bytes(data[at : at + 2], "big")
            at += 2
            distance, length = (len(out) + len(_START) - (token >> 4)) % _WINDOW, (token & 15) + 2
            if not distance or at > len(data):  # the end mark, or a stream cut short
                return bytes(out[_WINDOW:end])
            run = out[len(out) - distance :][:length] if distance > length else out[-distance:]
            out += (run * (length // distance + 1))[:length]
    return bytes(out[_WINDOW:end])


# Property numbers of [MS-OXPROPS] and how a form would label them.
_LABELS = {
    0x0037: "Subject", 0x0C1A: "From", 0x0C1F: "From address", 0x5D01: "From address", 0x0042: "Sent for",
    0x0E04: "To", 0x0E03: "Cc", 0x0E02: "Bcc", 0x3001: "Name", 0x3003: "Address", 0x39FE: "Address",
    0x3A06: "First name", 0x3A11: "Last name", 0x3A44: "Middle name", 0x3A16: "Company name",
    0x3A17: "Title", 0x3A18: "Department", 0x3A08: "Business phone", 0x3A09: "Home phone",
    0x3A1C: "Mobile phone", 0x3A24: "Fax", 0x3A15: "Postal address", 0x3A29: "Street address",
    0x3A27: "City", 0x3A28: "State", 0x3A2A: "Postal code", 0x3A26: "Country", 0x3A48: "Spouse",
    0x3A4E: "Manager",
}  # fmt: skip
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
# A stream: the number of a property, its kind, and of one with several values which of these.
_VALUE = re.compile(r"__substg1\.0_([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})(-[0-9A-Fa-f]{8})?")
_MULTIPLE, _NAMED = 0x1000, 0x8000
_MOST_BINARY = 1024**2


@dataclass(slots=True)
class _Properties:
    """The properties of one message, recipient or attachment."""

    values: dict[int, tuple[int, bytes]] = field(default_factory=dict, repr=False)  # number: kind, value
    several: list[tuple[int, int, bytes]] = field(default_factory=list, repr=False)  # of more than one value
    fixed: dict[int, bytes] = field(default_factory=dict, repr=False)  # of fixed length

    def take(self, number: int, kind: int, value: bytes) -> None:
        """Take one value."""
        if kind in (_TIME, _INTEGER):
            self.fixed.setdefault(number, value)
        elif number in self.values:
            self.several.append((number, kind, value))
        elif kind in (_STRING, _STRING8, _BINARY):
            self.values[number] = kind, value

    def data(self, number: int) -> bytes:
        """Return the bytes of a property of variable length, none when it is absent or damaged."""
        return self.values[number][1] if number in self.values else b""

    def text(self, number: int) -> str:
        """Return a string property."""
        kind, data = self.values.get(number, (_STRING, b""))
        return self.decoded(data, kind)

    def decoded(self, data: bytes, kind: int) -> str:
        """Return a string of one byte or two for each character."""
        return (data.decode("utf-16-le", "replace") if kind == _STRING else self.narrow(data)).strip("\0")

    def narrow(self, data: bytes) -> str:
        """Decode 8-bit text by the message's code page, which is often absent or wrong."""
        for page in (self.fixed.get(number, b"") for number in _CODE_PAGES):
            if len(page) >= 4:  # noqa: PLR2004 (an Int32)
                with suppress(LookupError, UnicodeDecodeError):
                    return data.decode(codec(struct.unpack_from("<i", page)[0]))
        return decode(data)[0]

    def further_texts(self) -> Iterator[str]:
        """Yield the values of properties with several, and the prose in binary ones."""
        yield from (self.decoded(data, kind) for _, kind, data in self.several if kind != _BINARY)
        for number, kind, data in ((n, *value) for n, value in self.values.items()):
            if kind == _BINARY and number not in (_HTML, _RTF, _BODY, _ATTACH_DATA):
                yield from prose(data[:_MOST_BINARY])

    def lines(self) -> Iterator[str]:
        """Yield the fields of a message under their labels."""
        yield self.text(_HEADERS).replace("\r\n", "\n")
        for number, label in _DATES.items():
            value = self.fixed.get(number, b"")
            ticks = struct.unpack("<Q", value)[0] if len(value) == 8 else 0  # noqa: PLR2004 (a FILETIME)
            if 0 < ticks < _LAST_TICKS:
                yield f"{label}: {_EPOCH + dt.timedelta(microseconds=ticks // 10):%Y-%m-%d}"
        for number in sorted(self.values):
            kind = self.values[number][0]
            if kind == _BINARY or number in (_BODY, _HTML, _RTF, _HEADERS) or number in _MACHINE:
                continue
            text = self.text(number)
            is_field = number >= _NAMED and is_typed(text) and _FIELD_VALUE.fullmatch(text)
            if text.strip() and (number in _LABELS or _is_for_people(text) or is_field):
                yield pair(_LABELS.get(number, ""), text)
        yield from (text for text in self.further_texts() if is_typed(text) and _is_for_people(text))

    def recipient(self) -> str:
        """Return the names and addresses of a recipient."""
        given = [self.text(number) for number in _RECIPIENT_NAMES]
        return "Recipient: " + " ".join(dict.fromkeys(name for name in given if name and name[0] != "/"))

    def bodies(self) -> tuple[str, str]:
        """Return the plain body, and that of the HTML or the RTF, which may say something else.

        Raises:
            ExtractError: there is only a body in RTF, and it is damaged.
        """
        plain = self.text(_BODY).replace("\r\n", "\n").replace("\0", " ").strip()
        html, packed = self.data(_HTML), self.data(_RTF)
        if html:
            return plain, html_text(self.decoded(html, self.values[_HTML][0]))
        try:
            return plain, rtf_text(decompress(packed)) if packed else ""
        except ExtractError:
            if not plain:
                raise
            return plain, ""

    def file_names(self) -> list[str]:
        """Return the names of an attachment: its own, as shown, and the path of what is linked."""
        own = self.text(_ATTACH_LONG_NAME) or self.text(_ATTACH_SHORT_NAME)
        names = [own, *(self.text(key) for key in _ATTACH_NAMES)]
        return list(dict.fromkeys(name for name in names if name.strip()))


def _add_message(lines: Iterable[str], bodies: tuple[str, str], content: Content, sink: Sink) -> None:
    """Add the fields and the bodies of a message."""
    sink.add("\n".join(dict.fromkeys(line for line in lines if line.strip())), content.place("headers"))
    plain, formatted = bodies
    sink.add(plain or formatted, content.place("body"))
    if plain and formatted:
        shown = (line for line in formatted.split("\n") if _is_sentence(line))
        sink.add("\n".join(unshown(shown, plain)), content.place("body2"))


def _is_for_people(text: str) -> bool:
    """Leave out directory paths, class names and keys."""
    return not text.startswith(("/", "IPM.", "{", "SMTP", "EX:")) and (
        " " in text or "@" in text or text.isalpha()
    )


def _is_sentence(line: str) -> bool:
    """Tell a line of a formatted body from rules of style and marks of templates."""
    return not _STYLE_RULE.search(line) and (is_prose(line) or _NUMBER.search(line) is not None)


def read_outlook_message(content: Content, sink: Sink) -> None:
    """Add ``#headers`` and ``#body``, and read the attachments as members."""
    with open_ole(content.data) as ole:
        if not _stored(ole, ()).values and not ole.exists("__properties_version1.0"):
            raise ExtractError(FailReason.CORRUPT, "no message properties")
        if is_cut(ole):
            sink.fail(content.locator, FailReason.CORRUPT, "cut short")
        _read_message(ole, (), content, sink)


def _stored(ole: Any, path: tuple[str, ...]) -> _Properties:
    """Return the properties of a storage: streams named by their numbers, those of fixed length in one."""
    found = _Properties()
    for entry in _below(ole, path):
        if match := _VALUE.fullmatch(entry[-1]):
            number, kind = int(match[1], 16), int(match[2], 16) & ~_MULTIPLE
            is_one = not int(match[2], 16) & _MULTIPLE
            if is_one and kind in (_STRING, _STRING8, _BINARY):
                found.take(number, kind, ole.data(*entry))
            elif match[3]:
                found.several.append((number, kind, ole.data(*entry)))
    data = ole.data(*path, "__properties_version1.0")
    start = 8 if path and not path[-1].startswith("__substg") else 24 if path else 32
    for at in range(start, len(data) - 15, 16):
        kind, number = struct.unpack_from("<HH", data, at)
        if kind in (_TIME, _INTEGER):
            found.take(number, kind, data[at + 8 : at + 16])
    return found


def _below(ole: Any, path: tuple[str, ...]) -> list[list[str]]:
    depth = len(path)
    entries = ole.listdir(streams=True, storages=True)
    return [entry for entry in entries if len(entry) == depth + 1 and tuple(entry[:depth]) == path]


def _read_message(ole: Any, path: tuple[str, ...], content: Content, sink: Sink) -> None:
    message, children = _stored(ole, path), sorted(map(tuple, _below(ole, path)))
    recipients = (_stored(ole, child).recipient() for child in children if child[-1].startswith("__recip"))
    lines = [*message.lines(), *recipients]
    _add_message(lines, message.bodies(), content, sink)
    html = message.data(_HTML).replace(b"\0", b"")  # as ASCII, also where it is UTF-16
    if b"data:" in html:
        read_inline_files(html.decode("latin-1"), content, sink)
    attached = (child for child in children if child[-1].startswith("__attach"))
    for number, child in enumerate(attached, 1):
        sink.take_member()
        _read_attachment(ole, child, number, content, sink)


def _read_attachment(ole: Any, path: tuple[str, ...], number: int, content: Content, sink: Sink) -> None:
    attachment = _stored(ole, path)
    names = attachment.file_names() or [f"attachment{number}"]
    sink.add(f"Attachment: {' '.join(names)}", content.place("headers"))
    embedded = (*path, _EMBEDDED)
    if not ole.exists(list(embedded)):
        if data := attachment.data(_ATTACH_DATA):
            sink.read_member(content.member(names[0], data))
        return
    member = content.member(f"{names[0]}.msg", b"")
    if member.depth > sink.limits.depth:
        sink.fail(member.locator, FailReason.NESTED_TOO_DEEP)
    elif ole.get_type(list(embedded)) == 1:  # a storage: a message, or an OLE object
        if ole.exists([*embedded, "__properties_version1.0"]):
            _read_message(ole, embedded, member, sink)
        else:
            sink.read_member(content.member(names[0], storage_file(ole, embedded)))


# TNEF (winmail.dat): subject, body, properties and recipients, and the attached files as members.
# Source: [MS-OXTNEF] 2.1; property numbers of [MS-OXPROPS].

_SIGNATURE = b"\x78\x9f\x3e\x22"
_HEAD_BYTES = 9  # level, attribute, length
_TITLE, _DATA, _RENDERING = 0x8010, 0x800F, 0x9002
# Subject, sender, body and name of a file as properties.
_ATTRIBUTES = {0x8004: 0x0037, 0x8000: 0x0C1A, 0x800C: _BODY, _TITLE: _ATTACH_SHORT_NAME}
_MESSAGE_PROPERTIES, _ATTACHMENT_PROPERTIES, _RECIPIENTS, _CODE_PAGE = 0x9003, 0x9005, 0x9004, 0x9007
_OBJECT = 0x0D
_SIZES = {0x02: 4, 0x03: 4, 0x04: 4, 0x0A: 4, 0x0B: 4, 0x05: 8, 0x06: 8, 0x07: 8, 0x14: 8, 0x40: 8, 0x48: 16}
_OBJECT_ID_BYTES = 16
_MOST_PROPERTIES, _MOST_RECIPIENTS = 20_000, 5_000


def read_tnef(content: Content, sink: Sink) -> None:
    """Add ``#headers`` and ``#body``, and read the attachments as members."""
    message, files, recipients = _Properties(), list[_Properties](), list[_Properties]()
    for number, data in _attributes(content, sink):
        if number in (_RENDERING, _TITLE, _DATA, _ATTACHMENT_PROPERTIES):
            if number == _RENDERING or not files:
                files.append(_Properties(fixed=message.fixed))
            _take(number, data, files[-1])
        elif number == _RECIPIENTS and len(data) >= 4:  # noqa: PLR2004 (the number of rows)
            reader = _Reader(data, 4)
            for _ in range(min(struct.unpack_from("<I", data)[0], _MOST_RECIPIENTS)):
                recipients.append(reader.fill(_Properties(fixed=message.fixed)))
        else:
            _take(number, data, message)
    lines = [*message.lines(), *(recipient.recipient() for recipient in recipients)]
    _add_message(lines, message.bodies(), content, sink)
    for index, file in enumerate(files, 1):
        sink.take_member()
        names = file.file_names()
        sink.add(f"Attachment: {' '.join(names)}" if names else "", content.place("headers"))
        further = [value for number, _, value in file.several if number == _ATTACH_DATA]
        if data := max([file.data(_ATTACH_DATA), *further], key=len):
            sink.read_member(content.member(names[0] if names else f"attachment{index}", data))


def _take(number: int, data: bytes, found: _Properties) -> None:
    """Take one attribute of a message or a file."""
    if number in (_MESSAGE_PROPERTIES, _ATTACHMENT_PROPERTIES):
        _Reader(data, 0).fill(found)
    elif number == _CODE_PAGE:
        found.fixed[_CODE_PAGES[0]] = data[:4]
    elif number == _DATA:
        found.take(_ATTACH_DATA, _BINARY, data)
    elif number in _ATTRIBUTES:
        found.take(_ATTRIBUTES[number], _STRING8, data.rstrip(b"\0"))


def _attributes(content: Content, sink: Sink) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of each attribute; where the stream is damaged, up to there."""
    data, at = content.data, 6
    if not data.startswith(_SIGNATURE):
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


class _Reader:
    """Walks lists of MAPI properties."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._at = at

    def fill(self, found: _Properties) -> _Properties:
        """Take the values of one list up to the damage, where there is one."""
        try:
            for _ in range(min(self._number(), _MOST_PROPERTIES)):
                self._property(found)
        except (struct.error, IndexError):
            self._at = len(self._data)
        return found

    def _property(self, found: _Properties) -> None:
        kind, number = struct.unpack_from("<HH", self._data, self._at)
        self._at += 4
        if number >= _NAMED:
            self._skip_name()
        plain = kind & ~_MULTIPLE
        is_long = plain in (_STRING, _STRING8, _OBJECT, _BINARY)
        for _ in range(min(self._number() if kind & _MULTIPLE or is_long else 1, _MOST_PROPERTIES)):
            size = self._number() if is_long else _SIZES.get(plain, 0)
            if not size and not is_long:
                raise IndexError
            value = self._data[self._at : self._at + size]
            if plain == _OBJECT:
                found.take(number, _BINARY, value[_OBJECT_ID_BYTES:])
            else:
                found.take(number, plain, value)
            self._at += size + -size % 4

    def _skip_name(self) -> None:
        self._at += 16
        if self._number():
            size = self._number()
            self._at += size + -size % 4
        else:
            self._at += 4

    def _number(self) -> int:
        value: int = struct.unpack_from("<I", self._data, self._at)[0]
        self._at += 4
        return value


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
    with program_runs(content, sink.limits.time_s) as run:
        written = run("readpst")  # open files that have no name any more
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
