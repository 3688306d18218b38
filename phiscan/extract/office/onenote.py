"""OneNote sections: texts, titles, authors and links of their objects, and the files within them.

A section is a store of objects with numbered properties. The properties that hold text are found by their
numbers wherever they lie, older versions of a page too; embedded files and pictures by the mark before them.
Source: Microsoft, [MS-ONE] 2.1.12 (properties), [MS-ONESTORE] 2.6.6 (PropertySet) and 2.6.13 (files).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.unsupported import read_strings
from phiscan.model import FailReason

_LENGTH_AND_DATA = 7  # the type of a property whose data follow their length
# Number of a property: what goes before its text.
_TEXTS = {
    0x1C001C22: "",  # RichEditTextUnicode
    0x1C001CF3: "Title",  # CachedTitleString
    0x1C001D3C: "Title",  # CachedTitleStringFromPage
    0x1C001D75: "Author",
    0x1C001D9C: "File",  # EmbeddedFileName
    0x1C001E20: "Link",  # WzHyperlinkUrl
    0x1C001E58: "Alternative text",
    0x1C001D82: "Source",  # SourceFilepath
    0x1C00349B: "Section",
}
_BYTES = 0x1C003498  # TextExtendedAscii
_NUMBER = re.compile(b"|".join(re.escape(struct.pack("<I", number)) for number in (*_TEXTS, _BYTES)))
_FILE = re.compile(re.escape(bytes.fromhex("e716e3bd65261145a4c48d4d0b7a9eac")))
_FILE_HEAD = struct.Struct("<16sQIQ")
_FIXED = {1: 0, 2: 0, 3: 1, 4: 2, 5: 4, 6: 8, 8: 0, 10: 0, 12: 0, 9: 4, 11: 4, 13: 4}
_MOST_PROPERTIES, _MOST_LISTS = 64, 200_000
_MOST_TEXT_BYTES = 4 * 1024**2


def read_onenote(content: Content, sink: Sink) -> None:
    """Add the texts, ``#texts``, each once, and read embedded files as members.

    Raises:
        ExtractError: unsupported; there is no text in it.
    """
    data = content.data
    search = _Search(data)
    texts = dict.fromkeys(text for text in map(str.strip, search.texts()) if text)
    if search.left < 0:
        sink.fail(content.place("texts"), FailReason.TOO_LARGE, "more lists of properties than are read")
    sink.add("\n".join(texts), content.place("texts"))
    if not texts:
        read_strings(content, "application/onenote", sink, "no text object")
    for number, file in enumerate(_files(data), 1):
        sink.read_new(content.member(f"file{number}", file))


def _files(data: bytes) -> Iterator[bytes]:
    for match in _FILE.finditer(data):
        if match.start() + _FILE_HEAD.size > len(data):
            return
        _, length, _, _ = _FILE_HEAD.unpack_from(data, match.start())
        start = match.start() + _FILE_HEAD.size
        if length > 0:
            yield data[start : start + length]


class _Search:
    """The search for properties with text, and how many lists of properties it may still look at."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.left = _MOST_LISTS

    def texts(self) -> Iterator[str]:
        """Yield the texts in the order of the file."""
        for match in _NUMBER.finditer(self._data):
            number = struct.unpack_from("<I", self._data, match.start())[0]
            raw = self._value(match.start())
            if self.left < 0:
                return
            if raw is None:
                continue
            text = decode(raw)[0] if number == _BYTES else raw.decode("utf-16-le", "replace")
            text = text.replace("\0", "").replace("\x0b", "\n").replace("\r", "\n")
            label = _TEXTS.get(number, "")
            yield f"{label}: {text.strip()}" if label and text.strip() else text

    def _value(self, at: int) -> bytes | None:
        """Return the data of the property whose number lies at ``at``, by the list that it is in."""
        for before in range(_MOST_PROPERTIES):
            start = at - 4 * before - 2
            if start < 0 or self.left < 0:
                return None
            n_properties = struct.unpack_from("<H", self._data, start)[0]
            if before < n_properties <= _MOST_PROPERTIES:
                self.left -= 1
                found = _within(self._data, start + 2, n_properties, before)
                if found is not None:
                    return found
        return None


def _within(data: bytes, start: int, n_properties: int, wanted: int) -> bytes | None:
    """Return the data of one property of a list; None where the list makes no sense."""
    if start + 4 * n_properties > len(data):
        return None
    numbers = struct.unpack_from(f"<{n_properties}I", data, start)
    kinds = [number >> 26 & 0x1F for number in numbers]
    if any(kind not in _FIXED and kind != _LENGTH_AND_DATA for kind in kinds):
        return None
    at = start + 4 * n_properties
    for index, kind in enumerate(kinds):
        if kind != _LENGTH_AND_DATA:
            at += _FIXED[kind]
            continue
        if at + 4 > len(data):
            return None
        length = struct.unpack_from("<I", data, at)[0]
        if length > min(_MOST_TEXT_BYTES, len(data) - at - 4):
            return None
        if index == wanted:
            return data[at + 4 : at + 4 + length]
        at += 4 + length
    return None
