"""XML: every text after the name of its field; CDA names, dates and identifiers as a form shows them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from lxml import etree

from phiscan.extract.core.charset import decode, decode_declared
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.encoded_documents import MIN_CHARS, Enclosures
from phiscan.extract.core.labels import humanise, pair
from phiscan.extract.office.part_values import part_values
from phiscan.extract.office.runs import flowing_text, paragraphs_text
from phiscan.extract.spreadsheets.rows import Row, lay_out
from phiscan.extract.structured.xml_parsing import DAMAGED, local_attributes, local_name, parse_damaged
from phiscan.model import FailReason

# XML of a known kind of document to segments: runs joined to paragraphs, cells to rows after their heads.
# Source: Microsoft Office 2003 XML reference schemas; OpenDocument 1.3, part 3, 3.1.3.1; SVG 2, chapter
# 11.

_MOST_REPEATED = 1_000  # of a row or a cell
_MOST_COLUMNS = 16_384


def read_dialect(root: Any, content: Content, sink: Sink) -> bool:
    """Add the text of a document of a known kind; tell whether it is one.

    What its tables and paragraphs leave out (properties, comments, names) is left to the reader of XML.
    """
    n_before = sink.n_segments
    is_flat = local_name(root) == "document" and next(root.iter("{*}spreadsheet"), None) is not None
    if is_flat or local_name(root) == "Workbook":
        for number, sheet in enumerate(root.iter("{*}table", "{*}Worksheet"), 1):
            for row, line in lay_out(_rows(sheet)):
                sink.add(line, content.place(f"sheet{number}!A{row}"))
    elif local_name(root) in _TEXTS:
        place, text = _TEXTS[local_name(root)]
        sink.add(text(root), content.place(place))
    return sink.n_segments > n_before


def _rows(sheet: Any) -> Iterator[Row]:
    """Yield the rows of a sheet of Excel 2003 or of flat OpenDocument."""
    number = 1
    for row in sheet.iter("{*}Row", "{*}table-row"):
        number = _whole(row, "Index", number)
        cells: list[str] = []
        for cell in row.iterchildren("{*}Cell", "{*}table-cell", "{*}covered-table-cell"):
            cells += [""] * (min(_whole(cell, "Index", 1), _MOST_COLUMNS) - 1 - len(cells))
            texts = (" ".join(flowing_text(child).split()) for child in cell)
            text = " ".join(text.removesuffix("T00:00:00.000") for text in texts if text)
            cells += [text] * min(_whole(cell, "number-columns-repeated", 1), _MOST_REPEATED)
        yield number, cells
        number += _whole(row, "number-rows-repeated", 1)


def _whole(element: Any, key: str, otherwise: int) -> int:
    value = local_attributes(element).get(key, "")
    return int(value) if value.isdecimal() and len(value) < 8 else otherwise  # noqa: PLR2004 (rows of any sheet)


def _drawing_text(root: Any) -> str:
    """Return the texts of an SVG drawing, the pieces of each joined."""
    lines: list[str] = []
    for element in root.iter():
        name = local_name(element)
        if name in ("title", "desc", "metadata"):
            lines.append(" ".join(" ".join(element.itertext()).split()))
        elif name in ("text", "textPath") and local_name(element.getparent()) != "text":
            lines.append(_drawn(element))
    return "\n".join(line for line in lines if line)


def _drawn(text: Any) -> str:
    """Return one text: a line where a piece begins anew on the left, nothing between the other pieces."""
    pieces: list[str] = [text.text or ""]
    row = text.get("y", "")
    for piece in text.iter():
        if piece is text or not local_name(piece):
            continue
        moved = (piece.get("y") or row) != row or piece.get("dy", "0").strip("0.empx%") not in ("", "-")
        row = piece.get("y") or row
        if moved and "".join(pieces).strip():
            pieces.append("\n")
        pieces.append(piece.text or "")
        pieces.append(piece.tail or "")
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return "\n".join(line for line in lines if line)


# Name of the root: the place of the text, and what gives it.
_TEXTS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "wordDocument": ("body", paragraphs_text),
    "package": ("body", paragraphs_text),
    "document": ("body", flowing_text),
    "svg": ("drawing", _drawing_text),
}


# The attributes that carry the element's own value in CDA, FHIR and most data formats; identifiers in CDA
# are "extension". Every other attribute is a field of its own: <row lastName="Roy" ssn="...">.
_VALUE_ATTRIBUTES = ("value", "extension", "displayName", "title", "name", "label", "alt")
# Attributes that say how an element is to be understood or drawn, and hold no field of a record.
_MACHINE_ATTRIBUTES = frozenset(
    {"classCode", "moodCode", "typeCode", "contextConductionInd", "nullFlavor", "codeSystem"}
    | {"codeSystemName", "schemaLocation", "style", "class", "transform", "d", "points", "viewBox"}
)
_OBJECT_ID = re.compile(r"\d+(?:\.\d+){4,}")  # 2.16.840.1.113883.3: says who numbered, not who is numbered
_LONGEST_TEXT = 10_000_000
_LONG_DIGITS = re.compile(rb"[A-Za-z0-9+/=\s]{1000000,}")
_DECLARATION_BYTES = 256
_DECLARED = re.compile(rb"^<\?xml\s[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9_.:-]+)")
_DECLARATION = re.compile(r"^\ufeff?<\?xml\s[^>]*\?>")
_PROSE_CHARS = 200  # a longer text needs no label
_NAME_PARTS = ("prefix", "given", "family", "suffix")
_INLINE = frozenset({"content", "br", "sub", "sup", "b", "i", "em", "strong", "span", "a", "linkHtml"})
_OWNERS = {
    "patient": "Patient", "patientRole": "Patient", "guardian": "Guardian", "guardianPerson": "Guardian",
    "assignedPerson": "Provider", "informationRecipient": "Recipient", "relatedPerson": "Relative",
    "associatedPerson": "Contact", "maintainedPerson": "Person",
}  # fmt: skip


def read_markup(content: Content, sink: Sink) -> None:
    """Add one labelled line per field, then the comments, then the documents within fields.

    A damaged file is added as it is too, so that nothing is lost.
    """
    enclosures = Enclosures(content, sink)
    data = content.data
    if len(data) > _LONGEST_TEXT:  # the parser takes no longer text, and a document may be longer
        data = _LONG_DIGITS.sub(lambda run: _lift_run(run, enclosures), data)
    data = _as_declared(data)
    root, damage = parse_damaged(data)
    if root is not None:
        _lift(root, enclosures)
        n_segments = sink.n_segments
        if damage is None and read_dialect(root, content, sink):
            shown = sink.text_since(n_segments)
            values = part_values(root, data)
            sink.add("\n".join(text for text in values if text not in shown), content.place("values"))
        else:
            sink.add("\n".join(_lines(root)), content.locator)
    if damage is not None:
        if damage.detail != DAMAGED:  # of what is no well-formed XML, all that there is follows as it is
            sink.fail(content.locator, FailReason(damage.reason), damage.detail)
        sink.add(decode(sink.bound(data, content.locator))[0], content.place("raw"))
    elif b"<\0!\0-" in data or b"<!--" in data or data.count(b"<?") > 1:
        sink.add("\n".join(_remarks(decode(data)[0])), content.place("comments"))
    enclosures.read()


def _lift(root: Any, enclosures: Enclosures) -> None:
    """Take the documents out of a record, in place: CDA bodies and media, FHIR attachments and binaries."""
    for element in root.iter(etree.Element):
        attributes = element.attrib
        text = element.text
        is_declared = attributes.get("representation") == "B64"
        if (
            text
            and (is_declared or len(text) >= MIN_CHARS)
            and enclosures.take(text, declared=is_declared, compression=attributes.get("compression", ""))
        ):
            element.text = None
        for key, value in attributes.items():
            if len(value) >= MIN_CHARS or (key == "value" and local_name(element) == "data"):
                is_declared = key == "value" and _has_content_type(element.getparent())
                if enclosures.take(value, declared=is_declared):
                    attributes[key] = ""


def _has_content_type(element: Any) -> bool:
    return element is not None and any(local_name(child) == "contentType" for child in element)


def _lift_run(run: re.Match[bytes], enclosures: Enclosures) -> bytes:
    return b"" if enclosures.take(run.group().decode("ascii")) else run.group()


def _as_declared(data: bytes) -> bytes:
    """Return XML that declares a wrong or unknown encoding in UTF-8, without its declaration."""
    head = data[:_DECLARATION_BYTES]
    if data.isascii() and b"UTF-16" not in head.upper():
        return data
    declared = _DECLARED.search(head)
    if declared is None:
        if head.startswith((b"<", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")) or b"\0" in head:
            return data
        text = decode(data)[0]  # EBCDIC, for one
        return _DECLARATION.sub("", text, count=1).encode() if text.startswith("<") else data
    name = declared.group(1).decode("ascii")
    with suppress(LookupError, UnicodeDecodeError):
        if data.decode(name) == decode_declared(data, name):
            return data
    return _DECLARATION.sub("", decode_declared(data, name), count=1).encode()


def _remarks(text: str) -> Iterator[str]:
    """Yield the comments and the processing instructions, which a parser leaves out."""
    for start, end in (("<!--", "-->"), ("<?", "?>")):
        at = text.find(start)
        while at >= 0 and (stop := text.find(end, at + len(start))) >= 0:
            remark = text[at + len(start) : stop].strip()
            if not remark.startswith(("xml ", "xml-")):
                yield remark
            at = text.find(start, stop)


def labelled_text(data: bytes) -> str:
    """Return the fields of an XML document, one per line; empty when it is not XML.

    >>> print(labelled_text(b"<p><birthTime value='19500102'/><city>Laval</city></p>"))
    birth Time: 19500102
    city: Laval
    """
    root, damage = parse_damaged(data)
    lines = _lines(root) if root is not None else []
    if root is not None and damage is not None:
        lines.append(decode(data)[0])
    return "\n".join(lines)


def part_of(data: bytes, name: str) -> bytes:
    """Return the first element called ``name`` as a document of its own; the whole where there is none.

    >>> part_of(b"<xdp><template/><datasets><city>Laval</city></datasets></xdp>", "datasets")
    b'<datasets><city>Laval</city></datasets>'
    """
    root, _ = parse_damaged(data)
    found = () if root is None else root.iter(f"{{*}}{name}")
    return next((bytes(etree.tostring(element, with_tail=False)) for element in found), data)


def _lines(root: Any) -> list[str]:
    lines: list[str] = []
    stack: list[tuple[Any, str]] = [(root, "")]
    while stack:
        element, owner = stack.pop()
        name = local_name(element)
        if not name:
            continue
        if not len(element) and not element.attrib:  # most elements: one value, nothing else
            text = element.text
            if text and not text.isspace():
                lines.append(_leaf(name, _squeeze(text)))
            if element.tail and not element.tail.isspace():
                lines.append(_squeeze(element.tail))
            continue
        owner = _OWNERS.get(name, owner)
        children = list(element)
        if name == "name" and any(local_name(child) in ("given", "family") for child in children):
            lines.append(pair(f"{owner} name" if owner else "name", _person_name(children)))
            continue
        if element.attrib or (element.text and not element.text.isspace()) or children:
            lines.extend(_own_lines(element, name, children))
        stack.extend((child, owner) for child in reversed(children) if not _is_inline(child))
        tail = _squeeze(element.tail or "")
        if tail and not _is_inline(element):
            lines.append(tail)
    return [line for line in lines if line]


def _own_lines(element: Any, name: str, children: list[Any]) -> list[str]:
    label = humanise(name)
    lines = []
    attributes = local_attributes(element) if element.attrib else {}
    for key in _VALUE_ATTRIBUTES if attributes else ():
        value = _squeeze(attributes[key]) if key in attributes else ""
        if value:
            # <telecom value="tel:+1-416-555-0100">
            lines.append(pair(label, value.removeprefix("tel:").removeprefix("mailto:")))
    for key, own in attributes.items():
        value = "" if key in _VALUE_ATTRIBUTES or key in _MACHINE_ATTRIBUTES else _squeeze(own)
        if value and value.lower() not in ("true", "false") and not _OBJECT_ID.fullmatch(value):
            lines.append(_leaf(key, value))
    for child in children:
        if _is_inline(child) and local_name(child) and child.attrib:  # <i> is an item in some formats
            values = (_squeeze(own) for own in local_attributes(child).values())
            lines += [value for value in values if " " in value and not _OBJECT_ID.fullmatch(value)]
    text = element.text or ""
    if children and any(_is_inline(child) for child in children):
        text += "".join(_inline_text(child) + (child.tail or "") for child in children if _is_inline(child))
    text = _squeeze(text)
    if text:
        lines.append(_leaf(name, text))
    return lines


def _leaf(name: str, text: str) -> str:
    return text if len(text) > _PROSE_CHARS else f"{humanise(name)}: {text}"


def _is_inline(element: Any) -> bool:
    """Tell what is within a text; entities and processing instructions do, and have no name."""
    name = local_name(element)
    return not name or name in _INLINE


def _inline_text(node: Any) -> str:
    if local_name(node):
        return " ".join(node.itertext())
    # The parser expands nothing; a named character that HTML knows is still that character: Ren&eacute;e.
    return html.unescape(node.text) if node.tag is etree.Entity else f" {node.text or ''} "


def _person_name(children: list[Any]) -> str:
    parts = [
        _squeeze("".join(child.itertext())) or child.get("value", "")
        for wanted in _NAME_PARTS
        for child in children
        if local_name(child) == wanted
    ]
    return " ".join(part for part in parts if part)


def _squeeze(text: str) -> str:
    return " ".join(text.split())
