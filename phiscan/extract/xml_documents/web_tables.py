"""Tables of web pages as records: a row of a table with heads is written after them, as in a workbook.

The walk over a page marks where tables (1, 2), rows (3) and cells (4) begin and end, by control codes.
"""

from __future__ import annotations

import re

from phiscan.extract.core.labels import is_label
from phiscan.extract.spreadsheets.rows import has_header, lay_out

_TABLE = re.compile("\x01([^\x01\x02]*)\x02")
_CODES = re.compile("[\x01-\x04]")
_MIN_ROWS = 2


def with_records(text: str) -> str:
    r"""Return the text of a page with its marked tables laid out, and without the marks.

    >>> print(with_records("\x01\x03\x04Patient\x04Card\x03\x04Roy\x041234\x03\x04Lee\x045678\x02").strip())
    Patient | Card
    Patient: Roy | Card: 1234
    Patient: Lee | Card: 5678
    """
    if "\x01" not in text:
        return _CODES.sub("", text)
    return _CODES.sub("", _TABLE.sub(lambda match: _laid_out(match[1]), text))


def _laid_out(table: str) -> str:
    caption, *marked = table.split("\x03")
    rows = [
        (number, [" ".join(cell.split()) for cell in row.split("\x04")[1:]])
        for number, row in enumerate(marked, 1)
    ]
    widest = max((len(cells) for _, cells in rows), default=0)
    if len(rows) < _MIN_ROWS or widest < 2 or not has_header(rows):  # noqa: PLR2004 (a column alone)
        return table
    if len(rows) == _MIN_ROWS and not all(map(is_label, rows[0][1])):
        return table
    lines = "\n".join(line for _, line in lay_out(rows))
    return f"{caption.strip()}\n{lines}\n"
