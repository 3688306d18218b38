"""Missing text: what looks like text in a content and its reader did not give is added to its text.

It needs no list of what readers leave out. It looks at the bytes in its own way (lines of messages, runs of
printable characters) and compares words with the text. Readers of other kinds give all that there is: every
line, cell, string and attribute, and every part of a package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

import re2

from phiscan.extract.core import magic_numbers as magic
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink, clean
from phiscan.extract.core.prose import ShownWords, byte_runs, words_of
from phiscan.extract.transport.decoding import from_quoted_printable
from phiscan.extract.transport.header_words import decode_words
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
    if media_type in _MAIL | _BINARY:
        shown = ShownWords(text)
        values = mail_values(content.data, shown) if is_text else binary_values(content.data)
        missing = (value for value in values if shown.lacks(value))
        sink.add("\n".join(dict.fromkeys(map(str.strip, missing))), content.place("strings"))
    if is_text and media_type not in _MAIL and is_undecoded(content.data, text):
        said = f"{len(content.data)} bytes are in a code page that is not known, and are not decoded"
        sink.fail(content.locator, FailReason.UNSUPPORTED, said)
    is_silent = (sink.n_segments, len(sink.unread)) == before and not sink.has_members_of(content)
    may_be_silent = is_text or media_type.startswith(_MAY_BE_EMPTY)
    if is_silent and not may_be_silent and len(content.data.strip()) >= _FEW_BYTES:
        said = f"{len(content.data)} bytes gave no text and no file"
        sink.fail(content.locator, FailReason.UNSUPPORTED, said)


# Lines of messages that their reader did not give.

_STYLE_SHEET = re2.compile(r"(?is)<style\b[^>]*>.*?</style>")
_TAG = re.compile(r"<[^<>]*>?")
# Fields and lines by which a message is carried, and the continuation of such a field.
_MACHINE_LINE = re.compile(
    r"(?:content-(?:type|transfer-encoding|disposition|id|location|class|language|length|md5)|dkim-[a-z-]+"
    r"|arc-[a-z-]+|authentication-results|mime-version|x-spam-status|domainkey-[a-z-]+)\s*:"
    r"|begin(?:-base64)? \d{3,4} "
    r"|[ \t]+(?:[\w-]+=|\w+=\S+;)|--|=y(?:begin|part|end)\b|\s+by\s|\s+for\s|>?From \S+ .*\d\d:\d\d"
    r"|[ \t]+\S+=\S",
    re.IGNORECASE,
)
_NAME_PART = re.compile(r"\bname\*?\d{0,3}\*?=([^;\r\n]{1,2000})")  # of an attached file, in several fields
_TERMINAL = re.compile("\x1b\\[[0-9;?]*[A-Za-z]|.\b")  # colours of a terminal, letters struck over
_BLANK = "\x1f"  # for a tag: white space, but not the blank by which a field is continued
_SOFT_BREAK = re.compile(rb"=[ \t]*\r?\n")
_MOST_TEXT_BYTES = 1024**2  # of a larger text windows are looked at
_WINDOWS, _WINDOW_BYTES = 32, 16 * 1024
_MIN_BLANKS = 2


def mail_values(data: bytes, shown: ShownWords) -> Iterator[str]:
    """Yield lines of a message that may not be shown; of more than 1 MiB those in 32 windows."""
    if b"\0" in data[:64]:
        data = decode(data)[0].encode("utf-8", "replace")
    for part in _windows(data):
        yield from _lines(part, shown)


def _windows(data: bytes) -> Iterator[bytes]:
    """Yield the whole of a text, or windows of it without the line that begins before each."""
    if len(data) <= _MOST_TEXT_BYTES:
        yield data
        return
    for number in range(_WINDOWS):
        start = (len(data) - _WINDOW_BYTES) * number // (_WINDOWS - 1)
        part = data[start : start + _WINDOW_BYTES]
        at = part.find(b"\n") + 1 if number else 0
        while number and not at and part[:1] and part[0] & 0xC0 == 0x80:  # noqa: PLR2004 (a further byte of UTF-8)
            part = part[1:]
        yield part[at:]


def _lines(data: bytes, shown: ShownWords) -> Iterator[str]:
    """Yield the lines of a message that the text does not hold as they are."""
    if _SOFT_BREAK.search(data):
        data = from_quoted_printable(data)
    text = _from_utf8(data)
    text = clean(decode(data)[0] if text is None else text)  # as the texts of all readers
    if "\b" in text or "\x1b[" in text:
        text = _TERMINAL.sub("", text)
    if "name*" in text:
        yield unquote("".join(_NAME_PART.findall(text)).replace('"', " ")).rpartition("''")[2]
    if "<" in text:
        text = _TAG.sub(_BLANK, _STYLE_SHEET.sub(" ", text))
    is_machine = False  # a field of a message and the lines that continue it
    for line in text.splitlines():
        if shown.has_line(line):
            is_machine = False
            continue
        is_machine = (is_machine and line[:1] in (" ", "\t")) or bool(_MACHINE_LINE.match(line))
        if not is_machine and line.count(" ") >= _MIN_BLANKS:
            yield _in_ascii(decode_words(line) if "=?" in line else line)


def _in_ascii(line: str) -> str:
    """Return a line without the words whose letters depend on the code page that a part declares."""
    return line if line.isascii() else " ".join(word for word in line.split(" ") if word.isascii())


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
    for _, text in byte_runs(data):
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
