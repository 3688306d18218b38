"""Outlook messages (MSG): headers, bodies, recipients, contact fields, attachments and messages within.

Read through olefile from the streams themselves: each property is a stream named after its number and
type, so a message with a damaged index or an unknown code page still gives its text.
"""

from __future__ import annotations

import datetime as dt
import re
import struct
from collections.abc import Iterator
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.compound_parts.storage import storage_file
from phiscan.extract.compound_parts.text_runs import is_prose, is_typed, narrow_runs, unshown, wide_runs
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.mail.compressed_rtf import decompress
from phiscan.extract.office.compound_file import codec, is_cut, open_ole
from phiscan.extract.office.rich_text import rtf_text
from phiscan.extract.structured.html import html_text, read_inline_files
from phiscan.model import FailReason

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


class OutlookExtractor:
    """Read MSG files: mail, contacts, appointments."""

    media_types = frozenset({"application/vnd.ms-outlook"})

    def extract(self, content: Content, sink: Sink) -> None:
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
