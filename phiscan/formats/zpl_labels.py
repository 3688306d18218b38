"""Labels in ZPL: only the data of fields is text; places, fonts and bars are commands.

What a bar code holds leads to somebody, whatever it counts: a wristband's patient, a tube's specimen. Bar
codes of products (EAN, UPC) do not. Source: Zebra, ZPL II programming guide (^XA, ^B, ^FD, ^FV, ^FX, ^FS).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.model import Document, EntityType, Finding, Reason, Span, bits_of
from phiscan.text.passages import Passage, Piece

SCORE = 0.7  # the data may also name a ward or a form

# What sets a printer up may stand before the first label: "CT~~CD,~CC^~CT~".
_HEAD = re.compile(r"\s*(?:CT~~CD,|[~^])")
# The data of fields; and what follows a command without values, or before the first, is no part of a
# label. A command for the printer itself ends at the first space, one with a picture after the picture.
_TEXT = r"(?:[^~^]++|\^(?![A-Z][A-Z0-9@])|~(?![A-Z]{2}))*+"
_READ = re.compile(
    rf"\^F[DVX](?P<data>[^^]+)|(?:\A(?!\s*CT~)|\^(?:FS|XA|XZ))(?P<beside>{_TEXT})"
    rf"|~[A-Z]{{2}}[^\s~^]*+(?:\s+[0-9A-F,:]{{16,}}+(?!\S))*+(?P<behind>{_TEXT})"
)
_BARS = re.compile(r"\^B[A-DF-RTV-XZ0-7][^^]{0,80}(?:\^(?:F[OTHN]|BY)[^^]{0,40}){0,4}\^FD([^^]{1,200})")
# What tells the printer how to write a code of 128 or QR, and then a number of some length.
_NUMBER = re.compile(r"(?:[HQML][AM],|>[:;9])?((?=(?:[^\d]{0,6}\d){4})[A-Za-z0-9](?:-?[A-Za-z0-9]){5,23})\s*")


def is_label(text: str) -> bool:
    """Tell whether the head of a text is that of a label.

    >>> is_label("^XA^FO50,100^FDROY^FS^XZ"), is_label("^XA begins a label")
    (True, False)
    """
    return "^XA" in text and ("^FO" in text or "^FD" in text or "^FT" in text) and bool(_HEAD.match(text))


def passages(text: str) -> Iterator[Passage]:
    """Yield the data of each field as it is, escapes too, and what is no part of a label."""
    for match in _READ.finditer(text):
        kind = match.lastgroup or "data"
        if any(map(str.isalnum, match[kind])):
            yield [Piece(*match.span(kind), match[kind])]


def bar_codes(document: Document) -> Iterator[Finding]:
    """Yield the numbers that the bar codes of labels hold; spans are half-open, in code points."""
    text = document.text
    for match in _BARS.finditer(text) if "^XA" in text else ():
        number = _NUMBER.fullmatch(match[1])
        if number is not None:
            span = Span(match.start(1) + number.start(1), match.start(1) + number.end(1))
            kind = EntityType.OTHER_ID
            yield Finding(span, kind, "zpl", SCORE, bits_of(kind), (Reason("label", "bar code", SCORE),))
