"""Compound files (OLE): streams, properties, encryption, and decryption with a known password."""

from __future__ import annotations

import codecs
import io
import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import olefile

from phiscan.errors import ExtractError, kind_of
from phiscan.extract.core.content import Content, Sink, mishap
from phiscan.model import FailReason

_SECTOR_BYTES = 512
_FIRST_MARK = 0xFFFFFFFA  # higher numbers of sectors are marks: end, free, table
_WORD_ENCRYPTED = 0x0100
# Code pages that Python knows under another name.
_CODECS = {
    65001: "utf-8", -535: "utf-8", 10000: "mac-roman", 20127: "ascii", 20866: "koi8-r", 20932: "euc-jp",
    50220: "iso-2022-jp", 51949: "euc-kr", 54936: "gb18030", 936: "gbk",
} | {28590 + part: f"iso8859-{part}" for part in range(1, 17)}  # fmt: skip
_SUMMARY = {2: "title", 3: "subject", 4: "author", 5: "keywords", 6: "comments", 8: "last_saved_by"}
_PROPERTIES = (
    ("\x05SummaryInformation", _SUMMARY),
    ("\x05DocumentSummaryInformation", {14: "manager", 15: "company", 2: "category"}),
)


def open_ole(data: bytes) -> Any:
    """Open a compound file.

    Raises:
        ExtractError: corrupt.
    """
    # A file that was cut ends within a sector; olefile wants whole ones.
    data += bytes(-len(data) % _SECTOR_BYTES)
    try:
        return OpenCompoundFile(data)
    except Exception as error:  # noqa: BLE001 (olefile raises many kinds on damaged files)
        raise ExtractError(FailReason.CORRUPT, kind_of(error)) from None


def is_cut(ole: Any) -> bool:
    """Tell a file that ends before its own table of sectors says."""
    return any(ole.nb_sect <= sector < _FIRST_MARK for sector in ole.fat)


def is_encrypted(ole: Any) -> bool:
    """Tell a password-protected Word or PowerPoint file."""
    if ole.exists("EncryptedSummary") or ole.exists("EncryptionInfo"):
        return True
    if not ole.exists("WordDocument"):
        return False
    head = ole.openstream("WordDocument").read(12)
    return len(head) == 12 and bool(struct.unpack_from("<H", head, 10)[0] & _WORD_ENCRYPTED)  # noqa: PLR2004


def properties_text(ole: Any) -> str:
    """Return the document properties as ``name: value`` lines."""
    lines = []
    try:
        for stream, names in _PROPERTIES:
            if not ole.exists(stream):
                continue
            found, code_page = texts(ole.openstream(stream).read())
            for number, name in names.items():
                value = found.get(number, "")
                shown = value if isinstance(value, str) else value.decode(codec(code_page), "replace")
                if shown.strip("\0 "):
                    lines.append(f"{name}: {shown.strip(chr(0) + ' ')}")
    except Exception:  # noqa: BLE001 (damaged properties are no loss of the text)
        return "\n".join(lines)
    return "\n".join(lines)


def codec(codepage: int | None) -> str:
    """Return the Python name of a Windows code page; cp1252 when it is unknown."""
    try:
        return codecs.lookup(_CODECS.get(codepage or 0) or f"cp{codepage}").name
    except LookupError:
        return "cp1252"


_RECORD = struct.Struct("<HH")
_CONTINUED = 0x003C  # the kind of a record that continues the one before it
_CONTAINER, _LIST_WITH_TEXT, _MOST_DEPTH, _MOST_RECORDS = 0x0F, 0x0FF0, 64, 500_000
_PLACES = {
    0x03E8: "presentation",
    0x03EE: "slide",
    0x03F0: "notes",
    0x03F8: "master",
    _LIST_WITH_TEXT: "slide",  # the outline text of the slides
    0x2EE0: "comments",
}


def workbook_records(stream: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield owner, kind, offset and size of the bodies of an XLS stream's records; damage ends it early.

    The owner is the kind of the last record that is no continuation.
    """
    at, last, owner = 0, len(stream) - _RECORD.size, 0
    while at <= last:
        kind, size = _RECORD.unpack_from(stream, at)
        owner = owner if kind == _CONTINUED else kind
        at += _RECORD.size
        yield owner, kind, at, size
        at += size


def slide_records(stream: bytes) -> Iterator[tuple[str, int, int, bytes]]:
    """Yield place, instance, kind and body of the records of a PPT stream that hold no other records.

    The place is that of the containers around a record, with the offset of a slide; lengths that lead out
    of a container are cut.
    """
    around = [(len(stream), "presentation")]
    at = 0
    for _ in range(_MOST_RECORDS):
        if at + 8 > len(stream):
            return
        while at >= around[-1][0]:
            around.pop()
        end, place = around[-1]
        version, kind, size = struct.unpack_from("<HHI", stream, at)
        after = min(at + 8 + size, end)
        if version & 0x0F != _CONTAINER:
            yield place, version >> 4, kind, stream[at + 8 : after]
            at = max(after, at + 8)
            continue
        if len(around) < _MOST_DEPTH and after > at + 8:  # else its records are read as if beside it
            inner = _PLACES.get(kind, place)
            is_numbered = kind in _PLACES and kind != _LIST_WITH_TEXT and inner != "presentation"
            around.append((after, f"{inner}@{at}" if is_numbered else inner))
        at += 8


_SET_AT = 44  # where the offset of the first set stands
_CODE_PAGE = 1  # the property that says how the texts of a set are written
_NUMBER, _TEXT, _WIDE = 2, 30, 31
_UTF16 = 1200


def texts(stream: bytes) -> tuple[dict[int, bytes | str], int | None]:
    """Return the texts of the first set by their property number, and its code page.

    A text is bytes where the code page says how to read it. Damage costs the properties after it.
    """
    found: dict[int, bytes | str] = {}
    code_page: int | None = None
    try:
        for number, kind, at in _properties(stream):
            if kind == _NUMBER and number == _CODE_PAGE:
                code_page = struct.unpack_from("<h", stream, at)[0]
            elif kind in (_TEXT, _WIDE):
                n_units = struct.unpack_from("<I", stream, at)[0]
                raw = stream[at + 4 : at + 4 + n_units * (2 if kind == _WIDE else 1)]
                found[number] = raw.decode("utf-16-le", "replace") if kind == _WIDE else raw
    except struct.error:
        pass
    if code_page == _UTF16:
        wide = {key: value for key, value in found.items() if isinstance(value, bytes)}
        found |= {key: value.decode("utf-16-le", "replace") for key, value in wide.items()}
    return found, code_page


def _properties(stream: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the number and the kind of each property, and where its value begins."""
    start = struct.unpack_from("<I", stream, _SET_AT)[0]
    count = struct.unpack_from("<I", stream, start + 4)[0]
    for index in range(min(count, len(stream) // 8)):
        number, offset = struct.unpack_from("<II", stream, start + 8 + 8 * index)
        kind = struct.unpack_from("<H", stream, start + offset)[0]
        yield number, kind, start + offset + 4


class OpenCompoundFile(olefile.OleFileIO):  # type: ignore[misc] # olefile has no types
    """A compound file that lists its entries once, and gives streams that may be missing."""

    def __init__(self, data: bytes) -> None:
        self._listings: dict[tuple[bool, bool], list[list[str]]] = {}
        super().__init__(io.BytesIO(data))

    def data(self, *path: str) -> bytes:
        """Return the bytes of a stream; nothing where it is missing or damaged."""
        try:
            return bytes(self.openstream(list(path)).read())
        except (OSError, ValueError):
            return b""

    def listdir(self, streams: bool = True, storages: bool = False) -> list[list[str]]:
        """Return the paths of the streams, and those of the storages."""
        key = (streams, storages)
        if key not in self._listings:
            self._listings[key] = super().listdir(streams, storages)
        return list(self._listings[key])


# Excel and PowerPoint encrypt a document that is only locked against changes with these, for everybody.
_KNOWN_TO_ALL = ("VelvetSweatshop", "/01Hannes Ruescher/01")


def read_encrypted_package(content: Content, sink: Sink) -> None:
    """Read the document within.

    Raises:
        ExtractError: encrypted, and no password fits; corrupt.
    """
    sink.read_member(replace(content, data=decrypted(content.data, sink.passwords)))


def decrypted(data: bytes, passwords: Sequence[str]) -> bytes:
    """Return the document without its encryption.

    Raises:
        ExtractError: encrypted, and no password fits; corrupt.
    """
    import msoffcrypto  # noqa: PLC0415 (heavy)
    from msoffcrypto import exceptions  # noqa: PLC0415 (heavy)

    for password in (*_KNOWN_TO_ALL, *passwords):
        try:
            document = msoffcrypto.OfficeFile(io.BytesIO(data))
            document.load_key(password=password)
            out = io.BytesIO()
            document.decrypt(out)
        except (exceptions.InvalidKeyError, exceptions.DecryptionError):
            continue
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 (it fails on damage in many ways)
            raise ExtractError(FailReason.ENCRYPTED, f"encrypted office document: {mishap(error)}") from None
        return out.getvalue()
    raise ExtractError(FailReason.ENCRYPTED, "encrypted office document")
