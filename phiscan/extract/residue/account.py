"""The account of one content after its reader: stretches that look like text and were not given are listed.

It needs no list of what readers leave out. It looks at the bytes in its own way (values between quotes and
tags, lines of texts, strings of streams, runs of printable characters and of encoded digits) and compares
words with the text.
"""

from __future__ import annotations

import io
import json
import re
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from urllib.parse import unquote

import re2

from phiscan.extract.core import magic_numbers as magic
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, PackageParts, Sink, clean
from phiscan.extract.core.encoded_documents import is_document
from phiscan.extract.ocr.images import after_end
from phiscan.extract.ocr.picture_values import picture_values
from phiscan.extract.office.part_values import markup_values, package_values
from phiscan.extract.pdf.objects import Findings, all_strings, open_objects, unpacked
from phiscan.extract.residue.prose import MIN_WORDS, ShownWords, Value, byte_runs, words_of
from phiscan.extract.text_codes.escapes import readable
from phiscan.extract.text_codes.recovery import coded_runs
from phiscan.extract.transport.decoding import from_base64, from_quoted_printable
from phiscan.extract.transport.runs import encoded_runs, is_quoted_printable, list_undecoded
from phiscan.model import FailReason

# Values of a text file that its reader did not give: lines, values of markup and of JSON, texts of RTF.

MARKUP = frozenset({"text/html", "text/xml"})
JSON = frozenset({"application/json", "application/x-ndjson"})
RTF = "application/rtf"
MAIL = frozenset({"message/rfc822", "application/mbox"})
_DECLARATION = re.compile(rb"\A(?:\xef\xbb\xbf)?<\?xml\s[^>]*\?>")
_JSON_LITERAL = re2.compile(rb'"((?:[^"\\]|\\.)*)"')
_STYLE_SHEET = re2.compile(rb"(?is)<style\b[^>]*>.*?</style>")
_TEXT_TAG = re.compile(r"<[^<>]*>?")
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
_MOST_TEXT_BYTES = 1024**2  # of a larger text windows are looked at
_WINDOWS, _WINDOW_BYTES = 32, 16 * 1024
_MIN_BLANKS = 2
_MOST_PIECES = 64


def text_values(data: bytes, media_type: str, shown: ShownWords) -> Iterator[tuple[str, Value]]:
    """Yield place and value of what looks like text in the bytes of a text file and may not be shown.

    A list is one text in pieces. Of more than 1 MiB, 32 windows spread over the file are looked at.
    """
    if b"\0" in data[:64] or (media_type in MARKUP | JSON and _from_utf8(data) is None):
        data = decode(data)[0].encode("utf-8", "replace")
    data = _DECLARATION.sub(b"", data, count=1)  # it is in UTF-8 now
    for start, part in _windows(data):
        if media_type == RTF:
            values = _rtf_values(part)
        elif media_type in MARKUP:
            is_html = media_type == "text/html"
            values = markup_values(part, shown, is_html=is_html, is_part=len(part) < len(data))
        elif media_type in JSON:
            values = iter(()) if shown.has_words(part.decode("utf-8", "replace")) else _literals(part)
        else:
            values = _lines(part, media_type, shown)
        for value in values:
            yield f"bytes {start}", value


def _windows(data: bytes) -> Iterator[tuple[int, bytes]]:
    if len(data) <= _MOST_TEXT_BYTES:
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
    for raw in dict.fromkeys(_JSON_LITERAL.findall(data)):
        value = raw.decode("utf-8", "replace")
        if b"\\" in raw:
            with suppress(ValueError):
                value = str(json.loads(f'"{value}"'))
        value = _TEXT_TAG.sub(" ", value) if "<" in value else value
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
        text = _TEXT_TAG.sub(_BLANK, solid.decode("utf-8", "replace"))
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


# The first lines of a part of a message in base64, after the empty line that ends its fields.
_PART = re2.compile(
    rb"\n\r?\n((?:[A-Za-z0-9+/]{20,}={0,2}\r?\n){0,40}[A-Za-z0-9+/]{20,}={0,2})[ \t]*(?:\r?\n|\z)"
)
_TAG = re.compile(r"<[^<>]*>?")
_SIGNATURE = re.compile(
    rb"(?i)pkcs7-signature|pgp-signature|application/pgp-keys|PGP SIGNATURE|PUBLIC KEY|CERTIFICATE|smime\.p7s"
)
_FIELDS_BYTES = 600


def list_coded(
    content: Content, sink: Sink, n_segments: int, shown: ShownWords, *, is_text: bool, is_empty: bool
) -> None:
    """List encoded runs in the text that this content itself gave, which no reader decoded.

    Where nothing searched the text for codes, or there is no text, the bytes of a text file are searched.
    """
    was_searched = sink.is_accounted(content.place("decoded"))  # for codes: documents in them are read
    if not is_text and was_searched:
        return
    if is_text and (is_empty or not was_searched or not _has_message(content, sink, n_segments)):
        _list_runs(content.data, content.locator, sink, shown, is_reworded=was_searched)
    own = (content.locator, f"{content.locator}#")
    for index, segment in enumerate(sink.segments_since(n_segments), n_segments):
        is_own = segment.locator == own[0] or segment.locator.startswith(own[1])
        if not is_own or segment.locator.endswith("#headers"):
            continue  # keys and signatures of the way through the servers
        is_lifted = sink.is_accounted(segment.locator)
        if is_lifted and was_searched:
            continue
        data = sink.text_of(index).encode("utf-8", "replace")
        if is_text and not is_lifted:
            _list_mail_runs(data, segment.locator, sink, was_searched=was_searched)
        if not was_searched:
            _list_runs(data, segment.locator, sink, shown)


def _has_message(content: Content, sink: Sink, n_segments: int) -> bool:
    """Tell whether a message gave fields and, where it gave no files, a body; True for other contents."""
    if not content.name.lower().endswith((".eml", ".emlx")):
        return True
    own = f"{content.locator}#"
    places = {
        part.locator[len(own) :] for part in sink.segments_since(n_segments) if part.locator.startswith(own)
    }
    return "headers" in places and ("body" in places or sink.has_members_of(content))


def _list_mail_runs(data: bytes, locator: str, sink: Sink, *, was_searched: bool) -> None:
    for run in encoded_runs(data):
        if not (was_searched and is_document(run.data)):
            list_undecoded(run, locator, sink)
    if is_quoted_printable(data):
        sink.fail(locator, FailReason.UNSUPPORTED, "quoted-printable text is not decoded")


def _list_runs(
    data: bytes, locator: str, sink: Sink, shown: ShownWords, *, is_reworded: bool = False
) -> None:
    """List runs whose text is not shown as it is, or, where a reader rewords it, whose words are not."""
    n_runs = n_chars = 0
    for run in coded_runs(data):
        text = readable(run.data)
        is_shown = shown.holds(text) or (is_reworded and not shown.lacks_words(text))
        is_lost = not is_shown if text else is_document(run.data)
        if is_lost and not sink.was_read(run.data[:_HEAD_BYTES]):
            n_runs += 1
            n_chars += run.end - run.start
    if n_runs:
        said = f"{n_runs} coded runs, {n_chars} characters, are not decoded"
        sink.fail(locator, FailReason.UNSUPPORTED, said)


def undecoded_parts(content: Content, sink: Sink, shown: ShownWords) -> Iterator[tuple[str, str]]:
    """Yield place and digits of the parts of a message in base64 that were neither read nor shown."""
    data = content.data
    for number, match in enumerate(_PART.finditer(data)):
        if number >= _MOST_PARTS:
            return
        head = from_base64(match[1]) or b""
        if sink.was_read(head[:_HEAD_BYTES]):
            continue
        if _SIGNATURE.search(data, max(match.start() - _FIELDS_BYTES, 0), match.start()):
            continue
        text = readable(head)
        if text and not shown.lacks_words(_TAG.sub(" ", text)):
            continue
        if text or is_document(head):
            yield f"bytes {match.start(1)}", match[1].decode("ascii")


# Parts by which a program draws, signs or prints a document.
_MACHINE_PART = re.compile(
    r"\.(?:xml|vml|rels|fpage|rdf|xhtml|ncx|opf|odttf|fntdata|ttf|otf|woff2?|css|js|sigs|psmdcp|svm|ds_store|emz|wmz)$|thumbnail"
    r"|printersettings|vbaproject|vbadata|^mimetype$|/drs/|layout-cache|^objectreplacements/|(?:^|/)fonts/"
    r"|binaryindex|^__macosx/|configurations2/|/$",
    re.IGNORECASE,
)
# What is put into a text for a run that was taken out as a file.
_PLACEHOLDER = re.compile(r"\[(?:base64|uuencode|yEnc|BinHex|hexadecimal digits|PKCS7|CMS|PGP MESSAGE): ")
_LOOKED_AT = 4096
_MOST_PARTS = 20_000


def has_files(data: bytes, media_type: str) -> bool:
    """Tell whether an archive holds more than folders and empty files; True for any other content."""
    try:
        if media_type == "application/zip":
            return any(info.file_size for info in zipfile.ZipFile(io.BytesIO(data)).infolist())
        if media_type == "application/x-tar":
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                return any(info.isfile() and info.size for info in archive)
    except Exception:  # noqa: BLE001 (a damaged archive; it gave nothing all the same)
        return True
    return True


def unread_parts(
    content: Content, parts: PackageParts | None, sink: Sink, *, is_book: bool
) -> Iterator[tuple[str, int]]:
    """Yield name and size of the parts of a package, other than markup, that were not handed to a reader.

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
                yield name, info.file_size
    except Exception:  # noqa: BLE001 (a damaged package; its reader says what is wrong)
        return


def unread_runs(data: bytes, shown_text: str, sink: Sink) -> Iterator[tuple[str, int]]:
    """Yield place and size of the runs that were taken out of a text as files and not handed to a reader."""
    if _PLACEHOLDER.search(shown_text):
        for run in encoded_runs(data):
            if run.is_document and is_document(run.data) and not sink.was_read(run.data[:_HEAD_BYTES]):
                yield f"bytes {run.start}", len(run.data)


def unread_rest(data: bytes, sink: Sink) -> Iterator[tuple[str, int]]:
    """Yield place and size of a file after the end of a picture that was not handed to a reader."""
    rest = after_end(data)
    if len(rest) >= _HEAD_BYTES and not sink.was_read(rest[:_HEAD_BYTES]) and is_document(rest):
        yield f"bytes {len(data) - len(rest)}", len(rest)


_BOOK = "application/epub+zip"
_PACKAGES = (magic.DOCX, magic.XLSX, magic.PPTX, magic.ODF, _BOOK)
_TEXTS = frozenset(
    {*MAIL, RTF, "application/json", "application/x-ndjson", "application/hl7-v2", "application/edi-x12"}
)
SIGNED = "application/pkcs7-mime"  # or a signature alone
_PDF = "application/pdf"
_PICTURES = frozenset({"image/png", "image/jpeg", "image/tiff", "image/bmp", "image/gif", "image/webp"})
_MAY_BE_EMPTY = frozenset({_PDF, SIGNED, "application/dicom"})  # a signature alone, a picture without a name
_HEAD_BYTES = 48
_FEW_BYTES = 64  # without blanks around them
_MOST_BYTES = 64 * 1024**2  # a larger content is read in parts, each with its own account
Values = Iterable[tuple[str, Value]]  # each with its place


def account(content: Content, media_type: str, sink: Sink, before: tuple[int, int, int]) -> None:
    """List what was left unread in a content: its place and size, as parts that could not be read.

    ``before`` counts the stretches of text, the segments and the unread parts before it was read.
    """
    n_pieces, n_segments, n_unread = before
    parts = sink.take_package(content.locator)
    if content.stream is not None or len(content.data) > _MOST_BYTES or sink.n_chars_left <= 0:
        return
    is_empty = sink.n_pieces == n_pieces and not sink.has_members_of(content)
    if n_unread == len(sink.unread) and _is_unread(content, media_type, sink, is_empty=is_empty):
        said = f"{len(content.data)} bytes gave no text and no file"
        sink.fail(content.locator, FailReason.UNSUPPORTED, said)
    elif media_type.startswith("image/") or has_rest(media_type):
        is_picture = media_type.startswith("image/")
        _list_members(content, unread_rest(content.data, sink) if is_picture else (), sink)
        runs = list(picture_values(content.data) if is_picture else binary_values(content.data, media_type))
        if runs:
            read_strings(content, runs, sink, n_pieces)
            list_missing(content, runs, ShownWords(sink.text_since(n_pieces)), sink)
    else:
        shown = ShownWords(sink.text_since(n_pieces))
        is_text = _is_text(media_type)
        if len(sink.unread) == n_unread:
            list_coded(content, sink, n_segments, shown, is_text=is_text, is_empty=is_empty)
        if not (is_text and len(sink.unread) > n_unread):  # else its reader said what cannot be decoded
            _compare(content, media_type, sink, shown, parts)


def _compare(
    content: Content, media_type: str, sink: Sink, shown: ShownWords, parts: PackageParts | None
) -> None:
    """List files that were not handed to a reader, and values that are not shown."""
    if media_type == _PDF:
        if not sink.is_accounted(content.locator):
            _list_objects(content, sink, shown)
        return
    if _is_text(media_type):
        _list_undecoded(content, media_type, sink, shown)
    _list_members(content, _unread_members(content, media_type, parts, shown, sink), sink)
    if not (media_type == SIGNED and sink.has_members_of(content)):
        list_missing(content, _candidates(content, media_type, parts, shown, sink), shown, sink)


def _list_objects(content: Content, sink: Sink, shown: ShownWords) -> None:
    """List the texts of objects of a PDF that are not shown, and the files that no reader was handed."""
    pdf = open_objects(content.data, sink.passwords)
    if pdf is None:
        return
    with pdf:
        found = Findings(shown.text)
        for item in all_strings(pdf, content.data, sink.passwords):
            found.take(item)
        files = [unpacked(file) for file in found.of("file")]
    unread = [file for file in files if file and not sink.was_read(file[:_HEAD_BYTES])]
    members = ((f"attachment{number}", len(file)) for number, file in enumerate(unread, 1))
    _list_members(content, members, sink)
    if found.lines:
        n_chars = sum(map(len, found.lines))
        said = f"{len(found.lines)} stretches that look like text, {n_chars} characters, are not read"
        sink.fail(content.place("objects"), FailReason.UNSUPPORTED, said)


def _list_members(content: Content, members: Iterable[tuple[str, int]], sink: Sink) -> None:
    for place, n_bytes in members:
        sink.fail(content.place(place), FailReason.UNSUPPORTED, f"a file of {n_bytes} bytes is not read")


def _unread_members(
    content: Content, media_type: str, parts: PackageParts | None, shown: ShownWords, sink: Sink
) -> Iterable[tuple[str, int]]:
    if media_type.startswith(_PACKAGES):
        return unread_parts(content, parts, sink, is_book=media_type == _BOOK)
    return unread_runs(content.data, shown.text, sink) if _is_text(media_type) else ()


def _is_unread(content: Content, media_type: str, sink: Sink, *, is_empty: bool) -> bool:
    """Tell whether no reader looked at a picture, or none gave a text or a member of a binary file.

    Texts, packages and PDF may be empty; what is in them is compared below.
    """
    if media_type in _PICTURES:
        return not sink.was_seen(content.data)
    if _is_text(media_type) or media_type.startswith((*_PACKAGES, "image/")) or has_rest(media_type):
        return False
    is_small = media_type in _MAY_BE_EMPTY or len(content.data.strip()) < _FEW_BYTES
    return is_empty and not is_small and has_files(content.data, media_type)


def read_strings(content: Content, runs: list[tuple[str, str]], sink: Sink, n_pieces: int) -> None:
    """Add the runs of text in a picture or a binary document that its reader did not give, ``#strings``."""
    shown = ShownWords(sink.text_since(n_pieces))
    missing = dict.fromkeys(text.strip() for _, text in runs if shown.lacks(text))
    sink.add("\n".join(missing), content.place("strings"))


def _is_text(media_type: str) -> bool:
    return media_type.startswith("text/") or media_type in _TEXTS


def _list_undecoded(content: Content, media_type: str, sink: Sink, shown: ShownWords) -> None:
    """List parts of a message in base64, and a text in an unknown code page."""
    if media_type in MAIL:
        for place, digits in undecoded_parts(content, sink, shown):
            said = f"a part that begins with {len(digits)} characters of base64 is not decoded"
            sink.fail(content.place(place), FailReason.UNSUPPORTED, said)
    elif is_undecoded(content.data, shown.text):
        said = f"{len(content.data)} bytes are in a code page that is not known, and are not decoded"
        sink.fail(content.locator, FailReason.UNSUPPORTED, said)


def _candidates(
    content: Content, media_type: str, parts: PackageParts | None, shown: ShownWords, sink: Sink
) -> Values:
    if media_type.startswith(_PACKAGES) and media_type != magic.XLSB:
        return () if sink.is_accounted(content.locator) else package_values(content, parts, shown)
    if _is_text(media_type):
        return text_values(content.data, media_type, shown)
    return binary_values(content.data, media_type) if is_binary(media_type) else ()


def list_missing(content: Content, values: Values, shown: ShownWords, sink: Sink) -> None:
    """List the places with values that are not shown; places that are byte offsets count as one."""
    missing: dict[str, tuple[str, int, int]] = {}
    for place, raw in values:
        value = unquote(raw).replace("?", " ") if isinstance(raw, str) and "%20" in raw else raw
        if shown.lacks(value):
            group = "bytes" if place.startswith("bytes ") else place
            first, n_values, n_chars = missing.get(group, (place, 0, 0))
            missing[group] = first, n_values + 1, n_chars + sum(map(len, value))
    for first, n_values, n_chars in missing.values():
        said = f"{n_values} stretches that look like text, {n_chars} characters, are not read"
        sink.fail(content.place(first), FailReason.UNSUPPORTED, said)


_MOST_CHARS = 100_000
_MIN_WORDS = 3
_MIN_SHARE = 0.4  # of the words with a letter outside ASCII
_ODD = re.compile(
    r"[A-Za-z\xe0-\xff][\x80-\x9f\u201a\u201e\u2020-\u2022\u2026\u2030\u2039\u02c6\u2018\u201c\u201d\u02dc\u2122"
    r"\xa1-\xb6\xb8-\xbf\ufffd]{1,4}[a-z\xe0-\xff]"
    r"|[a-z\xe0-\xff][\u0160\u017d\u0152\u0178\xc0-\xde][a-z\xe0-\xff]"
)


def is_undecoded(data: bytes, text: str) -> bool:
    """Tell whether a text whose bytes are no UTF-8 has signs where letters of its language should be."""
    if data.isascii() or not text:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        head = text[:_MOST_CHARS]
        n_odd = 0 if head.isascii() else len(_ODD.findall(head))
        return n_odd >= max(_MIN_WORDS, _MIN_SHARE * sum(not word.isascii() for word in head.split()))
    return False


_BINARY = frozenset(
    {
        *("application/ms-tnef", "application/x-edf", "application/vnd.sqlite3", "application/x-dbf"),
        *("application/onenote", "application/vnd.lotus-1-2-3", "application/vnd.wordperfect"),
        *("application/x-outlook-express", "application/msword", "application/vnd.ms-excel"),
        *("application/vnd.ms-powerpoint", "application/vnd.ms-outlook", "application/x-quattro-pro"),
        *("application/dicom", "application/pkcs7-mime", "application/pgp-encrypted"),
        *("application/x-ole-storage",),
    }
)
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


_WITH_REST = frozenset(
    {
        *("application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"),
        *("application/vnd.ms-outlook", "application/x-ole-storage"),
    }
)


def has_rest(media_type: str) -> bool:
    """Tell a binary document beside whose structures texts may lie: earlier authors and paths, scripts."""
    return media_type in _WITH_REST


def is_binary(media_type: str) -> bool:
    """Tell a type of binary files whose text lies in their bytes as it is."""
    return media_type in _BINARY


def binary_values(data: bytes, media_type: str) -> Iterator[tuple[str, str]]:
    """Yield place and text of the runs of printable characters; of definitions of tables the literals."""
    for at, text in byte_runs(data):
        if (has_rest(media_type) or media_type == SIGNED) and (not _is_prose(text) or _PROGRAM.search(text)):
            continue
        if _DEFINITION.search(text, 0, 200):
            text = " ".join(_LITERAL.findall(text))  # noqa: PLW2901 (what of it a person may have typed)
        yield f"bytes {at}", unquote(text) if "%20" in text else text


def _is_prose(text: str) -> bool:
    """Tell words from code, markup, paths and names of styles."""
    head = text[:2000]
    if head.count(" ") < _FEW_WORDS - 1:
        return False
    n_others = len(head.encode("cp1252", "replace").translate(None, _LETTERS))
    return n_others <= (1 - _PROSE_SHARE) * len(head) and len(words_of(head)) >= _FEW_WORDS
