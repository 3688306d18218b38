"""Paragraphs of runs: the text of WordprocessingML and DrawingML, whatever the dialect."""

from __future__ import annotations

from typing import Any

from phiscan.extract.office.package import local_name

_BREAKS = {"br": "\n", "cr": "\n", "tab": "\t", "ptab": "\t", "noBreakHyphen": "-", "softHyphen": ""}
_TEXT = frozenset({"t", "delText", "instrText", "delInstrText"})
_BLOCKS = frozenset({"p", "tr", "si", "comment", "text", "txbxContent", "sdt", "pt", "row"})
_CELLS = frozenset({"tc"})
# The same text box is stored twice, for old and for new readers; one is enough.
_SKIPPED = frozenset(
    {"Fallback", "rPr", "pPr", "sectPr", "tblPr", "trPr", "tcPr", "bodyPr", "spPr", "lstStyle"}
)


def paragraphs_text(root: Any) -> str:
    """Return the text below ``root``: paragraphs on lines of their own, table cells apart by a tab.

    Iterative, because a hostile document nests deeper than Python recurses.
    """
    pieces: list[str] = []
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        element, leaving = stack.pop()
        name = local_name(element)
        if leaving:
            if name in _CELLS and pieces and pieces[-1] == "\n":
                pieces[-1] = "\t"  # the end of the cell's last paragraph
            else:
                pieces.append("\t" if name in _CELLS else "\n")
            continue
        if name in _SKIPPED:
            continue
        if name in _TEXT:
            pieces.append(element.text or "")
        elif name in _BREAKS:
            pieces.append(_BREAKS[name])
        elif name in ("docPr", "cNvPr"):
            pieces.append(_description(element))
        if name in _BLOCKS or name in _CELLS:
            stack.append((element, True))
        if len(element):  # the text of a diagram's shape is called t as well
            stack.extend((child, False) for child in reversed(element))
    return _tidy("".join(pieces))


def _description(element: Any) -> str:
    """Return the alternative text of a picture or a shape."""
    texts = [element.get(key) for key in ("descr", "title") if element.get(key)]
    return " " + " ".join(texts) + " " if texts else ""


def _tidy(text: str) -> str:
    """Drop empty lines and the blanks at line ends."""
    lines = (line.strip(" \t") for line in text.split("\n"))
    return "\n".join(line.replace("\t\t", "\t") for line in lines if line)
