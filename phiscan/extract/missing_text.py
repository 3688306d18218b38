"""Missing text: what looks like text in a content and its reader did not give is added to its text.

It needs no list of what readers leave out. It looks at the bytes in its own way (values between quotes and
tags, lines of texts, runs of printable characters), compares words with the text, and hands files that no
reader was given to theirs.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from urllib.parse import unquote

import re2

from phiscan.extract.core import magic_numbers as magic
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, PackageParts, Sink, clean
from phiscan.extract.core.encoded_documents import is_document
from phiscan.extract.core.prose import MIN_WORDS, ShownWords, Value, byte_runs, words_of
from phiscan.extract.ocr.picture_values import picture_values
from phiscan.extract.office.part_values import joined, markup_values, package_values
from phiscan.extract.text_codes.escapes import readable
from phiscan.extract.transport.decoding import from_base64, from_quoted_printable
from phiscan.extract.transport.header_words import decode_words
from phiscan.model import FailReason

_MARKUP = frozenset({"text/html", "text/xml"})
_JSON = frozenset({"application/json", "application/x-ndjson"})
_RTF = "application/rtf"
_MAIL = frozenset({"message/rfc822", "application/mbox"})
_TEXTS = frozenset({*_MAIL, *_JSON, _RTF, "application/hl7-v2", "application/edi-x12"})
_BOOK = "application/epub+zip"
_PACKAGES = (magic.DOCX, magic.XLSX, magic.PPTX, magic.ODF, _BOOK)
# Binary files whose text lies in their bytes as it is.
_BINARY = frozenset(
    {
        *("application/ms-tnef", "application/x-edf", "application/vnd.sqlite3", "application/x-dbf"),
        *("application/onenote", "application/vnd.lotus-1-2-3", "application/vnd.wordperfect"),
        *("application/x-outlook-express", "application/msword", "application/vnd.ms-excel"),
        *("application/vnd.ms-powerpoint", "application/vnd.ms-outlook", "application/x-quattro-pro"),
        *("application/dicom", "application/pgp-encrypted", "application/x-ole-storage"),
    }
)
# A signature alone, a picture without a name, a sheet without cells, folders.
_MAY_BE_EMPTY = frozenset(
    {
        *("application/pkcs7-mime", "application/dicom", "application/zip", "application/x-tar"),
        *("application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"),
        *("application/vnd.ms-outlook", "application/x-ole-storage"),
    }
)
_FEW_BYTES = 64  # without blanks around them
_MOST_BYTES = 64 * 1024**2  # a larger content is read in parts, each with its own check

Before = tuple[int, int]  # the stretches of text and the unread parts before a content was read


def add_missing(content: Content, media_type: str, sink: Sink, before: Before) -> None:
    """Add what looks like text in a content and is not in its text, ``#strings``; read files that were left.

    The objects of a PDF are looked at by its reader, which knows their fonts.
    """
    n_pieces, n_unread = before
    parts = sink.take_package(content.locator)
    is_complete = sink.was_accounted(content.locator)
    is_text = media_type.startswith("text/") or media_type in _TEXTS
    if content.stream is not None or len(content.data) > _MOST_BYTES or sink.n_chars_left <= 0:
        return
    if media_type == "application/pdf" or (is_text and len(sink.unread) > n_unread):
        return  # the reader said what cannot be decoded
    shown = ShownWords(sink.text_since(n_pieces))
    values: Iterable[Value] = ()
    if media_type.startswith(_PACKAGES):
        for member in unread_parts(content, parts, sink, is_book=media_type == _BOOK):
            sink.read_new(member)
        if not is_complete:
            values = (value for _, value in package_values(content, parts, shown))
    elif is_text:
        for member in _unread_bodies(content, sink, shown) if media_type in _MAIL else ():
            sink.read_new(member)
        values = text_values(content.data, media_type, shown)
    else:
        is_picture = media_type.startswith("image/")
        values = picture_values(content.data) if is_picture else binary_values(content.data, media_type)
    missing = (joined(value) for value in values if shown.lacks(value))
    sink.add("\n".join(dict.fromkeys(map(str.strip, missing))), content.place("strings"))
    if is_text and media_type not in _MAIL and is_undecoded(content.data, shown.text):
        said = f"{len(content.data)} bytes are in a code page that is not known, and are not decoded"
        sink.fail(content.locator, FailReason.UNSUPPORTED, said)
    is_silent = (sink.n_pieces, len(sink.unread)) == before and not sink.has_members_of(content)
    may_be_silent = is_text or media_type.startswith((*_PACKAGES, "image/")) or media_type in _MAY_BE_EMPTY
    if is_silent and not may_be_silent and len(content.data.strip()) >= _FEW_BYTES:
        said = f"{len(content.data)} bytes gave no text and no file"
        sink.fail(content.locator, FailReason.UNSUPPORTED, said)


# Values of a text file that its reader did not give: lines, values of markup and of JSON, texts of RTF.

_DECLARATION = re.compile(rb"\A(?:\xef\xbb\xbf)?<\?xml\s[^>]*\?>")
_JSON_LITERAL = re2.compile(rb'"((?:[^"\\]|\\.)*)"')
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
_HEX_PICTURE = re2.compile(rb"[0-9a-fA-F\r\n]{128,}")
_RTF_STYLE = re.compile(
    rb"\{\s*(?:\\\*\s*)?\\(?:fonttbl|stylesheet|colortbl|listtable|listoverridetable|latentstyles|generator|themedata"
    rb"|datastore|rsidtbl|pnseclvl\d|xmlnstbl|colorschememapping|filetbl|pntext|pntxta|pntxtb|listtext|panose|objclass"
    rb"|falt|blipuid|sn|fldinst\s*\{?\s*(?:PAGE|NUMPAGES|TOC|MERGEFORMAT|SEQ|REF|PAGEREF))\b"
)
_RTF_CHARACTER = re.compile(rb"\\'([0-9a-fA-F]{2})|\\u(-?\d{1,6}) ?(?:\\'[0-9a-fA-F]{2}|\?)?")
_RTF_TAG = re.compile(rb"<[^<>\\]{1,400}>")
_RTF_WORD = re.compile(rb"\\[a-zA-Z]+-?\d* ?|\\[^a-zA-Z]|[{}]|[\r\n]+")
_BRACE = re.compile(rb"\\.|[{}]", re.DOTALL)
_MOST_TEXT_BYTES = 1024**2  # of a larger text windows are looked at
_WINDOWS, _WINDOW_BYTES = 32, 16 * 1024
_MIN_BLANKS = 2
_MOST_PIECES = 64


def text_values(data: bytes, media_type: str, shown: ShownWords) -> Iterator[Value]:
    """Yield what looks like text in the bytes of a text file and may not be shown.

    A list is one text in pieces. Of more than 1 MiB, 32 windows spread over the file are looked at.
    """
    if b"\0" in data[:64] or (media_type in _MARKUP | _JSON and _from_utf8(data) is None):
        data = decode(data)[0].encode("utf-8", "replace")
    data = _DECLARATION.sub(b"", data, count=1)  # it is in UTF-8 now
    for part in _windows(data):
        if media_type == _RTF:
            yield from _rtf_values(part)
        elif media_type in _MARKUP:
            is_html = media_type == "text/html"
            yield from markup_values(part, shown, is_html=is_html, is_part=len(part) < len(data))
        elif media_type in _JSON:
            yield from () if shown.has_words(part.decode("utf-8", "replace")) else _literals(part)
        else:
            yield from _lines(part, shown, is_mail=media_type in _MAIL)


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


def _literals(data: bytes) -> Iterator[str]:
    for raw in dict.fromkeys(_JSON_LITERAL.findall(data)):
        value = raw.decode("utf-8", "replace")
        if b"\\" in raw:
            with suppress(ValueError):
                value = str(json.loads(f'"{value}"'))
        value = _TAG.sub(" ", value) if "<" in value else value
        value = unquote(value).rpartition("?")[2] if "%20" in value else value
        if value.count(" ") >= _MIN_BLANKS:
            yield value


def _lines(data: bytes, shown: ShownWords, *, is_mail: bool) -> Iterator[str]:
    """Yield the lines that the text does not hold as they are."""
    if is_mail and _SOFT_BREAK.search(data):
        data = from_quoted_printable(data)
    text = _from_utf8(data)
    text = clean(decode(data)[0] if text is None else text)  # as the texts of all readers
    if "\b" in text or "\x1b[" in text:
        text = _TERMINAL.sub("", text)
    if not is_mail and (text.strip() in shown.text or shown.has_words(text)):
        return
    if is_mail and "name*" in text:
        yield unquote("".join(_NAME_PART.findall(text)).replace('"', " ")).rpartition("''")[2]
    if is_mail and "<" in text:
        text = _TAG.sub(_BLANK, _STYLE_SHEET.sub(" ", text))
    is_machine = False  # a field of a message and the lines that continue it
    for line in text.splitlines():
        if shown.has_line(line):
            is_machine = False
            continue
        is_machine = is_mail and ((is_machine and line[:1] in (" ", "\t")) or bool(_MACHINE_LINE.match(line)))
        if not is_machine and line.count(" ") >= _MIN_BLANKS:
            yield _in_ascii(decode_words(line) if "=?" in line else line) if is_mail else line


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
    run: list[str] = []
    for raw in _RTF_WORD.split(_RTF_TAG.sub(b" ", data)):
        text = _in_ascii(raw.decode("cp1252", "replace"))
        is_whole = text.count(" ") >= _MIN_BLANKS
        if is_whole or len(run) >= _MOST_PIECES:
            if len(run) > 1:
                yield run
            run = []
        if is_whole:
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
        at, depth = len(data), 0
        for brace in _BRACE.finditer(data, match.start()):
            depth += (brace[0] == b"{") - (brace[0] == b"}")
            if depth == 0:
                at = brace.end()
                break
    return b" ".join([*pieces, data[at:]])


# Files that no reader was handed: parts of a message in base64, parts of a package.

# The first lines of a part in base64, after the empty line that ends its fields.
_PART = re2.compile(
    rb"\n\r?\n((?:[A-Za-z0-9+/]{20,}={0,2}\r?\n){0,40}[A-Za-z0-9+/]{20,}={0,2})[ \t]*(?:\r?\n|\z)"
)
_SIGNATURE = re.compile(
    rb"(?i)pkcs7-signature|pgp-signature|application/pgp-keys|PGP SIGNATURE|PUBLIC KEY|CERTIFICATE|smime\.p7s"
)
_FIELDS_BYTES, _HEAD_BYTES = 600, 48
_DIGITS_END = re.compile(rb"[^A-Za-z0-9+/=\s]|\n\s*\n")
# Parts by which a program draws, signs or prints a document.
_MACHINE_PART = re.compile(
    r"\.(?:xml|vml|rels|fpage|rdf|xhtml|ncx|opf|odttf|fntdata|ttf|otf|woff2?|css|js|sigs|psmdcp|svm|ds_store|emz|wmz)$|thumbnail"
    r"|printersettings|vbaproject|vbadata|^mimetype$|/drs/|layout-cache|^objectreplacements/|(?:^|/)fonts/"
    r"|binaryindex|^__macosx/|configurations2/|/$",
    re.IGNORECASE,
)
_LOOKED_AT = 4096
_MOST_PARTS = 20_000


def _unread_bodies(content: Content, sink: Sink, shown: ShownWords) -> Iterator[Content]:
    """Yield the parts of a message in base64 that were neither read nor shown."""
    data = content.data
    for number, match in enumerate(_PART.finditer(data)):
        if number >= _MOST_PARTS:
            return
        head = from_base64(match[1]) or b""
        fields = data[max(match.start() - _FIELDS_BYTES, 0) : match.start()]
        if sink.was_read(head[:_HEAD_BYTES]) or _SIGNATURE.search(fields):
            continue
        text = readable(head)
        if shown.lacks_words(_TAG.sub(" ", text)) if text else is_document(head):
            end = _DIGITS_END.search(data, match.start(1))
            digits = data[match.start(1) : end.start() if end else len(data)]
            yield content.member(f"part{number + 1}", from_base64(digits) or b"")


def unread_parts(
    content: Content, parts: PackageParts | None, sink: Sink, *, is_book: bool
) -> Iterator[Content]:
    """Yield the parts of a package, other than markup, that were not handed to a reader.

    The pages of a book are compared as markup.
    """
    try:
        parts = parts or PackageParts(zipfile.ZipFile(content.open()))
        for info in parts.archive.infolist()[:_MOST_PARTS]:
            name = info.filename
            is_page = is_book and name.lower().endswith((".html", ".htm"))
            if is_page or _MACHINE_PART.search(name) or info.flag_bits & 1 or not info.file_size:
                continue
            head = (parts.get(name) or b"")[:_LOOKED_AT]
            if not head:
                with parts.archive.open(info) as stream:
                    head = stream.read(_LOOKED_AT)
            if not sink.was_read(head[:_HEAD_BYTES]) and (
                is_document(head) or any(len(words_of(text)) >= MIN_WORDS for _, text in byte_runs(head))
            ):
                with parts.archive.open(info) as stream:
                    yield content.member(name, sink.unpack(stream, info.compress_size))
    except Exception:  # noqa: BLE001 (a damaged package; its reader says what is wrong)
        return


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


def binary_values(data: bytes, media_type: str) -> Iterator[str]:
    """Yield the runs of printable characters that are prose; of definitions of tables the literals."""
    for _, text in byte_runs(data) if media_type in _BINARY else ():
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
