"""Split listings with a line of dashes below the column headers into cells, by the positions of the dashes.

A cell may fill its column, contain spaces or be empty, so that splitting at spaces would assign cells to the
wrong headers. Source: SQL*Plus, sqlcmd, PowerShell, the listings of old hospital systems.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from phiscan.text.escapes import Edit

MIN_COLUMNS, MAX_COLUMNS = 3, 60
MAX_ROWS = 20_000
_RULE = re.compile(
    r"^[ \t]{0,8}(?:-{1,200}|={1,200})(?:[ ]{1,3}(?:-{1,200}|={1,200})){2,60}[ \t]{0,40}\r?$", re.MULTILINE
)
_COLUMN = re.compile(r"[-=]+")
_SIGNS = ("-- -", "--  -", "== =", "==  =", "--   -", "==   =")
_MAX_LINE = 2_000


def ruled_tables(text: str) -> Iterator[Edit]:
    """Yield the edits that insert tabs between the cells of ruled listings, in text order."""
    done = 0
    for rule in _RULE.finditer(text) if any(sign in text for sign in _SIGNS) else ():
        columns = [match.start() - rule.start() for match in _COLUMN.finditer(text, *rule.span())]
        head_end = rule.start() - 1
        head = text.rfind("\n", max(0, head_end - _MAX_LINE), max(0, head_end)) + 1
        if head_end < 1 or head < done or not MIN_COLUMNS <= len(columns) <= MAX_COLUMNS:
            continue
        heads = _cuts(text, head, head_end, columns)
        if not heads or text[head:head_end].isspace():
            continue
        yield from heads
        yield rule.start(), min(rule.end() + 1, len(text)), ""
        done = yield from _rows(text, rule.end() + 1, columns)


def _rows(text: str, position: int, columns: list[int]) -> Generator[Edit, None, int]:
    """Yield the edits of the rows below a rule; return the end of the listing."""
    for _ in range(MAX_ROWS):
        end = text.find("\n", position, position + _MAX_LINE)
        end = end if end >= 0 else len(text) if len(text) - position < _MAX_LINE else position
        if not text[position:end].strip():
            break
        cuts = _cuts(text, position, end, columns)
        if not cuts:
            break
        yield from cuts
        position = end + 1
    return position


def _cuts(text: str, start: int, end: int, columns: list[int]) -> list[Edit]:
    """Return the edits of a line; none if a word crosses the boundary of two columns."""
    cuts: list[Edit] = []
    low = start
    for column in columns[1:]:
        place = start + column
        if place > end:
            missing = sum(start + one > end for one in columns)
            return [*cuts, (end, end, "\t" * missing)]
        blank = place
        while blank > low and text[blank - 1] in " \t":
            blank -= 1
        if blank == place:
            return []
        cuts.append((blank, place, "\t"))
        low = place
    return cuts
