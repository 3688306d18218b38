"""What a PDF holds in its objects and no page, form or note gave: added after the names of its entries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.pdf_objects.scan import PdfString, pdf_strings
from phiscan.extract.residue.prose import ShownWords
from phiscan.extract.structured.xml_markup import labelled_text

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


def read_unshown(content: Content, sink: Sink, n_pieces: int) -> None:
    """Add the strings of objects, ``#objects``, that the text since ``n_pieces`` does not hold."""
    if content.n_bytes > _MOST_BYTES:
        return
    data = content.data if content.stream is None else content.open().read()
    shown_text = sink.text_since(n_pieces)
    shown, page_words = set(_WORD.findall(shown_text)), ShownWords(shown_text)
    lines: dict[str, None] = {}
    n_items = 0
    for item in pdf_strings(data):
        n_items += 1
        if item.key == "content":
            if _is_prose(item.text) and page_words.lacks(item.text):
                lines[item.text] = None
            continue
        for line in _lines(item):
            words = _WORD.findall(line)
            n_missing = sum(word not in shown for word in words)
            if n_missing and 2 * n_missing >= min(len(words), 6):
                label = _LABELS.get(item.key, "")
                lines[f"{label}: {line}" if label else line] = None
    sink.add("\n".join(lines), content.place("objects"))
    if n_items:  # of an encrypted file none
        sink.mark_accounted(content.locator)


def _is_prose(text: str) -> bool:
    """Tell words from the codes of a font of its own: letters and blanks, mostly."""
    head = text[:_LOOKED_AT]
    return len(_NO_LETTER.sub("", head)) >= _PROSE_SHARE * len(head)


def _lines(item: PdfString) -> Iterator[str]:
    if item.key == "URI" and item.text.startswith(("mailto:", "tel:")):
        yield unquote(item.text.partition(":")[2])
    elif item.key == "URI" and item.text.count("%20") > 1:
        yield unquote(item.text)
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
