"""Paragraphs of runs: the text of WordprocessingML and DrawingML in any dialect, and of OpenDocument."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from phiscan.extract.structured.xml_parsing import local_name

_BREAKS = {"br": "\n", "cr": "\n", "tab": "\t", "ptab": "\t", "noBreakHyphen": "-", "softHyphen": ""}
_TEXT = frozenset({"t", "delText", "instrText", "delInstrText"})
_BLOCKS = ("p", "tr", "si", "comment", "text", "txbxContent", "sdt", "pt", "row")
_ENDS = {**dict.fromkeys(_BLOCKS, "\n"), "tc": "\t"}  # what is written where one ends
# The same text box is stored twice, for old and for new readers; one is enough.
_SKIPPED = frozenset(
    {"Fallback", "rPr", "pPr", "sectPr", "tblPr", "trPr", "tcPr", "bodyPr", "spPr", "lstStyle"}
)

_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_WITHIN_WORD = re.compile(r"(?<=\w)\x01([^\x01\x02\n]*)\x02(?=\w)")  # no character of XML
_SYMBOL = re.compile(r"0{0,2}[0-9A-Fa-f]{2,4}")  # those of symbol fonts are in the private area
_PRIVATE = range(0xD800, 0xF900)
_KNOWN_NAMES = frozenset({*_SKIPPED, *_TEXT, *_BREAKS, *_ENDS, "docPr", "cNvPr", "sym"})


def paragraphs_text(root: Any) -> str:
    """Return the text below ``root``: paragraphs on lines of their own, table cells apart by a tab.

    Iterative, because a hostile document nests deeper than Python recurses.
    """
    pieces: list[str] = []
    stack: list[Any] = [root]  # elements, and the marks of those that end
    while stack:
        element = stack.pop()
        if isinstance(element, str):
            if element == "\t" and pieces and pieces[-1] == "\n":
                pieces[-1] = "\t"  # the end of the cell's last paragraph
            else:
                pieces.append(element)
            continue
        name = _known_name(element.tag)
        if name:
            if name in _SKIPPED:
                continue
            if name in _TEXT:
                pieces.append(element.text or "" if name == "t" else f"\x01{element.text or ''}\x02")
            elif name in _BREAKS:
                pieces.append(_BREAKS[name])
            elif name in _ENDS:
                stack.append(_ENDS[name])
            else:
                pieces.append(_description(element))
        if len(element):  # the text of a diagram's shape is called t as well
            stack.extend(element[::-1])
    text = "".join(pieces)
    return _tidy(_whole_words(text) if "\x01" in text else text)


def _whole_words(text: str) -> str:
    """Move what was deleted within a word, and field instructions there, to the end of the paragraph."""
    lines = []
    for line in text.replace("\x02\x01", "").split("\n"):
        moved = _WITHIN_WORD.findall(line)
        shown = _WITHIN_WORD.sub("", line) if moved else line
        lines.append(" ".join([shown, *moved]).replace("\x01", "").replace("\x02", ""))
    return "\n".join(lines)


@lru_cache(maxsize=4096)
def _known_name(tag: object) -> str:
    """Return an element's name without its namespace where the text depends on it, else nothing."""
    name = tag.rpartition("}")[2] if isinstance(tag, str) else ""
    return name if name in _KNOWN_NAMES else ""


def fallback_lines(root: Any) -> list[str]:
    """Return the lines of what old programs show in the place of something newer."""
    found = []
    for element in root.iter(_FALLBACK):
        for child in element:
            found += paragraphs_text(child).split("\n")
    return found


def _description(element: Any) -> str:
    """Return the alternative text of a picture or a shape; a symbol of a usual font."""
    code = next((value for key, value in element.items() if key.endswith("}char")), "")
    if code:
        return chr(int(code, 16)) if _SYMBOL.fullmatch(code) and int(code, 16) not in _PRIVATE else ""
    texts = [element.get(key) for key in ("descr", "title") if element.get(key)]
    return " " + " ".join(texts) + " " if texts else ""


def _tidy(text: str) -> str:
    """Drop empty lines and the blanks at line ends."""
    lines = (line.strip(" \t") for line in text.split("\n"))
    return "\n".join(line.replace("\t\t", "\t") for line in lines if line)


_FLOW_BLOCKS = frozenset(
    {
        "p", "h", "table-row", "list-item", "annotation", "note", "page", "header", "footer", "frame",
        "text-box",
    }
)  # fmt: skip
_CELLS = frozenset({"table-cell", "covered-table-cell"})
_FLOW_SKIPPED = frozenset(
    {"automatic-styles", "font-face-decls", "scripts", "settings", "binary-data", "styles", "forms-config"}
)
_MAX_SPACES = 100


def flowing_text(root: Any) -> str:
    """Return the text of an OpenDocument part: paragraphs on lines, cells apart by a tab; iterative."""
    pieces: list[str] = []
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        element, leaving = stack.pop()
        name = local_name(element)
        if leaving:
            pieces.append("\t" if name in _CELLS else "\n" if name in _FLOW_BLOCKS else "")
            pieces.append(element.tail or "")
            continue
        if not name or name in _FLOW_SKIPPED:
            pieces.append(element.tail or "")
            continue
        if name == "s":
            pieces.append(" " * min(_integer(element), _MAX_SPACES))
        elif name in ("tab", "line-break"):
            pieces.append("\t" if name == "tab" else "\n")
        elif name in _FLOW_BLOCKS and pieces and not pieces[-1].endswith(("\n", "\t")):
            pieces.append("\n")
        pieces.append(element.text or "")
        stack.append((element, True))
        stack.extend((child, False) for child in reversed(element))
    lines = (line.strip() for line in "".join(pieces).split("\n"))
    return "\n".join(line for line in lines if line)


def _integer(element: Any) -> int:
    value = next((v for k, v in element.attrib.items() if k.endswith("}c")), "1")
    return int(value) if value.isdecimal() else 1
