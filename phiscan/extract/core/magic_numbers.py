"""What files begin with, and what their names promise: the table of kinds, ``file_kinds.tsv``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

TEXT = "text/plain"
EMPTY = "application/x-empty"
UNKNOWN = "application/octet-stream"
OOXML = "application/vnd.openxmlformats-officedocument."
DOCX = OOXML + "wordprocessingml.document"
XLSX = OOXML + "spreadsheetml.sheet"
PPTX = OOXML + "presentationml.presentation"
XLSB = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
ODF = "application/vnd.oasis.opendocument."
OLE = "application/x-ole-storage"
ENCRYPTED_OOXML = "application/x-encrypted-ooxml"


@dataclass(frozen=True, slots=True)
class Kind:
    """One line of the table: a media type, who reads it, its name, how to make it readable, its marks."""

    media_type: str
    read_by: str  # "reader": its own; "strings": the runs of text in it; "refused": nobody
    called: str
    advice: str
    endings: tuple[str, ...]
    signatures: tuple[tuple[int, bytes], ...]


def _kinds() -> Iterator[Kind]:
    for line in files(__package__).joinpath("file_kinds.tsv").read_text("ascii").splitlines():
        if not line.startswith("#"):
            media_type, read_by, called, advice, endings, marks = [*line.split("\t"), *[""] * 5][:6]
            found = (mark.partition(":") for mark in marks.split())
            signatures = tuple(
                (int(offset), text.encode("ascii").decode("unicode_escape").encode("latin-1"))
                for offset, _, text in found
            )
            yield Kind(media_type, read_by, called, advice, tuple(endings.split()), signatures)


KINDS = {kind.media_type: kind for kind in _kinds()}
# The longest first: a scanner puts the beginning of a TIFF file before the mark of DICOM.
_SIGNATURES = sorted(
    ((offset, mark, kind.media_type) for kind in KINDS.values() for offset, mark in kind.signatures),
    key=lambda entry: -len(entry[1]),
)
_AT_BEGINNING = tuple(mark for offset, mark, _ in _SIGNATURES if not offset)
_FURTHER_ON = tuple(entry for entry in _SIGNATURES if entry[0])
# Beginnings that a text could have by chance were they any shorter.
PATTERNS = (
    (re.compile(rb"P[1-6]\s(?:\s*#[^\n]{0,200}\n){0,9}\s*\d{1,5}\s+\d{1,5}\s"), "image/x-portable-anymap"),
    (re.compile(rb"0707(?:0[12][0-9A-Fa-f]{104}|07[0-7]{70})"), "application/x-cpio"),
    # Its settings, the size of a dictionary, then a size that is unknown or below 1 TiB.
    (re.compile(rb"\x5d\0\0.[\0-\x08](?:\xff{8}|.{5}\0{3})", re.DOTALL), "application/x-lzma"),
    (re.compile(rb"..-l[hz][0-9ds]-", re.DOTALL), "application/x-lha"),
)
# Types of plain text that the ending of the name alone decides: nothing in the content does.
DECIDED_BY_NAME = frozenset(("text/csv", "application/mbox"))
NAME_TYPES = {
    ".csv": "text/csv", ".tsv": "text/csv", ".tab": "text/csv", ".eml": "message/rfc822",
    ".mht": "message/rfc822", ".mhtml": "message/rfc822", ".mbox": "application/mbox", ".html": "text/html",
    ".htm": "text/html", ".xhtml": "text/html", ".xml": "text/xml", ".json": "application/json",
    ".ndjson": "application/x-ndjson", ".jsonl": "application/x-ndjson",
}  # fmt: skip
# What a name promises, for saying when the content is something else.
DECLARED = NAME_TYPES | {ending: kind.media_type for kind in KINDS.values() for ending in kind.endings}


def by_beginning(data: bytes) -> str:
    """Return the media type that the first bytes tell beyond doubt, else the empty string.

    >>> by_beginning(b"%PNG"), by_beginning(b"BZh91AY")
    ('', 'application/x-bzip2')
    """
    table = _SIGNATURES if data.startswith(_AT_BEGINNING) else _FURTHER_ON
    for offset, mark, media_type in table:
        if data.startswith(mark, offset):
            return media_type
    return next((media_type for pattern, media_type in PATTERNS if pattern.match(data)), "")
