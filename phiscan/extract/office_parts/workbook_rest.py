"""What a sheet holds beside its cells: validation lists and prompts, filters, scenarios, links, formulas' texts.

Source: ECMA-376, part 1, 18.3.1.
"""

from __future__ import annotations

import html
import re

from phiscan.extract.office_parts.values import is_said, part_values
from phiscan.extract.package import parse_damaged

_CELLS_BEGIN = re.compile(rb"<(?:\w+:)?sheetData\b")
_CELLS_END = b"sheetData>"
_FORMULA = re.compile(rb"<f(?:\s[^<>]*)?>([^<]*(?:\"|&quot;)[^<]*)<")
_QUOTED = re.compile(r'"((?:[^"]|"")+)"')
_MOST_FORMULAS = 20_000


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
    for number, match in enumerate(_FORMULA.finditer(cells)):
        if number > _MOST_FORMULAS:
            break
        formula = html.unescape(match[1].decode("utf-8", "replace"))
        found.update(dict.fromkeys(text for text in _QUOTED.findall(formula) if is_said(text)))
    return list(found)
