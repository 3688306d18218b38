"""Labels in ZPL: only the data of fields is text; places, fonts and bars are commands.

Source: Zebra, ZPL II programming guide (^XA, ^FD, ^FV, ^FX, ^FS).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.screen.passages import Passage, Piece

# What sets a printer up may stand before the first label: "CT~~CD,~CC^~CT~".
_HEAD = re.compile(r"\s*(?:CT~~CD,|[~^])")
_DATA = re.compile(r"\^F[DVX]([^^]+)")


def is_label(text: str) -> bool:
    """Tell whether the head of a text is that of a label.

    >>> is_label("^XA^FO50,100^FDROY^FS^XZ"), is_label("^XA begins a label")
    (True, False)
    """
    return "^XA" in text and ("^FO" in text or "^FD" in text or "^FT" in text) and bool(_HEAD.match(text))


def passages(text: str) -> Iterator[Passage]:
    """Yield the data of each field as it stands, its hexadecimal escapes too."""
    for match in _DATA.finditer(text):
        yield [Piece(*match.span(1), match[1])]
