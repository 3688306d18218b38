"""Numbers right behind a person's name: charts and cards as lists and messages write them, without a label.

"Duc Pham 5517718", "Le Van Binh, 338117", a cell of nine digits beside a cell with a name. Only numbers of
six to nine digits, or in groups, count: shorter ones are rooms, doses and ages. What another finding has is
left to it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from phiscan.model import EntityType, Finding, Reason, Span
from phiscan.screen.bits import bits_of
from phiscan.screen.check_codes import record_code
from phiscan.screen.check_dates import numeric_date
from phiscan.screen.verdicts import Verdict

SCORE = 0.45
SOURCE = "numbers_beside"
_BEHIND = re.compile(
    r"(?:[ ]{0,3}[\t|;][ ]{0,3}|, ?|[ ]{1,6}\(?|[ ]{2,8})#?"
    r"(?P<number>\d{6,9}|\d{2}-\d{3,5}(?:-\d{2,3})?|\d{3}-(?:\d{3}|\d{5})|\d{2}(?:-\d{2}){2}"
    r"|\d{3}[ ]\d{3}|[A-Z]{1,3}-?\d{5,8})"
    r"(?![\w-]|[ ]\d|[.,/:]\d|[ ]?(?:\$|%|mg|ml|mL|kg|km|USD|CAD|views|votes|shares|people)\b)"
)
_IS_MONEY = re.compile(r"000$")
_CARD_DIGITS = 9  # most provinces


def numbers_beside(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the numbers that stand right behind a person; ``findings`` in text order, without overlaps."""
    starts = [finding.span.start for finding in findings]
    for finding in findings:
        if finding.entity_type is not EntityType.PERSON or not _is_name(finding.span.of(text)):
            continue
        match = _BEHIND.match(text, finding.span.end)
        if match is None:
            continue
        start, end = match.span("number")
        following = bisect_left(starts, finding.span.end)
        if following < len(starts) and starts[following] < end:
            continue
        number = match["number"]
        if _IS_MONEY.search(number) or record_code(number) is Verdict.VETO or _is_day(number):
            continue
        is_card = len(number) == _CARD_DIGITS and number.isdecimal()
        kind = EntityType.HEALTH_CARD if is_card else EntityType.MRN
        reasons = (Reason("beside", "behind a person", SCORE),)
        yield Finding(Span(start, end), kind, SOURCE, SCORE, bits_of(kind), reasons)


def _is_name(name: str) -> bool:
    """Tell whether a name is more than one word: a word alone before a number may be anything."""
    return len(re.findall(r"[^\W\d_]+", name)) > 1


def _is_day(number: str) -> bool:
    return len(number) == 8 and number.isdecimal() and numeric_date(number) is not Verdict.VETO  # noqa: PLR2004 (a day)
