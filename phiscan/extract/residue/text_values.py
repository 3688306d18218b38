"""Values of a text file that its reader did not give: lines, values of markup and of JSON, texts of RTF."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from urllib.parse import unquote

import re2

from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import clean
from phiscan.extract.residue.markup_values import markup_values, missing_pieces
from phiscan.extract.residue.prose import ShownWords, Value
from phiscan.extract.transport.decoding import from_base64, from_quoted_printable

MARKUP = frozenset({"text/html", "text/xml"})
JSON = frozenset({"application/json", "application/x-ndjson"})
RTF = "application/rtf"
MAIL = frozenset({"message/rfc822", "application/mbox"})
_LITERAL = re2.compile(rb'"((?:[^"\\]|\\.)*)"')
_STYLE_SHEET = re2.compile(rb"(?is)<style\b[^>]*>.*?</style>")
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
_ENCODED_WORD = re.compile(rb"=\?([^?\s]{1,40})\?([bBqQ])\?([^?\r\n]{0,2000})\?=(?:\s+(?==\?))?")
_NAME_PART = re.compile(rb"\bname\*?\d{0,3}\*?=([^;\r\n]{1,2000})")  # of an attached file, in several fields
_TERMINAL = re.compile("\x1b\\[[0-9;?]*[A-Za-z]|.\b")  # colours of a terminal, letters struck over
_BLANK = "\x1f"  # for a tag: white space, but not the blank by which a field is continued
_SOFT_BREAK = re.compile(rb"=[ \t]*\r?\n")
_HEX_PICTURE = re2.compile(rb"[0-9a-fA-F\r\n]{128,}")
_RTF_STYLE = re.compile(
    rb"\{\s*(?:\\\*\s*)?\\(?:fonttbl|stylesheet|colortbl|listtable|listoverridetable|latentstyles|generator|themedata"
    rb"|datastore|rsidtbl|pnseclvl\d|xmlnstbl|colorschememapping|filetbl|pntext|pntxta|pntxtb|listtext|panose|objclass"
    rb"|falt|blipuid|sn|fldinst\s*\{?\s*(?:PAGE|NUMPAGES|TOC|MERGEFORMAT|SEQ|REF|PAGEREF))\b"
)
_RTF_CHARACTER = re.compile(rb"\\'([0-9a-fA-F]{2})|\\u(-?\d{1,6}) ?(?:\\'[0-9a-fA-F]{2}|\?)?")
_RTF_TAG = re.compile(rb"<[^<>\\]{1,400}>")
_RTF_WORD = re.compile(rb"\\[a-zA-Z]+-?\d* ?|\\[^a-zA-Z]|[{}]|[\r\n]+")
_MOST_BYTES = 1024**2  # of a larger text windows are looked at
_WINDOWS, _WINDOW_BYTES = 32, 16 * 1024
_MIN_BLANKS = 2
_MOST_PIECES = 64


def text_values(data: bytes, media_type: str, shown: ShownWords) -> Iterator[tuple[str, Value]]:
    """Yield place and value of what looks like text in the bytes of a text file and may not be shown.

    A list is one text in pieces. Of more than 1 MiB, 32 windows spread over the file are looked at.
    """
    if b"\0" in data[:64] or (media_type in MARKUP | JSON and _from_utf8(data) is None):
        data = decode(data)[0].encode("utf-8", "replace")
    for start, part in _windows(data):
        if media_type == RTF:
            values = _rtf_values(part)
        elif media_type in MARKUP:
            found = markup_values(part, shown, has_pieces=media_type != "text/html")
            names = found.names if media_type == "text/xml" else ()
            values = chain(found.texts, names, missing_pieces(found.shorts, shown))
        elif media_type in JSON:
            values = iter(()) if shown.has_words(part.decode("utf-8", "replace")) else _literals(part)
        else:
            values = _lines(part, media_type, shown)
        for value in values:
            yield f"bytes {start}", value


def _windows(data: bytes) -> Iterator[tuple[int, bytes]]:
    if len(data) <= _MOST_BYTES:
        yield 0, data
        return
    for number in range(_WINDOWS):
        start = (len(data) - _WINDOW_BYTES) * number // (_WINDOWS - 1)
        part = data[start : start + _WINDOW_BYTES]
        yield start, _whole_lines(part) if number else part


def _whole_lines(part: bytes) -> bytes:
    """Return a window without the line, or the character, that begins before it."""
    at = part.find(b"\n") + 1
    while not at and part[:1] and part[0] & 0xC0 == 0x80:  # noqa: PLR2004 (a further byte of UTF-8)
        part = part[1:]
    return part[at:]


def _literals(data: bytes) -> Iterator[str]:
    for raw in dict.fromkeys(_LITERAL.findall(data)):
        value = raw.decode("utf-8", "replace")
        if b"\\" in raw:
            with suppress(ValueError):
                value = str(json.loads(f'"{value}"'))
        value = _TAG.sub(" ", value) if "<" in value else value
        value = unquote(value).rpartition("?")[2] if "%20" in value else value
        if value.count(" ") >= _MIN_BLANKS:
            yield value


def _lines(data: bytes, media_type: str, shown: ShownWords) -> Iterator[str]:
    """Yield the lines that the text does not hold as they are."""
    is_mail = media_type in MAIL
    if is_mail:
        data = _ENCODED_WORD.sub(_decoded_word, data) if b"=?" in data else data
        data = from_quoted_printable(data) if _SOFT_BREAK.search(data) else data
    text = _from_utf8(data)
    text = decode(data)[0] if text is None else text
    text = clean(text)  # as the texts of all readers
    if "\b" in text or "\x1b[" in text:
        text = _TERMINAL.sub("", text)
    if not is_mail and (text.strip() in shown.text or shown.has_words(text)):
        return
    if is_mail and b"name*" in data:
        names = b"".join(_NAME_PART.findall(data)).decode("utf-8", "replace")
        yield unquote(names.replace('"', " ")).rpartition("''")[2]
    if is_mail and "<" in text:
        solid = _STYLE_SHEET.sub(b" ", text.encode("utf-8", "replace"))
        text = _TAG.sub(_BLANK, solid.decode("utf-8", "replace"))
    is_machine = False  # a field of a message and the lines that continue it
    for line in text.splitlines():
        if shown.has_line(line):
            is_machine = False
            continue
        is_machine = is_mail and ((is_machine and line[:1] in (" ", "\t")) or bool(_MACHINE_LINE.match(line)))
        if not is_machine and line.count(" ") >= _MIN_BLANKS:
            yield _in_ascii(line) if is_mail else line


def _decoded_word(match: re.Match[bytes]) -> bytes:
    raw = match[3].replace(b"_", b" ")
    plain = from_quoted_printable(raw) if match[2] in b"qQ" else from_base64(match[3]) or b""
    return plain.decode("utf-8", "replace").encode()


def _in_ascii(line: str) -> str:
    """Return a line without the words whose letters depend on the code page that a part declares."""
    return line if line.isascii() else " ".join(word for word in line.split(" ") if word.isascii())


def _from_utf8(data: bytes) -> str | None:
    """Return a text in UTF-8, but for a character that its end cuts; None where it is in no UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data[: error.start].decode("utf-8") if error.start >= len(data) - 3 else None


def _rtf_values(data: bytes) -> Iterator[Value]:
    """Yield texts of several words between control words, and runs of shorter ones."""
    data = _RTF_CHARACTER.sub(_character, _without_styles(_HEX_PICTURE.sub(b" ", data)))
    data = _RTF_TAG.sub(b" ", data)
    run: list[str] = []
    for raw in _RTF_WORD.split(data):
        text = _in_ascii(raw.decode("cp1252", "replace"))
        if text.count(" ") >= _MIN_BLANKS or len(run) >= _MOST_PIECES:
            if len(run) > 1:
                yield run
            run = []
        if text.count(" ") >= _MIN_BLANKS:
            yield text
        elif text:
            run.append(text)
    if run:
        yield run


def _character(match: re.Match[bytes]) -> bytes:
    if match[1]:
        return bytes([int(match[1], 16)])
    return chr(int(match[2]) & 0xFFFF).encode("cp1252", "replace")


def _without_styles(data: bytes) -> bytes:
    """Return RTF without its tables of fonts, styles and lists."""
    pieces: list[bytes] = []
    at = 0
    for match in _RTF_STYLE.finditer(data):
        if match.start() < at:
            continue
        pieces.append(data[at : match.start()])
        at = _group_end(data, match.start())
    return b" ".join([*pieces, data[at:]])


_BRACE = re.compile(rb"\\.|[{}]", re.DOTALL)


def _group_end(data: bytes, start: int) -> int:
    depth = 0
    for match in _BRACE.finditer(data, start):
        depth += (match[0] == b"{") - (match[0] == b"}")
        if depth == 0:
            return match.end()
    return len(data)
