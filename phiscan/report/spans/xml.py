"""Conversion of annotated documents to and from i2b2 2006 inline XML and i2b2 2014 stand-off XML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from lxml import etree

from phiscan.errors import InputError
from phiscan.metrics.deidentification.span_formats import MAX_DIGITS, checked_span
from phiscan.metrics.deidentification.spans import AnnotatedText, LabelledSpan

_DECLARATION = re.compile(r"\A\ufeff?\s*<\?xml[^>]*\?>")
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def parse_i2b2(source: str, name: str, content: str) -> list[AnnotatedText]:
    """Read one file of either i2b2 format, distinguished by their elements.

    2006: any number of ``<RECORD ID="..."><TEXT>...<PHI TYPE="...">...</PHI>...</TEXT></RECORD>``; a record
    is named by its ID. 2014: one document with ``<TEXT>`` and ``<TAGS>``, named ``name``; a span's type is
    its TYPE attribute, else its element, and TEXT may be absent (a system's output). Offsets count code
    points of the TEXT element. Entities and document types are refused.

    Raises:
        InputError: names the file and the line.
    """
    # The declaration is replaced by a root on the same line, because several records have no common root.
    body = _DECLARATION.sub(lambda match: "\n" * match.group().count("\n"), content, count=1)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, remove_comments=True)
    try:
        root = etree.fromstring(f"<documents>{body.lstrip(chr(0xFEFF))}</documents>", parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        message = f"{source}: line {line}: expected well-formed XML without a document type"
        raise InputError(message) from None
    for tags in root.iter("TAGS"):
        return [_from_standoff(source, name, tags)]
    records = list(root.iter("RECORD"))
    if not records:
        message = f"{source}: line 1: expected RECORD elements (i2b2 2006) or a TAGS element (i2b2 2014)"
        raise InputError(message)
    return [_from_inline(source, record) for record in records]


def _from_inline(source: str, record: etree._Element) -> AnnotatedText:
    where = f"{source}: line {record.sourceline}"
    name, text = record.get("ID"), record.find("TEXT")
    if not name or text is None:
        message = f"{where}: expected a RECORD with an ID and a TEXT"
        raise InputError(message)
    parts: list[str] = []
    spans: list[LabelledSpan] = []
    _walk(source, text, parts, spans)
    return AnnotatedText(name, "".join(parts), tuple(sorted(spans)))


def _walk(source: str, element: etree._Element, parts: list[str], spans: list[LabelledSpan]) -> None:
    """Collect the text of an element and the extents of the PHI elements in it."""
    parts.append(element.text or "")
    for child in element:
        where = f"{source}: line {child.sourceline}"
        tag: Any = child.tag  # a function for an entity or a processing instruction
        if not isinstance(tag, str):
            message = f"{where}: expected no entity or processing instruction inside the text"
            raise InputError(message)
        start = sum(map(len, parts))
        _walk(source, child, parts, spans)
        if child.tag == "PHI":
            spans.append(checked_span(where, start, sum(map(len, parts)), child.get("TYPE"), None))
        parts.append(child.tail or "")
    parts[:] = ["".join(parts)]


def _from_standoff(source: str, name: str, tags: etree._Element) -> AnnotatedText:
    parent = tags.getparent()
    text_element = None if parent is None else parent.find("TEXT")
    if text_element is not None and len(text_element):
        message = f"{source}: line {text_element.sourceline}: expected a TEXT element of plain text"
        raise InputError(message)
    text = None if text_element is None else text_element.text or ""
    spans = []
    for tag in tags:
        where = f"{source}: line {tag.sourceline}"
        start, end = _offset(where, tag, "start"), _offset(where, tag, "end")
        spans.append(
            checked_span(where, start, end, tag.get("TYPE") or tag.tag, None if text is None else len(text))
        )
    return AnnotatedText(name, text, tuple(spans))


def _offset(where: str, tag: etree._Element, field: str) -> int:
    value = tag.get(field) or ""
    if not value.isdecimal() or len(value) > MAX_DIGITS:
        message = f"{where}, field {field}: expected a whole number"
        raise InputError(message)
    return int(value)


def write_i2b2_2006(documents: Iterable[AnnotatedText]) -> str:
    """Write records with inline PHI elements.

    Raises:
        InputError: spans overlap, a document has no text, or it holds a character that XML cannot.
    """
    records = []
    for document in documents:
        text = _xml_text(document)
        parts: list[str] = []
        reached = 0
        for number, (start, end, kind) in enumerate(sorted(document.spans), start=1):
            if start < reached:
                message = f"{document.name}: span {number}: inline XML cannot express overlapping spans"
                raise InputError(message)
            parts.append(escape(text[reached:start]))
            parts.append(f"<PHI TYPE={quoteattr(kind)}>{escape(text[start:end])}</PHI>")
            reached = end
        parts.append(escape(text[reached:]))
        records.append(f"<RECORD ID={quoteattr(document.name)}>\n<TEXT>{''.join(parts)}</TEXT>\n</RECORD>\n")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<ROOT>\n{"".join(records)}</ROOT>\n'


def write_i2b2_2014(document: AnnotatedText, categories: Mapping[str, str]) -> str:
    """Write one document with stand-off tags; ``categories`` names the element for each type, else OTHER.

    Raises:
        InputError: the document has no text, or it holds a character that XML cannot.
    """
    text = _xml_text(document)
    tags = []
    for number, (start, end, kind) in enumerate(document.spans):
        element = categories.get(kind, "OTHER")
        covered = quoteattr(text[start:end])
        tags.append(
            f'<{element} id="P{number}" start="{start}" end="{end}" text={covered} '
            f'TYPE={quoteattr(kind)} comment="" />\n'
        )
    inside = text.replace("]]>", "]]]]><![CDATA[>")
    return (
        '<?xml version="1.0" encoding="UTF-8" ?>\n<deIdi2b2>\n'
        f"<TEXT><![CDATA[{inside}]]></TEXT>\n<TAGS>\n{''.join(tags)}</TAGS>\n</deIdi2b2>\n"
    )


def _xml_text(document: AnnotatedText) -> str:
    if document.text is None:
        message = f"{document.name}: expected the text, which this format repeats"
        raise InputError(message)
    found = _NOT_XML.search(document.text)
    if found:
        message = f"{document.name}: character {found.start()} cannot be written as XML"
        raise InputError(message)
    return document.text
