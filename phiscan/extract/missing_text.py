"""Missing text: runs of text in binary data that its reader did not give are added to its text.

It looks at the bytes in its own way and compares words with the text. Readers of other kinds give all that
there is: every line, cell, string and attribute, and every part of a package or message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from phiscan.extract.core import magic_numbers as magic
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.prose import ShownWords, words_of
from phiscan.extract.core.unsupported import strings
from phiscan.model import FailReason

_MAIL = frozenset({"message/rfc822", "application/mbox"})
_TEXTS = _MAIL | {
    *("application/json", "application/x-ndjson", "application/rtf"),
    *("application/hl7-v2", "application/edi-x12"),
}
# Binary files whose text lies in their bytes as it is, in more places than their readers know.
_BINARY = frozenset(
    {"application/ms-tnef", "application/vnd.sqlite3", "application/onenote", "application/dicom"}
)
# A package or picture without a text, a signature alone, a sheet without cells, folders.
_MAY_BE_EMPTY = (
    *(magic.DOCX, magic.XLSX, magic.PPTX, magic.ODF, "application/epub+zip", "image/"),
    *("application/pkcs7-mime", "application/dicom", "application/zip", "application/x-tar"),
    *("application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"),
    *("application/vnd.ms-outlook", "application/x-ole-storage"),
)
_FEW_BYTES = 64  # without blanks around them
_MOST_BYTES = 64 * 1024**2  # a larger content is read in parts, each with its own check

Before = tuple[int, int]  # the stretches of text and the unread parts before a content was read


def add_missing(content: Content, media_type: str, sink: Sink, before: Before) -> None:
    """Add what looks like text in a content and is not in its text, ``#strings``; list what gave no text.

    The objects of a PDF are looked at by its reader, which knows their fonts.
    """
    n_segments, n_unread = before
    is_text = media_type.startswith("text/") or media_type in _TEXTS
    if content.stream is not None or len(content.data) > _MOST_BYTES or sink.n_chars_left <= 0:
        return
    if media_type == "application/pdf" or (is_text and len(sink.unread) > n_unread):
        return  # the reader said what cannot be decoded
    text = sink.text_since(n_segments) if is_text or media_type in _BINARY else ""
    if media_type in _BINARY:
        shown = ShownWords(text)
        missing = (value for value in binary_values(content.data) if shown.lacks(value))
        sink.add("\n".join(dict.fromkeys(map(str.strip, missing))), content.place("strings"))
    if is_text and media_type not in _MAIL and is_undecoded(content.data, text):
        said = f"{len(content.data)} bytes are in a code page that is not known, and are not decoded"
        sink.fail(content.locator, FailReason.UNSUPPORTED, said)
    is_silent = (sink.n_segments, len(sink.unread)) == before and not sink.has_members_of(content)
    may_be_silent = is_text or media_type.startswith(_MAY_BE_EMPTY)
    if is_silent and not may_be_silent and len(content.data.strip()) >= _FEW_BYTES:
        said = f"{len(content.data)} bytes gave no text and no file"
        sink.fail(content.locator, FailReason.UNSUPPORTED, said)


def _from_utf8(data: bytes) -> str | None:
    """Return a text in UTF-8, but for a character that its end cuts; None where it is in no UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data[: error.start].decode("utf-8") if error.start >= len(data) - 3 else None


_MOST_CHARS = 100_000
_MIN_ODD = 3
_MIN_SHARE = 0.4  # of the words with a letter outside ASCII
_ODD = re.compile(
    r"[A-Za-z\xe0-\xff][\x80-\x9f\u201a\u201e\u2020-\u2022\u2026\u2030\u2039\u02c6\u2018\u201c\u201d\u02dc\u2122"
    r"\xa1-\xb6\xb8-\xbf\ufffd]{1,4}[a-z\xe0-\xff]"
    r"|[a-z\xe0-\xff][\u0160\u017d\u0152\u0178\xc0-\xde][a-z\xe0-\xff]"
)


def is_undecoded(data: bytes, text: str) -> bool:
    """Tell whether a text whose bytes are no UTF-8 has signs where letters of its language should be."""
    head = text[:_MOST_CHARS]
    if data.isascii() or head.isascii() or _from_utf8(data) is not None:
        return False
    return len(_ODD.findall(head)) >= max(_MIN_ODD, _MIN_SHARE * sum(not w.isascii() for w in head.split()))


# Definitions of tables, whose columns head the rows that were given, and markup that programs write.
_DEFINITION = re.compile(
    r"CREATE (?:TABLE|(?:UNIQUE )?INDEX|VIEW|TRIGGER|VIRTUAL TABLE)\b|<[\w:]+ [\w:]+=\"|<x:xmpmeta"
)
_LITERAL = re.compile(r"'((?:[^']|'')+)'")
_PROGRAM = re.compile(
    r"Program Files|\.(?:DLL|OLB|EXE|TLB)\b|Microsoft (?:Office|Word|Excel)"
    r"|currentpoint|mergeformat|Click to edit|xmlns|<[?/]?\w+:\w|/Filter|endstream|endobj|/Type\s?/",
    re.IGNORECASE,
)
_FEW_WORDS = 5  # fewer are a font, a style, a path or a class
_PROSE_SHARE = 0.75
_LETTERS = b" " + bytes(code for code in range(256) if chr(code).isalpha() and code not in range(0x80, 0xC0))


def binary_values(data: bytes) -> Iterator[str]:
    """Yield the runs of printable characters that are prose; of definitions of tables the literals."""
    for text in strings(data):
        if _is_prose(text) and not _PROGRAM.search(text):
            is_definition = _DEFINITION.search(text, 0, 200)
            yield " ".join(_LITERAL.findall(text)) if is_definition else unquote(text)


def _is_prose(text: str) -> bool:
    """Tell words from code, markup, paths and names of styles."""
    head = text[:2000]
    if head.count(" ") < _FEW_WORDS - 1:
        return False
    n_others = len(head.encode("cp1252", "replace").translate(None, _LETTERS))
    return n_others <= (1 - _PROSE_SHARE) * len(head) and len(words_of(head)) >= _FEW_WORDS
