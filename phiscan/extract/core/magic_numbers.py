"""What files begin with, and what their names promise: the tables after the choice of a reader."""

from __future__ import annotations

import re

from phiscan.extract.databases.named import MAGIC as NAMED_MAGIC
from phiscan.extract.databases.named import OPAQUE_MAGIC

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

MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"{\\rtf", "application/rtf"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\0", "application/x-xz"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (0, b"\x78\x9f\x3e\x22", "application/ms-tnef"),
    (0, b"!BDN", "application/vnd.ms-outlook-pst"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (40, b" EMF", "image/emf"),
    (0, b"\xd7\xcd\xc6\x9a", "image/wmf"),
    (0, b"\x01\0\x09\0\0\x03", "image/wmf"),
    (0, b"DICM", "application/dicom"),  # old files without a preamble
    (128, b"DICM", "application/dicom"),
    (257, b"ustar", "application/x-tar"),
    (0x8001, b"CD001", "application/x-iso9660-image"),
    (0x8001, b"BEA01", "application/x-iso9660-image"),  # UDF alone
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"),
    (0, b"\x1f\x9d", "application/x-compress"),
    (0, b"\x04\x22\x4d\x18", "application/x-lz4"),
    (0, b"MSCF\0\0\0\0", "application/vnd.ms-cab-compressed"),
    (0, b"!<arch>\n", "application/x-archive"),
    (0, b"LZIP\x01", "application/x-lzip"),
    (0, b"\xc7\x71", "application/x-cpio"),
    (0, b"xar!\0\x1c", "application/x-xar"),
    (0, b"SQLite format 3\0", "application/vnd.sqlite3"),
    (0, b"\x37\x7f\x06\x82", "application/x-sqlite-wal"),
    (0, b"\x37\x7f\x06\x83", "application/x-sqlite-wal"),
    (0, b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", "application/x-sqlite-journal"),
    (0, b"PGDMP", "application/x-pg-dump"),
    (0, b"\x7fELF", "application/x-executable"),
    (0, b"ActiveMime\0\0", "application/x-mso"),
    (0, b"\0\x05\x16\0\0\x02\0\0", "application/applefile"),  # AppleSingle
    (0, b"\0\x05\x16\x07\0\x02\0\0", "application/applefile"),  # AppleDouble
    (4, b"ftyp", "video/mp4"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"OggS", "application/ogg"),
    (0, b"\1\1\1\1\n", "application/mbox"),  # MMDF
    (0, b"\1\1\1\1\r\n", "application/mbox"),
    (0, b"MSH|", "application/hl7-v2"),
    (0, b"\x0bMSH|", "application/hl7-v2"),
    (0, b"FHS|", "application/hl7-v2"),
    (0, b"BHS|", "application/hl7-v2"),
)
# The 128 bytes before it are free: scanners put the beginning of a TIFF file there, others that of a program.
_DICOM = (128, b"DICM\2\0", "application/dicom")
_ALL_MAGIC = (_DICOM, *OPAQUE_MAGIC, *NAMED_MAGIC, *MAGIC)
_AT_BEGINNING = tuple(magic for offset, magic, _ in _ALL_MAGIC if not offset)
_FURTHER_ON = tuple(entry for entry in _ALL_MAGIC if entry[0])
# Beginnings that a text could have by chance were they any shorter.
PATTERNS = (
    (re.compile(rb"0707(?:0[12][0-9A-Fa-f]{104}|07[0-7]{70})"), "application/x-cpio"),
    # Its settings, the size of a dictionary, then a size that is unknown or below 1 TiB.
    (re.compile(rb"\x5d\0\0.[\0-\x08](?:\xff{8}|.{5}\0{3})", re.DOTALL), "application/x-lzma"),
    (re.compile(rb"..-l[hz][0-9ds]-", re.DOTALL), "application/x-lha"),
)
# Types of plain text that the ending of the name alone decides: nothing in the content does.
DECIDED_BY_NAME = frozenset(("text/csv", "application/mbox"))
NAME_TYPES = {
    ".csv": "text/csv",
    ".tsv": "text/csv",
    ".tab": "text/csv",
    ".eml": "message/rfc822",
    ".mht": "message/rfc822",
    ".mhtml": "message/rfc822",
    ".mbox": "application/mbox",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".xml": "text/xml",
    ".json": "application/json",
    ".ndjson": "application/x-ndjson",
    ".jsonl": "application/x-ndjson",
}
# What a name promises, for saying when the content is something else.
DECLARED = NAME_TYPES | {
    ".pdf": "application/pdf",
    ".docx": DOCX,
    ".docm": DOCX,
    ".dotx": DOCX,
    ".xlsx": XLSX,
    ".xlsm": XLSX,
    ".xlsb": XLSB,
    ".xls": "application/vnd.ms-excel",
    ".doc": "application/msword",
    ".ppt": "application/vnd.ms-powerpoint",
    ".pptx": PPTX,
    ".rtf": "application/rtf",
    ".zip": "application/zip",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".txt": TEXT,
    ".msg": "application/vnd.ms-outlook",
    ".7z": "application/x-7z-compressed",
    ".rar": "application/vnd.rar",
    ".iso": "application/x-iso9660-image",
    ".dcm": "application/dicom",
    ".gz": "application/gzip",
    ".tar": "application/x-tar",
    ".gif": "image/gif",
    ".bmp": "image/bmp",
    ".webp": "image/webp",
    ".odt": ODF + "text",
    ".ods": ODF + "spreadsheet",
    ".odp": ODF + "presentation",
    ".epub": "application/epub+zip",
    ".vcf": "text/vcard",
    ".ics": "text/calendar",
    ".pst": "application/vnd.ms-outlook-pst",
    ".mp4": "video/mp4",
    ".mp3": "audio/mpeg",
    ".exe": "application/x-executable",
    ".dll": "application/x-executable",
}


def by_beginning(data: bytes) -> str:
    """Return the media type that the first bytes tell beyond doubt, else the empty string.

    >>> by_beginning(b"%PNG"), by_beginning(b"BZh91AY")
    ('', 'application/x-bzip2')
    """
    table = _ALL_MAGIC if data.startswith(_AT_BEGINNING) else _FURTHER_ON
    for offset, magic, media_type in table:
        if data.startswith(magic, offset):
            return media_type
    return next((media_type for pattern, media_type in PATTERNS if pattern.match(data)), "")
