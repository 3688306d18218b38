"""What a PDF holds in its objects and no page, form or note gave: added after the names of its entries."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator
from urllib.parse import parse_qsl, unquote, urlsplit

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Inflating, Sink, mishap
from phiscan.extract.pdf.garbage import is_garbage
from phiscan.extract.pdf_objects.hidden_pages import hidden_lines, read_undrawn_pictures, undrawn_pictures
from phiscan.extract.pdf_objects.plain_copy import plain_copy
from phiscan.extract.pdf_objects.scan import PdfString, pdf_strings
from phiscan.extract.pdf_objects.streams import filters, unpacked
from phiscan.extract.residue.prose import ShownWords
from phiscan.extract.structured.xml_markup import labelled_text
from phiscan.model import FailReason

# Entries in which programs, not people, write: fonts, colours, identifiers, dates, positions.
_MACHINE = frozenset(
    [
        "Producer",
        "Creator",
        "CharSet",
        "FontFamily",
        "FontName",
        "DA",
        "DS",
        "ID",
        "D",
        "S",
        "Registry",
        "Ordering",
        "CMapName",
        "Lang",
        "URI",
        "Type",
        "CreationDate",
        "ModDate",
        "M",
        "NM",
        "OutputConditionIdentifier",
        "OutputCondition",
        "RegistryName",
        "Info",
        "DestOutputProfile",
        "Fullbanner",
        "PTEX",
        "Checksum",
        "CheckSum",
        "LastModified",
        "Cert",
        "Contents-sig",
        "Reason-sig",
        "ByteRange",
        "Base",
    ]
)
_LABELS = {
    "TU": "Field",
    "V": "Value",
    "DV": "Default",
    "Opt": "Option",
    "JS": "Script",
    "Alt": "Alternative text",
    "Signer": "Signer",
}
# What people write into the metadata; the rest of it is about programs, colours and dates.
_XMP = re.compile(
    r"(?:li|title|creator|description|subject|keywords?|rights|author\w*|caption\w*|headline|instructions|credit"
    r"|source|city|state|country|location|contributor|publisher|comment\w*|label|company|manager|category"
    r"|patient\w*|name|text): \S",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]{2,}")
_DESTINATION = re.compile(
    r"\S+\.\S+|D:\d{8}\S*|https?://\S+|[A-Z]{6}\+.*|This is pdf.*|[a-z]{2}(?:-[A-Z]{2})?|[A-Z]{2,4}|(?:/\w+)+"
)
_NO_LETTER = re.compile(r"[^\w ]+|[\d_]+")
_PROSE_SHARE = 0.6
_LOOKED_AT = 2000  # characters of a stream
_MOST_BYTES = 64 * 1024**2
_MOST_FILE = 16 * 1024**2  # bytes of a file that is not packed with deflate alone
_MOST_LINES = 20_000
_MOST_SECOND = 50  # pages that the slow reader looks at
_WHOLE = frozenset({"content", "xml"})
# Fields in the query of an address that say something about a person.
_PERSONAL = re.compile(
    r"patient|name|mrn|dob|birth|health|ramq|ssn|sin|phone|mail|diag|dx|gender|sex", re.IGNORECASE
)


def read_unshown(content: Content, sink: Sink, n_pieces: int, n_pages: int, password: str) -> None:
    """Add the strings of objects, ``#objects``, that the text since ``n_pieces`` does not hold.

    Streams of glyphs, and pages beyond the ``n_pages`` that were read, are read with their fonts, files that
    nothing names are members, and sound and models are recorded as unread.
    """
    if content.n_bytes > _MOST_BYTES:
        return
    data = content.data if content.stream is None else content.open().read()
    if b"/Encrypt" in data:
        data = plain_copy(data, password) or data
    shown_text = sink.text_since(n_pieces)
    found = _Findings(shown_text)
    n_items = 0
    for n_items, item in enumerate(pdf_strings(data), 1):  # noqa: B007 (their number is used after it)
        found.take(item)
    has_more_pages = found.n_pages > n_pages
    if found.glyphs or has_more_pages:
        known = frozenset(shown_text.split("\n"))
        lines = hidden_lines(data, found.glyphs, with_pages=has_more_pages)
        found.lines.update(dict.fromkeys(line for line in lines if line not in known and _has_text(line)))
    if found.has_unseen:
        found.lines.update(dict.fromkeys(_unseen_lines(content, shown_text, n_pages, password)))
    sink.add("\n".join(found.lines), content.place("objects"))
    if found.pictures and (undrawn := undrawn_pictures(data, found.pictures)):
        read_undrawn_pictures(data, undrawn, content, sink)
    for kind, count in found.media.items():
        sink.fail(content.place("objects"), FailReason.UNSUPPORTED, f"{kind} objects ({count}) are not read")
    for number, item in enumerate(found.files, 1):
        _read_file(content, sink, data, item, number)
    if n_items:  # none in an encrypted file that cannot be decrypted
        sink.mark_accounted(content.locator)


def _unseen_lines(content: Content, shown_text: str, n_pages: int, password: str) -> Iterator[str]:
    """Yield the lines of letters of no size, which pdfium leaves out."""
    from phiscan.extract.pdf.second_reader import page_glyphs  # noqa: PLC0415 (slow to import)

    shown = " ".join(shown_text.split())
    for index in range(min(n_pages, _MOST_SECOND)):
        for line in page_glyphs(content.open(), index, password).split("\n"):
            text = " ".join(line.split())
            if _has_text(text) and text not in shown:
                yield text


class _Findings:
    """What the objects of a PDF hold: lines that no page shows, glyphs, files, media, the number of pages."""

    def __init__(self, shown_text: str) -> None:
        self.lines: dict[str, None] = {}
        self.glyphs: dict[int, bytes] = {}
        self.files: list[PdfString] = []
        self.media: Counter[str] = Counter()
        self.n_pages = 0
        self.has_unseen = False
        self.pictures: dict[int, str] = {}
        self._words = frozenset(_WORD.findall(shown_text))
        self._shown = ShownWords(shown_text)

    def take(self, item: PdfString) -> None:
        """Sort one finding; a string is kept when half of its words, or six, are not shown."""
        if item.key == "glyphs":
            self.glyphs[item.number] = item.resources
        elif item.key == "file":
            self.files.append(item)
        elif item.key == "media":
            self.media[item.text] += 1
        elif item.key == "pages":
            self.n_pages = item.number
        elif item.key == "picture":
            self.pictures[item.number] = item.text
        elif item.key == "unseen":
            self.has_unseen = True
        elif item.key in _WHOLE:
            self.lines.update(dict.fromkeys(_prose(item, self._shown)))
        else:
            label = _LABELS.get(item.key, "")
            for line in _lines(item):
                words = _WORD.findall(line)
                n_missing = sum(word not in self._words for word in words)
                if n_missing and 2 * n_missing >= min(len(words), 6):
                    self.lines[f"{label}: {line}" if label else line] = None


def _prose(item: PdfString, page_words: ShownWords) -> Iterator[str]:
    """Yield the text of a stream, or the lines of an XML one, that no page holds."""
    if item.key == "content":
        if _is_prose(item.text) and page_words.lacks(item.text):
            yield item.text
        return
    for line in item.text.splitlines()[:_MOST_LINES]:
        if page_words.lacks(line):
            yield " ".join(line.split())


def _has_text(line: str) -> bool:
    return sum(char.isalnum() for char in line) > 1 and not is_garbage(line)


def _read_file(content: Content, sink: Sink, data: bytes, item: PdfString, number: int) -> None:
    """Read a file in a stream as a member, unless an attachment had the same bytes."""
    stream = item.stream
    if stream is None:
        return
    name = f"file{number}"
    packed = data[stream.start : stream.end]
    try:
        if [filter_ in (b"FlateDecode", b"Fl") for filter_ in filters(stream.head)] == [True]:
            body = sink.unpack(Inflating(packed), len(packed))
        else:
            body = unpacked(packed, stream.head, min(sink.limits.file_bytes, _MOST_FILE))
            sink.spend(len(body))
        if body.strip() and sink.is_new_file(body):
            sink.take_member()
            sink.read_member(content.member(name, body))
    except ExtractError as error:
        sink.fail(content.place(name), FailReason(error.reason), error.detail)
    except zlib.error as error:
        sink.fail(content.place(name), FailReason.CORRUPT, mishap(error))


def _is_prose(text: str) -> bool:
    """Tell words from the codes of a font of its own: letters and blanks, mostly."""
    head = text[:_LOOKED_AT]
    return len(_NO_LETTER.sub("", head)) >= _PROSE_SHARE * len(head)


def _query(address: str) -> Iterator[str]:
    """Yield the query of an address as text when a field of it is about a person, or its value is a text."""
    try:
        fields = parse_qsl(urlsplit(address[:_LOOKED_AT]).query, max_num_fields=50)
    except ValueError:
        return
    if any(_PERSONAL.search(name) or value.count(" ") > 1 for name, value in fields):
        yield ", ".join(f"{name}: {value}" for name, value in fields)


def _lines(item: PdfString) -> Iterator[str]:
    if item.key == "URI" and item.text.startswith(("mailto:", "tel:")):
        yield unquote(item.text.partition(":")[2])
    elif item.key == "URI" and item.text.count("%20") > 1:
        yield unquote(item.text)
    if "?" in item.text and "://" in item.text[:12]:
        yield from _query(item.text)
    if item.key in _MACHINE:
        return
    if item.key == "xmp":
        found = labelled_text(item.text.encode()).split("\n")
        yield from (line for line in found if _XMP.match(line) and line != "lang: x-default")
        return
    for line in item.text.splitlines():
        text = " ".join(line.split())
        if _DESTINATION.fullmatch(text) or (not item.key and " " not in text):
            continue
        if text:
            yield text
