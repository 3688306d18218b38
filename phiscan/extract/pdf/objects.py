"""Strings and texts of streams in the objects of a PDF, whatever refers to them: pikepdf opens the file."""

from __future__ import annotations

import html
import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any, BinaryIO
from urllib.parse import parse_qsl, unquote, urlsplit

import pikepdf
import re2

from phiscan.extract.core.content import CHUNK_BYTES, Content, Sink
from phiscan.extract.core.prose import ShownWords
from phiscan.extract.pdf.words import is_garbage, lines_of
from phiscan.extract.structured.xml_markup import labelled_text
from phiscan.extract.text_codes.digits import from_hex, plain_literal
from phiscan.model import FailReason

_NO_TEXT = re.compile(
    rb"/Image\b|/FontFile|/Length1\b|/DCTDecode|/JPXDecode|/JBIG2|/CCITTFax|/XRef\b|/ICCBased|/FunctionType|/CMapName|/ObjStm\b"
)
_FILE = re.compile(rb"/EmbeddedFile\b")
_MEDIA = re.compile(rb"/Type\s*/(Sound|3D)\b|/Subtype\s*/(U3D|PRC)\b")
_STREAM_KINDS = {"file": _FILE, "media": _MEDIA}
_DOCUMENTS = (b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1", b"{\\rtf", b"\x1f\x8b\x08")
_KINDS = {"page": re.compile(rb"/Type\s*/Page\b"), "font": re.compile(rb"/CharProcs\b")}
_HEX_SHOWN = re2.compile(rb"<[0-9A-Fa-f\s]{4,}>\s*(?:-?[\d.]+\s*)*(?:\]\s*TJ|Tj|'|\")")
_UNSEEN = re2.compile(  # a font, or a matrix, of no size
    rb"\s0+(?:\.0+)?\s+T[fz]\b"
    rb"|(?:^|\s)0(?:\.000\d*)?\s+0\s+0\s+0(?:\.000\d*)?\s+\S+\s+\S+\s+(?:cm|Tm)\b"
)
_XML = re.compile(rb"\s*(?:\xef\xbb\xbf)?<(?:\?xml|[A-Za-z][\w:.-]{0,40}[\s>])")
_SCRIPT_ELEMENT = re2.compile(rb"(?s)<(?:\w+:)?script\b.*?</(?:\w+:)?script>")
_XML_TEXT = re.compile(rb">([^<>]{3,20000}+)<")
_STRING = re.compile(
    rb"/([A-Za-z]{1,20})\s*(?:\[\s*)?\(((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\)){1,20000})\)"
    rb"|/([A-Za-z]{1,20})\s*(?:\[\s*)?<([0-9A-Fa-f\s]{8,40000})>"
    rb"|\(((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\)){3,20000})\)",
    re.DOTALL,
)
_HAS_STRING = re2.compile(rb"\(|[A-Za-z][\s\v]*(?:\[[\s\v]*)?<[0-9A-Fa-f\s\v]")
_KERNED = re.compile(rb"\)(?<!\\\))\s{0,2}-?\d{0,2}(?:\.\d+)?\s{0,2}\(")  # no blank between the letters
# A string with its last bracket, or the end of a line. Branches that begin with one sign are found fast.
_SHOWN = re.compile(rb"\(([^()\\]*+(?:\\.[^()\\]*+)*+\))|T[dDm*]\b|ET\b", re.DOTALL)
_SHOWS_TEXT = re.compile(rb"\bBT\b")
_BEGIN = re.compile(rb"(?<!\d)(\d{1,7})\s+0\s+obj\b")
_SCRIPT = re.compile(rb"\bfunction\b|\bvar\b|\bthis\.|\bapp\.")
_REMARK = re2.compile(rb"(?m)^%+ ?([A-Za-z][ -~]{19,400})\r?$")
_PROGRAM = re.compile(rb"reportlab|generated|produce|pdftex|pdf-\d|created (?:by|with)", re.IGNORECASE)
_END, _LEAST_REST = b"%%EOF", 20
_INLINE_PICTURE = re.compile(rb"\bBI\s.{0,65536}?\sEI\b", re.DOTALL)
_NO_PROSE = re.compile(rb"begincmap|\bBI\s")  # codes of a font, a picture within the page
_OTHER_CONTENTS = (b"<", b"%!", b"{")  # the template of a form, a font, a function
_XMP = (b"<x:xmpmeta", b"<?xpacket")
_MOST_STREAM_BYTES = 2 * 1024**2
_MOST_ALL_BYTES = 24 * 1024**2
_MOST_UNPACKED = 64 * 1024**2  # bytes that qpdf unpacks of one stream
_MOST_PACKED = 32 * 1024  # bytes of a stream in a filter without such a limit, LZW: at most 50 MB
_UNPACKS_BEFORE = re.compile(r"(?:Flate|RunLength|LZW).*LZW", re.DOTALL)
_MOST_OBJECTS = 300_000
REVISION_END = re.compile(rb"startxref\s+\d+\s+%%EOF")
MOST_REVISIONS = 20
_READABLE_SHARE = 0.95
_MOST_SINGLE = 0.5  # of the lines of a stream; more are glyphs that are set one by one
_ODD = re.compile(r"[^\w\s.,;:!?'\"()\[\]{}/\\&%@+#*=<>|$-]")
_ALNUM = re.compile(r"[^\W_]")


# Entries in which programs, not people, write: fonts, colours, identifiers, dates, positions.
_MACHINE_TEXT = """
Producer Creator CharSet FontFamily FontName DA DS ID D S Registry Ordering CMapName Lang URI Type
CreationDate ModDate M NM OutputConditionIdentifier OutputCondition RegistryName Info DestOutputProfile
Fullbanner PTEX Checksum CheckSum LastModified Cert Contents-sig Reason-sig ByteRange Base
"""
MACHINE_KEYS = frozenset(_MACHINE_TEXT.split())


@dataclass(frozen=True, slots=True)
class PdfString:
    """One string of a dictionary with the name of its entry, or what one stream holds.

    The keys of streams: "content" for the text that one shows, "script", "xmp" and "xml" for whole streams,
    "glyphs" for codes that only a font explains, "file" for a file, "media" for sound and models,
    "unseen" for text of no size. Of dictionaries: "page", and
    "font" for one whose glyphs are streams.
    """

    key: str
    text: str = field(repr=False)
    item: Any = None  # the object itself


@lru_cache(maxsize=1)
def _pikepdf() -> Any:
    """Return the library, whose limits are set once."""
    pikepdf.settings.set_qpdf_limits(
        flate_max_memory=_MOST_UNPACKED,
        run_length_max_memory=_MOST_UNPACKED,
        png_max_memory=_MOST_UNPACKED,
        tiff_max_memory=_MOST_UNPACKED,
        max_stream_filters=4,
    )
    return pikepdf


def open_objects(data: bytes | BinaryIO, passwords: Sequence[str] = ()) -> Any:
    """Return a PDF opened for its objects, with no password or one of a list; None where none opens it."""
    stream = io.BytesIO(data) if isinstance(data, bytes) else data
    pikepdf = _pikepdf()
    for password in ("", *passwords):
        try:
            return pikepdf.open(stream, password=password)
        except pikepdf.PasswordError:
            continue
        except (pikepdf.PdfError, ValueError, RuntimeError, OverflowError):
            return None
    return None


def repaired(data: bytes) -> Any:
    """Return a PDF without a table of its objects, as of one that was cut, opened for those that it has.

    qpdf looks for the objects where a trailer leads to a page: an empty one is put behind them.
    """
    root = max((int(match[1]) for match in _BEGIN.finditer(data)), default=0) + 1
    if root > _MOST_OBJECTS or b"/Encrypt" in data:
        return open_objects(data)
    catalog = b"%d 0 obj\n<</Type/Catalog/Pages %d 0 R>>\nendobj\n" % (root, root + 1)
    tree = b"%d 0 obj\n<</Type/Pages/Count 1/Kids[%d 0 R]>>\nendobj\n" % (root + 1, root + 2)
    page = b"%d 0 obj\n<</Type/Page/Parent %d 0 R/MediaBox[0 0 9 9]>>\nendobj\n" % (root + 2, root + 1)
    trailer = b"trailer\n<</Size %d/Root %d 0 R>>\n" % (root + 3, root)
    return open_objects(b"\n".join([data, b"endstream\nendobj", catalog, tree, page, trailer]))


def unpacked(stream: Any) -> bytes:
    """Return a stream after its filters; nothing after one that is for pictures, and of a damaged one."""
    pikepdf = _pikepdf()
    try:
        filters = str(stream.get("/Filter", ""))
        most = 0 if _UNPACKS_BEFORE.search(filters) else _MOST_PACKED
        if "LZW" in filters and len(stream.read_raw_bytes()) > most:
            return b""
        return bytes(stream.read_bytes(pikepdf.StreamDecodeLevel.specialized))
    except (pikepdf.PdfError, ValueError, RuntimeError, TypeError):
        return b""


def pdf_strings(pdf: Any, data: bytes) -> Iterator[PdfString]:
    """Yield the strings of the objects of an opened PDF, its comments, and the text after its end."""
    left = _MOST_ALL_BYTES
    for item in islice(pdf.objects, _MOST_OBJECTS):
        if not isinstance(item, _pikepdf().Object):
            continue  # a number, or damaged
        is_stream = isinstance(item, _pikepdf().Stream)
        head = item.stream_dict.unparse() if is_stream else item.unparse(resolved=True)
        yield from _dictionary(head)
        if not is_stream:
            yield from (PdfString(key, "", item) for key, mark in _KINDS.items() if mark.search(head))
        elif key := next((key for key, mark in _STREAM_KINDS.items() if mark.search(head)), ""):
            yield PdfString(key, _media_kind(head), item)
        elif not _NO_TEXT.search(head):
            body = unpacked(item)
            left -= len(body)
            yield from _stream(body[:_MOST_STREAM_BYTES], head, item)
        if left <= 0:
            break
    remarks = (one for one in _REMARK.findall(data[:_MOST_ALL_BYTES]) if not _PROGRAM.search(one))
    yield from (PdfString("content", _decoded(one)) for one in remarks)
    end = data.rfind(_END)
    rest = data[end + len(_END) :].strip() if end >= 0 else b""
    if len(rest) >= _LEAST_REST and is_readable(text := _decoded(rest[:_MOST_STREAM_BYTES])):
        yield PdfString("content", text)


def earlier_revisions(data: bytes) -> list[bytes]:
    """Return the file as it was before each of its incremental saves, the last ones of very many."""
    ends = [match.end() for match in REVISION_END.finditer(data)][:-1]  # the last one ends the file
    if b"/Linearized" in data[:1024]:
        ends = ends[1:]  # the first part of a file that is arranged for the web is no revision
    return [data[:end] for end in ends[-MOST_REVISIONS:]]


def all_strings(pdf: Any, data: bytes, passwords: Sequence[str]) -> Iterator[PdfString]:
    """Yield the strings of an opened PDF, and of its earlier revisions those of dictionaries and streams."""
    yield from pdf_strings(pdf, data)
    for revision in earlier_revisions(data):
        before = open_objects(revision, passwords)
        if before is not None:
            with before:
                yield from (found for found in pdf_strings(before, b"") if found.item is None)


def _media_kind(head: bytes) -> str:
    media = _MEDIA.search(head)
    return (media[1] or media[2]).decode("ascii") if media else ""


def _stream(body: bytes, head: bytes, item: Any) -> Iterator[PdfString]:
    if body.startswith(_DOCUMENTS):
        yield PdfString("file", "", item)
    elif body.lstrip()[:32].startswith(_XMP) or b"<x:xmpmeta" in body[:400]:
        yield PdfString("xmp", body.decode("utf-8", "replace"))
    elif _SHOWS_TEXT.search(body):
        yield from _content(body, item)
    elif b"/JS" in head or _SCRIPT.search(body[:4096]):
        text = _decoded(body)
        if is_readable(text):
            yield PdfString("script", text)
    elif _XML.match(body):
        found = _XML_TEXT.findall(_SCRIPT_ELEMENT.sub(b" ", body))
        yield PdfString("xml", html.unescape(b"\n".join(found).decode("utf-8", "replace")))
    elif not body.lstrip()[:2].startswith(_OTHER_CONTENTS):
        text = _decoded(body)
        if is_readable(text) and not _NO_PROSE.search(body):
            yield PdfString("content", text)


def _content(body: bytes, item: Any) -> Iterator[PdfString]:
    """Yield the text that a stream of graphics shows, and its number where a font explains some of it."""
    text = _shown(_INLINE_PICTURE.sub(b"", body) if b"BI" in body else body)
    is_plain = bool(text.strip()) and is_readable(text)
    if is_plain:
        yield PdfString("content", text)
    if _UNSEEN.search(body):
        yield PdfString("unseen", "")
    if not is_plain or _HEX_SHOWN.search(body):
        yield PdfString("glyphs", "", item)


def _dictionary(data: bytes) -> Iterator[PdfString]:
    """Yield the strings of dictionaries; words in a row, as in an array, are one text, too."""
    row: list[str] = []
    end = 0
    for match in _STRING.finditer(data) if _HAS_STRING.search(data) else ():
        literal = match[2] or match[5] or b""
        raw = from_hex(match[4]) if match[4] else plain_literal(literal)
        text = _decoded(raw)
        is_text = bool(text.strip()) and is_readable(text)
        if row and (match[1] or match[3] or data[end : match.start()].strip()):
            yield from _joined_row(row)
            row = []
        end = match.end()
        if is_text:
            if match[1] != b"Limits":  # of a name tree
                row.append(text)
            yield PdfString((match[1] or match[3] or b"").decode("ascii"), text)
    yield from _joined_row(row)


def _joined_row(row: list[str]) -> Iterator[PdfString]:
    if len(row) > 1 and not all(" " in text for text in row):
        yield PdfString("", " ".join(row))


def _shown(body: bytes) -> str:
    """Return what a stream shows: strings joined, with a blank at wide gaps and a line at each move."""
    found = _SHOWN.findall(_KERNED.sub(b"", body))
    literals = b"".join([literal[:-1] + b" " if literal else b"\n" for literal in found])
    lines = [*filter(None, map(str.strip, plain_literal(literals).decode("cp1252", "replace").split("\n")))]
    if sum(len(line) == 1 for line in lines) > _MOST_SINGLE * len(lines):
        return plain_literal(b"".join([literal[:-1] for literal in found])).decode("cp1252", "replace")
    return "\n".join(lines)


def _decoded(raw: bytes) -> str:
    if raw.startswith((b"\xfe\xff", b"\xff\xfe")):
        return raw.decode("utf-16", "replace")
    if raw.startswith(b"\xef\xbb\xbf"):
        return raw.decode("utf-8-sig", "replace")
    return raw.decode("ascii" if raw.isascii() else "cp1252", "replace")


def is_readable(text: str) -> bool:
    """Tell text in a usual encoding from codes that only a font of the document explains."""
    head = text[:2000]
    n_odd = len(_ODD.findall(head))
    return n_odd <= (1 - _READABLE_SHARE) * len(head) and _ALNUM.search(head) is not None


# What a PDF holds in its objects and no page, form or note gave: added after the names of its entries.
# Forms that are never drawn, patterns, masks, appearances of hidden annotations, glyph procedures and
# pages outside of the page tree hold codes that only their fonts explain. A copy of the file whose page
# tree has each of them as a page is read by pdfium as any other; so is each earlier revision.

_HIDDEN_MOST_PAGES = 500
_BOX = [-2000, -2000, 2000, 2000]


def with_pages(
    pdf: Any,
    pages: Sequence[Any] = (),
    glyphs: Sequence[tuple[Any, Any]] = (),
    *,
    others: Sequence[Any] = (),
) -> bytes:
    """Return a copy of an opened PDF with other pages; empty where it cannot be written.

    Args:
        pdf: opened by pikepdf; its page tree is another one after the call.
        pages: page objects.
        glyphs: streams, each with its resources.
        others: objects that the copy holds besides.
    """
    kids = list(pages)
    for stream, resources in glyphs:
        kids.append(
            pdf.make_indirect(
                pikepdf.Dictionary(
                    Type=pikepdf.Name.Page, MediaBox=_BOX, Contents=stream, Resources=resources
                )
            )
        )
    kids = kids[:_HIDDEN_MOST_PAGES]
    out = io.BytesIO()
    try:
        tree = pdf.make_indirect(
            pikepdf.Dictionary(Type=pikepdf.Name.Pages, Count=len(kids), MediaBox=_BOX, Kids=kids)
        )
        for page in kids:
            if "/Parent" not in page:  # from which others inherit
                page.Parent = tree
        pdf.trailer.Root = pdf.make_indirect(
            pikepdf.Dictionary(Type=pikepdf.Name.Catalog, Pages=tree, Others=list(others))
        )
        pdf.save(out, encryption=False, compress_streams=False)
    except (pikepdf.PdfError, ValueError, RuntimeError, AttributeError, TypeError):
        return b""
    return out.getvalue() if kids else b""


def hidden_lines(pdf: Any, pages: Sequence[Any], glyphs: Sequence[tuple[Any, Any]]) -> Iterator[str]:
    """Yield the lines of pages outside of the page tree, and of streams of glyphs with their resources."""
    import pypdfium2  # noqa: PLC0415 (heavy)

    try:
        copy = pypdfium2.PdfDocument(with_pages(pdf, pages, glyphs))
    except pypdfium2.PdfiumError:  # of no data, too
        return
    for index in range(min(len(copy), _HIDDEN_MOST_PAGES)):
        yield from lines_of(copy, index)
    copy.close()


_LABELS = {
    "TU": "Field",
    "V": "Value",
    "DV": "Default",
    "Opt": "Option",
    "JS": "Script",
    "Alt": "Alternative text",
}
# What people write into the metadata; the rest of it is about programs, colours and dates.
_XMP_FIELD = re.compile(
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
_MOST_LINES = 20_000
_MOST_SECOND = 50  # pages that the slow reader looks at
_WHOLE = frozenset({"content", "xml"})
# Fields in the query of an address that say something about a person.
_PERSONAL = re.compile(
    r"patient|name|mrn|dob|birth|health|ramq|ssn|sin|phone|mail|diag|dx|gender|sex", re.IGNORECASE
)


def read_unshown(content: Content, sink: Sink, pdf: Any, n_segments: int, password: str) -> None:
    """Add the strings of objects, ``#objects``, that the text since ``n_segments`` does not hold.

    Streams of glyphs, and pages outside of the page tree, are read with their fonts, files that nothing names
    are members, and sound and models are recorded as unread.
    """
    if content.n_bytes > _MOST_BYTES:
        return
    data = content.open().read()
    shown_text = sink.text_since(n_segments)
    found = Findings(shown_text)
    for item in all_strings(pdf, data, (password,)):
        found.take(item)
    known = {page.obj.objgen for page in pdf.pages}
    pages = [page for page in found.of("page") if page.objgen not in known]
    glyphs = found.glyphs()
    if pages or glyphs:
        shown = frozenset(shown_text.split("\n"))
        lines = hidden_lines(pdf, pages, glyphs)
        found.lines.update(dict.fromkeys(line for line in lines if line not in shown and _has_text(line)))
    if found.objects["unseen"]:
        found.lines.update(dict.fromkeys(_unseen_lines(content, shown_text, len(known), password)))
    sink.add("\n".join(found.lines), content.place("objects"))
    for kind, count in Counter(item.text for item in found.objects["media"]).items():
        said = f"{kind} objects ({count}) are not read"
        sink.fail(content.place("objects"), FailReason.UNSUPPORTED, said)
    for number, file in enumerate(found.of("file"), 1):
        _read_file(content, sink, file, number)


def _unseen_lines(content: Content, shown_text: str, n_pages: int, password: str) -> Iterator[str]:
    """Yield the lines of letters of no size, which pdfium leaves out."""
    from phiscan.extract.pdf.second_reader import page_glyphs  # noqa: PLC0415 (slow to import)

    shown = " ".join(shown_text.split())
    for index in range(min(n_pages, _MOST_SECOND)):
        for line in page_glyphs(content.open(), index, password).split("\n"):
            text = " ".join(line.split())
            if _has_text(text) and text not in shown:
                yield text


class Findings:
    """What the objects of a PDF hold: lines that no page shows, and objects by their keys."""

    def __init__(self, shown_text: str) -> None:
        self.lines: dict[str, None] = {}
        self.objects: defaultdict[str, list[PdfString]] = defaultdict(list)
        self._words = frozenset(_WORD.findall(shown_text))
        self._shown = ShownWords(shown_text)

    def of(self, key: str) -> list[Any]:
        """Return the objects of a key."""
        return [item.item for item in self.objects[key]]

    def glyphs(self) -> list[tuple[Any, Any]]:
        """Return the streams of glyphs with their own resources, or those of the font that they draw."""
        owners = {}
        for font in self.of("font") if self.objects["glyphs"] else ():
            drawn = font.get("/CharProcs")
            if "/Resources" in font and isinstance(drawn, pikepdf.Dictionary):
                glyphs = (one for one in drawn.as_dict().values() if isinstance(one, pikepdf.Stream))
                owners.update({glyph.objgen: font.Resources for glyph in glyphs})
        found = (
            (stream, stream.get("/Resources", owners.get(stream.objgen))) for stream in self.of("glyphs")
        )
        return [(stream, resources) for stream, resources in found if resources is not None]

    def take(self, item: PdfString) -> None:
        """Sort one finding; a string is kept when half of its words, or six, are not shown."""
        if item.item is not None or item.key in ("media", "unseen"):
            self.objects[item.key].append(item)
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


def _read_file(content: Content, sink: Sink, stream: Any, number: int) -> None:
    """Read a file in a stream as a member, unless an attachment had the same bytes."""
    body = unpacked(stream)
    name = f"file{number}"
    with sink.part(content.place(name)):
        sink.spend(len(body))
        if body.strip() and sink.is_new_file(body):
            sink.add_member(content, name, body)


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
    if item.key in MACHINE_KEYS:
        return
    if item.key == "xmp":
        found = labelled_text(item.text.encode()).split("\n")
        yield from (line for line in found if _XMP_FIELD.match(line) and line != "lang: x-default")
        return
    for line in item.text.splitlines():
        text = " ".join(line.split())
        if _DESTINATION.fullmatch(text) or (not item.key and " " not in text):
            continue
        if text:
            yield text


_MOST_PAGES = 300
_LONGEST_END = 64  # bytes of a mark that lies in two pieces


def read_revisions(content: Content, sink: Sink, n_segments: int, password: str) -> None:
    """Add the lines of pages of earlier revisions that the text does not hold, ``#revision1/p2``."""
    if content.n_bytes > _MOST_BYTES:
        if _n_ends(content) > 1:
            said = f"earlier revisions in more than {_MOST_BYTES} bytes are not read"
            sink.fail(content.place("revisions"), FailReason.TOO_LARGE, said)
        return
    data = content.open().read()
    if (n_ends := _n_ends(content) - 1) > MOST_REVISIONS:
        said = f"{n_ends - MOST_REVISIONS} of {n_ends} earlier revisions are not read"
        sink.fail(content.place("revisions"), FailReason.TOO_LARGE, said)
    import pypdfium2  # noqa: PLC0415 (heavy)

    for number, revision in enumerate(earlier_revisions(data), 1):
        try:
            pdf = pypdfium2.PdfDocument(revision, password=password or None)
        except pypdfium2.PdfiumError:
            continue
        try:
            _read_pages(pdf, number, content, sink, n_segments)
        finally:
            pdf.close()


def _n_ends(content: Content) -> int:
    """Count the revisions of a large file, in pieces."""
    stream, before, count = content.open(), b"", 0
    while piece := stream.read(CHUNK_BYTES):
        ends = [match.end() for match in REVISION_END.finditer(before + piece)]
        count += len(ends)
        before = (before + piece)[max(ends, default=0) :][-_LONGEST_END:]
    return count


def _read_pages(pdf: Any, number: int, content: Content, sink: Sink, n_segments: int) -> None:
    lines = set(sink.text_since(n_segments).split("\n"))
    if len(pdf) > _MOST_PAGES:
        said = f"pages {_MOST_PAGES + 1} to {len(pdf)} are not read"
        sink.fail(content.place(f"revision{number}"), FailReason.TOO_LARGE, said)
    for index in range(min(len(pdf), _MOST_PAGES)):
        found = [line for line in lines_of(pdf, index) if line not in lines]
        lines.update(found)
        sink.add("\n".join(found), content.place(f"revision{number}/p{index + 1}"))
