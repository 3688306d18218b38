"""Days at the beginning of lines: "9/4  Rec'd records", "[10/10] pm - Plaie", as diaries and logs have them.

4/5 may be a day or four of five. Where three lines of a text begin so, or two of which one can only be a day
(9/20), each of them is a day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from phiscan.model import EntityType, Finding, Reason, Span
from phiscan.screen.characteristics import bits_of
from phiscan.screen.resolution import is_taken

SCORE = 0.5
SOURCE = "day_lines"
MIN_LINES, MIN_SURE_LINES = 3, 2
MAX_LINES = 5000
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?P<sign>[/.-])(?:0?[1-9]|[12]\d|3[01])"
# A sign of a list or a number of the row may stand before it; after it no unit and no third part.
_LINE = re.compile(
    rf"^[ \t>]{{0,8}}(?:[-*•–\[(] ?|\d{{1,3}}[.)] {{1,3}})?(?P<day>{_DAY})(?![\w/.%:+]|-\d| ?[-–] ?\d)"  # noqa: RUF001 (texts are written with it)
    r"(?=[ \t,;:)\]–-]|$)(?![ \t]{1,2}(?:of|sur|mg|ml|mL|cm|mm|inch|kg|strength|power|force|tab|cup)\b)",  # noqa: RUF001 (texts are written with it)
    re.MULTILINE,
)
_MONTHS = 12


def day_lines(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the days that begin lines; ``findings`` in text order, without overlaps."""
    found: dict[str, list[tuple[int, int, bool]]] = {}
    for number, match in enumerate(_LINE.finditer(text)):
        if number >= MAX_LINES:
            break
        first, second = (int(part) for part in re.split(r"[/.-]", match["day"]))
        if min(first, second) > _MONTHS:
            continue
        start, end = match.span("day")
        found.setdefault(match["sign"], []).append((start, end, max(first, second) > _MONTHS))
    taken = [(finding.span.start, finding.span.end) for finding in findings]
    for lines in found.values():
        n_sure = sum(is_sure for _, _, is_sure in lines)
        if len(lines) < (MIN_SURE_LINES if n_sure else MIN_LINES) or _is_counted(text, lines):
            continue
        for start, end, _ in lines:
            if is_taken(start, end, taken):
                continue
            kind = EntityType.DATE
            reasons = (Reason("line", "lines begin with days", SCORE),)
            yield Finding(Span(start, end), kind, SOURCE, SCORE, bits_of(kind), reasons)


def _is_counted(text: str, lines: Sequence[tuple[int, int, bool]]) -> bool:
    """Tell whether lines count ("1.1", "1.2", "2-1" of a contract), or repeat a fraction."""
    values = [text[start:end] for start, end, _ in lines]
    if len(set(values)) < MIN_SURE_LINES:
        return True
    pairs = [tuple(map(int, re.split(r"[/.-]", value))) for value in values]
    is_next = [b in {(x, y + 1), (x + 1, 1)} for (x, y), b in pairwise(pairs)]
    return "/" not in values[0] and (pairs[0] == (1, 1) or 2 * sum(is_next) > len(is_next))
