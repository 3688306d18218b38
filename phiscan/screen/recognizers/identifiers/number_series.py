"""Numbers of one series: a code without a label of the same form and beginning as one that a label named.

"serials 1644N0PQX/1644N0PR3", "lots B1190 and B1191", "swapped for gs100-447193", a specimen that is named
again: what numbers one of a kind is written like its neighbours. A code of letters and digits must share its
form, or its length, and half of its characters from the start on; digits alone, all but the last four. Right
beside its neighbour ("V00441879206; V00442015533") a third of a long code is enough.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from phiscan.model import EntityType, Finding, Reason, Span
from phiscan.screen.characteristics import bits_of
from phiscan.screen.resolution import is_taken
from phiscan.screen.validators.codes import record_code
from phiscan.screen.validators.dates import is_day
from phiscan.screen.validators.verdicts import Verdict

SCORE = 0.42
SOURCE = "series"
MAX_CHARS = 200_000  # of a text, and codes in it: longer ones are tables, which have columns
MAX_CODES = 400
_MIN_SURE = 0.45  # of the finding that begins a series
_KINDS = frozenset({
    EntityType.OTHER_ID, EntityType.DEVICE, EntityType.HEALTH_PLAN, EntityType.MRN, EntityType.ACCOUNT,
})  # fmt: skip
_CODE = re.compile(
    r"(?<![\w.,$/+-])#?(?P<code>[A-Za-z\d](?=[\w-]{0,11}\d)[A-Za-z\d-]{3,18}[A-Za-z\d])(?![\w%@]|[-.,:][A-Za-z\d])"
    r"|(?<=[A-Za-z\d]/)(?P<next>[A-Za-z\d](?=[\w-]{0,11}\d)[A-Za-z\d-]{3,18}[A-Za-z\d])(?![\w%@/]|[-.,:][A-Za-z\d])"
)
_LINE = re.compile(r"[A-Za-z\d][A-Za-z\d-]{3,18}[A-Za-z\d]")
_DAY_DIGITS, _MIN_DIGITS, _FREE_DIGITS = 8, 7, 4
_MIN_SHARED = 3
_MIN_MIXED_DIGITS = 4
_BESIDE = re.compile(r"(?:[;,/&]| and| et| or| ou| to| à)[ \n]{1,2}$")
_BESIDE_CHARS, _LONG = 6, 8  # how far back a neighbour may end; from how many characters a code is long


def series(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield codes of the series that ``findings`` begin (in text order, without overlaps)."""
    if len(text) > MAX_CHARS:
        return
    known: dict[int, list[tuple[str, EntityType]]] = defaultdict(list)
    for finding in findings:
        if finding.entity_type in _KINDS and finding.score >= _MIN_SURE:
            value = finding.span.of(text)
            if _LINE.fullmatch(value) and _numbers_one(value):
                known[len(value)].append((value.lower(), finding.entity_type))
    if not known or sum(map(len, known.values())) > MAX_CODES:
        return
    for values in known.values():
        values.sort()
    taken = [(finding.span.start, finding.span.end) for finding in findings]
    ends = {finding.span.end for finding in findings if finding.entity_type in _KINDS}
    for low, high in _codes(text):
        values = known.get(high - low, [])
        if not values or is_taken(low, high, taken):
            continue
        kind = _kind(text[low:high], values, is_beside=_is_beside(text, low, ends))
        if kind is not None:
            reasons = (Reason("series", "like a number that has a label", SCORE),)
            yield Finding(Span(low, high), kind, SOURCE, SCORE, bits_of(kind), reasons)


def _codes(text: str) -> Iterator[tuple[int, int]]:
    for match in _CODE.finditer(text):
        yield match.span("code" if match["code"] else "next")


def _is_beside(text: str, start: int, ends: AbstractSet[int]) -> bool:
    """Tell whether only a comma, an "and" or the like parts a code from a number that was found."""
    before = max(0, start - _BESIDE_CHARS)
    parted = _BESIDE.search(text[before:start])
    return parted is not None and before + parted.start() in ends


def _numbers_one(value: str) -> bool:
    """Tell whether a code can be one of a series: long enough, and no day."""
    n_digits = sum(map(str.isdecimal, value))
    if value.isdecimal():
        return n_digits >= _MIN_DIGITS and not (n_digits == _DAY_DIGITS and is_day(value))
    return n_digits >= _MIN_MIXED_DIGITS and record_code(value) is not Verdict.VETO


def _kind(value: str, known: Sequence[tuple[str, EntityType]], *, is_beside: bool) -> EntityType | None:
    """Return of what kind a code is by its nearest neighbour in the order of the alphabet."""
    if not _numbers_one(value):
        return None
    plain = value.lower()
    place = bisect_left(known, (plain, EntityType.OTHER_ID))
    if value.isdecimal():
        needed = len(value) - _FREE_DIGITS
    else:
        needed = -(-len(value) // (3 if is_beside and len(value) >= _LONG else 2))
    needed = max(_MIN_SHARED, needed)
    return next(_alike(plain, known[max(0, place - 1) : place + 1], needed), None)


def _alike(value: str, neighbours: Iterable[tuple[str, EntityType]], needed: int) -> Iterator[EntityType]:
    for other, kind in neighbours:
        if value[:needed] == other[:needed]:
            yield kind
