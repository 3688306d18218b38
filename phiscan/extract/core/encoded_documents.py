"""Documents that a record carries within a field, as base64 or hexadecimal digits: each is read as a file.

Source: HL7 CDA R2 4.3.1.1 (nonXMLBody) and its data type ED; FHIR R4, Attachment and Binary; HL7 v2.5.1,
2.A.24 (ED).
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from contextlib import suppress

from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.file_type import sniff
from phiscan.extract.core.magic_numbers import EMPTY, TEXT, UNKNOWN
from phiscan.model import FailReason

MIN_CHARS = 100  # a shorter field that nobody declares to be a document is a key, a hash or a word
_DIGITS = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_DIGITS_OR_BREAKS = re.compile(r"[A-Za-z0-9+/=\s]+")
_HEX_DIGITS = re.compile(r"\s*(?:[0-9a-f]{2}\s*)+|\s*(?:[0-9A-F]{2}\s*)+")
_QUERIES_AT, _QUERY_METADATA = 8, b"<LocalPackageMetadataFile"
_ZIP = b"PK\x03\x04"
_MIN_LINE = 40  # encoders break lines at 64 or 76; words of a text are shorter
_LOOK_CHARS = 4096
_BREAKS = "\t\r\n\f"
_WITHOUT_BREAKS = dict.fromkeys(map(ord, _BREAKS))
_CONTROLS = bytes({*range(0x20), 0x7F} - {*_BREAKS.encode()})
_ADDRESS = re.compile(r"data:[^,]{0,200};base64,", re.IGNORECASE)
# What CDA calls the ways of compression, as the window sizes of zlib.
_COMPRESSIONS = {"DF": -zlib.MAX_WBITS, "ZL": zlib.MAX_WBITS, "GZ": zlib.MAX_WBITS | 16}


class Enclosures:
    """The documents of one record, gathered while its fields are walked and read after them."""

    def __init__(self, content: Content, sink: Sink) -> None:
        self._content = content
        self._sink = sink
        self._members: list[Content] = []
        self._n_taken = 0

    def take(self, text: str, *, declared: bool = False, compression: str = "", encoding: str = "") -> bool:
        """Tell whether a field is a document, and keep it; the field is then no text any more.

        A field that is declared to be a document and is a text, a card in JSON say, stays text: all of it is
        read. One whose digits are damaged stays text too, is read up to the damage, and is recorded.
        """
        if not declared and len(text) < MIN_CHARS:
            return False
        address = _ADDRESS.match(text)
        if address:
            text, declared = text[address.end() :], True
        is_hex = encoding == "hex" or (len(text) >= MIN_CHARS and _HEX_DIGITS.fullmatch(text) is not None)
        data, is_whole = (_from_hexadecimal if is_hex else _from_base64)(text)
        queries = _query_parts(data) if data is not None else ()
        for part in queries:
            self._keep(part, None)
        if queries:
            return True
        # Every word of four or eight letters can be decoded: what is short must make sense, too.
        if data is None or (not (declared and len(text) >= MIN_CHARS) and not is_document(data)):
            if declared and _is_encoded(text):
                self._sink.fail(self._place(), FailReason.CORRUPT, "a document that cannot be decoded")
            return False
        self._keep(data, _COMPRESSIONS.get(compression.upper()))
        if not is_whole:
            self._sink.fail(self._place(), FailReason.CORRUPT, "damaged base64")
        return is_whole

    def read(self, folder: str = "") -> None:
        """Read what was gathered since the last call as members; ``folder`` goes before their names."""
        members, self._members = self._members, []
        for member in members:
            name = f"{folder}/{member.name}" if folder else member.name
            self._sink.read_member(self._content.member(name, member.data))

    def _keep(self, data: bytes, window: int | None) -> None:
        self._n_taken += 1
        with self._sink.part(self._place()):
            self._sink.take_member()
            if window is None:
                self._sink.spend(len(data))
            else:
                data = self._sink.inflate(data, window)
            self._members.append(Content(data, f"document{self._n_taken}"))

    def _place(self) -> str:
        return self._content.member(f"document{max(self._n_taken, 1)}", b"").locator


def _query_parts(data: bytes) -> tuple[bytes, ...]:
    """Return the package and the metadata of the queries of a workbook; nothing where ``data`` is none.

    Source: [MS-QDEFF] 2.2 (version, length and package, length and permissions, metadata).
    """
    if data[:4] != bytes(4) or data[_QUERIES_AT : _QUERIES_AT + 4] != _ZIP:
        return ()
    end = _QUERIES_AT + int.from_bytes(data[4:_QUERIES_AT], "little")
    begin = data.find(_QUERY_METADATA, end)
    metadata = data[begin : data.rfind(b">") + 1] if begin >= 0 else b""
    return (data[_QUERIES_AT:end], *([metadata] if metadata else []))


def _from_base64(text: str) -> tuple[bytes | None, bool]:
    r"""Return the bytes after base64 digits up to the first damage, and whether there is none.

    Lines may be broken. A text gives None.

    >>> _from_base64("QW5u\r\n"), _from_base64("Ann"), _from_base64("Dear Anne Gray says")
    ((b'Ann', True), (None, False), (None, False))
    """
    lines = text.split()
    if len(lines) > 1 and len(lines[0]) < _MIN_LINE:
        return None, False
    digits = "".join(lines)
    match = _DIGITS.match(digits)
    if match is None:
        return None, False
    if match.end() == len(digits):
        with suppress(binascii.Error, ValueError):
            return base64.b64decode(digits, validate=True), True
    clean = match.group().rstrip("=")
    if len(clean) < MIN_CHARS:
        return None, False
    return base64.b64decode(clean[: len(clean) // 4 * 4]), False


def _is_encoded(text: str) -> bool:
    """Tell digits of base64 that are damaged from a text, which has words, marks of its own, or is short.

    >>> [_is_encoded(text) for text in ("JVBERi0xLjQKJ%" * 9, '{"type": "AdaptiveCard"}' * 9, "see page 4")]
    [True, False, False]
    """
    stripped = text.strip()
    n_others = len(_DIGITS_OR_BREAKS.sub("", stripped))
    return len(stripped) >= MIN_CHARS and " " not in stripped and n_others * 10 < len(stripped)


def _from_hexadecimal(text: str) -> tuple[bytes | None, bool]:
    try:
        return bytes.fromhex(text), True
    except ValueError:
        return None, False


def is_document(data: bytes) -> bool:
    """Tell a file that nobody declared: one of a known kind, or a text without a doubtful byte."""
    kind = sniff(data)
    if kind in (EMPTY, UNKNOWN):
        return False
    if kind != TEXT and not kind.startswith(("text/", "message/")) and kind != "application/json":
        return True
    if len(data[:_LOOK_CHARS].translate(None, _CONTROLS)) < len(data[:_LOOK_CHARS]):
        return False  # before a code page is looked for
    text, encoding = decode(data)
    return encoding == "utf-8" and text[:_LOOK_CHARS].translate(_WITHOUT_BREAKS).isprintable()
