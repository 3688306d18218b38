"""Values of a sheet beside its cells: validation lists, prompts, filters, scenarios, texts in formulas.

Source: ECMA-376, part 1, 18.3.1.
"""

from __future__ import annotations

import html
import re
import sys

from phiscan.extract.office.package import parse_damaged
from phiscan.extract.office_parts.values import is_said, part_values
from phiscan.extract.spreadsheets.rows import SEPARATOR

_CELLS_BEGIN = re.compile(rb"<(?:\w+:)?sheetData\b")
_CELLS_END = b"sheetData>"
_FORMULA = re.compile(rb"<f(?:\s[^<>]*)?>([^<]*(?:\"|&quot;)[^<]*)<")
_QUOTED = re.compile(r'"((?:[^"]|"")+)"')
_ITEM = re.compile(rb"<(?:\w+:)?si(?:\s[^<>]*)?>(.*?)</(?:\w+:)?si>", re.DOTALL)
_ONE_TEXT = re.compile(rb"<(?:\w+:)?t(?:\s[^<>]*)?>([^<]*)</(?:\w+:)?t>")
_PHONETIC = re.compile(rb"<(?:\w+:)?rPh\b.*?</(?:\w+:)?rPh>", re.DOTALL)
_TAG = re.compile(rb"<[^<>]*>")
_NUMBERED = re.compile(r"&#(?:[xX]([0-9A-Fa-f]{1,6})|([0-9]{1,7}));")
_NAMES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))  # the last one last
_MOST_COMPARED = 50_000_000  # characters of text, times strings looked for in it


def sheet_values(data: bytes) -> list[str]:
    """Return the values of a sheet that are no cells, and the texts within its formulas."""
    begin = _CELLS_BEGIN.search(data)
    end = data.rfind(_CELLS_END)
    if begin is None or end < begin.start():
        rest = data
        cells = b""
    else:
        rest = data[: begin.start()] + data[end + len(_CELLS_END) :]
        cells = data[begin.start() : end]
    root, _ = parse_damaged(rest)
    found = part_values(root, rest) if root is not None else []
    return found + _literals(cells)


def _literals(cells: bytes) -> list[str]:
    found: dict[str, None] = {}
    for match in _FORMULA.finditer(cells):
        formula = html.unescape(match[1].decode("utf-8", "replace"))
        found.update(dict.fromkeys(text for text in _QUOTED.findall(formula) if is_said(text)))
    return list(found)


def _unescaped(value: str) -> str:
    """Return a text of XML without its references: its five names, and numbers (many in some workbooks)."""
    if "&" not in value:
        return value
    if "&#" in value:
        value = _NUMBERED.sub(_character, value)
    for name, char in _NAMES:
        value = value.replace(name, char)
    return value


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16) if match[1] else int(match[2])
    return chr(code) if 0 < code <= sys.maxunicode else ""


def unused_strings(data: bytes, text: str) -> list[str]:
    """Return the shared strings of a workbook that are in no cell any more, by comparison with its text."""
    parts = text.replace("\n", SEPARATOR).split(SEPARATOR)
    shown = {*parts, *(part.partition(": ")[2] for part in parts)}
    found: dict[str, None] = {}
    for item in _ITEM.findall(data):
        plain = _ONE_TEXT.fullmatch(item)
        raw = plain[1] if plain else _TAG.sub(b"", _PHONETIC.sub(b"", item))
        value = _unescaped(raw.decode("utf-8", "replace")).strip()
        if value not in shown and is_said(value):
            found[" ".join(value.split())] = None
    budget = _MOST_COMPARED // max(len(text), 1)
    squeezed = " ".join(text.split()) if found else ""
    return [value for number, value in enumerate(found) if number > budget or value not in squeezed]
